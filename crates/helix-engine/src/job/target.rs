//! What a phase delivers to, and which of this host's deliveries and rollbacks has it.
//!
//! Must not know what other hosts change.

use std::collections::HashMap;
use std::fs::File;

use helix_core::ids::{JobId, PhaseId, RunId};
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
}

/// The deliveries and rollbacks that this host begins, or has begun and not yet carried out to the end, by name.
#[derive(Default)]
pub(super) struct Claims(HashMap<String, Claim>);

struct Claim {
    target: Target,
    /// Keeps other hosts from beginning, until what begins is on record.
    turn: Option<File>,
}

impl Claims {
    /// Claims a target, or names the job that has it. A former attempt of the same phase has it as anybody else, as long as what it
    /// has begun has not ended.
    pub(super) fn claim(&mut self, name: &str, target: &Target) -> Result<(), JobId> {
        let same = |claim: &Claim| (&claim.target.project, &claim.target.name) == (&target.project, &target.name);
        if let Some((_, other)) = self.0.iter().find(|(other, claim)| *other != name && same(claim)) {
            return Err(other.target.job.clone());
        }
        self.0.insert(name.to_owned(), Claim { target: target.clone(), turn: None });
        Ok(())
    }

    /// Keeps the turn among the hosts with a claim.
    pub(super) fn keep_turn(&mut self, name: &str, turn: File) {
        if let Some(claim) = self.0.get_mut(name) {
            claim.turn = Some(turn);
        }
    }

    /// What is claimed and on record is carried out: others may begin what they have. Whether it was claimed.
    pub(super) fn take_up(&mut self, name: &str) -> bool {
        self.0.get_mut(name).map(|claim| claim.turn = None).is_some()
    }

    pub(super) fn give_back(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Gives back all that a job has claimed.
    pub(super) fn forget(&mut self, job: &JobId) {
        self.0.retain(|_, claim| claim.target.job != *job);
    }
}

/// Names a delivery of an attempt (round 0), or a rollback of it.
pub(super) fn claim_name(run: &RunId, gate: usize, round: u32) -> String {
    format!("{run}/{gate}/{round}")
}

#[cfg(test)]
#[path = "target_test.rs"]
mod tests;
