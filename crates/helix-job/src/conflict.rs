//! The phase that brings contradicting results together.
//!
//! Must not know git: the contradiction is given as phases and paths.

use super::illegal::Illegal;
use helix_core::ids::PhaseId;
use helix_plan::{GateSpec, OnFailure, Phase, PhaseType, Plan};

/// Tries at bringing two results together before it is escalated.
const MAX_ATTEMPTS: u32 = 2;

/// Makes the phase for the `nth` conflict of a job. Its gates are the union of those of the phases between which it stands,
/// but for those about one phase's own claims and those that a person or a reviewer has answered already.
///
/// # Errors
/// One of the phases is not in the plan.
pub(super) fn phase(plan: &Plan, nth: usize, between: &[PhaseId], paths: &[String]) -> Result<Phase, Illegal> {
    let mut sources = Vec::new();
    for id in between {
        sources.push(plan.phase(id).ok_or_else(|| Illegal::UnknownPhase(id.clone()))?);
    }
    let last = *sources.last().ok_or(Illegal::EMPTY_CONFLICT)?;
    let mut gates = vec![GateSpec::ConflictsResolved { files: paths.to_vec() }];
    for gate in sources.iter().flat_map(|phase| &phase.gates) {
        if gate.checks_a_sum() && !gate.is_about_claims() && !gates.contains(gate) {
            gates.push(gate.clone());
        }
    }
    let names: Vec<&str> = between.iter().map(PhaseId::as_str).collect();
    let mut number = nth + 1;
    let id = loop {
        let id = PhaseId::new(format!("integrate-{number}"))?;
        if plan.phase(&id).is_none() {
            break id;
        }
        number += 1;
    };
    Ok(Phase {
        id,
        name: format!("Merge {}", names.join(" and ")),
        kind: PhaseType::Integration,
        description: format!(
            "The results of the phases {} contradict each other in: {}. Your working directory holds their merge, with conflict \
             markers where they contradict. Resolve every conflict so that what each of the phases was to do still holds, and \
             leave no marker. Change nothing else.",
            names.join(", "),
            paths.join(", ")
        ),
        depends_on: between.to_vec(),
        skills: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        gates,
        verify: None,
        approval: None,
        on_failure: OnFailure::Escalate,
        optional: false,
        generates_phases: None,
        network: None,
        max_attempts: MAX_ATTEMPTS,
        // Agent, model and limits.
        ..last.clone()
    })
}
