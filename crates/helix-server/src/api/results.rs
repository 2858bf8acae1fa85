//! What a job changed, and the evidence for it. Must not know how either is computed.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use helix_engine::evidence::{DiffSelection, GateOutput, JobEvidence, OutputSelection};

use super::request::{JsonResult, Params};
use crate::problem::Problem;
use crate::state::ServerState;

/// The number of bytes of a diff that were left out.
const CUT_HEADER: HeaderName = HeaderName::from_static("x-helix-cut");

/// `GET /api/v1/jobs/{id}/diff`: a patch, or JSON where the request accepts only that.
pub(crate) async fn diff(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    Params(selection): Params<DiffSelection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if selection.attempt.is_some() && selection.phase.is_none() {
        return Err(Problem::unprocessable("`attempt` needs `phase`, too"));
    }
    let difference = shared.engine.reports().archive().diff(&id, selection).await?;
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if accepted.any(|value| value.contains("application/json")) {
        return Ok(Json(difference).into_response());
    }
    let cut = (difference.cut > 0).then(|| [(CUT_HEADER, HeaderValue::from(difference.cut))]);
    Ok(([(header::CONTENT_TYPE, "text/x-diff; charset=utf-8")], cut, difference.patch).into_response())
}

/// `GET /api/v1/jobs/{id}/evidence`
pub(crate) async fn evidence(State(shared): State<ServerState>, Path(id): Path<String>) -> JsonResult<JobEvidence> {
    Ok(Json(shared.engine.reports().archive().evidence(&id).await?))
}

/// `GET /api/v1/jobs/{id}/output`
pub(crate) async fn output(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    Params(selection): Params<OutputSelection>,
) -> JsonResult<GateOutput> {
    Ok(Json(shared.engine.reports().archive().gate_output(&id, selection).await?))
}
