//! Conversations with the Consultant, as their records show them. Must not know how a turn is answered.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use helix_core::ids::{RunId, SessionId, TurnId};
use helix_engine::SessionPage;
use helix_engine::tools::{Caller, DraftStart, Tools};
use helix_job::session::{Branch, SessionView, TurnView, branches};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::Accepted;
use super::logs::{self, LogQuery};
use super::request::{Body, JsonResult, Params, budget, page_size};
use crate::principal::By;
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// A session with its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDetail {
    /// The session.
    #[serde(flatten)]
    pub session: SessionView,
    /// Its turns on all branches, by time of start.
    pub turns: Vec<TurnView>,
    /// Its branches, oldest first; each turn is in exactly one.
    pub branches: Vec<Branch>,
}

/// Filters and pages a list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionQuery {
    /// The session with this client key, such as `chat:` and the client's id.
    key: Option<String>,
    /// Sessions in a page, from 1 to 500; all without it.
    limit: Option<u16>,
    /// `next` of the previous page: older sessions than this one.
    after: Option<SessionId>,
}

/// The result of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Stopped {
    /// Whether a turn was running.
    pub(crate) stopped: bool,
}

/// `GET /api/v1/sessions`
pub(crate) async fn list(
    State(shared): State<ServerState>,
    Params(asked): Params<SessionQuery>,
) -> JsonResult<SessionPage> {
    let limit = page_size(asked.limit, asked.after.as_ref())?;
    let sessions = shared.engine.sessions();
    Ok(Json(match (asked.key, limit) {
        (Some(key), _) => {
            SessionPage { sessions: sessions.by_key(&key).await?.into_iter().collect(), ..SessionPage::default() }
        }
        (None, None) => sessions.list().await?,
        (None, Some(limit)) => sessions.page(asked.after, limit).await?,
    }))
}

/// `GET /api/v1/sessions/{id}`
pub(crate) async fn show(State(shared): State<ServerState>, Path(text): Path<String>) -> JsonResult<SessionDetail> {
    let session = shared.engine.sessions().get(&SessionId::new(text)?).await?;
    let turns = shared.engine.sessions().turns(&session.id).await?;
    let branches = branches(&turns);
    Ok(Json(SessionDetail { session, turns, branches }))
}

/// `GET /api/v1/sessions/{id}/log/{run}`
pub(crate) async fn log(
    State(shared): State<ServerState>,
    Path((session, run)): Path<(String, String)>,
    Params(asked): Params<LogQuery>,
) -> Result<Response, Problem> {
    let session = SessionId::new(session)?;
    let no_run = || {
        Problem::not_found(format!("session {session} has no run {run:?}"))
            .hint("a run is named after its turn, with a number from 1: `s….t1.1`")
    };
    let known = RunId::new(run.clone()).map_err(|_| no_run())?;
    let turn = run.rsplit_once('.').and_then(|(turn, _)| TurnId::new(turn).ok()).ok_or_else(no_run)?;
    if shared.engine.sessions().turn(&turn).await?.session != session {
        return Err(no_run());
    }
    logs::lines(&shared, &known, asked.follow()?).await
}

/// Which turn of a session.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopQuery {
    /// Id of the turn; without it the running one.
    turn: Option<String>,
}

/// `POST /api/v1/sessions/{id}/stop`
pub(crate) async fn stop(
    State(shared): State<ServerState>,
    Path(text): Path<String>,
    Params(StopQuery { turn }): Params<StopQuery>,
) -> JsonResult<Stopped> {
    let session = shared.engine.sessions().get(&SessionId::new(text)?).await?;
    let turn = match turn {
        Some(turn) => Some(TurnId::new(turn)?),
        None => session.running().map(|running| running.id.clone()),
    };
    let stopped = turn.is_some_and(|turn| shared.engine.consultant().stop_turn(&session.id, &turn));
    Ok(Json(Stopped { stopped }))
}

/// `POST /api/v1/sessions/{id}/start`
pub(crate) async fn start(
    State(shared): State<ServerState>,
    Path(text): Path<String>,
    By(by): By,
    Body(wanted): Body<DraftStart>,
) -> Result<Response, Problem> {
    budget(wanted.budget_usd)?;
    let session = shared.engine.sessions().get(&SessionId::new(text)?).await?;
    let tools = Tools::new(shared.engine.clone(), Caller::Session(session.id));
    let submission = tools.start_drafts(&by, wanted).await.map_err(|refusal| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::REFUSED, refusal.text)
            .hint("say in the session what is to change; the drafts are still there")
    })?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { job: submission.job, warnings: submission.warnings })).into_response())
}
