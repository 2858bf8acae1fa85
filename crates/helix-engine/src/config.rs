//! What an engine needs to know about its surroundings. Filled in by `helix` from `helix.toml`, flags and the machine.
//!
//! Must not know files or formats of configuration.

use std::path::PathBuf;

use helix_agents::AgentProfile;
use helix_core::job::Policy;

use crate::agent_run::Patience;

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
    /// The Consultant's settings.
    pub consultant: ConsultantConfig,
    /// Policy of jobs that do not say otherwise.
    pub policy: Policy,
    /// Agent processes at the same time over all jobs and conversations.
    pub max_agents: u32,
    /// How long agents may linger, be silent, and take to stop.
    pub patience: Patience,
    /// Path of this `helix` binary, for agents that call it.
    pub helix: PathBuf,
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
    /// Overrides the built-in system prompt.
    pub prompt: Option<String>,
}
