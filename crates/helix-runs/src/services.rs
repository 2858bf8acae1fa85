//! What every part of a host works with: its state directory, the journal's writer, agents, and Helix's tools for them.
//!
//! Must not know jobs or sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helix_agents::{AfterWriteHook, McpPlace, McpServer};
use helix_core::ids::RunId;
use helix_store::{Journal, StateDir};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent_run::AgentRunner;
use crate::event_log::LogWriter;
use crate::secret::RunTokens;

/// Name of Helix's tool server for agents.
pub const TOOL_SERVER: &str = "helix";
/// Names of Helix's tools, in the order in which clients see them.
pub const TOOL_NAMES: [&str; 13] = [
    "adr_check",
    "adr_finalize",
    "adr_accept",
    "adr_list",
    "plan_check",
    "project_create",
    "job_start",
    "job_status",
    "ask_user",
    "answer",
    "similar_failures",
    "skills_list",
    "skill_read",
];
/// How long an agent waits for the check of a file that it saved. A check takes milliseconds; ten thousand ADRs take a second.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// Where an agent saves what the save hook checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavePlace<'a> {
    /// In this project.
    Project(&'a Path),
    /// In the session with this directory, whose project may be chosen while the agent works.
    Session(&'a Path),
}

/// What every part of a host works with.
pub struct Services {
    pub state: StateDir,
    pub writer: LogWriter,
    pub runner: AgentRunner,
    /// This `helix` binary, for agents that call it.
    pub helix: PathBuf,
    /// Where agents reach Helix's tools over MCP. Known before anything is carried on: an agent that is started without it can ask
    /// nobody.
    pub tools: Option<String>,
    /// What the agents of runs show there.
    pub tokens: RunTokens,
    pub tasks: TaskTracker,
    pub closing: CancellationToken,
}

impl Services {
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.writer.journal
    }

    /// Helix's tools, as the agent of a run reaches them: its token tells who calls, and opens nothing else.
    pub fn tool_server(&self, run: &RunId) -> Option<McpServer> {
        let authorization = ("Authorization".to_owned(), format!("Bearer {}", self.tokens.token(run)));
        let at = McpPlace::Http { url: self.tools.clone()?, headers: [authorization].into() };
        Some(McpServer { name: TOOL_SERVER.into(), at })
    }

    /// The command by which an agent has a call put to a person: `helix hook ask`.
    pub fn ask_hook(&self) -> Vec<String> {
        [&*self.helix.to_string_lossy(), "hook", "ask"].map(str::to_owned).to_vec()
    }

    /// The hook by which an agent hears at once what is wrong with an ADR or a plan that it saves: `helix hook post-write`.
    /// Dialects without hooks leave it out.
    pub fn save_hook(&self, place: SavePlace<'_>) -> AfterWriteHook {
        let (flag, directory) = match place {
            SavePlace::Project(root) => ("--project", root),
            SavePlace::Session(directory) => ("--session", directory),
        };
        let helix = self.helix.to_string_lossy().into_owned();
        let words = ["hook", "post-write", flag].map(str::to_owned);
        let command = [helix].into_iter().chain(words).chain([directory.to_string_lossy().into_owned()]).collect();
        AfterWriteHook { command, timeout: HOOK_LIMIT }
    }
}
