//! Decisions of a project. Must not know what makes one valid.

use std::path::PathBuf;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use helix_project::adr_files::AdrSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::query;
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Decisions, by file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AdrList {
    /// The decisions.
    pub(crate) adrs: Vec<AdrSummary>,
}

/// Whose decisions are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdrQuery {
    /// Directory of the project, as an absolute path.
    project_path: PathBuf,
}

/// `GET /api/v1/adrs`
pub(crate) async fn list(
    State(shared): State<Shared>,
    asked: Result<Query<AdrQuery>, QueryRejection>,
) -> Result<Json<AdrList>, Problem> {
    let AdrQuery { project_path } = query(asked)?;
    if !project_path.is_absolute() {
        let detail = format!("project_path: {} is not an absolute path", project_path.display());
        return Err(Problem::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, detail));
    }
    Ok(Json(AdrList { adrs: shared.engine.decisions(project_path).await? }))
}
