//! What an engine needs to know about its environment. Filled in by `helix` from `helix.toml`, flags and the machine.
//!
//! Must not know files or formats of configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helix_agents::{AgentProfile, Sandbox};
use helix_job::{Policy, Roles};

use crate::admission::AdmissionLimits;
use crate::agent_run::RunTimeouts;
use crate::consultant::ConsultantConfig;
use crate::crash_point::CrashPoint;
use crate::failures::FailureSettings;
use helix_git::GitEnvironment;
use helix_workspace::Workspace;

/// Reads how work places of a repository are prepared, by its root; else says what is wrong, and what to do.
#[derive(Clone)]
pub struct WorkspaceSource(Arc<ReadWorkspace>);

type ReadWorkspace = dyn Fn(&Path) -> Result<Workspace, (String, String)> + Send + Sync;

impl WorkspaceSource {
    pub fn new(read: impl Fn(&Path) -> Result<Workspace, (String, String)> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Reads. Blocks.
    ///
    /// # Errors
    /// A message and a remedy.
    pub(crate) fn workspace(&self, repository: &Path) -> Result<Workspace, (String, String)> {
        (self.0)(repository)
    }
}

impl Default for WorkspaceSource {
    fn default() -> Self {
        Self::new(|repository| Ok(Workspace::of_work_tree(repository)))
    }
}

impl std::fmt::Debug for WorkspaceSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WorkspaceSource")
    }
}

/// Everything an engine is told once, at its start.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Agents by name; names are unique.
    pub agents: Vec<AgentProfile>,
    /// Agent of phases that do not name one.
    pub default_agent: String,
    /// Directories under which repositories may lie; empty means anywhere.
    pub roots: Vec<PathBuf>,
    /// Directory in which the Consultant creates new projects.
    pub projects: PathBuf,
    pub consultant: ConsultantConfig,
    /// Where the process is to die, for tests of what a crash leaves.
    pub crash: CrashPoint,
    /// Whether and how failures are remembered.
    pub failures: FailureSettings,
    /// Who reviews results and who advises on phases that cannot go on.
    pub roles: Roles,
    /// Virtual environment of Python of jobs that name none, an absolute path.
    pub venv: Option<PathBuf>,
    /// How work places are prepared.
    pub workspaces: WorkspaceSource,
    /// Policy of jobs that do not say otherwise.
    pub policy: Policy,
    /// What may be under way at the same time over all jobs and sessions.
    pub admission: AdmissionLimits,
    /// How long agents may linger, be silent, and take to stop.
    pub timeouts: RunTimeouts,
    /// What holds agents, commands of gates and deliveries back.
    pub sandbox: Sandbox,
    /// Where agents reach Helix's tools; `None` where nothing is served. Must be known at the start: jobs of a former host go on, and
    /// start agents, before anybody asks for anything.
    pub tools: Option<String>,
    /// Name of the person whose host it is.
    pub owner: String,
    /// Program and environment of git.
    pub git: GitEnvironment,
    /// Path of this `helix` binary: the keeper of agents, and for agents that call it.
    pub helix: PathBuf,
    /// The user's configuration directory: `workflows/` and `prompts/` in it are found by every project.
    pub config_dir: Option<PathBuf>,
}

impl EngineConfig {
    /// An engine without agents that makes projects here; all else is as nobody has configured it.
    pub fn new(projects: PathBuf, git: GitEnvironment) -> Self {
        Self {
            agents: Vec::new(),
            default_agent: "none".into(),
            roots: Vec::new(),
            projects,
            consultant: ConsultantConfig::new("none", Duration::from_secs(30)),
            crash: CrashPoint::default(),
            failures: FailureSettings::default(),
            roles: Roles::default(),
            venv: None,
            workspaces: WorkspaceSource::default(),
            policy: Policy::default(),
            admission: AdmissionLimits::default(),
            timeouts: RunTimeouts::default(),
            sandbox: Sandbox::default(),
            tools: None,
            owner: "owner".into(),
            git,
            helix: "/nonexistent/helix".into(),
            config_dir: None,
        }
    }
}
