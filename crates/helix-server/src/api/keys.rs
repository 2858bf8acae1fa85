//! The keys of people and the tokens of chat clients: made, listed, revoked, at the terminal of the host alone.
//!
//! Must not know what a key opens.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use helix_engine::keys::{Holder, KeyError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Body, JsonResult, named};
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// Makes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRequest {
    /// Whose it is.
    pub holder: Holder,
    /// Their name.
    pub name: String,
}

/// A key that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewKey {
    /// Whose it is.
    pub holder: Holder,
    /// Their name.
    pub name: String,
    /// The key, which is told this once.
    pub key: String,
}

/// A key as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    /// Whose it is.
    pub holder: Holder,
    /// Their name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// All keys, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyList {
    /// The keys.
    pub keys: Vec<KeyView>,
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Self {
        let detail = error.to_string();
        match error {
            KeyError::Name(_) => Self::unprocessable(detail),
            KeyError::Taken(_) => Self::new(StatusCode::CONFLICT, codes::KEY_TAKEN, detail)
                .hint("revoke it first: `helix people remove NAME`, `helix token revoke NAME`"),
            KeyError::TooMany => Self::new(StatusCode::CONFLICT, codes::KEY_TAKEN, detail).hint("revoke some"),
            KeyError::Engine(error) => error.into(),
        }
    }
}

/// `POST /api/v1/keys`
pub(crate) async fn create(
    State(shared): State<ServerState>,
    Body(KeyRequest { holder, name }): Body<KeyRequest>,
) -> JsonResult<NewKey> {
    let (keys, wanted) = (shared.engine.keys().clone(), name.clone());
    let key = blocking(move || keys.create(holder, &wanted)).await??;
    Ok(Json(NewKey { holder, name: name.trim().to_owned(), key }))
}

/// `GET /api/v1/keys`
pub(crate) async fn list(State(shared): State<ServerState>) -> JsonResult<KeyList> {
    let view =
        |one: helix_engine::keys::KnownKey| KeyView { holder: one.holder, name: one.name, created_at: one.created_at };
    Ok(Json(KeyList { keys: shared.engine.keys().list().into_iter().map(view).collect() }))
}

/// `DELETE /api/v1/keys/{holder}/{name}`
pub(crate) async fn revoke(
    State(shared): State<ServerState>,
    Path((holder, name)): Path<(String, String)>,
) -> JsonResult<KeyList> {
    let holder = named("holder", &holder, Holder::WORDS)?;
    let (keys, wanted) = (shared.engine.keys().clone(), name.clone());
    match blocking(move || keys.revoke(holder, &wanted)).await?? {
        true => list(State(shared)).await,
        false => Err(Problem::not_found(format!("there is no key for {name:?}"))
            .hint("list them: `helix people list`, `helix token list`")),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            codes::ENVIRONMENT,
            format!("an internal task ended early: {error}"),
        )
    })
}
