//! Jobs: start, list, show, cancel. Statuses are the engine's projections, never kept here. [39]

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::ids::JobId;
use helix_engine::JobFilter;
use helix_engine::reopen::ReopenRequest;
use helix_job::{JobStatus, JobView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::job_request::JobRequest;
use super::person;
use crate::body::{self, BodyError};
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Largest body of a request that is no chat, in bytes.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;

/// An accepted job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Accepted {
    /// The job.
    #[serde(flatten)]
    pub(crate) job: JobView,
    /// What is worth knowing about its plan and blocks nothing.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Jobs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct JobList {
    /// The jobs.
    pub(crate) jobs: Vec<JobView>,
    /// `after` of the next page; absent when this is the last, or when all were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<JobId>,
}

/// Which jobs are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobQuery {
    /// With one of these statuses, separated by commas.
    #[serde(default)]
    status: Option<String>,
    /// Of this repository.
    #[serde(default)]
    project_path: Option<String>,
    /// Of plans with this name.
    #[serde(default)]
    name: Option<String>,
    /// At most so many, from 1 to 500; without it all.
    #[serde(default)]
    limit: Option<u16>,
    /// Older than this job: what the page before gave as `next`.
    #[serde(default)]
    after: Option<String>,
}

/// All of them, in the order of a job's life.
pub(super) const STATUSES: [JobStatus; 6] = [
    JobStatus::Queued,
    JobStatus::Running,
    JobStatus::Waiting,
    JobStatus::Succeeded,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

impl JobQuery {
    fn filter(self) -> Result<JobFilter, Problem> {
        let words =
            self.status.iter().flat_map(|words| words.split(',')).map(str::trim).filter(|word| !word.is_empty());
        let statuses = words.map(status).collect::<Result<_, _>>()?;
        Ok(JobFilter { statuses, project_path: self.project_path, name: self.name })
    }
}

fn status(word: &str) -> Result<JobStatus, Problem> {
    STATUSES.into_iter().find(|status| status.word() == word).ok_or_else(|| {
        let problem = Problem::new(
            StatusCode::BAD_REQUEST,
            codes::BAD_REQUEST,
            format!("status: {word:?} is no status of a job"),
        );
        match did_you_mean(word, STATUSES.map(JobStatus::word)) {
            Some(known) => problem.hint(format!("did you mean {known:?}?")),
            None => problem.hint(format!("use {}", STATUSES.map(JobStatus::word).join(", "))),
        }
    })
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let (status, code) = match error {
            BodyError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, codes::TOO_LARGE),
            BodyError::TooSlow { .. } => (StatusCode::REQUEST_TIMEOUT, codes::BODY_TIMEOUT),
            BodyError::Broken(_) => (StatusCode::BAD_REQUEST, codes::BAD_REQUEST),
            BodyError::Encoded { .. } => (StatusCode::UNSUPPORTED_MEDIA_TYPE, codes::BAD_REQUEST),
        };
        Self::new(status, code, error.to_string())
    }
}

/// Turns a query string that axum cannot parse into a problem.
pub(crate) fn query<T>(query: Result<Query<T>, axum::extract::rejection::QueryRejection>) -> Result<T, Problem> {
    query
        .map(|Query(query)| query)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, error.body_text()))
}

