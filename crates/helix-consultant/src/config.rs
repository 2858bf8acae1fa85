//! Settings of the Consultant. Must not know files or formats of configuration.

use std::path::PathBuf;
use std::time::Duration;

use helix_agents::SubAgent;

use super::{Enforcement, Retention};
use crate::prompt::ConsultantPrompt;

/// How long a chat shows how its jobs get on when nothing else is said: long enough to see that one works. Chat clients send no further
/// message as long as an answer goes on.
pub const FOLLOW_JOBS: Duration = Duration::from_secs(30);

/// Settings of the Consultant.
#[derive(Debug, Clone)]
pub struct ConsultantConfig {
    /// Agent that answers, by name.
    pub agent: String,
    /// Its model, when a request does not name one.
    pub model: Option<String>,
    /// Time limit of one turn.
    pub turn_timeout: Duration,
    /// How long a chat goes on showing how its jobs get on, after an answer; zero: not at all.
    pub follow_jobs: Duration,
    /// Which sessions are kept.
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
    pub fn new(agent: impl Into<String>, turn_timeout: Duration) -> Self {
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
