//! Whether a job can do nothing at all until a person answers.
//!
//! Must not know how a person is reached, or what a host does about it.

use jiff::Timestamp;

use super::decide::decide;
use super::state::{JobState, PhaseProgress, PhaseState};

impl JobState {
    /// Whether nothing is to be done, nothing is due by itself but the end of a question's time, and a question is open: the
    /// job needs no host until somebody answers.
    pub fn waits_for_person(&self, now: Timestamp) -> bool {
        let Self::Active(active) = self else { return false };
        let asked = active.phases.iter().any(|progress| progress.open_question().is_some());
        let parked = |progress: &PhaseProgress| matches!(progress.state, PhaseState::Between(_));
        asked && !active.phases.iter().any(parked) && decide(self, now).effects.is_empty()
    }
}
