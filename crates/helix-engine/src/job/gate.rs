//! Runs one gate on a commit: the result of an attempt, or several results put together.
//!
//! Must not know what a gate checks.

use std::sync::Arc;

use helix_core::finding::{Fault, Finding, Verdict};
use helix_core::ids::{CommitId, JobId};
use helix_job::{Active, Committed, GateReport};
use helix_language::ErrorView;
use helix_plan::Phase;
use tokio_util::sync::CancellationToken;

use super::effects::{AttemptContext, EffectRunner, Stopped, continuing};
use crate::work_gates::{baselines_of, changes_freely, claims_of_phase, claims_of_sum, named_by_plan};
use helix_gates::{Claims, DeliveryPart, GateContext, WorkOf, run_delivery_part, run_gate, runs_command};
use helix_git::Workspaces;
use helix_process::ToolEnvironment;

/// A gate and the commit that it is to check.
pub(super) struct GateCheck<'a> {
    pub(super) job: &'a JobId,
    pub(super) active: &'a Active,
    /// Whose gate it is.
    pub(super) phase: &'a Phase,
    /// Its number, if the commit is the result of one attempt.
    pub(super) attempt: Option<u32>,
    /// Whose work the commit is.
    pub(super) of: WorkOf,
    /// Where the changes to be checked begin.
    pub(super) base: &'a CommitId,
    pub(super) result: &'a Committed,
    /// Index in the phase's list.
    pub(super) gate: usize,
    /// Names the check's files.
    pub(super) label: String,
    /// What is carried out of a gate that delivers.
    pub(super) part: DeliveryPart,
    pub(super) cancel: &'a CancellationToken,
}

impl<'a> GateCheck<'a> {
    /// A gate of the phase on the result of its attempt.
    pub(super) fn of_attempt(
        at: AttemptContext<'a>,
        result: &'a Committed,
        gate: usize,
        cancel: &'a CancellationToken,
    ) -> Self {
        let AttemptContext { job, active, phase, attempt } = at;
        let label = format!("{}.{}.{gate}", phase.id, attempt.begin.attempt);
        let part = DeliveryPart::Deliver;
        let number = Some(attempt.begin.attempt);
        let (of, base) = (WorkOf::Phase, &attempt.begin.base);
        Self { job, active, phase, attempt: number, of, base, result, gate, label, part, cancel }
    }
}

impl EffectRunner {
    /// The gate's answer about a commit.
    pub(super) async fn gate_report(&self, check: GateCheck<'_>) -> Result<GateReport, Stopped> {
        let GateCheck { job, active, phase, attempt, of, base, result, gate, label, part, cancel } = check;
        let spaces = self.workspaces(&active.spec).await?;
        let spec = phase.gates.get(gate).ok_or(Stopped::Unwanted)?;
        // Commands of gates need cores and memory as agents do: so many at a time over all jobs.
        let _place = match runs_command(spec) {
            false => None,
            true => tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Stopped::Unwanted),
                place = self.shared.gate_places.enter(continuing(job, &phase.id)) => Some(place.map_err(|_closing| Stopped::Unwanted)?),
            },
        };
        let mut environment = self.tool_environment(job, active, phase).await?;
        if spec.delivery().is_some() {
            environment = environment.with("HELIX_DEPLOYED", result.commit.as_str());
            if let Some(baseline) = attempt.and_then(|attempt| active.baseline(&phase.id, attempt, gate)) {
                environment = environment.with("HELIX_BASELINE", baseline.commit.as_str());
            }
        }
        let claims = claims(active, phase, of);
        let what = Judged { job, active, phase, claims, base, result, label };
        let context = Arc::new(self.gate_context(what, spaces, environment, cancel).await?);
        let report = match part {
            DeliveryPart::Deliver => run_gate(context, spec).await,
            DeliveryPart::Health | DeliveryPart::Rollback => run_delivery_part(context, spec, part).await,
        };
        // An answer that came of being cancelled is none: the gate runs again if it is still wanted.
        let interrupted = cancel.is_cancelled() && matches!(report.verdict, Verdict::Inconclusive { .. });
        if interrupted { Err(Stopped::Unwanted) } else { Ok(report) }
    }
}

/// What a gate is asked about.
pub(super) struct Judged<'a> {
    pub(super) job: &'a JobId,
    pub(super) active: &'a Active,
    pub(super) phase: &'a Phase,
    pub(super) claims: Claims,
    pub(super) base: &'a CommitId,
    pub(super) result: &'a Committed,
    pub(super) label: String,
}

impl EffectRunner {
    /// All that a gate may look at.
    pub(super) async fn gate_context(
        &self,
        Judged { job, active, phase, claims, base, result, label }: Judged<'_>,
        spaces: Workspaces,
        environment: ToolEnvironment,
        cancel: &CancellationToken,
    ) -> Result<GateContext, Fault> {
        let users_tree = spaces.repository().user().top().to_owned();
        Ok(GateContext {
            spaces,
            job: job.clone(),
            phase: phase.clone(),
            claims,
            plan_adr: active.spec.plan.adr.clone(),
            adr: active.spec.adr.clone(),
            origin: active.spec.repo.base.clone(),
            base: base.clone(),
            result: result.clone(),
            gate_files: active.spec.gate_files.clone(),
            label,
            state: self.state().root().to_path_buf(),
            baselines: baselines_of(self.state().root()),
            users_tree,
            environment,
            workspace: self.workspace_of(job).await?,
            checkouts: self.shared.checkouts.clone(),
            cancel: cancel.clone(),
        })
    }
}

/// What the plan lets a change touch.
fn claims(active: &Active, phase: &Phase, of: WorkOf) -> Claims {
    match of {
        WorkOf::Branch => claims_of_sum(active),
        WorkOf::Job => {
            let freely = active.pairs().any(|(phase, progress)| changes_freely(active, phase, progress));
            named_by_plan(active, Claims::of_job(&active.spec.plan, freely))
        }
        WorkOf::Phase => claims_of_phase(active, phase),
    }
}

/// A fault as a finding, for places that only know findings.
pub(super) fn fault_finding(fault: &Fault) -> Finding {
    let told = ErrorView::of_fault(fault);
    helix_language::finding_with_fix("helix.fault", told.words(), told.hint_words())
}

#[cfg(test)]
#[path = "gate_test.rs"]
mod tests;
