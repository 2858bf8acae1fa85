//! What an engine needs to know about its surroundings. Filled in by `helix` from `helix.toml`, flags and the machine.
//!
//! Must not know files or formats of configuration.

use std::path::PathBuf;

use helix_agents::{AgentProfile, SubAgent};
use helix_job::{Policy, Roles};

use crate::admission::AdmissionLimits;
use crate::agent_run::RunTimeouts;
use crate::consultant::{Enforcement, Retention, ToolsEndpoint};
use crate::crash_point::CrashPoint;
use crate::failures::FailureSettings;
use crate::prompt::ConsultantPrompt;
use helix_git::GitEnvironment;

/// How long a chat shows how its jobs get on when nothing else is said: long enough for most phases, short enough that a chat
/// client that was left alone closes its connection.
pub const FOLLOW_JOBS: std::time::Duration = std::time::Duration::from_secs(600);

/// Everything an engine is told once, at its start.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Program and leading arguments that run the keeper; the run directory is added as the last argument.
    pub keeper: Vec<String>,
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
    /// Policy of jobs that do not say otherwise.
    pub policy: Policy,
    /// What may be under way at the same time over all jobs and conversations.
    pub admission: AdmissionLimits,
    /// How long agents may linger, be silent, and take to stop.
    pub timeouts: RunTimeouts,
    /// Where agents reach Helix's tools; `None` where nothing is served. Must be known at the start: jobs of a former host go on, and
    /// start agents, before anybody asks for anything.
    pub tools: Option<ToolsEndpoint>,
    /// Program and environment of git.
    pub git: GitEnvironment,
    /// Path of this `helix` binary, for agents that call it.
    pub helix: PathBuf,
    /// The user's configuration directory: `workflows/` and `prompts/` in it are found by every project.
    pub config_dir: Option<PathBuf>,
}

/// Settings of the Consultant.
#[derive(Debug, Clone)]
pub struct ConsultantConfig {
    /// Agent that answers, by name.
    pub agent: String,
    /// Its model, when a request does not name one.
    pub model: Option<String>,
    /// Time limit of one turn.
    pub turn_timeout: std::time::Duration,
    /// How long a chat goes on showing how its jobs get on, after an answer; zero: not at all.
    pub follow_jobs: std::time::Duration,
    /// Which conversations are kept.
    pub retention: Retention,
    pub prompt: ConsultantPrompt,
    /// How its answers are checked and corrected.
    pub enforcement: Enforcement,
    /// Directories of the user's own skills.
    pub skills: Vec<PathBuf>,
    /// Sub-agents that it may ask for second opinions.
    pub experts: Vec<SubAgent>,
}

impl ConsultantConfig {
    /// A Consultant with the built-in instructions and without experts.
    pub fn new(agent: impl Into<String>, turn_timeout: std::time::Duration) -> Self {
        Self {
            agent: agent.into(),
            model: None,
            turn_timeout,
            follow_jobs: FOLLOW_JOBS,
            retention: Retention::default(),
            prompt: ConsultantPrompt::default(),
            enforcement: Enforcement::default(),
            skills: Vec::new(),
            experts: Vec::new(),
        }
    }
}
