//! Failures: the memory of them, the reports of a job, and the explanation of a log.
//!
//! Must not know how a failure is classified or found.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use helix_engine::EngineError;
use helix_engine::observer::{Explanation, FailureFilter, FailurePage, JobReport};
use helix_failure::memory::FailureDetail;
use helix_failure::{Category, FailureObservation, Termination};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Body, JsonResult, Params, named, page_size};
use crate::problem::Problem;
use crate::state::ServerState;

/// Largest body with a log, in bytes. Longer logs are explained by `helix failures explain`, which reads them in pieces.
const LOG_LIMIT: usize = 8 * 1024 * 1024;
/// Default number of failures in a page.
const PAGE: usize = 50;
/// Values of `ended`.
const ENDS: [&str; 4] = ["fixed", "went_away", "gave_up", "open"];

/// Filters and pages a list of failures: with `q` those that match the words, best first; without it all, latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureQuery {
    /// Words of their texts; the last one may be a prefix. Only with `limit`.
    q: Option<String>,
    /// Of this category, such as `TYPE_ERROR`.
    category: Option<String>,
    /// Reported by this tool.
    tool: Option<String>,
    /// Seen in this project.
    project: Option<String>,
    /// With this end: `fixed`, `went_away`, `gave_up` or `open`.
    ended: Option<String>,
    /// `next` of the previous page.
    after: Option<String>,
    /// Failures in a page, from 1 to 500; 50 without it.
    limit: Option<u16>,
}

/// The format of reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportQuery {
    /// The format of the answer.
    #[serde(default)]
    format: ReportFormat,
}

/// The format of reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReportFormat {
    #[default]
    Json,
    Markdown,
}

/// A failure to explain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// The log; may be empty.
    log: String,
    /// The tool that wrote it, such as `cargo`.
    tool: Option<String>,
    /// Its exit status, 0 to 255; -1 to -64: ended by that signal.
    exit: Option<i32>,
    /// The phase or gate that failed, such as `tests_pass`.
    phase: Option<String>,
}

/// Reports of a job, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ReportList {
    /// The reports.
    reports: Vec<JobReport>,
}

impl FailureQuery {
    fn filter(&self) -> Result<FailureFilter, Problem> {
        let labels = Category::ALL.map(|category| (category.word(), category.word()));
        let category = self.category.as_ref().map(|given| named("category", &given.to_uppercase(), &labels));
        let ended = self.ended.as_ref().map(|given| named("ended", given, &ENDS.map(|word| (word, word))));
        Ok(FailureFilter {
            category: category.transpose()?.map(str::to_owned),
            tool: self.tool.clone(),
            ended: ended.transpose()?.map(str::to_owned),
            project: self.project.clone(),
        })
    }
}

impl ExplainRequest {
    fn termination(&self) -> Result<Termination, Problem> {
        match self.exit {
            None => Ok(Termination::Unknown),
            Some(code @ 0..=255) => Ok(Termination::Exited { code }),
            Some(code @ -64..=-1) => Ok(Termination::Signaled { signal: -code }),
            Some(other) => {
                let problem = Problem::unprocessable(format!("no process exits with {other}"));
                Err(problem.hint("use 0 to 255, or -1 to -64 for the signal that ended it"))
            }
        }
    }
}

/// `GET /api/v1/failures`
pub(crate) async fn list(
    State(shared): State<ServerState>,
    Params(asked): Params<FailureQuery>,
) -> JsonResult<FailurePage> {
    let (filter, limit) = (asked.filter()?, page_size::<String>(asked.limit, None)?.unwrap_or(PAGE));
    let page = match asked.q.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
        Some(_) if filter != FailureFilter::default() || asked.after.is_some() => {
            return Err(Problem::bad_request("q can only be combined with limit"));
        }
        Some(words) => shared.engine.reports().search(words, limit).await?,
        None => shared.engine.reports().failures(filter, asked.after, limit).await?,
    };
    Ok(Json(page))
}

/// `GET /api/v1/failures/{fingerprint}`
pub(crate) async fn show(State(shared): State<ServerState>, Path(id): Path<String>) -> JsonResult<FailureDetail> {
    shared.engine.reports().failure(&id).await.map(Json).map_err(|error| match error {
        EngineError::NotFound { .. } => Problem::from(error).hint("list the failures in memory: `helix failures list`"),
        other => other.into(),
    })
}

/// `POST /api/v1/failures/explain`
pub(crate) async fn explain(
    State(shared): State<ServerState>,
    Body(asked): Body<ExplainRequest, LOG_LIMIT>,
) -> JsonResult<Explanation> {
    let termination = asked.termination()?;
    let observation = FailureObservation {
        tool: asked.tool.unwrap_or_default(),
        phase: asked.phase.unwrap_or_default(),
        termination,
        ..FailureObservation::default()
    };
    Ok(Json(shared.engine.reports().explain(observation, asked.log).await?))
}

/// `GET /api/v1/jobs/{id}/reports`: JSON, or all of them as one page of Markdown.
pub(crate) async fn reports(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    Params(asked): Params<ReportQuery>,
) -> Result<Response, Problem> {
    let reports = shared.engine.reports().of_job(&id).await?;
    if asked.format == ReportFormat::Json {
        return Ok(Json(ReportList { reports }).into_response());
    }
    let page: Vec<String> = reports.iter().map(JobReport::markdown).collect();
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], page.join("\n")).into_response())
}
