//! Helix's tools over MCP (streamable HTTP), for the Consultant's agent and for any other MCP client.
//!
//! Must not know what the tools do. Stateless on purpose: an agent that outlives a restart of Helix goes on calling.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::request::Parts;
use helix_core::ids::{RunId, SessionId};
use helix_engine::tools::{
    AdrCheck, AdrFinalize, AdrList, AnswerQuestion, AskUser, Caller, JobStart, JobStatusOf, PlanCheck, ProjectCreate,
    SimilarFailures, SkillRead, SkillsList, ToolAnswer, Tools,
};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};

use crate::shared::Shared;

/// The conversation on whose behalf an agent calls.
pub(crate) const SESSION_HEADER: &str = "x-helix-session";
/// The run of a job on whose behalf an agent calls.
pub(crate) const RUN_HEADER: &str = "x-helix-run";
/// Where the relative paths of a client on this machine begin.
pub(crate) const DIRECTORY_HEADER: &str = "x-helix-directory";

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

/// What every MCP client is told of this server, over HTTP and stdio alike.
pub(crate) fn server_config() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.capabilities = ServerCapabilities::builder().enable_tools().build();
    config.server_info = Implementation::new("helix", env!("CARGO_PKG_VERSION"));
    config.instructions = Some(
        "Checks ADRs and plans, creates projects, carries out plans as jobs, says how these stand and passes answers on.".into(),
    );
    config
}

/// All tools as clients see them.
pub(crate) fn all_tools() -> Vec<rmcp::model::Tool> {
    HelixTools::tool_router().list_all()
}

fn header<'c>(context: &'c RequestContext<RoleServer>, name: &str) -> Option<&'c [u8]> {
    Some(context.extensions.get::<Parts>()?.headers.get(name)?.as_bytes())
}

/// Who calls, by the headers that Helix gives its agents.
fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let wrong = |name: &str, error: &dyn std::error::Error| {
        ErrorData::invalid_params(format!("the header {name}: {error}"), None)
    };
    if let Some(value) = header(context, SESSION_HEADER) {
        let id = SessionId::new(text(value)).map_err(|error| wrong("X-Helix-Session", &error))?;
        return Ok(Caller::Session(id));
    }
    if let Some(value) = header(context, RUN_HEADER) {
        let id = RunId::new(text(value)).map_err(|error| wrong("X-Helix-Run", &error))?;
        return Ok(Caller::Run(id));
    }
    let directory = header(context, DIRECTORY_HEADER).map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)));
    Ok(Caller::Outside { directory: directory.filter(|path| path.is_absolute()) })
}

impl HelixTools {
    fn tools(&self, context: &RequestContext<RoleServer>) -> Result<Tools, ErrorData> {
        Ok(self.shared.engine.tools(caller(context)?))
    }
}

/// A refusal is for the agent to read, so it is a result and no protocol error. An agent of Helix's own gets the text alone:
/// where there is structured content, Claude Code shows its model that and not the text.
fn result(context: &RequestContext<RoleServer>, answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    let is_agent = [SESSION_HEADER, RUN_HEADER].iter().any(|name| header(context, name).is_some());
    if answer.data.is_object() && !is_agent {
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

    #[tool(
        description = "List the ADRs of a project. Call it when work on an existing project begins: the conversation is about that project from then on."
    )]
    async fn adr_list(
        &self,
        Parameters(arguments): Parameters<AdrList>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.adr_list(arguments).await))
    }

    #[tool(
        description = "Check a plan (phases.yaml) as job_start does. Call it after every change of the plan and mend what it names."
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

    #[tool(
        description = "How a job stands right now, from the journal: its phases, errors, result, and what it waits for; of a failed job also the cause and what to do. Call it each time you are asked how far a job is."
    )]
    async fn job_status(
        &self,
        Parameters(arguments): Parameters<JobStatusOf>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.job_status(arguments).await))
    }

    #[tool(
        description = "Ask the user something that you cannot decide. Nothing waits: end your turn after it. In a conversation the user's next message is the reply; in a phase you are resumed with the answer."
    )]
    async fn ask_user(
        &self,
        Parameters(arguments): Parameters<AskUser>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.ask_user(arguments).await))
    }

    #[tool(
        description = "Pass on what the user has answered to an open question or approval of a job. Only what the user said: never answer in their place."
    )]
    async fn answer(
        &self,
        Parameters(arguments): Parameters<AnswerQuestion>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.answer(arguments).await))
    }

    #[tool(
        description = "Find failures like this one that were seen before, with their causes and what mended them. Call it before you advise on something that failed."
    )]
    async fn similar_failures(
        &self,
        Parameters(arguments): Parameters<SimilarFailures>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.similar_failures(arguments).await))
    }

    #[tool(description = "List the skills in reach: pages of knowledge with a name and when to read them.")]
    async fn skills_list(
        &self,
        Parameters(arguments): Parameters<SkillsList>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.skills_list(arguments).await))
    }

    #[tool(
        description = "Read a skill's page, or another file of that skill. Read the skills that matter before you answer."
    )]
    async fn skill_read(
        &self,
        Parameters(arguments): Parameters<SkillRead>,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        Ok(result(&context, self.tools(&context)?.skill_read(arguments).await))
    }
}

#[tool_handler]
impl ServerHandler for HelixTools {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }
}
