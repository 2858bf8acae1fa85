//! Helix's tools over MCP (streamable HTTP), for the Consultant's agent and for any other MCP client.
//!
//! Must not know what the tools do. Stateless on purpose: an agent that outlives a restart of Helix goes on calling.

use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::request::Parts;
use helix_core::ids::SessionId;
use helix_engine::tools::{
    AdrCheck, AdrFinalize, AdrList, JobStart, JobStatusOf, PlanCheck, ProjectCreate, ToolAnswer, Tools,
};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};

use crate::shared::Shared;

/// The conversation on whose behalf an agent calls; absent for other clients.
pub(crate) const SESSION_HEADER: &str = "x-helix-session";

/// The tools of one server.
#[derive(Clone)]
pub(crate) struct HelixTools {
    shared: Shared,
}

/// The HTTP service of the tools.
pub(crate) fn service(shared: Shared) -> StreamableHttpService<HelixTools, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Host and Origin are checked for all routes alike.
        .disable_allowed_hosts()
        .with_cancellation_token(shared.shutdown.child_token());
    StreamableHttpService::new(
        move || Ok(HelixTools { shared: shared.clone() }),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

fn session_header(context: &RequestContext<RoleServer>) -> Option<&HeaderValue> {
    context.extensions.get::<Parts>()?.headers.get(SESSION_HEADER)
}

impl HelixTools {
    fn tools(&self, context: &RequestContext<RoleServer>) -> Result<Tools, ErrorData> {
        let session = match session_header(context) {
            None => None,
            Some(value) => {
                let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
                let id = SessionId::new(text)
                    .map_err(|error| ErrorData::invalid_params(format!("the header X-Helix-Session: {error}"), None))?;
                Some(id)
            }
        };
        Ok(self.shared.engine.tools(session))
    }
}

/// A refusal is for the agent to read, so it is a result and no protocol error. An agent in a conversation gets the text alone:
/// where there is structured content, Claude Code shows its model that and not the text.
fn result(context: &RequestContext<RoleServer>, answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    if answer.data.is_object() && session_header(context).is_none() {
        result.structured_content = Some(answer.data);
    }
    result
}

type Answer = Result<CallToolResult, ErrorData>;

#[tool_router]
impl HelixTools {
    #[tool(
        description = "Check an ADR (architecture decision record) by Helix's rules. Call it after every change of the ADR and mend what it names."
    )]
    async fn adr_check(
        &self,
        Parameters(arguments): Parameters<AdrCheck>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.adr_check(arguments).await))
    }

    #[tool(description = "Give a checked ADR draft its number and its place in the project, and commit it.")]
    async fn adr_finalize(
        &self,
        Parameters(arguments): Parameters<AdrFinalize>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.adr_finalize(arguments).await))
    }

    #[tool(description = "List the ADRs of a project.")]
    async fn adr_list(
        &self,
        Parameters(arguments): Parameters<AdrList>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.adr_list(arguments).await))
    }

    #[tool(
        description = "Check a plan (phases.yaml) by Helix's rules. Call it after every change of the plan and mend what it names."
    )]
    async fn plan_check(
        &self,
        Parameters(arguments): Parameters<PlanCheck>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.plan_check(arguments).await))
    }

    #[tool(description = "Make a new project: a git repository with the ADR and the plan in it.")]
    async fn project_create(
        &self,
        Parameters(arguments): Parameters<ProjectCreate>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.project_create(arguments).await))
    }

    #[tool(description = "Start carrying out a plan as a job. Returns at once with the job's id.")]
    async fn job_start(
        &self,
        Parameters(arguments): Parameters<JobStart>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.job_start(arguments).await))
    }

    #[tool(description = "How a job stands: its phases, gates, cost and errors.")]
    async fn job_status(
        &self,
        Parameters(arguments): Parameters<JobStatusOf>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.job_status(arguments).await))
    }
}

#[tool_handler]
impl ServerHandler for HelixTools {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().build();
        config.server_info = Implementation::new("helix", env!("CARGO_PKG_VERSION"));
        config.instructions = Some("Checks ADRs and plans, creates projects, and carries out plans as jobs.".into());
        config
    }
}
