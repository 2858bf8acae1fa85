//! Which phases of a job that is over are done again when it goes on, and where each of them begins.
//!
//! Must not know why somebody wants it to.

use super::event::JobEnd;
use super::illegal::Illegal;
use super::state::{Active, Attempt, Between, Dependents, JobState, PhaseProgress, PhaseState, Stage};
use helix_core::finding::FaultKind;
use helix_core::ids::PhaseId;
use helix_language::{ErrorView, correction, recorded};

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
    #[error(
        "the job is not over yet: answer its open question (`helix answer`), wait for its end, or `helix jobs cancel JOB` it first"
    )]
    Running,
    /// Its result is in the repository, or on a branch of its own.
    #[error("the job has succeeded: no phase is left to do again")]
    Succeeded,
    /// Its result was merged and taken out again: what it made counts as merged to git, and would not come back.
    #[error("the job was reverted: start a new one (`helix run`)")]
    Reverted,
    /// There is no such phase.
    #[error("the plan has no phase {phase}")]
    UnknownPhase { phase: PhaseId },
    /// No phase has a result that its gates could judge again.
    #[error("no phase has a result to check again: run it again with `helix jobs resume JOB`")]
    NothingToCheck,
    /// No gate that a person may overrule keeps the phase from passing.
    #[error("phase {phase} was not stopped by a gate that can be overruled: deliveries and approvals cannot")]
    NothingToAccept { phase: PhaseId },
    /// It has added phases to the plan, which cannot be taken back.
    #[error("phase {phase} has added phases to the plan: a retry would add them twice")]
    HasGrown { phase: PhaseId },
}

impl JobState {
    /// The phases that go on where they stopped, and those that start anew.
    ///
    /// # Errors
    /// [`ReopenError`].
    pub fn to_reopen(&self, what: &Reopen) -> Result<(Vec<PhaseId>, Vec<PhaseId>), ReopenError> {
        let active = match self {
            Self::New | Self::Active(_) => return Err(ReopenError::Running),
            Self::Ended(active, _) if active.reverted.is_some() => return Err(ReopenError::Reverted),
            Self::Ended(_, JobEnd::Succeeded) => return Err(ReopenError::Succeeded),
            Self::Ended(active, JobEnd::Failed { .. } | JobEnd::Cancelled { .. }) => active,
        };
        let restart = match what {
            Reopen::Unfinished => Vec::new(),
            Reopen::Phase(phase) => active.to_restart(phase)?,
        };
        let reopen = active.phases.iter().filter(|progress| {
            use PhaseState::{Asking, Cancelled, Failed, Skipped};
            let stopped = matches!(
                progress.state,
                Failed { .. } | Cancelled | Asking { .. } | Skipped { dependents: Dependents::Skip, .. }
            );
            stopped && !restart.contains(&progress.id)
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
        let ancestry = self.spec.plan.ancestry();
        for (definition, other) in self.pairs() {
            let builds_on_it = ancestry.is_before(phase, &other.id);
            let again = (other.id == *phase && redone) || (builds_on_it && !other.attempts.is_empty());
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

impl PhaseProgress {
    /// Goes on where the phase stopped; nothing to do for one that has passed or waits.
    pub(super) fn reopen(&mut self) -> Result<(), Illegal> {
        let summary = match &self.state {
            PhaseState::Failed { error, .. } => error.words(),
            PhaseState::Skipped { why, .. } => why.clone(),
            PhaseState::Cancelled => recorded!("cause-stopped"),
            PhaseState::Asking { trouble, .. } => {
                trouble.as_ref().map_or_else(|| recorded!("cause-job-ended"), ErrorView::words)
            }
            PhaseState::Pending | PhaseState::Between(_) => return Ok(()),
            PhaseState::Passed { .. } | PhaseState::Working { .. } | PhaseState::Escalating { .. } => {
                return Err(self.wrong_state());
            }
        };
        let correction = correction(summary, self.last_findings());
        let unanswered = self.unanswered_review();
        self.begin_epoch();
        if let Some((gate, round)) = unanswered {
            self.review_again(gate, round + 1);
            return Ok(());
        }
        self.state = match self.attempts.last_mut() {
            Some(last) if last.result.is_some() => {
                PhaseState::Between(Between { not_before: None, correction, resume: None })
            }
            // Its agent had done its work, and only the commit was missing: that is made up for first, once.
            Some(last) if last.run_end.is_some() && !last.taken_up && !is_lost(last) => {
                last.taken_up = true;
                PhaseState::Working { stage: Stage::Committing }
            }
            Some(_) | None => PhaseState::Pending,
        };
        Ok(())
    }

    /// Starts anew from what it builds on.
    pub(super) fn restart(&mut self) {
        self.begin_epoch();
        self.state = PhaseState::Pending;
    }

    fn begin_epoch(&mut self) {
        self.fault = None;
        self.close_questions();
        self.epoch = self.attempts.len();
        self.extra_attempts = 0;
        self.advice_epoch = self.advice.len();
    }
}

/// Whether there is nothing to be committed any more: somebody has removed what the agent left.
fn is_lost(one: &Attempt) -> bool {
    one.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::NothingChecked)
}
