//! Helix's tools over MCP (streamable HTTP), for the Consultant's agent and for any other MCP client.
//!
//! Must not know what the tools do. Stateless, so that an agent that outlives a restart of Helix can keep calling.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::request::Parts;
use helix_engine::tools::{
    AdrAccept, AdrCheck, AdrFinalize, Answer, AnswerQuestion, AskUser, Caller, InProject, JobStart, JobStatusOf,
    PlanCheck, ProjectCreate, Refusal, SimilarFailures, SkillRead, Tools,
};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};

use crate::principal::Principal;
use crate::state::ServerState;

/// The directory that a local client's relative paths start from.
pub(crate) const DIRECTORY_HEADER: &str = "x-helix-directory";

#[derive(Clone)]
pub(crate) struct HelixTools {
    shared: ServerState,
}

pub(crate) fn service(shared: ServerState) -> StreamableHttpService<HelixTools, NeverSessionManager> {
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

/// The server's description for MCP clients, over HTTP and stdio.
pub(crate) fn server_config() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.capabilities = ServerCapabilities::builder().enable_tools().build();
    config.server_info = Implementation::new("helix", env!("CARGO_PKG_VERSION"));
    config.instructions = Some(
        "Checks ADRs and plans, creates projects, runs plans as jobs, reports their state and passes on answers."
            .into(),
    );
    config
}

/// All tools, as clients see them.
pub(crate) fn all_tools() -> Vec<rmcp::model::Tool> {
    HelixTools::tool_router().list_all()
}

/// Who calls: an agent by the token of its run, a person by how they were authenticated.
fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Principal>()) {
        Some(Principal::Agent(run)) => Ok(match run.session_and_turn() {
            Some((session, _)) => Caller::Session(session),
            None => Caller::Run(run.clone()),
        }),
        Some(Principal::Person(by)) => {
            let directory = parts.and_then(|parts| parts.headers.get(DIRECTORY_HEADER));
            let directory = directory.map(|value| PathBuf::from(OsStr::from_bytes(value.as_bytes())));
            Ok(Caller::Outside { directory: directory.filter(|path| path.is_absolute()), by: by.clone() })
        }
        Some(Principal::Chat(_)) | None => Err(ErrorData::invalid_request(
            "the request names no caller: send the header `Authorization: Bearer <token>`",
            None,
        )),
    }
}

fn names_directory(context: &RequestContext<RoleServer>) -> bool {
    context.extensions.get::<Parts>().is_some_and(|parts| parts.headers.contains_key(DIRECTORY_HEADER))
}

/// A refusal is for the agent to read, so it is a result and not a protocol error. Helix's own agents get only the text: Claude
/// Code would show its model the structured content instead.
fn result(is_agent: bool, answer: Answer) -> CallToolResult {
    let (mut result, data) = match answer {
        Ok((text, data)) => (CallToolResult::success(vec![ContentBlock::text(text)]), data),
        Err(Refusal { text, data }) => (CallToolResult::error(vec![ContentBlock::text(text)]), data),
    };
    if data.is_object() && !is_agent {
        result.structured_content = Some(data);
    }
    result
}

macro_rules! tools {
    ($($name:ident($arguments:ty): $description:tt;)*) => {
        #[tool_router]
        impl HelixTools {
            $(
                #[tool(description = $description)]
                async fn $name(
                    &self,
                    Parameters(arguments): Parameters<$arguments>,
                    context: RequestContext<RoleServer>,
                ) -> Result<CallToolResult, ErrorData> {
                    let caller = caller(&context)?;
                    // A program of the agent says where it is, and reads what a model is not shown.
                    let is_agent = !matches!(caller, Caller::Outside { .. }) && !names_directory(&context);
                    let tools = Tools::new(self.shared.engine.clone(), caller);
                    let answer = match tools.permit(stringify!($name)).await {
                        Ok(()) => tools.$name(arguments).await,
                        Err(refusal) => Err(refusal),
                    };
                    Ok(result(is_agent, answer))
                }
            )*
        }
    };
}

tools! {
    adr_check(AdrCheck): "Check an ADR (architecture decision record) by Helix's rules. Call it after every change of the ADR and fix what it reports.";
    adr_finalize(AdrFinalize): "Number a checked ADR draft, move it to the project's ADRs, and commit it.";
    adr_accept(AdrAccept): "Make a proposed decision an accepted one, and commit that. Only after the user has said yes to it.";
    adr_list(InProject): "List the ADRs of a project. Call it when work on an existing project begins: it makes that project the session's project.";
    plan_check(PlanCheck): "Check a plan (phases.yaml) as job_start does. Call it after every change of the plan and fix what it reports.";
    project_create(ProjectCreate): "Create a project: a git repository with the ADR and the plan in it.";
    job_start(JobStart): "Run a plan as a job. Returns at once with the job's id.";
    job_status(JobStatusOf): "The current state of a job, from the journal: its phases, errors, result, and what it waits for; for a failed job also the cause and what to do. Call it each time the user asks about a job.";
    ask_user(AskUser): "Ask the user something that you cannot decide. It does not wait: end your turn after it. In a chat the user's next message is the reply; in a phase you are resumed with the answer.";
    answer(AnswerQuestion): "Pass on the user's answer to an open question or approval of a job. Only what the user said: never answer for them.";
    similar_failures(SimilarFailures): "Find similar failures from the past, with their causes and what fixed them. Call it before you advise on something that failed.";
    skills_list(InProject): "List the available skills: pages of knowledge with a name and when to read them.";
    skill_read(SkillRead): "Read a skill's page, or another file of that skill. Read the skills that matter before you answer.";
}

#[tool_handler]
impl ServerHandler for HelixTools {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }
}