/// `POST /api/v1/jobs`
pub(crate) async fn create(State(shared): State<Shared>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let body = body::read(&head.headers, body, BODY_LIMIT, shared.config.body_timeout).await?;
    let request = JobRequest::parse(&body)?.into_submit()?;
    let submission = shared.engine.submit(request).await?;
    let status = if submission.existed { StatusCode::OK } else { StatusCode::ACCEPTED };
    let place = format!("/api/v1/jobs/{}", submission.job.id);
    let accepted = Accepted { job: submission.job, warnings: submission.warnings };
    let mut response = (status, Json(accepted)).into_response();
    if let Ok(place) = HeaderValue::from_str(&place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

/// Most jobs of a page.
const PAGE: u16 = 500;

fn unusable(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, detail)
}

/// `GET /api/v1/jobs`
pub(crate) async fn list(
    State(shared): State<Shared>,
    asked: Result<Query<JobQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<JobList>, Problem> {
    let mut asked = query(asked)?;
    let (limit, after) = (asked.limit.take(), asked.after.take());
    let filter = asked.filter()?;
    let after = after.map(JobId::new).transpose().map_err(|error| unusable(format!("after: {error}")))?;
    let limit = match (limit, &after) {
        (Some(limit @ 1..=PAGE), _) => limit,
        (Some(other), _) => return Err(unusable(format!("limit must be from 1 to {PAGE}, not {other}"))),
        (None, Some(_)) => PAGE,
        (None, None) => return Ok(Json(JobList { jobs: shared.engine.jobs(filter).await?, next: None })),
    };
    let page = shared.engine.job_page(filter, after, usize::from(limit)).await?;
    Ok(Json(JobList { jobs: page.jobs, next: page.next }))
}

/// `GET /api/v1/jobs/{id}`
pub(crate) async fn show(State(shared): State<Shared>, Path(id): Path<String>) -> Result<Json<JobView>, Problem> {
    Ok(Json(shared.engine.job(&id).await?))
}

/// `POST /api/v1/jobs/{id}/cancel`
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<JobView>, Problem> {
    let CancelRequest { by } = body(&shared, request, BODY_LIMIT).await?;
    let by = person::named(by)?;
    let job = shared.engine.job(&id).await?;
    Ok(Json(shared.engine.cancel(&job.id, &by).await?))
}

/// How a job is cancelled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelRequest {
    /// Who wants it, for the record.
    #[serde(default)]
    by: Option<String>,
}

/// How a job goes on that had failed or was cancelled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeRequest {
    /// A new budget for the whole job in US dollars, what it has cost so far included; also accepted as `budget`.
    #[serde(default, alias = "budget")]
    budget_usd: Option<f64>,
    /// Who wants it, for the record.
    #[serde(default)]
    by: Option<String>,
}

/// What is done again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryRequest {
    /// This phase, and all that build on it.
    phase: String,
    /// As for resume.
    #[serde(default, alias = "budget")]
    budget_usd: Option<f64>,
    /// Who wants it, for the record.
    #[serde(default)]
    by: Option<String>,
}

/// The body of a request as JSON; none at all is an empty object.
///
/// # Errors
/// A [`Problem`] that names the field.
pub(crate) async fn body<T: serde::de::DeserializeOwned>(
    shared: &Shared,
    request: Request,
    limit: usize,
) -> Result<T, Problem> {
    let (head, body) = request.into_parts();
    let body = body::read(&head.headers, body, limit, shared.config.body_timeout).await?;
    let text: &[u8] = if body.trim_ascii().is_empty() { b"{}" } else { &body };
    serde_json::from_slice(text).map_err(|error| {
        let status = match error.classify() {
            serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, codes::BAD_REQUEST, format!("the body cannot be understood: {error}"))
    })
}

/// `POST /api/v1/jobs/{id}/resume`
pub(crate) async fn resume(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let ResumeRequest { budget_usd, by } = body(&shared, request, BODY_LIMIT).await?;
    let job = shared.engine.job(&id).await?;
    reopen(&shared, &job, ReopenRequest { phase: None, budget_usd, by: person::named(by)? }).await
}

/// `POST /api/v1/jobs/{id}/retry`
pub(crate) async fn retry(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let RetryRequest { phase, budget_usd, by } = body(&shared, request, BODY_LIMIT).await?;
    let job = shared.engine.job(&id).await?;
    let known: Vec<&str> = job.phases.iter().map(|phase| phase.id.as_str()).collect();
    let Some(found) = job.phases.iter().find(|one| one.id.as_str() == phase) else {
        let detail = format!("job {} has no phase {phase:?}", job.id);
        let hint = match did_you_mean(&phase, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("its phases: {}", known.join(", ")),
        };
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::NOT_FOUND, detail).hint(hint));
    };
    let phase = Some(found.id.clone());
    reopen(&shared, &job, ReopenRequest { phase, budget_usd, by: person::named(by)? }).await
}

async fn reopen(shared: &Shared, job: &JobView, request: ReopenRequest) -> Result<Response, Problem> {
    if let Some(budget) = request.budget_usd.filter(|budget| !(budget.is_finite() && *budget > 0.0)) {
        let detail = format!("budget_usd must be more than 0, not {budget}");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::BAD_REQUEST, detail));
    }
    let view = shared.engine.reopen(&job.id, request).await?;
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_words_with_commas() {
        let query = JobQuery { status: Some("running, failed,".into()), ..JobQuery::default() };
        assert_eq!(query.filter().unwrap().statuses, [JobStatus::Running, JobStatus::Failed]);
        assert!(JobQuery::default().filter().unwrap().statuses.is_empty());
        let wrong = JobQuery { status: Some("runing".into()), ..JobQuery::default() };
        assert_eq!(wrong.filter().unwrap_err().hint.as_deref(), Some("did you mean \"running\"?"));
    }
}
