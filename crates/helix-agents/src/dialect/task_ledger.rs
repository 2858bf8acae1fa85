//! Counts background tasks that did not come to a good end.
//!
//! Must not know how a dialect names the states of a task: the reader translates.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskState {
    Open,
    Lost,
    Ended,
}

/// The tasks of a run by a hash of their ids: a few bytes each, however long the run.
#[derive(Debug, Default)]
pub(crate) struct TaskLedger {
    tasks: HashMap<u64, TaskState>,
    hashing: RandomState,
}

impl TaskLedger {
    /// A task began. Unless it is reported to have ended, it is lost when the agent's process is gone.
    pub(crate) fn began(&mut self, id: &str) {
        let key = self.hashing.hash_one(id);
        self.tasks.entry(key).or_insert(TaskState::Open);
    }

    /// A task was stopped, failed or was killed. Sticks.
    pub(crate) fn lost(&mut self, id: &str) {
        let key = self.hashing.hash_one(id);
        self.tasks.insert(key, TaskState::Lost);
    }

    /// A task ended well.
    pub(crate) fn ended(&mut self, id: &str) {
        let key = self.hashing.hash_one(id);
        let state = self.tasks.entry(key).or_insert(TaskState::Ended);
        if *state == TaskState::Open {
            *state = TaskState::Ended;
        }
    }

    /// How many did not come to a good end.
    pub(crate) fn not_completed(&self) -> u32 {
        let lost = self.tasks.values().filter(|state| **state != TaskState::Ended).count();
        u32::try_from(lost).unwrap_or(u32::MAX)
    }
}
