//! How much there is and how much is under way, for those who watch over a host.
//!
//! Must not know how figures are shown.

use helix_job::question::QuestionStatus;
use helix_store::{Counts, JobFilter};

use super::Jobs;
use crate::admission::Admission;
use crate::error::EngineError;

/// A host at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// What the journal holds.
    pub counts: Counts,
    /// Questions that wait for a person.
    pub open_questions: u64,
    pub agents: Places,
    /// Gates that run commands.
    pub gates: Places,
}

/// Places that are shared by all jobs and conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// How many there are.
    pub all: usize,
    /// How many are taken.
    pub taken: usize,
    /// How many wait for one.
    pub waiting: usize,
}

impl Places {
    fn of(admission: &Admission) -> Self {
        let (taken, all, waiting) = admission.figures();
        Self { all, taken, waiting }
    }
}

impl Jobs {
    /// How much there is and how much is under way. Costs the same however many jobs are over.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    pub async fn figures(&self) -> Result<Figures, EngineError> {
        let counts = self.services.journal().counts().await.map_err(EngineError::journal)?;
        let unfinished = self.list(JobFilter::unfinished()).await?;
        let open = unfinished.iter().flat_map(|job| &job.questions);
        let open = open.filter(|question| question.status == QuestionStatus::Open).count();
        Ok(Figures {
            counts,
            open_questions: open as u64,
            agents: Places::of(self.services.runner.admission()),
            gates: Places::of(self.effects.gate_places()),
        })
    }
}
