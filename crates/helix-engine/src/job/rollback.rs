//! What follows a delivery: its baseline is named before, its health is watched after, and what failed is taken back.
//!
//! Must not know when something is taken back: that is decided by the job's state.

use std::time::{Duration, Instant};

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_job::{Baseline, Committed, DeliveryState, DeliveryStep, GateReport, JobEvent};
use helix_language::{Language, recorded, summed_up};
use helix_store::JobFilter;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::claim::{Found, target};
use super::delivery::name;
use super::effects::{AttemptContext, EffectRunner, Stopped, blocking};
use super::gate::GateCheck;
use super::target::Target;
use helix_gates::{DeliveryPart, delivery_obstacle};

impl EffectRunner {
    /// What a delivery can be brought back to: the last one to the same target that went well, else where the job began. It and what
    /// is delivered are kept under names of their own, whatever becomes of the branches.
    pub(super) async fn baseline(
        &self,
        at: AttemptContext<'_>,
        gate: usize,
        target: &Target,
        result: &Committed,
    ) -> Result<Baseline, Fault> {
        let AttemptContext { job, active, phase, .. } = at;
        // What this phase has delivered itself was good only if all its gates found so.
        let passed = |number: u32| {
            let attempt = active.progress(&phase.id)?.attempts.iter().find(|one| one.begin.attempt == number)?;
            Some(attempt.gates.len() == phase.gates.len() && attempt.gates.iter().all(|gate| gate.verdict.passed()))
        };
        let good = |found: &Found| {
            let one = &found.delivery;
            one.state == DeliveryState::Delivered && (!found.is_own(target) || passed(one.attempt) == Some(true))
        };
        let last = self.newest(target, JobFilter::default(), good).await?;
        let origin = active.spec.repo.base.clone();
        let place = format!("refs/helix/deliveries/{job}/{}/{}/{gate}", phase.id, at.attempt.begin.attempt);
        let (delivered, spaces) = (result.commit.clone(), self.workspaces(&active.spec).await?);
        blocking(move || {
            let repository = spaces.repository();
            let found = match &last {
                Some(last) => repository.find_commit(last.delivery.commit.as_str())?,
                None => None,
            };
            let (commit, job) = match (found, last) {
                (Some(commit), Some(last)) => (commit, Some(last.job)),
                (Some(_) | None, _) => (repository.commit(origin.as_str())?, None),
            };
            let reference = format!("{place}/baseline");
            repository.publish(&reference, &commit.id)?;
            repository.publish(&format!("{place}/delivered"), &delivered)?;
            Ok(Baseline { commit: commit.id, tree: commit.tree, job, reference })
        })
        .await
    }

    /// Looks until the health is proven, or it failed as often in a row as the plan allows. A new host looks from the beginning.
    pub(super) async fn watch_health(
        &self,
        at: AttemptContext<'_>,
        step: DeliveryStep,
        cancel: &CancellationToken,
    ) -> Result<JobEvent, Stopped> {
        let spec = at.phase.gates.get(step.gate).and_then(|spec| spec.delivery()).and_then(|one| one.health.as_ref());
        let health = spec.ok_or(Stopped::Unwanted)?;
        self.check_obstacles(at, step).await?;
        let (started, mut checks, mut failed, mut unseen) = (Instant::now(), 0_u32, 0, 0);
        let mut report = loop {
            let report = self.part(at, step, DeliveryPart::Health, cancel).await?;
            checks += 1;
            // A check that cannot be made says nothing of the health; so many of them end the watch as well.
            match report.verdict {
                Verdict::Pass => (failed, unseen) = (0, 0),
                Verdict::Fail { .. } => failed += 1,
                Verdict::Inconclusive { .. } => unseen += 1,
            }
            let over = report.verdict.passed() && started.elapsed() >= health.time.duration();
            if failed >= health.limit || unseen >= health.limit || over {
                break report;
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(Stopped::Unwanted),
                () = tokio::time::sleep(health.every.duration().max(Duration::from_millis(100))) => {}
            }
        };
        let seconds = started.elapsed().as_secs();
        let summary = recorded!("gate-watched", summary = report.words(), checks = checks, seconds = seconds);
        report = summed_up(report, summary);
        report.steps.iter_mut().for_each(|step| step.attempts = checks);
        report.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(JobEvent::HealthChecked { phase: at.phase.id.clone(), step, report })
    }

    /// Lets this host take the delivery back as soon as that is on record, unless it cannot be done at all.
    pub(super) async fn begin_rollback(
        &self,
        at: AttemptContext<'_>,
        step: DeliveryStep,
        cancel: &CancellationToken,
    ) -> Result<JobEvent, Stopped> {
        self.check_obstacles(at, step).await?;
        let target = target(at, step.gate);
        let held = self.claim(name(at, step.gate, step.round), &target, cancel).await?;
        let begun = at.attempt.delivery(step.gate);
        let meant = begun.and_then(|begun| begun.rollbacks.last()).is_some_and(|rollback| rollback.over);
        let at_time = begun.map_or(Timestamp::MIN, |begun| begun.at);
        if !meant && let Some(message) = self.delivered_over(&target, at_time).await? {
            return Err(Fault::environment(message).into());
        }
        held.keep();
        Ok(JobEvent::RollbackBegun { phase: at.phase.id.clone(), step })
    }

    /// Takes a delivery back, if it was this host that has recorded the beginning: nobody else knows how far it came.
    pub(super) async fn roll_back(
        &self,
        at: AttemptContext<'_>,
        step: DeliveryStep,
        cancel: &CancellationToken,
    ) -> Result<JobEvent, Stopped> {
        let held = self.take_up(name(at, step.gate, step.round));
        if held.is_none() {
            self.shared.checkouts.end(at.job, Some(&label(at, step, DeliveryPart::Rollback))).await;
            let message = "Helix ended while it rolled back: how far that came is unknown".to_owned();
            let hint = Some(Language::English.words(&recorded!("hint-person-needed")));
            return Err(Fault { kind: FaultKind::Environment, message, hint, said: None }.into());
        }
        let report = self.part(at, step, DeliveryPart::Rollback, cancel).await?;
        Ok(JobEvent::RollbackFinished { phase: at.phase.id.clone(), step, report })
    }

    /// What a former host had, this one may lack: a check that fails for that says nothing.
    async fn check_obstacles(&self, at: AttemptContext<'_>, step: DeliveryStep) -> Result<(), Fault> {
        let delivery = at.phase.gates.get(step.gate).and_then(|spec| spec.delivery());
        let environment = self.tool_environment(at.job, at.active, at.phase).await?;
        match delivery.and_then(|delivery| delivery_obstacle(delivery, &environment)) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    async fn part(
        &self,
        at: AttemptContext<'_>,
        step: DeliveryStep,
        part: DeliveryPart,
        cancel: &CancellationToken,
    ) -> Result<GateReport, Stopped> {
        let label = label(at, step, part);
        let check = GateCheck { label, part, ..GateCheck::of_attempt(at, at.result()?, step.gate, cancel) };
        self.gate_report(check).await
    }
}

/// Names the files of a health check or a rollback.
fn label(at: AttemptContext<'_>, step: DeliveryStep, part: DeliveryPart) -> String {
    let DeliveryStep { attempt, gate, round } = step;
    let part = if part == DeliveryPart::Rollback { "rollback" } else { "health" };
    format!("{}.{attempt}.{gate}.{part}-{round}", at.phase.id)
}
