//! Whether the gates of a plan can say anything where it starts: their commands are tried there once, before anything is paid.
//!
//! Must not start a job or record anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::PhaseId;
use helix_gates::{Claims, GateContext, Ready};
use helix_git::Repository;
use helix_job::JobSpec;
use helix_plan::{GateSpec, Phase};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::job::gate_environment;
use crate::submit::workspace_of;
use crate::work_gates::{Scratch, WorkTask, baselines_of, looked};

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
pub(crate) fn obstacle(checks: &[PreflightCheck]) -> Option<Fault> {
    let mut wrong = Vec::new();
    let mut remedies: Vec<&str> = Vec::new();
    for check in checks {
        if let PreflightFound::Cannot { why, remedy } = &check.found {
            wrong.push(format!("{why} (gate {} of phase {})", check.gate, check.phase));
            remedies.extend(remedy.as_deref().filter(|remedy| !remedies.contains(remedy)));
        }
    }
    (!wrong.is_empty()).then(|| Fault {
        kind: FaultKind::Environment,
        message: format!("no agent was started: {}", wrong.join("; ")),
        hint: Some(format!("{}; or start without this check: `--no-preflight`", remedies.join("; "))),
    })
}

/// Tries the commands of a job's gates on the commit that it would start from; `state` is the state directory in which it is kept what
/// they give.
///
/// # Errors
/// The repository cannot be read, or nothing can be run here.
#[boxed]
pub async fn preflight(
    spec: &JobSpec,
    config: &EngineConfig,
    state: &Path,
    cancel: &CancellationToken,
) -> Result<Vec<PreflightCheck>, EngineError> {
    let gates = to_try(spec);
    if gates.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = Scratch::new()?;
    let (top, site, base, git) =
        (spec.repo.path.clone(), scratch.root.clone(), spec.repo.base.clone(), config.git.clone());
    let looked = helix_process::spawn_blocking(move || {
        let repository = Repository::open(Path::new(&top), git).map_err(EngineError::environment)?;
        let top = repository.top().to_owned();
        looked(repository, &site, Some(base.clone()), &base, (None, top))
    });
    let looked = looked.await.map_err(EngineError::environment)??;
    let workspaces = config.workspaces.clone();
    let top = PathBuf::from(&spec.repo.path);
    let read = helix_process::spawn_blocking(move || workspace_of(&workspaces, &top));
    let workspace = read.await.map_err(EngineError::environment)?.map_err(EngineError::environment)?;
    let variables: Vec<_> = workspace.env.clone().into_iter().collect();
    let task = WorkTask::of_job(spec.clone(), Some(spec.repo.base.clone())).prepared(state.to_owned(), workspace);
    let bench = task.bench(looked, &scratch, config.helix.clone(), config.sandbox.clone(), cancel)?;
    let mut checks = Vec::new();
    for (number, (phase, gate)) in gates.into_iter().enumerate() {
        let agent = phase.agent.as_ref().unwrap_or(&spec.default_agent);
        let profile = config.agents.iter().find(|profile| profile.name == *agent);
        let environment = gate_environment(profile, spec.venv.as_deref());
        let environment = variables.iter().fold(environment, |all, (name, value)| all.with(name, value));
        let context = GateContext {
            label: format!("preflight.{number}"),
            claims: Claims::of_phase(&spec.plan, phase),
            environment,
            baselines: baselines_of(state),
            ..bench.context(phase, 0, bench.result())
        };
        let found = helix_gates::preflight(Arc::new(context), gate).await;
        if cancel.is_cancelled() {
            return Err(EngineError::refused("interrupted"));
        }
        let ready = found.unwrap_or_else(|fault| Some(Ready::Cannot(fault)));
        checks.extend(ready.map(|ready| PreflightCheck::new(phase, gate, ready)));
    }
    Ok(checks)
}
