//! Whether the gates of a plan can say anything where it starts: their commands are tried there once, before anything is paid.
//!
//! Must not start a job or record anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use helix_gates::{Claims, GateContext, Ready};
use helix_git::Repository;
use helix_job::JobSpec;
use tokio_util::sync::CancellationToken;

use crate::config::EngineConfig;
use crate::error::EngineError;
pub use crate::job::{PreflightCheck, PreflightFound};
use crate::job::{gate_environment, to_try};
use crate::submit::workspace_of;
use crate::work_gates::{Scratch, WorkTask, baselines_of, looked};

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
    let task = WorkTask::of_job(spec, Some(spec.repo.base.clone())).prepared(state.to_owned(), workspace);
    let runner = task.runner(looked, &scratch, config.helix.clone(), config.sandbox.clone(), cancel)?;
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
            ..runner.context(phase, 0, runner.result())
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
