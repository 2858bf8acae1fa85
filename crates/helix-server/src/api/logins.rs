//! Addresses that log a browser in. Must not know pages.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use helix_engine::logins::LoginCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Body, JsonResult};
use crate::host_check::authority;
use crate::principal::By;
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// Asks for an address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The job to look at first, by id or unique prefix; the board without it.
    pub job: Option<String>,
}

/// An address that logs a browser in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Login {
    /// The address, which works once.
    pub url: String,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// `POST /api/v1/logins`
pub(crate) async fn create(
    State(shared): State<ServerState>,
    By(by): By,
    uri: Uri,
    headers: HeaderMap,
    Body(LoginRequest { job }): Body<LoginRequest>,
) -> JsonResult<Login> {
    let job = match job {
        Some(job) => Some(shared.engine.jobs().get(&job).await?.id),
        None => None,
    };
    let made = shared.engine.logins().code(&by)?;
    let LoginCode { code, until } = made.ok_or_else(|| {
        Problem::new(StatusCode::FORBIDDEN, codes::FORBIDDEN, format!("nothing proves who {by} is"))
            .hint("run `helix open` at the terminal of the host, or use a key: `helix people add NAME`")
    })?;
    let host = authority(&headers, &uri).map(|authority| format!("http://{authority}"));
    let base = shared.config.public_url.clone().or(host).unwrap_or_default();
    let job = job.map(|job| format!("&job={job}")).unwrap_or_default();
    Ok(Json(Login { url: format!("{}/login?code={code}{job}", base.trim_end_matches('/')), expires_at: until }))
}
