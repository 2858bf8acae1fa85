//! The agents of a job: as they were configured where it was submitted, no matter who is its host by now.
//!
//! Must not know what they are asked. Profiles lie beside the journal and not in it: they may hold keys, and events are shown
//! to everybody who may see a job.

use std::path::{Path, PathBuf};

use helix_agents::{AgentProfile, agent_kind};
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::JobId;
use helix_job::Active;
use helix_language::{fault, recorded};
use helix_plan::Phase;
use serde::{Deserialize, Serialize};

use super::effects::{EffectRunner, blocking_fault};
use crate::absent::unless_absent;
use crate::agent_run::AgentRunner;
use helix_process::{Prepared, ToolEnvironment, find_program, is_toolchain};
use helix_workspace::Workspace;

/// Below the state directory.
const DIRECTORY: &str = "agents";

fn file_of(state: &Path, job: &JobId) -> PathBuf {
    state.join(DIRECTORY).join(format!("{job}.json"))
}

/// What of the configuration goes with a job.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Configured {
    pub(crate) agents: Vec<AgentProfile>,
    /// How its work places are prepared.
    pub(crate) workspace: Workspace,
}

/// Keeps the configuration of a job, whole or not at all, for its owner's eyes only.
///
/// # Errors
/// The state directory cannot be written.
pub(crate) fn keep_configured(state: &Path, job: &JobId, configured: &Configured) -> std::io::Result<()> {
    let directory = state.join(DIRECTORY);
    std::fs::create_dir_all(&directory)?;
    helix_process::replace_private(&file_of(state, job), &serde_json::to_vec(configured)?)?;
    std::fs::File::open(directory)?.sync_all()
}

/// Keeps the configuration of a job that a person takes up again: what is configured now, and agents that are configured no more.
///
/// # Errors
/// What was kept cannot be read, or the state directory cannot be written.
pub(crate) fn renew_configured(state: &Path, job: &JobId, mut now: Configured) -> std::io::Result<()> {
    let before = kept_configured(state, job)?.unwrap_or_default().agents;
    let gone: Vec<_> = before.into_iter().filter(|old| now.agents.iter().all(|new| new.name != old.name)).collect();
    now.agents.extend(gone);
    keep_configured(state, job, &now)
}

/// What was kept for a job; `None` once somebody has removed the file.
pub(crate) fn kept_configured(state: &Path, job: &JobId) -> std::io::Result<Option<Configured>> {
    let bytes = unless_absent(std::fs::read(file_of(state, job)))?;
    Ok(bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?)
}

impl EffectRunner {
    /// The configuration that goes with a job; that of this host where none was kept.
    pub(super) async fn configured(&self, job: &JobId) -> Result<Configured, Fault> {
        let (state, id) = (self.state().root().to_path_buf(), job.clone());
        let kept = blocking_fault(move || {
            kept_configured(&state, &id).map_err(|error| {
                let file = file_of(&state, &id).display().to_string();
                fault(FaultKind::Environment, recorded!("fault-agents", file = file, error = error.to_string()))
            })
        });
        let own = || Configured { agents: self.runner().profiles().to_vec(), ..Configured::default() };
        Ok(kept.await?.unwrap_or_else(own))
    }

    /// Runs the agents of a job as they were configured when it was submitted, in its virtual environment.
    pub(super) async fn runner_of(&self, job: &JobId, active: &Active) -> Result<AgentRunner, Fault> {
        self.runner_in(job, active, None).await
    }

    /// The same for a work place: a virtual environment that was prepared for it goes before the one of the user.
    pub(super) async fn runner_in(
        &self,
        job: &JobId,
        active: &Active,
        prepared: Option<&Prepared>,
    ) -> Result<AgentRunner, Fault> {
        let Configured { mut agents, workspace } = self.configured(job).await?;
        let venv = prepared.and_then(Prepared::venv).or_else(|| active.spec.venv.clone());
        for profile in &mut agents {
            if let Some(venv) = &venv {
                *profile = in_venv(profile.clone(), venv);
            }
            for (name, value) in &workspace.env {
                profile.env.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Ok(self.runner().with_profiles(agents))
    }

    /// Who carries a phase out.
    pub(super) fn agent_of(&self, active: &Active, phase: &Phase) -> String {
        phase.agent.as_ref().unwrap_or(&active.spec.default_agent).clone()
    }

    /// The environment of gates' commands: what the phase's agent gets of the environment, without its provider's keys.
    pub(super) async fn tool_environment(
        &self,
        job: &JobId,
        active: &Active,
        phase: &Phase,
    ) -> Result<ToolEnvironment, Fault> {
        let (agent, runner) = (self.agent_of(active, phase), self.runner_of(job, active).await?);
        // An agent that is configured no more says nothing of its environment.
        let environment = gate_environment(runner.profile(&agent).ok(), None);
        let variables = self.configured(job).await?.workspace.env;
        Ok(variables.into_iter().fold(environment, |environment, (name, value)| environment.with(name, value)))
    }
}

/// The environment of the commands of gates of phases that an agent carries out, where it is configured, in a virtual environment.
pub(crate) fn gate_environment(profile: Option<&AgentProfile>, venv: Option<&str>) -> ToolEnvironment {
    let own = || ToolEnvironment::from_process(&[]);
    match (profile, venv) {
        (Some(profile), Some(venv)) => of_agent(&in_venv(profile.clone(), venv)),
        (Some(profile), None) => of_agent(profile),
        (None, _) => own(),
    }
}

/// An agent that finds the programs of a virtual environment first; its own is still the one that it was.
fn in_venv(mut profile: AgentProfile, venv: &str) -> AgentProfile {
    let own = || ToolEnvironment::from_process(&[]).get("PATH").unwrap_or_default().to_owned();
    let path = profile.env.get("PATH").cloned().unwrap_or_else(own);
    if let Some(program) = profile.command.first_mut().filter(|program| !program.contains('/')) {
        let found = find_program(Path::new(program.as_str()), &path, Path::new("/"));
        // Not found there, it must not be found in the repository's environment either, which would get the provider's keys.
        let Some(found) = found.ok().and_then(|found| Some(found.to_str()?.to_owned())) else { return profile };
        *program = found;
    }
    profile.env.insert("PATH".into(), format!("{venv}/bin:{path}"));
    profile.env.insert("VIRTUAL_ENV".into(), venv.to_owned());
    profile
}

/// The environment of an agent without its provider's keys: what its profile sets of a toolchain wins, and nothing else that
/// the profile sets is taken.
fn of_agent(profile: &AgentProfile) -> ToolEnvironment {
    let keys = agent_kind(profile.dialect).passed_variables;
    let passed = profile.pass_env.iter().filter(|name| !keys.contains(&name.as_str()));
    let own = profile.env.iter().filter(|(name, _)| is_toolchain(name));
    let environment = ToolEnvironment::from_process(&passed.cloned().collect::<Vec<_>>());
    own.fold(environment, |environment, (name, value)| environment.with(name, value))
}
