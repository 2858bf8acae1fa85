//! What a preflight tries, and what came of it.
//!
//! Must not run anything.

use std::sync::Arc;

use helix_core::finding::Fault;
use helix_core::ids::PhaseId;
use helix_gates::Ready;
use helix_job::JobSpec;
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
        how: String,
    },
    /// It can say nothing about the work.
    Cannot {
        why: String,
        remedy: Option<String>,
    },
}

impl PreflightCheck {
    pub(crate) fn new(phase: &Phase, gate: &GateSpec, ready: Ready) -> Self {
        let found = match ready {
            Ready::Passes => PreflightFound::Passes,
            Ready::Fails(how) => PreflightFound::Fails { how },
            Ready::Cannot(fault) => PreflightFound::Cannot { why: fault.message, remedy: fault.hint },
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
    let mut wrong = Vec::new();
    let mut remedies: Vec<&str> = Vec::new();
    for check in checks {
        if let PreflightFound::Cannot { why, remedy } = &check.found {
            wrong.push(format!("{why} (gate {} of phase {})", check.gate, check.phase));
            remedies.extend(remedy.as_deref().filter(|remedy| !remedies.contains(remedy)));
        }
    }
    (!wrong.is_empty()).then(|| {
        Fault::environment(format!("no agent was started: {}", wrong.join("; ")))
            .hint(format!("{}; or start without this check: `--no-preflight`", remedies.join("; ")))
    })
}
