//! All routes as one list, from which both the router and the OpenAPI document are made.
//!
//! Must not know how a request is answered.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{delete, get, post};
use helix_engine::{JobPage, SessionPage};
use helix_job::JobView;
use serde_json::Value;
use tower_http::compression::CompressionLayer;

use crate::api::{
    activity, adrs, events, failures, health, job_request, jobs, keys, logins, logs, metrics, older, questions,
    results, sessions,
};
use crate::guard::{require_host, require_principal, require_room, require_visitor};
use crate::host_check::HostRules;
use crate::openai::{self, refusal};
use crate::problem::{Problem, codes};
use crate::route::{Answer, Route, foreign, inline, schema};
use crate::state::ServerState;
use crate::{job_links, mcp, openapi};

/// The OpenAPI document of all routes.
pub fn openapi_document() -> Value {
    openapi::document(&list())
}

/// The same, made once.
static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi_document);

/// The list. `/mcp` is not in it, since it speaks its own protocol.
#[rustfmt::skip]
pub(crate) fn list() -> Vec<Route> {
    use Answer::{Events, Foreign, Json, JsonOr, Lines, Text};
    let job = || Json(200, schema::<JobView>);
    let older_job = || Foreign("a job in the former API's words: `job_id status created_at started_at completed_at current_phase phases error`, others as under /api/v1");
    vec![
        Route::new("get", "/healthz", "Liveness: the process answers", Json(200, schema::<health::Health>), get(health::live)),
        Route::new("get", "/readyz", "Readiness: the journal answers", Json(200, schema::<health::Health>), get(health::ready)),
        Route::new("get", "/metrics", "Metrics of this host", Text("OpenMetrics 1.0, as Prometheus collects it"), get(metrics::show)),
        Route::new("get", "/openapi.json", "This document", Foreign("an OpenAPI 3.1 document"), get(async || axum::Json(&*DOCUMENT))),

        Route::new("get", "/v1/models", "Models to choose from", Foreign("OpenAI's list of models, with what Open WebUI shows of each"), get(openai::list)),
        Route::new("get", "/v1/models/{model}", "One model", Foreign("OpenAI's model, with what Open WebUI shows of it"), get(openai::retrieve)),
        Route::new("post", "/v1/chat/completions", "A turn with the Consultant", Foreign("OpenAI's chat completion, with the conversation and the turn in `helix`; a stream of its chunks where it is asked for"), post(openai::create::<openai::ChatWire>)).body(foreign),

        Route::new("post", "/v1/responses", "A turn with the Consultant, in the responses format", Foreign("OpenAI's response; a stream of its events where it is asked for"), post(openai::create::<openai::ResponsesWire>)).body(foreign),
        Route::new("get", "/v1/responses/{id}", "A stored answer", Foreign("OpenAI's response"), get(openai::stored)),

        Route::new("post", "/api/v1/jobs", "Start a job", Json(202, schema::<jobs::Accepted>), post(jobs::create)).body(schema::<job_request::JobRequest>),
        Route::new("get", "/api/v1/jobs", "Jobs, newest first", Json(200, schema::<JobPage>), get(jobs::list)).query(inline::<jobs::JobQuery>),
        Route::new("get", "/api/v1/jobs/{id}", "One job, by id or unique prefix", job(), get(jobs::show)),
        Route::new("post", "/api/v1/jobs/{id}/cancel", "Cancel a job", job(), post(jobs::cancel)).optional_body(schema::<jobs::Nothing>),
        Route::new("get", "/api/v1/jobs/{id}/events", "The numbered events of a job", Events("one frame for each event; `id` is its number, `event` its type, `data` a recorded event"), get(events::stream)).query(inline::<events::EventQuery>),
        Route::new("get", "/api/v1/jobs/{id}/activity", "What a job's agents are doing now", Events("frames `activity` (an ActivityFrame) and `missed` (a Missed)"), get(activity::stream)),
        Route::new("get", "/api/v1/jobs/{id}/log/{run}", "The events of a run", Lines(schema::<helix_core::agent_event::AgentEvent>), get(logs::stream)).query(inline::<logs::LogQuery>),
        Route::new("get", "/api/v1/sessions", "Sessions, newest first", Json(200, schema::<SessionPage>), get(sessions::list)).query(inline::<sessions::SessionQuery>),
        Route::new("get", "/api/v1/sessions/{id}", "One session, with its turns and branches", Json(200, schema::<sessions::SessionDetail>), get(sessions::show)),
        Route::new("get", "/api/v1/sessions/{id}/log/{run}", "The events of a turn's run", Lines(schema::<helix_core::agent_event::AgentEvent>), get(sessions::log)).query(inline::<logs::LogQuery>),
        Route::new("post", "/api/v1/sessions/{id}/stop", "Stop the running turn of a session", Json(200, schema::<sessions::Stopped>), post(sessions::stop)).query(inline::<sessions::StopQuery>),

        Route::new("post", "/api/v1/sessions/{id}/start", "Start the drafts of a session: finalize and accept the decision, run the plan", Json(202, schema::<jobs::Accepted>), post(sessions::start)).optional_body(schema::<helix_engine::tools::DraftStart>),

        Route::new("post", "/api/v1/jobs/{id}/resume", "Resume a job that failed or was cancelled", Json(202, schema::<JobView>), post(jobs::resume)).optional_body(schema::<jobs::ResumeRequest>),
        Route::new("post", "/api/v1/jobs/{id}/retry", "Run a phase again, and all that depend on it", Json(202, schema::<JobView>), post(jobs::retry)).body(schema::<jobs::RetryRequest>),
        Route::new("post", "/api/v1/jobs/{id}/check", "Run the gates again on the last result, without an agent", Json(202, schema::<JobView>), post(jobs::check)).optional_body(schema::<jobs::CheckRequest>),
        Route::new("post", "/api/v1/jobs/{id}/accept", "Accept a result although a gate did not pass; it is not proved then", Json(202, schema::<JobView>), post(jobs::accept)).body(schema::<jobs::AcceptRequest>),
        Route::new("post", "/api/v1/jobs/{id}/rollback", "Roll back the last delivery of a job that is over", Json(202, schema::<JobView>), post(jobs::rollback)).optional_body(schema::<jobs::RollbackRequest>),
        Route::new("post", "/api/v1/jobs/{id}/revert", "Revert the merged result of a job, and reopen its decision", job(), post(jobs::revert)).optional_body(schema::<jobs::Nothing>),
        Route::new("get", "/api/v1/jobs/{id}/diff", "The changes of a job, a phase or an attempt: a patch, or JSON for `Accept: application/json`", JsonOr("text/x-diff", schema::<helix_engine::evidence::Difference>), get(results::diff)).query(inline::<helix_engine::evidence::DiffSelection>),
        Route::new("get", "/api/v1/jobs/{id}/evidence", "The evidence for each passed phase, checked again now", Json(200, schema::<helix_engine::evidence::JobEvidence>), get(results::evidence)),
        Route::new("get", "/api/v1/jobs/{id}/output", "What the command of a gate printed, whole", Json(200, schema::<helix_engine::evidence::GateOutput>), get(results::output)).query(inline::<helix_engine::evidence::OutputSelection>),

        Route::new("get", "/api/v1/jobs/{id}/reports", "Reports of a job's failures, oldest first: JSON, or a page of Markdown", JsonOr("text/markdown", schema::<failures::ReportList>), get(failures::reports)).query(inline::<failures::ReportQuery>),

        Route::new("get", "/api/v1/failures", "Failures in memory: latest first, or those that match words", Json(200, schema::<helix_engine::observer::FailurePage>), get(failures::list)).query(inline::<failures::FailureQuery>),
        Route::new("get", "/api/v1/failures/{fingerprint}", "One failure in memory, by its fingerprint or a unique prefix", Json(200, schema::<helix_failure::memory::FailureDetail>), get(failures::show)),
        Route::new("post", "/api/v1/failures/explain", "Explain a log; nothing of it is remembered", Json(200, schema::<helix_engine::observer::Explanation>), post(failures::explain)).body(schema::<failures::ExplainRequest>),

        Route::new("get", "/api/v1/questions", "Open questions, oldest first", Json(200, schema::<questions::QuestionList>), get(questions::list)).query(inline::<questions::QuestionQuery>),
        Route::new("get", "/api/v1/questions/{id}", "Show a question", Json(200, schema::<helix_job::question::QuestionView>), get(questions::show)),
        Route::new("post", "/api/v1/questions", "Answer the question that the body names", Json(200, schema::<helix_job::question::QuestionView>), post(questions::answer_named)).body(schema::<questions::NamedAnswer>),
        Route::new("post", "/api/v1/questions/{id}/answer", "Answer a question", Json(200, schema::<helix_job::question::QuestionView>), post(questions::answer)).body(schema::<questions::AnswerRequest>),

        Route::new("get", "/helix/files/{token}", "A file that an answer links to, or a job's changes or evidence", Text("the file: an image of a kind that browsers show safely, anything else as plain text"), get(job_links::show)),

        Route::new("get", "/api/v1/keys", "Keys of people and chat clients; at the terminal's socket alone, as all of /api/v1/keys", Json(200, schema::<keys::KeyList>), get(keys::list)),
        Route::new("post", "/api/v1/keys", "Make a key, which is told this once", Json(200, schema::<keys::NewKey>), post(keys::create)).body(schema::<keys::KeyRequest>),
        Route::new("delete", "/api/v1/keys/{holder}/{name}", "Revoke a key; answers those that are left", Json(200, schema::<keys::KeyList>), delete(keys::revoke)),

        Route::new("post", "/api/v1/logins", "Make an address that logs a browser in, once and within ten minutes", Json(200, schema::<logins::Login>), post(logins::create)).optional_body(schema::<logins::LoginRequest>),

        Route::new("get", "/api/v1/adrs", "Decisions of a project", Json(200, schema::<adrs::AdrList>), get(adrs::list)).query(inline::<adrs::AdrQuery>),

        Route::new("post", "/helix/execute", "Start a job (older clients)", older_job(), post(older::execute)).body(schema::<job_request::JobRequest>),
        Route::new("get", "/helix/jobs", "Jobs, newest first (older clients)", Foreign("a list of jobs in the former API's words"), get(older::list)).query(inline::<older::OlderQuery>),
        Route::new("get", "/helix/jobs/{id}", "One job (older clients)", older_job(), get(older::show)),
        Route::new("delete", "/helix/jobs/{id}", "Cancel a job (older clients)", Foreign("`status` (`cancelled` or `already_stopped`), `job_id`, and the `job_status` of a job that was over"), delete(older::stop)).optional_body(schema::<jobs::Nothing>),
        Route::new("get", "/helix/stream/{id}", "What happens to a job (older clients)", Events("one frame for each event: `job_started phase_start gate_passed gate_failed phase_complete phase_failed job_completed job_failed job_cancelled`, others as under /api/v1"), get(older::stream)).query(inline::<events::EventQuery>),
    ]
}

