//! Decisions of a project. Must not know what makes one valid.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use helix_project::adr_files::AdrSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{JsonResult, Params};
use crate::problem::Problem;
use crate::state::ServerState;

/// Decisions, by file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AdrList {
    /// The decisions.
    adrs: Vec<AdrSummary>,
}

/// The project of the decisions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdrQuery {
    /// Directory of the project, as an absolute path.
    project_path: PathBuf,
}

/// `GET /api/v1/adrs`
pub(crate) async fn list(State(shared): State<ServerState>, Params(asked): Params<AdrQuery>) -> JsonResult<AdrList> {
    let project_path = asked.project_path;
    if !project_path.is_absolute() {
        let detail = format!("project_path: {} is not an absolute path", project_path.display());
        return Err(Problem::bad_request(detail));
    }
    Ok(Json(AdrList { adrs: shared.engine.projects().decisions(project_path).await? }))
}
