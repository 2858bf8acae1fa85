//! Whether the server works. Open to everybody, and says nothing else.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use helix_engine::EngineError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, chain, codes};
use crate::shared::Shared;

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Health {
    /// Always `ok`: anything else is a problem.
    pub(crate) status: String,
}

impl Health {
    fn ok() -> Json<Self> {
        Json(Self { status: "ok".into() })
    }
}

/// `GET /healthz`: the process answers.
pub(crate) async fn live() -> Json<Health> {
    Health::ok()
}

/// `GET /readyz`: the journal answers, too.
pub(crate) async fn ready(State(shared): State<Shared>) -> Result<Json<Health>, Problem> {
    // No job has this id: jobs are named by Helix. The question costs the journal one look-up.
    match shared.engine.job("readyz").await {
        Ok(_) | Err(EngineError::NotFound { .. }) => Ok(Health::ok()),
        Err(error) => {
            let code = match error {
                EngineError::Environment { .. } => codes::ENVIRONMENT,
                EngineError::Journal(_)
                | EngineError::Contradiction { .. }
                | EngineError::Over { .. }
                | EngineError::Ambiguous { .. }
                | EngineError::Refused { .. }
                | EngineError::NotFound { .. } => codes::JOURNAL,
            };
            tracing::error!(error = chain(&error), "not ready");
            // The answer is open to everybody: the cause is in the log only.
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, "the journal does not answer")
                .hint("see Helix's log, or run `helix doctor`"))
        }
    }
}