/// The router with everything around it.
pub(crate) fn router(shared: ServerState, hosts: HostRules) -> Router {
    // Some clients end every address with a slash.
    let router = list().into_iter().fold(Router::new(), |router, route| {
        router.route(&format!("{}/", route.path), route.handler.clone()).route(route.path, route.handler)
    });
    let pages = helix_web::router(shared.engine.clone(), shared.shutdown.clone(), shared.config.heartbeat)
        .layer(from_fn_with_state(shared.clone(), require_visitor))
        // Outside of it: what is compressed can no longer be masked.
        .layer(CompressionLayer::new().gzip(true));
    let router = router
        .route_service("/mcp", mcp::service(shared.clone()))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(shared.clone(), require_room))
        .layer(from_fn_with_state(shared.clone(), require_principal))
        .merge(pages.with_state(()));
    let router = match hosts.cors() {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.layer(from_fn_with_state(hosts, require_host)).with_state(shared)
}

async fn no_route(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let hint = match path.trim_end_matches('/') {
        "/models" | "/chat/completions" | "/responses" => "the base URL of the OpenAI-compatible API ends with /v1",
        "/v1/completions" | "/v1/embeddings" | "/v1/assistants" | "/v1/messages" => {
            "use /v1/chat/completions or /v1/responses to talk with the Consultant"
        }
        _ => "GET /openapi.json lists every route",
    };
    let detail = format!("no route {method} {path}");
    refusal(Problem::new(StatusCode::NOT_FOUND, codes::NO_ROUTE, detail).hint(hint), path)
}

async fn no_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let detail = format!("{path} has no method {method}");
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, codes::NO_ROUTE, detail);
    refusal(problem.hint("GET /openapi.json lists every route"), path)
}
