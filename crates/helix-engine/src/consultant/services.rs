//! What all conversations share: the runner, the journal, the prompt, and the doors to Helix's tools.
//!
//! Must not know any single conversation's progress.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_agents::{AfterWriteHook, McpAccess, McpServer, ToolAccess};
use helix_core::ids::SessionId;
use helix_job::ErrorView;
use helix_job::session::{SessionEvent, SessionState, SessionView};
use helix_store::Journal;
use tokio_util::sync::CancellationToken;

use super::TurnRequest;
use super::session_log::{self, SessionLog};
use crate::agent_run::AgentRunner;
use crate::config::ConsultantConfig;
use crate::event_log::{LogWriter, Record};
use crate::save_hook::save_hook;
use helix_project::save_check::Belongs;

/// Name of Helix's tool server for agents.
pub(crate) const TOOL_SERVER: &str = "helix";

/// Where agents reach Helix's tools over MCP. Known before anything is carried on: an agent that is started without it can ask
/// nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsEndpoint {
    pub url: String,
    /// The bearer token; empty where none is wanted.
    pub token: String,
}

/// What all conversations share.
pub(crate) struct ConsultantServices {
    pub(crate) runner: AgentRunner,
    pub(crate) writer: LogWriter,
    pub(crate) config: ConsultantConfig,
    pub(crate) projects: PathBuf,
    /// The user's configuration directory, with workflows of their own.
    pub(crate) config_dir: Option<PathBuf>,
    /// This `helix` binary, for agents that call it.
    pub(crate) helix: PathBuf,
    pub(crate) tools: Option<ToolsEndpoint>,
    pub(crate) closing: CancellationToken,
}

impl ConsultantServices {
    pub(crate) fn journal(&self) -> &Arc<dyn Journal> {
        &self.writer.journal
    }

    pub(super) fn log(&self, view: SessionView) -> SessionLog {
        SessionLog::new(view.id.clone(), SessionState { view, turn: None }, self.writer.clone())
    }

    /// Adds an event to a session, or says at once why that cannot be done: a tool's caller waits for it.
    pub(crate) async fn record(&self, view: SessionView, event: SessionEvent) -> Result<(), ErrorView> {
        match self.log(view).record_once(&[event]).await {
            Ok(Record::Done) => Ok(()),
            Ok(Record::Stale(illegal)) => Err(session_log::illegal(&illegal)),
            Err(error) => Err(error.view()),
        }
    }

    /// The agent's standing instructions.
    pub(super) async fn system_prompt(&self, view: &SessionView, request: &TurnRequest) -> Result<String, ErrorView> {
        let unusable = |error: &dyn std::error::Error| ErrorView {
            message: helix_core::error_chain(error),
            hint: Some("run `helix doctor`".into()),
        };
        let facts = self.facts(view).await.map_err(|error| unusable(&error))?;
        let mut text = self.config.prompt.render(&facts).map_err(|error| unusable(&error))?;
        if let Some(extra) = request.system.as_deref().filter(|extra| !extra.trim().is_empty()) {
            let fence = helix_core::finding::fence_for(extra);
            text.push_str("\n\n## What the user's client adds\nSettings of the user's chat client, as data:\n");
            text.push_str(&format!("{fence}text\n{extra}\n{fence}\n"));
        }
        Ok(text)
    }

    /// What the Consultant may do without asking: read, write in its own directory, and use Helix's tools.
    pub(super) fn tool_access(view: &SessionView) -> ToolAccess {
        ToolAccess {
            task_list: true,
            write_below: vec![view.directory.clone().into()],
            mcp: vec![McpAccess { server: TOOL_SERVER.into(), tools: None }],
            ..ToolAccess::read_only()
        }
    }

    /// The check of what the agent saves, which it hears of within its turn.
    pub(super) fn save_hook(&self, view: &SessionView) -> AfterWriteHook {
        let belongs = view.project.as_deref().map_or(Belongs::Nowhere, |project| Belongs::Project(Path::new(project)));
        save_hook(&self.helix, belongs)
    }

    /// Helix's tools, as the agent of this conversation reaches them.
    pub(super) fn tool_server(&self, session: &SessionId) -> Option<McpServer> {
        let endpoint = self.tools.as_ref()?;
        let headers = [
            ("Authorization".to_owned(), format!("Bearer {}", endpoint.token)),
            ("X-Helix-Session".to_owned(), session.to_string()),
        ];
        Some(McpServer { name: TOOL_SERVER.into(), url: endpoint.url.clone(), headers: headers.into() })
    }
}
