//! What a job changed and what proves it. Must not know how either is found out.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::ids::PhaseId;
use helix_engine::evidence::{DiffSelection, JobEvidence};
use schemars::JsonSchema;
use serde::Deserialize;

use super::jobs::query;
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Says how many bytes of a difference were left out.
const CUT_HEADER: HeaderName = HeaderName::from_static("x-helix-cut");

/// Which difference is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffQuery {
    /// What this phase changed; the whole job without it.
    #[serde(default)]
    phase: Option<String>,
    /// What this attempt of the phase changed since the one before it, from 1.
    #[serde(default)]
    attempt: Option<u32>,
}

impl DiffQuery {
    fn selection(self) -> Result<DiffSelection, Problem> {
        let unusable = |detail: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::BAD_REQUEST, detail);
        if self.attempt.is_some() && self.phase.is_none() {
            return Err(unusable("an attempt belongs to a phase: give `phase` too".into()));
        }
        let phase = self.phase.map(PhaseId::new).transpose().map_err(|error| unusable(format!("phase: {error}")))?;
        Ok(DiffSelection { phase, attempt: self.attempt })
    }
}

/// `GET /api/v1/jobs/{id}/diff`: a patch, or JSON where the request accepts only that.
pub(crate) async fn diff(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    asked: Result<Query<DiffQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let difference = shared.engine.diff(&id, query(asked)?.selection()?).await?;
    let wants_json = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/json"));
    if wants_json {
        return Ok(Json(difference).into_response());
    }
    let mut response = difference.patch.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/x-diff; charset=utf-8"));
    if difference.cut > 0 {
        response.headers_mut().insert(CUT_HEADER, HeaderValue::from(difference.cut));
    }
    Ok(response)
}

/// `GET /api/v1/jobs/{id}/evidence`
pub(crate) async fn evidence(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<JobEvidence>, Problem> {
    Ok(Json(shared.engine.evidence(&id).await?))
}
