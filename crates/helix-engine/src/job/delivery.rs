//! Gates of attempts, and what is checked before one that acts outside of the repository begins.
//!
//! Must not know what a delivery does.

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::said::Words;
use helix_job::{Committed, GateReport, JobEvent, Validated};
use helix_language::{ErrorView, fault_with_hint, recorded, summed_up};
use helix_plan::Phase;
use tokio_util::sync::CancellationToken;

use super::claim::target;
use super::effects::{AttemptContext, EffectRunner, Stopped};
use super::gate::GateCheck;
use super::target::claim_name;
use helix_gates::{WorkOf, delivery_obstacle};

/// What speaks against a delivery, as the answer of its gate.
struct Refusal {
    verdict: Verdict,
    summary: Words,
}

impl EffectRunner {
    pub(super) async fn run_gate(
        &self,
        at: AttemptContext<'_>,
        gate: usize,
        cancel: &CancellationToken,
    ) -> Result<JobEvent, Stopped> {
        let AttemptContext { active, phase, attempt: this, .. } = at;
        let result = at.result()?;
        let delivers = phase.gates.get(gate).is_some_and(|spec| spec.delivery().is_some());
        let check = GateCheck::of_attempt(at, result, gate, cancel);
        let held = self.take_up(name(at, gate, 0));
        let report = if delivers && held.is_none() {
            self.shared.checkouts.end(at.job, Some(&check.label)).await;
            interrupted(phase, gate, result)
        } else {
            let mut report = self.gate_report(check).await?;
            if delivers {
                report.notes.extend(active.delivered_before(&phase.id, gate, &result.tree));
            }
            report
        };
        Ok(JobEvent::GateFinished { phase: phase.id.clone(), attempt: this.begin.attempt, gate, report })
    }

    /// Makes the checks that the tree has not passed yet. If they pass, this host may carry the delivery out as soon as its
    /// beginning is on record; else the gate has its answer.
    pub(super) async fn begin_delivery(
        &self,
        at: AttemptContext<'_>,
        gate: usize,
        cancel: &CancellationToken,
    ) -> Result<JobEvent, Stopped> {
        let (phase, attempt, result) = (at.phase.id.clone(), at.attempt.begin.attempt, at.result()?);
        let label = format!("{phase}.{gate}");
        let check = GateCheck { label, ..GateCheck::of_attempt(at, result, gate, cancel) };
        Ok(match self.validate_before(check).await? {
            Ok(validation) => {
                let target = target(at, gate);
                let held = self.claim(name(at, gate, 0), &target, cancel).await?;
                let baseline = Some(self.baseline(at, gate, &target, result).await?);
                held.keep();
                JobEvent::DeliveryBegun { phase, attempt, gate, tree: result.tree.clone(), validation, baseline }
            }
            Err(refusal) => {
                JobEvent::GateFinished { phase, attempt, gate, report: answer(at.phase, gate, result, refusal) }
            }
        })
    }

    async fn validate_before(&self, check: GateCheck<'_>) -> Result<Result<Vec<Validated>, Refusal>, Stopped> {
        let GateCheck { job, active, phase, base, result, gate, .. } = check;
        if !active.is_vouched_for(phase, gate) {
            return Ok(Err(Refusal::not_validated(phase)));
        }
        let delivery = phase.gates.get(gate).and_then(|spec| spec.delivery());
        let environment = self.tool_environment(job, active, phase).await?;
        if let Some(fault) = delivery.and_then(|delivery| delivery_obstacle(delivery, &environment)) {
            return Ok(Err(Refusal::fault(fault)));
        }
        let mut validation = Vec::new();
        // Claims and changes are those of everything that the job has done up to here.
        let origin = active.spec.repo.base.clone();
        let missing = active.unvalidated(&phase.id, &result.tree);
        let whole = match missing.is_empty() {
            true => result.clone(),
            false => self.committed(active, &origin, &result.commit, result.branch.clone()).await?,
        };
        for (owner, index) in missing {
            // What the phase itself changed is measured from its own base by its own gates only.
            let from = if owner.id == phase.id { base } else { &origin };
            let label = format!("{}.before.{}.{index}", check.label, owner.id);
            let before = GateCheck {
                phase: owner,
                attempt: None,
                of: WorkOf::Job,
                base: from,
                result: &whole,
                gate: index,
                label,
                ..check
            };
            let report = self.gate_report(before).await?;
            if !report.verdict.passed() {
                return Ok(Err(Refusal::by(owner, report)));
            }
            validation.push(Validated { phase: owner.id.clone(), gate: index, report });
        }
        Ok(Ok(validation))
    }
}

impl Refusal {
    fn not_validated(phase: &Phase) -> Self {
        let message = recorded!("gate-not-validated", phase = phase.id.as_str());
        let hint = message.hint();
        Self::fault(fault_with_hint(FaultKind::Environment, message, hint))
    }

    fn fault(fault: Fault) -> Self {
        Self { summary: ErrorView::of_fault(&fault).words(), verdict: Verdict::Inconclusive { fault } }
    }

    /// A gate of a phase before does not pass on the tree that is to be delivered.
    fn by(owner: &Phase, report: GateReport) -> Self {
        let (phase, why) = (owner.id.as_str(), report.words());
        let summary = recorded!("gate-not-delivered", gate = &report.gate, phase = phase, why = why);
        Self { verdict: report.verdict, summary }
    }
}

/// The answer about a delivery that a former host began and whose end nobody saw.
pub(super) fn interrupted(phase: &Phase, gate: usize, result: &Committed) -> GateReport {
    let what = phase.gates.get(gate).and_then(|spec| spec.delivery()).map(|delivery| delivery.words());
    let (tree, what) = (result.tree.as_str(), what.unwrap_or_default());
    let message = recorded!("gate-delivery-interrupted", tree = tree, what = what);
    let hint = match phase.gates.get(gate).and_then(|spec| spec.delivery()) {
        Some(delivery) if !delivery.rollback.is_empty() => recorded!("gate-look-or-roll-back"),
        Some(_) | None => recorded!("gate-look-and-resume"),
    };
    answer(phase, gate, result, Refusal::fault(fault_with_hint(FaultKind::Environment, message, hint)))
}

fn answer(phase: &Phase, gate: usize, result: &Committed, refusal: Refusal) -> GateReport {
    let name = phase.gates.get(gate).map_or("?", |spec| spec.name());
    summed_up(GateReport::new(name, refusal.verdict, String::new(), result.tree.clone()), refusal.summary)
}

/// Names a delivery (round 0) or a rollback of it.
pub(super) fn name(at: AttemptContext<'_>, gate: usize, round: u32) -> String {
    claim_name(&at.attempt.begin.run, gate, round)
}
