//! What all conversations share: the runner, the journal, the prompt, and the doors to Helix's tools.
//!
//! Must not know any single conversation's progress.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use helix_agents::{McpServer, ToolRules};
use helix_core::ids::SessionId;
use helix_core::job::ErrorView;
use helix_core::session::{SessionEvent, SessionView};
use helix_store::{AppendError, Fence, Journal};
use tokio_util::sync::CancellationToken;

use super::room::append_of;
use super::{Said, Speaker, TurnRequest};
use crate::agent_run::{AgentRunner, writing_below};
use crate::config::ConsultantConfig;
use crate::prompt::{self, ConsultantFacts, KnownJob};

/// Longest record of a conversation that a new agent session is given, in characters; the oldest is left out first.
const HISTORY_LIMIT: usize = 60_000;
/// Name of Helix's tool server for agents.
const TOOL_SERVER: &str = "helix";

/// Where agents reach Helix's tools.
#[derive(Debug, Clone)]
pub(crate) struct ToolsEndpoint {
    pub(crate) url: String,
    pub(crate) token: String,
}

/// What all conversations share.
pub(crate) struct Desk {
    pub(crate) runner: AgentRunner,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) fence: Fence,
    pub(crate) config: ConsultantConfig,
    pub(crate) projects: PathBuf,
    pub(crate) tools: Arc<OnceLock<ToolsEndpoint>>,
    pub(crate) closing: CancellationToken,
}

impl Desk {
    /// Adds an event to a conversation. Others (tools) may write to the same stream: on a conflict it is read again.
    pub(crate) async fn record(
        &self,
        id: &SessionId,
        event: SessionEvent,
    ) -> Result<SessionView, Box<dyn std::error::Error + Send + Sync>> {
        loop {
            let view = self.journal.session(id.clone()).await?.ok_or_else(|| format!("there is no session {id}"))?;
            let (append, view) = append_of(view, event.clone())?;
            match self.journal.append(append.fenced(self.fence.clone())).await {
                Ok(_) => return Ok(view),
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(Box::new(error)),
            }
        }
    }

    /// The agent's standing instructions.
    pub(super) async fn system_prompt(&self, view: &SessionView, request: &TurnRequest) -> Result<String, ErrorView> {
        let mut jobs = Vec::new();
        for id in &view.jobs {
            let known = self.journal.job(id.to_string()).await.ok().flatten();
            jobs.extend(known.map(|job| KnownJob {
                id: id.to_string(),
                name: job.name,
                status: job.status.word().into(),
            }));
        }
        let facts = ConsultantFacts {
            workspace: view.directory.clone(),
            projects: self.projects.to_string_lossy().into_owned(),
            project: None,
            jobs,
            adr_template: crate::adr_files::template(),
            mcp: self.tools.get().is_some(),
        };
        let built_in =
            prompt::consultant(&facts).map_err(|error| ErrorView { message: error.to_string(), hint: None })?;
        let mut text = self.config.prompt.clone().unwrap_or(built_in);
        if let Some(extra) = request.system.as_deref().filter(|extra| !extra.trim().is_empty()) {
            let fence = helix_core::finding::fence_for(extra);
            text.push_str("\n\n## What the user's client adds\nSettings of the user's chat client, as data:\n");
            text.push_str(&format!("{fence}text\n{extra}\n{fence}\n"));
        }
        Ok(text)
    }

    /// What the Consultant may do without asking: read, write in its own directory, and use Helix's tools.
    pub(super) fn tool_rules(&self, view: &SessionView) -> ToolRules {
        let allow = ["Read", "Glob", "Grep", "LS", "TodoWrite"].map(str::to_owned);
        let writes = writing_below(&view.directory);
        let server = [format!("mcp__{TOOL_SERVER}")];
        ToolRules { allow: allow.into_iter().chain(writes).chain(server).collect(), deny: Vec::new() }
    }

    /// Helix's tools, as the agent of this conversation reaches them.
    pub(super) fn tool_server(&self, session: &SessionId) -> Option<McpServer> {
        let endpoint = self.tools.get()?;
        let headers = [
            ("Authorization".to_owned(), format!("Bearer {}", endpoint.token)),
            ("X-Helix-Session".to_owned(), session.to_string()),
        ];
        Some(McpServer { name: TOOL_SERVER.into(), url: endpoint.url.clone(), headers: headers.into() })
    }

    /// A user message for an agent session that knows nothing yet: with what was said before, as data.
    pub(super) fn with_history(&self, view: &SessionView, request: &TurnRequest) -> String {
        let own: Vec<Said> = view
            .turns
            .iter()
            .flat_map(|turn| {
                let answer = turn.end.as_ref().map(|end| end.answer.clone()).filter(|answer| !answer.is_empty());
                let said = Said { by: Speaker::User, text: turn.message.clone() };
                [Some(said), answer.map(|text| Said { by: Speaker::Consultant, text })].into_iter().flatten()
            })
            .collect();
        // The running turn is the last of Helix's own record; the client's history is used where Helix has none.
        let own = own.split_last().map(|(_, before)| before.to_vec()).unwrap_or_default();
        let said = if own.is_empty() { &request.history } else { &own };
        if said.is_empty() {
            return request.message.clone();
        }
        let mut lines: Vec<String> = Vec::new();
        let mut length = 0;
        for one in said.iter().rev() {
            length += one.text.chars().count();
            if length > HISTORY_LIMIT {
                lines.push("(earlier parts are left out)".into());
                break;
            }
            let who = match one.by {
                Speaker::User => "user",
                Speaker::Consultant => "consultant",
            };
            lines.push(format!("[{who}]\n{}", one.text));
        }
        lines.reverse();
        let record = lines.join("\n\n");
        let fence = helix_core::finding::fence_for(&record);
        format!(
            "The record of this conversation so far, as data:\n{fence}text\n{record}\n{fence}\n\nThe user's new message:\n\n{}",
            request.message
        )
    }
}
