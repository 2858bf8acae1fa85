//! Which phases of a job that is over are done again when it goes on.
//!
//! Must not know why somebody wants it to.

use super::event::JobEnd;
use super::state::{Active, Dependents, JobState, PhaseState};
use crate::ids::PhaseId;

/// What is to be done again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reopen {
    /// Everything that has not passed, where it stopped.
    Unfinished,
    /// This phase and all that build on it, and everything that has not passed.
    Phase(PhaseId),
}

/// Why a job does not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReopenError {
    /// It is not over.
    #[error("the job is not over yet")]
    Running,
    /// Its result is in the repository.
    #[error("the job has succeeded and its result is integrated")]
    Succeeded,
    /// There is no such phase.
    #[error("the plan has no phase {phase}")]
    UnknownPhase {
        /// Which.
        phase: PhaseId,
    },
    /// It has added phases to the plan, which cannot be taken back.
    #[error("phase {phase} has added phases to the plan: doing it again would add them twice")]
    HasGrown {
        /// Which.
        phase: PhaseId,
    },
}

impl JobState {
    /// The phases that go on where they stopped, and those that start anew.
    ///
    /// # Errors
    /// [`ReopenError`].
    pub fn to_reopen(&self, what: &Reopen) -> Result<(Vec<PhaseId>, Vec<PhaseId>), ReopenError> {
        let active = match self {
            Self::New | Self::Active(_) => return Err(ReopenError::Running),
            Self::Ended(_, JobEnd::Succeeded) => return Err(ReopenError::Succeeded),
            Self::Ended(active, JobEnd::Failed { .. } | JobEnd::Cancelled { .. }) => active,
        };
        let restart = match what {
            Reopen::Unfinished => Vec::new(),
            Reopen::Phase(phase) => active.to_restart(phase)?,
        };
        let reopen = active.phases.iter().filter(|progress| match &progress.state {
            PhaseState::Failed { .. }
            | PhaseState::Cancelled
            | PhaseState::Asking { .. }
            | PhaseState::Skipped { dependents: Dependents::Skip, .. } => !restart.contains(&progress.id),
            PhaseState::Pending
            | PhaseState::Working { .. }
            | PhaseState::Between(_)
            | PhaseState::Escalating { .. }
            | PhaseState::Passed { .. }
            | PhaseState::Skipped { dependents: Dependents::Run, .. } => false,
        });
        Ok((reopen.map(|progress| progress.id.clone()).collect(), restart))
    }
}

impl Active {
    fn to_restart(&self, phase: &PhaseId) -> Result<Vec<PhaseId>, ReopenError> {
        let Some(progress) = self.progress(phase) else {
            return Err(ReopenError::UnknownPhase { phase: phase.clone() });
        };
        let redone = matches!(progress.state, PhaseState::Passed { .. } | PhaseState::Skipped { .. });
        let mut restart = Vec::new();
        for (definition, other) in self.pairs() {
            let builds_on_it = self.spec.plan.ancestors(&other.id).contains(&phase);
            let again = (other.id == *phase && redone) || (builds_on_it && !other.tries.is_empty());
            if !again {
                continue;
            }
            let has_grown = definition.generates_phases.is_some() && matches!(other.state, PhaseState::Passed { .. });
            if has_grown {
                return Err(ReopenError::HasGrown { phase: other.id.clone() });
            }
            restart.push(other.id.clone());
        }
        Ok(restart)
    }
}
