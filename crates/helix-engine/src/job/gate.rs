//! Runs one gate of a try, or of a combined result.
//!
//! Must not know what a gate checks.

use std::sync::Arc;

use helix_core::finding::{Fault, Finding, Verdict};
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_job::{Active, Committed, GateReport, JobEvent};
use helix_plan::Phase;
use tokio_util::sync::CancellationToken;

use super::effects::{EffectRunner, attempt_of, phase_of};
use crate::admission::{Owner, Ticket, Urgency};
use helix_gates::{GateContext, run_gate, runs_command};

/// A gate and the commit that it is to check.
pub(super) struct GateCheck<'a> {
    pub(super) job: &'a JobId,
    pub(super) active: &'a Active,
    /// Whose gate it is.
    pub(super) phase: &'a Phase,
    /// Where the changes to be checked begin.
    pub(super) base: &'a CommitId,
    pub(super) result: &'a Committed,
    /// Index in the phase's list.
    pub(super) gate: usize,
    /// Names the check's files.
    pub(super) label: String,
    pub(super) cancel: &'a CancellationToken,
}

impl EffectRunner {
    pub(super) async fn run_gate(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        attempt: u32,
        gate: usize,
        cancel: CancellationToken,
    ) -> Option<JobEvent> {
        let faulted = |fault| Some(JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault });
        let (phase, this) = match (phase_of(active, id), attempt_of(active, id, attempt)) {
            (Ok(phase), Ok(this)) => (phase, this),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        let Some(result) = &this.result else { return None };
        let delivers = phase.gates.get(gate).is_some_and(|spec| spec.delivery().is_some());
        if delivers && !self.takes_up_delivery(job, id, attempt, gate) {
            let report = super::delivery::interrupted(phase, gate, result);
            return Some(JobEvent::GateFinished { phase: id.clone(), attempt, gate, report });
        }
        let label = format!("{id}.{attempt}.{gate}");
        let check = GateCheck { job, active, phase, base: &this.base, result, gate, label, cancel: &cancel };
        match self.gate_report(check).await? {
            Ok(mut report) => {
                if delivers {
                    report.notes.extend(super::delivery::former_notes(active, id, gate, result));
                }
                Some(JobEvent::GateFinished { phase: id.clone(), attempt, gate, report })
            }
            Err(fault) => faulted(fault),
        }
    }

    /// The gate's answer about a commit; `None` when it is no longer wanted.
    pub(super) async fn gate_report(&self, check: GateCheck<'_>) -> Option<Result<GateReport, Fault>> {
        let GateCheck { job, active, phase, base, result, gate, label, cancel } = check;
        let spaces = match self.workspaces(&active.spec).await {
            Ok(spaces) => spaces,
            Err(fault) => return Some(Err(fault)),
        };
        let spec = phase.gates.get(gate)?;
        // Commands of gates need cores and memory as agents do: so many at a time over all jobs.
        let ticket =
            Ticket { owner: Owner::Job(job.clone()), phase: Some(phase.id.clone()), urgency: Urgency::Continue };
        let _place = match runs_command(spec) {
            false => None,
            true => tokio::select! {
                biased;
                () = cancel.cancelled() => return None,
                place = self.gate_places().enter(ticket) => Some(place.ok()?),
            },
        };
        let environment = match self.tool_environment(job, active, phase).await {
            Ok(environment) => environment,
            Err(fault) => return Some(Err(fault)),
        };
        let context = Arc::new(GateContext {
            spaces,
            job: job.clone(),
            phase: phase.clone(),
            plan_adr: active.spec.plan.adr.clone(),
            adr: active.spec.adr.clone(),
            origin: active.spec.repo.base.clone(),
            base: base.clone(),
            result: result.clone(),
            gate_files: active.spec.gate_files.clone(),
            label,
            state: self.state().root().to_path_buf(),
            environment,
            checkouts: self.checkouts().clone(),
            keep: Vec::new(),
        });
        let report = run_gate(context, spec, cancel).await;
        // An answer that came of being cancelled is none: the gate runs again if it is still wanted.
        let interrupted = cancel.is_cancelled() && matches!(report.verdict, Verdict::Inconclusive { .. });
        (!interrupted).then_some(Ok(report))
    }
}

/// A fault as a finding, for places that only know findings.
pub(super) fn fault_finding(fault: &Fault) -> Finding {
    Finding {
        rule: "helix.fault".into(),
        message: fault.message.clone(),
        place: None,
        evidence: None,
        fix: fault.hint.clone(),
    }
}
