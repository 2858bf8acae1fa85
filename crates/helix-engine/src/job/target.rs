//! What a phase delivers to.
//!
//! Must not know who changes it.

use helix_core::ids::{JobId, PhaseId};
use helix_job::{DeliveryView, JobView};

/// What a phase delivers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Absolute path of the repository.
    pub(super) project: String,
    pub(super) name: String,
    pub(super) job: JobId,
    pub(super) phase: PhaseId,
}

impl Target {
    pub(crate) fn of_view(view: &JobView, one: &DeliveryView) -> Self {
        let (project, name) = (view.project_path.clone(), one.target.clone());
        Self { project, name, job: view.id.clone(), phase: one.phase.clone() }
    }

    /// Whether a delivery is one of this phase.
    pub(super) fn is_own(&self, one: &DeliveryView, by: &JobId) -> bool {
        *by == self.job && one.phase == self.phase
    }

    /// Whether another phase delivers to the same.
    pub(super) fn is_shared_with(&self, other: &Self) -> bool {
        (&self.project, &self.name) == (&other.project, &other.name)
            && (&self.job, &self.phase) != (&other.job, &other.phase)
    }
}
