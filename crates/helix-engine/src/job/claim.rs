//! Targets of deliveries: who changes one now, and what was delivered there. Two phases never change one at once, and none takes
//! back what another has delivered over since.
//!
//! Must not know how anything is delivered.

use std::path::PathBuf;
use std::time::Duration;

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{JobId, PhaseId};
use helix_job::{DeliveryState, DeliveryView, RollbackError, Wait, phrases, target_of};
use helix_language::{Language, fault, recorded};
use helix_store::{JobFilter, MAX_ROWS_PER_PAGE};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::effects::{AttemptContext, EffectRunner, Stopped, environment};
use super::elsewhere::{Ledger, is_hosted};
use super::target::Target;
use crate::job_record;
use crate::mutex::lock;

/// Between two looks at whether a target is free. What others record of theirs is not awaited: deliveries take minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Looks at a state directory without a host before it counts as one that nobody carries on: one host may be following another.
const LOOKS_FOR_HOST: u32 = 5;

/// A target that is being changed: it is claimed until what changes it has ended, also where nobody wants that any more.
pub(super) struct Held<'a> {
    runner: &'a EffectRunner,
    name: String,
    kept: bool,
}

impl Held<'_> {
    /// Holds the target until what has it is carried out.
    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.runner.give_back(&self.name);
        }
    }
}

/// A delivery to a target.
pub(super) struct Found {
    pub(super) delivery: DeliveryView,
    pub(super) job: JobId,
    /// Whose record says so.
    ledger: Ledger,
}

impl Found {
    /// Whether it is one of the target's own phase.
    pub(super) fn is_own(&self, target: &Target) -> bool {
        self.ledger.state.is_none() && target.is_own(&self.delivery, &self.job)
    }
}

/// Who has a target.
enum Busy {
    /// A job, of this state directory or another one.
    Job(JobId, Option<PathBuf>),
    /// Another host begins something in the repository at this moment.
    Turn,
}

/// What a gate of an attempt delivers to.
pub(super) fn target(at: AttemptContext<'_>, gate: usize) -> Target {
    let AttemptContext { job, active, phase, .. } = at;
    let name = target_of(phase, gate).unwrap_or_else(|| phase.id.to_string());
    Target { project: active.spec.repo.path.clone(), name, job: job.clone(), phase: phase.id.clone() }
}

