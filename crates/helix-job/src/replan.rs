//! A job that goes on with its plan as the file is now: which phases may be others, and what that means for them.
//!
//! Must not read files. What has passed was proved by the plan of its time: it is changed only where it is done again.

use std::sync::Arc;

use helix_core::ids::PhaseId;
use helix_plan::{Phase, Plan};

use super::event::ChangedPlan;
use super::illegal::Illegal;
use super::person::Person;
use super::state::{Active, JobState, PhaseProgress, PhaseState, PlannedBy};

/// Why a job does not go on with the plan as it is now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplanError {
    /// It has other phases, or they stand elsewhere.
    #[error(
        "the plan file has other phases than the job, or other dependencies ({which}): start a new job with it, or go on with the plan of the job (`--keep-plan`)"
    )]
    OtherPhases { which: String },
    /// What has passed would be another phase.
    #[error(
        "phase {phase} has passed, and the plan file defines it otherwise now: run it again with `helix jobs retry JOB --phase {phase}`, or go on with the plan of the job (`--keep-plan`)"
    )]
    HasPassed { phase: PhaseId },
}

impl JobState {
    /// The phases that a plan defines otherwise than the job does, if it may go on with them; `restart` are done again from their start.
    ///
    /// # Errors
    /// [`ReplanError`].
    pub fn to_replan(&self, now: &Plan, restart: &[PhaseId]) -> Result<Vec<Phase>, ReplanError> {
        let Some(active) = self.active() else { return Ok(Vec::new()) };
        let has_grown = active.phases.iter().any(|progress| progress.planned_by == PlannedBy::Agent);
        let other = |phase: &PhaseId| ReplanError::OtherPhases { which: phase.to_string() };
        let mut changed = Vec::new();
        for (known, progress) in active.pairs().filter(|(_, progress)| progress.planned_by != PlannedBy::Agent) {
            let mut phase = now.phase(&known.id).ok_or_else(|| other(&known.id))?.clone();
            if has_grown {
                phase.depends_on.clone_from(&known.depends_on);
            }
            if phase == *known {
                continue;
            }
            if phase.depends_on != known.depends_on || phase.kind != known.kind {
                return Err(other(&known.id));
            }
            if !progress.may_be_another() && !restart.contains(&known.id) {
                return Err(ReplanError::HasPassed { phase: known.id.clone() });
            }
            changed.push(phase);
        }
        match now.phases.iter().find(|phase| active.progress(&phase.id).is_none()) {
            Some(added) => Err(other(&added.id)),
            None => Ok(changed),
        }
    }
}

impl Active {
    pub(super) fn replan(&mut self, plan: &ChangedPlan, restart: &[PhaseId], by: &Person) -> Result<(), Illegal> {
        let spec = Arc::make_mut(&mut self.spec);
        for changed in &plan.phases {
            let unknown = || Illegal::UnknownPhase(changed.id.clone());
            let known = spec.plan.phases.iter_mut().find(|phase| phase.id == changed.id).ok_or_else(unknown)?;
            let progress = self.phases.iter_mut().find(|progress| progress.id == changed.id).ok_or_else(unknown)?;
            let is_fixed = !progress.may_be_another() && !restart.contains(&changed.id);
            if is_fixed || known.depends_on != changed.depends_on || known.kind != changed.kind {
                return Err(progress.illegal("cannot be another phase any more"));
            }
            *known = changed.clone();
            // What a person said was said of what it was.
            progress.approved = false;
            progress.let_in.clear();
            if progress.planned_by == PlannedBy::Person && !by.how.is_proof() {
                progress.planned_by = PlannedBy::Somebody;
            }
        }
        spec.gate_files.extend(plan.gate_files.clone());
        Ok(())
    }
}

impl PhaseProgress {
    /// Whether nothing was proved of it, and nothing stands in its place.
    fn may_be_another(&self) -> bool {
        match &self.state {
            PhaseState::Pending
            | PhaseState::Between(_)
            | PhaseState::Asking { .. }
            | PhaseState::Failed { .. }
            | PhaseState::Cancelled => true,
            PhaseState::Skipped { .. }
            | PhaseState::Passed { .. }
            | PhaseState::Working { .. }
            | PhaseState::Escalating { .. } => false,
        }
    }
}
