//! What proves an integrated result: that it holds every phase's result, and that its very tree was checked.
//!
//! Must not know how results are integrated.

use helix_core::said::Words;
use helix_job::{Active, Committed, Integrated, IntegrationTarget, PhaseState};
use helix_language::recorded;
use helix_plan::{Approval, GateSpec, Phase};

use super::examiner::{Examiner, doubt, no_commit};
use super::{IntegrationEvidence, Standing};
use crate::error::EngineError;

/// Whether a person or another agent has to approve what a phase did.
fn is_approved(phase: &Phase) -> bool {
    let asks = |gate: &GateSpec| {
        matches!(gate, GateSpec::ReviewApproved { .. } | GateSpec::Approval { .. } | GateSpec::Manual { .. })
    };
    phase.verify.is_some() || phase.approval == Some(Approval::After) || phase.gates.iter().any(asks)
}

/// What a phase changed of the work of another one that was approved, if nobody approved it since.
fn changed_since(active: &Active, passed: &[(&Phase, &Committed)]) -> Vec<Words> {
    let ancestry = active.spec.plan.ancestry();
    let touches = |result: &Committed, path: &str| result.changed.iter().any(|file| file.path == path);
    let mut found = Vec::new();
    for (phase, own) in passed.iter().filter(|(phase, _)| is_approved(phase)) {
        let others =
            passed.iter().filter(|(other, _)| !is_approved(other) && !ancestry.is_before(&other.id, &phase.id));
        for (other, result) in others {
            let since = |path: &str| {
                let mut later = passed.iter().filter(|(later, _)| ancestry.is_before(&other.id, &later.id));
                later.any(|(later, result)| is_approved(later) && touches(result, path))
            };
            let paths = own.changed.iter().map(|file| file.path.as_str());
            let paths: Vec<&str> = paths.filter(|path| touches(result, path) && !since(path)).collect();
            if let Some(first) = paths.first() {
                let files = match paths.len() {
                    1 => (*first).to_owned(),
                    many => format!("{first} (+{})", many - 1),
                };
                let (phase, later) = (phase.id.as_str(), other.id.as_str());
                found.push(recorded!("lacks-since", files = files, phase = phase, later = later));
            }
        }
    }
    found
}

impl Examiner<'_> {
    /// The evidence of an integrated result.
    ///
    /// # Errors
    /// Git failed.
    pub(super) fn integration(&self, active: &Active, done: &Integrated) -> Result<IntegrationEvidence, EngineError> {
        let Integrated { result, target, gates: reports } = done;
        let found = self.result(result);
        let gates = self.gates(reports);
        let mut missing = Vec::new();
        if !found.found {
            missing.push(no_commit(&found));
        }
        let passed = active.pairs().filter_map(|(phase, progress)| match &progress.state {
            PhaseState::Passed { result, .. } => Some((phase, result)),
            _ => None,
        });
        let passed: Vec<_> = passed.collect();
        // Where nothing had changed, there was nothing to put anywhere.
        if found.found && *target != IntegrationTarget::Nowhere {
            for (phase, own) in &passed {
                if !self.look.holds(&result.commit, &own.commit)? {
                    missing.push(recorded!("lacks-phase", commit = own.commit.as_str(), phase = phase.id.as_str()));
                }
            }
        }
        let validated_by = passed.iter().find(|(_, own)| own.tree == result.tree).map(|(phase, _)| phase.id.clone());
        let overruled = active.pairs().filter(|(_, progress)| matches!(progress.state, PhaseState::Passed { .. }));
        let overruled: Vec<_> = overruled.filter(|(_, progress)| !progress.accepted().is_empty()).collect();
        missing.extend(overruled.iter().map(|(phase, _)| recorded!("lacks-overruled", phase = phase.id.as_str())));
        if *target != IntegrationTarget::Nowhere {
            let asked = match validated_by {
                Some(_) => active.gates_to_confirm(&result.tree),
                None => active.gates_of_sum(),
            };
            let mut passes: Vec<&str> =
                reports.iter().filter(|report| report.verdict.passed()).map(|report| report.gate.as_str()).collect();
            for (phase, index) in asked {
                let Some(name) = phase.gates.get(index).map(GateSpec::name) else { continue };
                match passes.iter().position(|passed| *passed == name) {
                    Some(place) => drop(passes.remove(place)),
                    None => missing.push(recorded!("lacks-pass-sum", gate = name, phase = phase.id.as_str())),
                }
            }
            missing.extend(changed_since(active, &passed));
        }
        missing.extend(gates.iter().filter_map(|gate| doubt(gate, Some(&result.tree))));
        // What a person has overruled validates nothing.
        let validated_by = validated_by.filter(|id| overruled.iter().all(|(phase, _)| phase.id != *id));
        let standing = if missing.is_empty() { Standing::Proved } else { Standing::Unproved };
        Ok(IntegrationEvidence { result: found, target: target.clone(), standing, missing, validated_by, gates })
    }
}