impl EffectRunner {
    /// Waits until nobody else delivers to the target or takes something back there; from then on this name has it. What has begun
    /// is in the journal, so that no host's end forgets it or holds the target for good; the claim holds the target until that is
    /// recorded, and until what it is for has ended.
    pub(super) async fn claim(
        &self,
        name: String,
        target: &Target,
        cancel: &CancellationToken,
    ) -> Result<Held<'_>, Stopped> {
        let place = (target.job.clone(), target.phase.clone());
        let mut without_host = 0;
        loop {
            let busy = match self.try_claim(&name, target).await? {
                Ok(held) => return Ok(held),
                Err(busy) => busy,
            };
            if let Busy::Job(job, state) = busy {
                without_host = match &state {
                    Some(state) if !is_hosted(state) => without_host + 1,
                    Some(_) | None => 0,
                };
                if let (LOOKS_FOR_HOST.., Some(state)) = (without_host, &state) {
                    return Err(abandoned(target, &job, state).into());
                }
                let state_dir = state.map(|state| state.display().to_string());
                let wait = Wait::Target { target: target.name.clone(), job, state_dir };
                lock(&self.shared.waits).insert(place.clone(), wait);
            }
            let wanted = tokio::select! {
                () = cancel.cancelled() => false,
                () = tokio::time::sleep(LOOK_AGAIN) => true,
            };
            lock(&self.shared.waits).remove(&place);
            if !wanted {
                return Err(Stopped::Unwanted);
            }
        }
    }

    /// Claims the target, or says who has it.
    async fn try_claim(&self, name: &str, target: &Target) -> Result<Result<Held<'_>, Busy>, Fault> {
        if let Err(job) = lock(&self.shared.claims).claim(name, target) {
            return Ok(Err(Busy::Job(job, None)));
        }
        let held = Held { runner: self, name: name.to_owned(), kept: false };
        let Some(turn) = self.turn(target).await? else { return Ok(Err(Busy::Turn)) };
        let others = |found: &Found| !found.is_own(target) && found.delivery.is_under_way();
        match self.newest(target, JobFilter::unfinished(), others).await? {
            Some(Found { job, ledger, .. }) => {
                if ledger.state.is_none() && lock(&self.shared.left_alone).contains(&job) {
                    return Err(held_for_good(target, &job));
                }
                Ok(Err(Busy::Job(job, ledger.state)))
            }
            None => {
                lock(&self.shared.claims).keep_turn(name, turn);
                Ok(Ok(held))
            }
        }
    }

    /// What this host has claimed for a delivery or a rollback and not carried out yet; asked once, before that begins.
    pub(super) fn take_up(&self, name: String) -> Option<Held<'_>> {
        let claimed = lock(&self.shared.claims).take_up(&name);
        claimed.then(|| Held { runner: self, name, kept: false })
    }

    /// Gives a claim back.
    pub(super) fn give_back(&self, name: &str) {
        lock(&self.shared.claims).give_back(name);
    }

    /// Gives back what a job has claimed and does not use.
    pub(super) fn forget_claims(&self, job: &JobId) {
        lock(&self.shared.claims).forget(job);
    }

    /// Notes that this host does not carry the job on, though it is not over: nobody waits for what it has begun.
    pub(crate) fn leave_alone(&self, job: &JobId) {
        lock(&self.shared.left_alone).insert(job.clone());
        self.forget_claims(job);
    }

    /// The phases of a job that wait for a target, or for the preflight.
    pub(crate) fn waits_of(&self, job: &JobId) -> Vec<(PhaseId, Wait)> {
        let waits = lock(&self.shared.waits);
        let of_job = waits.iter().filter(|((waiting, _), _)| waiting == job);
        of_job.map(|((_, phase), wait)| (phase.clone(), wait.clone())).collect()
    }

    /// Why what was delivered at that time is not to be taken back: another phase has delivered over it, well or not, and that
    /// would be lost without a word.
    pub(crate) async fn delivered_over(&self, target: &Target, at: Timestamp) -> Result<Option<String>, Fault> {
        let over = |found: &Found| {
            let one = &found.delivery;
            !found.is_own(target) && one.at > at && one.state != DeliveryState::RolledBack
        };
        let Some(found) = self.newest(target, JobFilter::default(), over).await? else { return Ok(None) };
        let Found { delivery: one, job, ledger } = found;
        let other = job_record::state(ledger.journal.as_ref(), &job).await;
        let of = ledger.state.as_deref().map(|state| format!("HELIX_STATE_DIR={} ", state.display()));
        let command = format!("{}helix jobs rollback {job} --phase {}", of.unwrap_or_default(), one.phase);
        let remedy = match other.map_err(|error| environment(&error))?.to_roll_back(Some(&one.phase), false) {
            Ok(_) => format!("roll that back first (`{command}`)"),
            Err(RollbackError::Again { .. }) => format!("roll that back once more first (`{command} --again`)"),
            Err(RollbackError::Running) => {
                format!("wait for the end of that job, or stop it (`helix jobs cancel {job}`)")
            }
            Err(RollbackError::NoCommands { .. }) => {
                let Target { job, phase, .. } = target;
                format!(
                    "its gate has no `rollback`: deliver what is to be there instead, or roll back over it (`helix jobs rollback {job} --phase {phase} --over`), which loses what it has delivered"
                )
            }
            Err(other) => other.to_string(),
        };
        let (name, state) = (&target.name, phrases::delivery_state(Language::English, one.state));
        Ok(Some(format!("job {job} has delivered to {name} since ({state}): {remedy}")))
    }

    /// The newest delivery to the target, by whichever phase of whichever state directory, that is wanted.
    pub(super) async fn newest(
        &self,
        target: &Target,
        filter: JobFilter,
        wanted: impl Fn(&Found) -> bool + Send,
    ) -> Result<Option<Found>, Fault> {
        let mut newest: Option<Found> = None;
        for ledger in self.ledgers(target).await? {
            let filter = JobFilter { project_path: Some(ledger.project.clone()), ..filter.clone() };
            let mut cursor = None;
            loop {
                let page = ledger.journal.list_jobs(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await;
                let page = page.map_err(|error| ledger.unreadable(&error))?;
                if let Some(job) = page.unreadable.first() {
                    return Err(unreadable(target, job));
                }
                let all = page.jobs.into_iter().flat_map(|view| {
                    let (job, ledger) = (view.id, ledger.clone());
                    let to_target = view.deliveries.into_iter().filter(|one| one.target == target.name);
                    to_target.map(move |delivery| Found { delivery, job: job.clone(), ledger: ledger.clone() })
                });
                newest = all.filter(&wanted).chain(newest).max_by_key(|found| found.delivery.at);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
        }
        Ok(newest)
    }
}

/// The target is that of a job which does not go on here: nothing that could be waited for.
fn held_for_good(target: &Target, job: &JobId) -> Fault {
    fault(FaultKind::Environment, recorded!("fault-target-held", other = job.as_str(), target = &target.name))
}

/// Nothing says whether a job has changed the target.
fn unreadable(target: &Target, job: &JobId) -> Fault {
    fault(FaultKind::Environment, recorded!("fault-target-unknown", other = job.as_str(), target = &target.name))
}

/// The target is that of a job which nobody carries on.
fn abandoned(target: &Target, job: &JobId, state: &std::path::Path) -> Fault {
    let (target, state) = (&target.name, state.display().to_string());
    let message = recorded!("fault-target-abandoned", other = job.as_str(), state = state, target = target);
    fault(FaultKind::Environment, message)
}
