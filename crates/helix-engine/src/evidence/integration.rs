//! What proves an integrated result: that it holds every phase's result, and that its very tree was checked.
//!
//! Must not know how results are integrated.

use helix_job::{Active, Integrated, IntegrationTarget, PhaseState, recorded};
use helix_plan::GateSpec;

use super::examiner::{Examiner, doubt, no_commit};
use super::{IntegrationEvidence, Standing};
use crate::error::EngineError;

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
        if validated_by.is_none() && *target != IntegrationTarget::Nowhere {
            for (place, (phase, index)) in active.gates_of_sum().into_iter().enumerate() {
                let Some(name) = phase.gates.get(index).map(GateSpec::name) else { continue };
                if reports.get(place).is_none_or(|report| report.gate != name || !report.verdict.passed()) {
                    missing.push(recorded!("lacks-pass-sum", gate = name, phase = phase.id.as_str()));
                }
            }
        }
        missing.extend(gates.iter().filter_map(|gate| doubt(gate, Some(&result.tree))));
        let standing = if missing.is_empty() { Standing::Proved } else { Standing::Unproved };
        Ok(IntegrationEvidence { result: found, target: target.clone(), standing, missing, validated_by, gates })
    }
}
