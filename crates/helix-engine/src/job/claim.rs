//! Targets of deliveries: who changes one now, and what was delivered there. Two phases never change one at once, and none takes
//! back what another has delivered over since.
//!
//! Must not know how anything is delivered.

use std::time::Duration;

use helix_core::finding::Fault;
use helix_core::ids::{JobId, PhaseId};
use helix_job::{DeliveryState, DeliveryView, Language, Wait, phrases, target_of};
use helix_store::{JobFilter, MAX_ROWS_PER_PAGE};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::effects::{AttemptContext, EffectRunner, Stopped, environment};
use super::target::Target;
use crate::mutex::lock;

/// Between two looks at whether a target is free. What others record of theirs is not awaited: deliveries take minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

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
            self.takes_up(name);
        }
        Ok(found?.map(|(_, job)| job))
    }

    /// Whether this host has claimed a target for a delivery or a rollback and not carried that out yet. Asked once.
    pub(super) fn takes_up(&self, name: &str) -> bool {
        lock(&self.shared.deliveries).remove(name).is_some()
    }

    /// Gives back what a job that is over has claimed and not used.
    pub(super) fn forget_claims(&self, job: &JobId) {
        lock(&self.shared.deliveries).retain(|_, target| target.job != *job);
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
        let found = self.newest(target, JobFilter::default(), over).await?;
        Ok(found.map(|(one, job)| {
            let (name, state) = (&target.name, phrases::delivery_state(Language::English, one.state));
            format!(
                "job {job} has delivered to {name} since ({state}): roll that back first (`helix jobs rollback {job}`)"
            )
        }))
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
