//! Health checks, open without a token. Must not say more than whether the server works.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use helix_core::error_chain;
use helix_engine::EngineError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// The server's health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// Always `ok`: anything else is a problem.
    status: &'static str,
}

impl Health {
    fn ok() -> Json<Self> {
        Json(Self { status: "ok" })
    }
}

/// `GET /healthz`: the process answers.
pub(crate) async fn live() -> Json<Health> {
    Health::ok()
}

/// `GET /readyz`: the journal answers, too.
pub(crate) async fn ready(State(shared): State<ServerState>) -> Result<Json<Health>, Problem> {
    // No job has this id, so that the check costs one look-up in the journal.
    match shared.engine.jobs().get("readyz").await {
        Ok(_) | Err(EngineError::NotFound { .. }) => Ok(Health::ok()),
        Err(error) => {
            tracing::error!(error = error_chain(&error), "not ready");
            // This route needs no token: the cause is in the log only.
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, codes::JOURNAL, "the journal does not answer")
                .hint("see Helix's log, or run `helix doctor`"))
        }
    }
}
