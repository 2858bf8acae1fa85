//! Gates that act outside of the repository: what is checked before one begins, and who may carry it out.
//!
//! Must not know what a delivery does.

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_job::{Active, Committed, FormerEnd, GateReport, JobEvent, Validated};
use helix_plan::Phase;
use tokio_util::sync::CancellationToken;

use super::effects::{EffectRunner, attempt_of, blocking, phase_of};
use super::gate::GateCheck;
use crate::mutex::lock;
use helix_gates::delivery_obstacle;
use helix_git::Workspaces;

/// What speaks against a delivery, as the answer of its gate.
struct Refusal {
    verdict: Verdict,
    summary: String,
}

impl EffectRunner {
    /// Makes the checks that the tree has not passed yet. If they pass, this host may carry the delivery out as soon as its
    /// beginning is on record; else the gate has its answer.
    pub(super) async fn begin_delivery(
        &self,
        job: &JobId,
        active: &Active,
        id: &PhaseId,
        attempt: u32,
        gate: usize,
        cancel: &CancellationToken,
    ) -> Option<JobEvent> {
        let faulted = |fault| Some(JobEvent::AttemptFaulted { phase: id.clone(), attempt, fault });
        let (phase, this) = match (phase_of(active, id), attempt_of(active, id, attempt)) {
            (Ok(phase), Ok(this)) => (phase, this),
            (Err(fault), _) | (_, Err(fault)) => return faulted(fault),
        };
        let result = this.result.as_ref()?;
        let label = format!("{}.{gate}", phase.id);
        let check = GateCheck { job, active, phase, base: &this.base, result, gate, label, cancel };
        match self.validate_before(check).await? {
            Ok(Ok(validation)) => {
                lock(self.deliveries()).insert(key(job, id, attempt, gate));
                let (phase, tree) = (id.clone(), result.tree.clone());
                Some(JobEvent::DeliveryBegun { phase, attempt, gate, tree, validation })
            }
            Ok(Err(refusal)) => {
                let report = answer(phase, gate, result, refusal);
                Some(JobEvent::GateFinished { phase: id.clone(), attempt, gate, report })
            }
            Err(fault) => faulted(fault),
        }
    }

    /// Whether this host recorded the beginning of the delivery and has not carried it out yet. Asked once.
    pub(super) fn takes_up_delivery(&self, job: &JobId, phase: &PhaseId, attempt: u32, gate: usize) -> bool {
        lock(self.deliveries()).remove(&key(job, phase, attempt, gate))
    }

    async fn validate_before(&self, check: GateCheck<'_>) -> Option<Result<Result<Vec<Validated>, Refusal>, Fault>> {
        let GateCheck { job, active, phase, base, result, gate, .. } = check;
        if !active.is_vouched_for(phase, gate) {
            return Some(Ok(Err(Refusal::not_validated(phase))));
        }
        let delivery = phase.gates.get(gate).and_then(|spec| spec.delivery());
        let environment = match self.tool_environment(job, active, phase).await {
            Ok(environment) => environment,
            Err(fault) => return Some(Err(fault)),
        };
        let obstacle = delivery.and_then(|delivery| delivery_obstacle(delivery, &environment));
        if let Some(fault) = obstacle {
            return Some(Ok(Err(Refusal { summary: fault.message.clone(), verdict: Verdict::Inconclusive { fault } })));
        }
        let mut validation = Vec::new();
        // Claims and changes are those of everything that the job has done up to here.
        let origin = active.spec.repo.base.clone();
        let missing = active.unvalidated(&phase.id, &result.tree);
        let whole = match self.workspaces(&active.spec).await {
            Ok(spaces) if !missing.is_empty() => match since(&spaces, &origin, result).await {
                Ok(whole) => whole,
                Err(fault) => return Some(Err(fault)),
            },
            Ok(_) => result.clone(),
            Err(fault) => return Some(Err(fault)),
        };
        for (owner, index) in missing {
            // What the phase itself changed is measured from its own base by its own gates only.
            let from = if owner.id == phase.id { base } else { &origin };
            let label = format!("{}.before.{}.{index}", check.label, owner.id);
            let before = GateCheck { phase: owner, base: from, result: &whole, gate: index, label, ..check };
            let report = match self.gate_report(before).await? {
                Ok(report) => report,
                Err(fault) => return Some(Err(fault)),
            };
            if !report.verdict.passed() {
                return Some(Ok(Err(Refusal::by(owner, report))));
            }
            validation.push(Validated { phase: owner.id.clone(), gate: index, report });
        }
        Some(Ok(Ok(validation)))
    }
}

impl Refusal {
    fn not_validated(phase: &Phase) -> Self {
        let message = format!("no earlier gate validates what phase {} delivers", phase.id);
        let hint = "put a gate before it, such as `tests_pass`, or let the phase depend on one that has gates";
        let fault = Fault { kind: FaultKind::Environment, message, hint: Some(hint.into()) };
        Self { summary: fault.message.clone(), verdict: Verdict::Inconclusive { fault } }
    }

    /// A gate of a phase before does not pass on the tree that is to be delivered.
    fn by(owner: &Phase, report: GateReport) -> Self {
        let summary = format!(
            "nothing was delivered, since gate {} of phase {} does not pass on this tree: {}",
            report.gate, owner.id, report.summary
        );
        Self { verdict: report.verdict, summary }
    }
}

/// The answer about a delivery that a former host began and whose end nobody saw.
pub(super) fn interrupted(phase: &Phase, gate: usize, result: &Committed) -> GateReport {
    let what = phase.gates.get(gate).and_then(|spec| spec.delivery()).map(|delivery| delivery.words());
    let message = format!(
        "Helix ended while it delivered tree {}: its effects are unknown ({})",
        result.tree,
        what.unwrap_or_default()
    );
    let hint = "look at what is delivered; `helix jobs resume` delivers it again, from the beginning";
    let fault = Fault { kind: FaultKind::Environment, message, hint: Some(hint.into()) };
    answer(phase, gate, result, Refusal { summary: fault.message.clone(), verdict: Verdict::Inconclusive { fault } })
}

/// What is worth knowing about deliveries of the same tree before this one.
pub(super) fn former_notes(active: &Active, phase: &PhaseId, gate: usize, result: &Committed) -> Vec<String> {
    let former = active.delivered_before(phase, gate, &result.tree);
    former
        .into_iter()
        .map(|former| match former.end {
            FormerEnd::Seen => format!("attempt {} had delivered the same tree before", former.attempt),
            FormerEnd::Unseen => {
                format!("attempt {} had begun to deliver the same tree, and its end was not seen", former.attempt)
            }
        })
        .collect()
}

fn answer(phase: &Phase, gate: usize, result: &Committed, refusal: Refusal) -> GateReport {
    GateReport::new(
        phase.gates.get(gate).map_or("?", |spec| spec.name()),
        refusal.verdict,
        refusal.summary,
        result.tree.clone(),
    )
}

/// The same result with all that has changed since the job began.
async fn since(spaces: &Workspaces, origin: &CommitId, result: &Committed) -> Result<Committed, Fault> {
    let (spaces, origin, result) = (spaces.clone(), origin.clone(), result.clone());
    blocking(move || {
        let repository = spaces.repository();
        let changed = repository.changes(&repository.commit(origin.as_str())?.tree, &result.tree)?;
        Ok(Committed { changed, ..result })
    })
    .await
}

fn key(job: &JobId, phase: &PhaseId, attempt: u32, gate: usize) -> String {
    format!("{job}/{phase}/{attempt}/{gate}")
}
