//! What a preflight tries, and what came of it.
//!
//! Must not run anything.

use std::sync::Arc;

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::PhaseId;
use helix_core::said::Words;
use helix_gates::Ready;
use helix_job::JobSpec;
use helix_language::{ErrorView, fault_with_hint, recorded};
use helix_plan::{GateSpec, Phase};
use serde::Serialize;

/// What came of a job's preflight, once it is known.
pub(super) type PreflightResult = Arc<tokio::sync::Mutex<Option<Result<(), Fault>>>>;

/// What came of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreflightCheck {
    /// The first phase whose gate it is.
    pub phase: PhaseId,
    pub gate: &'static str,
    pub command: String,
    #[serde(flatten)]
    pub found: PreflightFound,
}

/// What a command gives on the commit that a job starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum PreflightFound {
    Passes,
    /// Its gate compares with that.
    Fails {
        #[serde(with = "helix_language::english::one")]
        how: Words,
    },
    /// It can say nothing about the work.
    Cannot {
        why: String,
        remedy: Option<String>,
        /// The same, as it is told to people.
        #[serde(skip)]
        told: ErrorView,
    },
}

impl PreflightCheck {
    pub(crate) fn new(phase: &Phase, gate: &GateSpec, ready: Ready) -> Self {
        let found = match ready {
            Ready::Passes => PreflightFound::Passes,
            Ready::Fails(how) => PreflightFound::Fails { how },
            Ready::Cannot(fault) => {
                let told = ErrorView::of_fault(&fault);
                PreflightFound::Cannot { why: fault.message, remedy: fault.hint, told }
            }
        };
        Self { phase: phase.id.clone(), gate: gate.name(), command: gate.commands().concat(), found }
    }

    /// Whether a job would stop at it.
    pub fn stops(&self) -> bool {
        matches!(self.found, PreflightFound::Cannot { .. })
    }
}

/// The gates whose commands are tried: each command once.
pub(crate) fn to_try(spec: &JobSpec) -> Vec<(&Phase, &GateSpec)> {
    let chosen = |phase: &&Phase| spec.only.as_ref().is_none_or(|only| only.contains(&phase.id));
    let mut gates: Vec<(&Phase, &GateSpec)> = Vec::new();
    for phase in spec.plan.phases.iter().filter(chosen) {
        for gate in &phase.gates {
            let tried = matches!(
                gate,
                GateSpec::TestsPass(_)
                    | GateSpec::LintPass { .. }
                    | GateSpec::BuildPass { .. }
                    | GateSpec::Command { .. }
            );
            let counts = |gate: &GateSpec| matches!(gate, GateSpec::TestsPass(_));
            let same = |(other, known): &(&Phase, &GateSpec)| {
                known.commands() == gate.commands()
                    && counts(known) == counts(gate)
                    && (&other.agent, other.network) == (&phase.agent, phase.network)
            };
            if tried && !gates.iter().any(same) {
                gates.push((phase, gate));
            }
        }
    }
    gates
}

/// Why a job must not begin; `None` where every command can run.
pub(super) fn obstacle(checks: &[PreflightCheck]) -> Option<Fault> {
    let (mut wrong, mut remedies): (Vec<Words>, Vec<Words>) = Default::default();
    for check in checks {
        if let PreflightFound::Cannot { told, .. } = &check.found {
            wrong.push(recorded!(
                "gate-obstacle-of",
                why = told.words(),
                gate = check.gate,
                phase = check.phase.as_str()
            ));
            remedies.extend(Some(told.hint_words()).filter(|remedy| !remedy.is_empty() && !remedies.contains(remedy)));
        }
    }
    let joined = |all: Vec<Words>| all.into_iter().reduce(|all, one| all.and("; ").and(one));
    let why = joined(wrong)?;
    let hint = recorded!("gate-obstacle-remedy", remedy = joined(remedies).unwrap_or_default());
    Some(fault_with_hint(FaultKind::Environment, recorded!("gate-obstacle", why = why), hint))
}
