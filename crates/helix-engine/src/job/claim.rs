//! Targets of deliveries: who changes one now, and what was delivered there. Two phases never change one at once, and none takes
//! back what another has delivered over since.
//!
//! Must not know how anything is delivered.

use std::time::Duration;

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{JobId, PhaseId};
use helix_job::{DeliveryState, DeliveryView, Language, RollbackError, Wait, phrases, target_of};
use helix_store::{JobFilter, MAX_ROWS_PER_PAGE};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::effects::{AttemptContext, EffectRunner, Stopped, environment};
use super::target::Target;
use crate::job_record;
use crate::mutex::lock;

/// Between two looks at whether a target is free. What others record of theirs is not awaited: deliveries take minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A target that is being changed: it is claimed until what changes it has ended, also where nobody wants that any more.
pub(super) struct Held<'a> {
    runner: &'a EffectRunner,
    name: String,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.runner.give_back(&self.name);
    }
}

/// What a gate of an attempt delivers to.
pub(super) fn target(at: AttemptContext<'_>, gate: usize) -> Target {
    let AttemptContext { job, active, phase, .. } = at;
    let name = target_of(phase, gate).unwrap_or_else(|| phase.id.to_string());
    Target { project: active.spec.repo.path.clone(), name, job: job.clone(), phase: phase.id.clone() }
}

impl EffectRunner {
    /// Waits until no other phase delivers to the target or takes something back there; from then on this one does. What has begun
    /// is in the journal, so that no host's end forgets it or holds the target for good; the claim, by its name, holds the target
    /// until that is recorded.
    pub(super) async fn claim(&self, name: &str, target: &Target, cancel: &CancellationToken) -> Result<(), Stopped> {
        let place = (target.job.clone(), target.phase.clone());
        while let Some(job) = self.try_claim(name, target).await? {
            lock(&self.shared.waits).insert(place.clone(), Wait::Target { target: target.name.clone(), job });
            let wanted = tokio::select! {
                () = cancel.cancelled() => false,
                () = tokio::time::sleep(LOOK_AGAIN) => true,
            };
            lock(&self.shared.waits).remove(&place);
            if !wanted {
                return Err(Stopped::Unwanted);
            }
        }
        Ok(())
    }

    /// Claims the target, or names the job that has it.
    async fn try_claim(&self, name: &str, target: &Target) -> Result<Option<JobId>, Fault> {
        {
            let mut claims = lock(&self.shared.deliveries);
            if let Some(other) = claims.values().find(|other| other.is_shared_with(target)) {
                return Ok(Some(other.job.clone()));
            }
            claims.insert(name.to_owned(), target.clone());
        }
        let others = |one: &DeliveryView, by: &JobId| !target.is_own(one, by) && one.is_under_way();
        let found = self.newest(target, JobFilter::unfinished(), others).await;
        if !matches!(found, Ok(None)) {
            self.give_back(name);
        }
        match found? {
            Some((_, job)) if lock(&self.shared.left_alone).contains(&job) => Err(held_for_good(target, &job)),
            found => Ok(found.map(|(_, job)| job)),
        }
    }

    /// What this host has claimed for a delivery or a rollback and not carried out yet; asked once, before that begins.
    pub(super) fn take_up(&self, name: String) -> Option<Held<'_>> {
        let claimed = lock(&self.shared.deliveries).contains_key(&name);
        claimed.then(|| Held { runner: self, name })
    }

    /// Gives a claim back.
    pub(super) fn give_back(&self, name: &str) {
        lock(&self.shared.deliveries).remove(name);
    }

    /// Gives back what a job, or only a phase of it, has claimed and does not use.
    pub(super) fn forget_claims(&self, job: &JobId, phase: Option<&PhaseId>) {
        let other = |target: &Target| target.job != *job || phase.is_some_and(|phase| target.phase != *phase);
        lock(&self.shared.deliveries).retain(|_, target| other(target));
    }

    /// Notes that this host does not carry the job on, though it is not over: nobody waits for what it has begun.
    pub(crate) fn leave_alone(&self, job: &JobId) {
        lock(&self.shared.left_alone).insert(job.clone());
        self.forget_claims(job, None);
    }

    /// The phases of a job that wait for a target.
    pub(crate) fn waits_for_targets(&self, job: &JobId) -> Vec<(PhaseId, Wait)> {
        let waits = lock(&self.shared.waits);
        let of_job = waits.iter().filter(|((waiting, _), _)| waiting == job);
        of_job.map(|((_, phase), wait)| (phase.clone(), wait.clone())).collect()
    }

    /// Why what was delivered at that time is not to be taken back: another phase has delivered over it, well or not, and that
    /// would be lost without a word.
    pub(crate) async fn delivered_over(&self, target: &Target, at: Timestamp) -> Result<Option<String>, Fault> {
        let over = |one: &DeliveryView, by: &JobId| {
            !target.is_own(one, by) && one.at > at && one.state != DeliveryState::RolledBack
        };
        let Some((one, job)) = self.newest(target, JobFilter::default(), over).await? else { return Ok(None) };
        let other = job_record::state(self.shared.host.journal().as_ref(), &job).await;
        let command = format!("helix jobs rollback {job} --phase {}", one.phase);
        let remedy = match other.map_err(|error| environment(&error))?.to_roll_back(Some(&one.phase), false) {
            Ok(_) => format!("roll that back first (`{command}`)"),
            Err(RollbackError::Again { .. }) => format!("roll that back once more first (`{command} --again`)"),
            Err(RollbackError::Running) => {
                format!("wait for the end of that job, or stop it (`helix jobs cancel {job}`)")
            }
            Err(RollbackError::NoCommands { .. }) => {
                "its gate has no `rollback`: deliver what is to be there instead".to_owned()
            }
            Err(other) => other.to_string(),
        };
        let (name, state) = (&target.name, phrases::delivery_state(Language::English, one.state));
        Ok(Some(format!("job {job} has delivered to {name} since ({state}): {remedy}")))
    }

    /// The newest delivery to the target, by whichever phase, that is wanted.
    pub(super) async fn newest(
        &self,
        target: &Target,
        filter: JobFilter,
        wanted: impl Fn(&DeliveryView, &JobId) -> bool + Send,
    ) -> Result<Option<(DeliveryView, JobId)>, Fault> {
        let journal = self.shared.host.journal();
        let filter = JobFilter { project_path: Some(target.project.clone()), ..filter };
        let (mut newest, mut cursor): (Option<(DeliveryView, JobId)>, _) = (None, None);
        loop {
            let page = journal.list_jobs(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await;
            let page = page.map_err(|error| environment(&error))?;
            let all = page.jobs.into_iter().flat_map(|view| {
                let id = view.id;
                view.deliveries.into_iter().map(move |one| (one, id.clone()))
            });
            let found = all.filter(|(one, by)| one.target == target.name && wanted(one, by));
            newest = found.chain(newest).max_by_key(|(one, _)| one.at);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(newest);
            }
        }
    }
}

/// The target is that of a job which does not go on here: nothing that could be waited for.
fn held_for_good(target: &Target, job: &JobId) -> Fault {
    let message = format!(
        "job {job} was changing {} when this host had to leave that job alone: how far it came is unknown",
        target.name
    );
    let hint = format!(
        "see `helix jobs show {job}` and the host's log for why, look at the target, and start Helix again; if it leaves the job alone again, deliver under another `target`"
    );
    Fault { kind: FaultKind::Environment, message, hint: Some(hint) }
}
