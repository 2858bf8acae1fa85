//! What a job changed, and the evidence for it. Must not know how either is computed.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use helix_core::ids::PhaseId;
use helix_engine::evidence::{DiffSelection, JobEvidence};
use schemars::JsonSchema;
use serde::Deserialize;

use super::request::{JsonResult, Params};
use crate::problem::Problem;
use crate::shared::Shared;

/// The number of bytes of a diff that were left out.
const CUT_HEADER: HeaderName = HeaderName::from_static("x-helix-cut");

/// Selects a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffQuery {
    /// Only the changes of this phase.
    phase: Option<String>,
    /// Only the changes of this attempt of the phase, from 1.
    attempt: Option<u32>,
}

impl DiffQuery {
    fn selection(self) -> Result<DiffSelection, Problem> {
        if self.attempt.is_some() && self.phase.is_none() {
            return Err(Problem::unprocessable("`attempt` needs `phase`, too"));
        }
        let phase = self.phase.map(PhaseId::new).transpose();
        let phase = phase.map_err(|error| Problem::unprocessable(format!("phase: {error}")))?;
        Ok(DiffSelection { phase, attempt: self.attempt })
    }
}

/// `GET /api/v1/jobs/{id}/diff`: a patch, or JSON where the request accepts only that.
pub(crate) async fn diff(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Params(asked): Params<DiffQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let difference = shared.engine.reports().archive().diff(&id, asked.selection()?).await?;
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if accepted.any(|value| value.contains("application/json")) {
        return Ok(Json(difference).into_response());
    }
    let cut = (difference.cut > 0).then(|| [(CUT_HEADER, HeaderValue::from(difference.cut))]);
    Ok(([(header::CONTENT_TYPE, "text/x-diff; charset=utf-8")], cut, difference.patch).into_response())
}

/// `GET /api/v1/jobs/{id}/evidence`
pub(crate) async fn evidence(State(shared): State<Shared>, Path(id): Path<String>) -> JsonResult<JobEvidence> {
    Ok(Json(shared.engine.reports().archive().evidence(&id).await?))
}
