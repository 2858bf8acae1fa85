//! Conversations with the Consultant, as their records show them.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use helix_core::ids::{RunId, SessionId, TurnId};
use helix_job::session::{Branch, SessionView, TurnView, branches};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::query;
use super::logs::{self, LogQuery};
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// A conversation with its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionDetail {
    /// The conversation.
    #[serde(flatten)]
    pub(crate) session: SessionView,
    /// Its turns on all branches, by time of start.
    pub(crate) turns: Vec<TurnView>,
    /// Its branches, oldest first; each turn is in exactly one.
    pub(crate) branches: Vec<Branch>,
}

/// Conversations, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionList {
    /// The conversations.
    pub(crate) sessions: Vec<SessionView>,
}

/// Which conversations are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionQuery {
    /// The one that a client calls by this key, such as `chat:` and the client's id; without it all.
    #[serde(default)]
    key: Option<String>,
}

/// Whether there was something to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Stopped {
    /// Whether a turn was running.
    pub(crate) stopped: bool,
}

fn id(text: String) -> Result<SessionId, Problem> {
    SessionId::new(text).map_err(|error| Problem::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, error.to_string()))
}

/// `GET /api/v1/sessions`
pub(crate) async fn list(
    State(shared): State<Shared>,
    asked: Result<Query<SessionQuery>, QueryRejection>,
) -> Result<Json<SessionList>, Problem> {
    let sessions = match query(asked)?.key {
        Some(key) => shared.engine.session_by_key(&key).await?.into_iter().collect(),
        None => shared.engine.sessions().await?,
    };
    Ok(Json(SessionList { sessions }))
}

/// `GET /api/v1/sessions/{id}`
pub(crate) async fn show(
    State(shared): State<Shared>,
    Path(text): Path<String>,
) -> Result<Json<SessionDetail>, Problem> {
    let session = shared.engine.session(&id(text)?).await?;
    let turns = shared.engine.turns(&session.id).await?;
    let branches = branches(&turns);
    Ok(Json(SessionDetail { session, turns, branches }))
}

/// `GET /api/v1/sessions/{id}/log/{run}`
pub(crate) async fn log(
    State(shared): State<Shared>,
    Path((session, run)): Path<(String, String)>,
    asked: Result<Query<LogQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let session = id(session)?;
    let unknown = |run: &str| {
        let detail = format!("session {session} has no run {run:?}");
        Problem::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, detail)
            .hint("a turn's runs are named as the turn, with a number from 1: `s….t1.1`")
    };
    let known = RunId::new(run.clone()).map_err(|_| unknown(&run))?;
    let turn = run.rsplit_once('.').and_then(|(turn, _)| TurnId::new(turn).ok()).ok_or_else(|| unknown(&run))?;
    let turn = shared.engine.turn_record(&turn).await?;
    if turn.session != session {
        return Err(unknown(&run));
    }
    logs::lines(shared, &known, query(asked)?.follow()?).await
}

/// `POST /api/v1/sessions/{id}/stop`
pub(crate) async fn stop(State(shared): State<Shared>, Path(text): Path<String>) -> Result<Json<Stopped>, Problem> {
    Ok(Json(Stopped { stopped: shared.engine.stop_turn(&id(text)?).await? }))
}
