//! Conversations with the Consultant, as their records show them.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use helix_core::ids::SessionId;
use helix_core::session::SessionView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Conversations, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionList {
    /// The conversations.
    pub(crate) sessions: Vec<SessionView>,
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
pub(crate) async fn list(State(shared): State<Shared>) -> Result<Json<SessionList>, Problem> {
    Ok(Json(SessionList { sessions: shared.engine.sessions().await? }))
}

/// `GET /api/v1/sessions/{id}`
pub(crate) async fn show(State(shared): State<Shared>, Path(text): Path<String>) -> Result<Json<SessionView>, Problem> {
    Ok(Json(shared.engine.session(&id(text)?).await?))
}

/// `POST /api/v1/sessions/{id}/stop`
pub(crate) async fn stop(State(shared): State<Shared>, Path(text): Path<String>) -> Result<Json<Stopped>, Problem> {
    Ok(Json(Stopped { stopped: shared.engine.stop_turn(&id(text)?).await? }))
}
