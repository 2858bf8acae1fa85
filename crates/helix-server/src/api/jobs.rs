//! Jobs: start, list, show, cancel, resume, retry, roll back, revert. Must not keep any status: all come from the engine.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::diagnostic::Diagnostic;
use helix_core::ids::{JobId, PhaseId};
use helix_engine::jobs::{self as engine, Again, ReopenRequest};
use helix_engine::{JobFilter, JobPage};
use helix_job::{JobStatus, JobView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::job_request::JobRequest;
use super::request::{Body, JsonResult, Params, budget, named, page_size};
use crate::principal::By;
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// An accepted job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// The job.
    #[serde(flatten)]
    pub job: JobView,
    /// Warnings about its plan.
    pub warnings: Vec<Diagnostic>,
}

/// Filters and pages a list of jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobQuery {
    /// Jobs with one of these statuses, separated by commas.
    status: Option<String>,
    /// Jobs of this repository.
    project_path: Option<String>,
    /// Jobs of plans with this name.
    name: Option<String>,
    /// Jobs in a page, from 1 to 500; all jobs without it.
    limit: Option<u16>,
    /// `next` of the previous page: older jobs than this one.
    after: Option<JobId>,
}

/// All statuses, in the order of a job's life.
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
        let words = self.status.iter().flat_map(|words| words.split(','));
        let words = words.map(str::trim).filter(|word| !word.is_empty());
        let known = STATUSES.map(|status| (status.word(), status));
        let statuses = words.map(|word| named("status", word, &known)).collect::<Result<_, _>>()?;
        Ok(JobFilter { statuses, project_path: self.project_path, name: self.name })
    }
}

/// `POST /api/v1/jobs`
pub(crate) async fn create(
    State(shared): State<ServerState>,
    By(by): By,
    Body(request): Body<JobRequest>,
) -> Result<Response, Problem> {
    let submission = shared.engine.jobs().submit(request.into_submit(by)?).await?;
    let status = if submission.existed { StatusCode::OK } else { StatusCode::ACCEPTED };
    let location = [(header::LOCATION, format!("/api/v1/jobs/{}", submission.job.id))];
    let accepted = Accepted { job: submission.job, warnings: submission.warnings };
    Ok((status, location, Json(accepted)).into_response())
}

/// `GET /api/v1/jobs`
pub(crate) async fn list(State(shared): State<ServerState>, Params(asked): Params<JobQuery>) -> JsonResult<JobPage> {
    let (limit, after) = (page_size(asked.limit, asked.after.as_ref())?, asked.after.clone());
    let filter = asked.filter()?;
    Ok(Json(match limit {
        None => shared.engine.jobs().list(filter).await?,
        Some(limit) => shared.engine.jobs().page(filter, after, limit).await?,
    }))
}

/// `GET /api/v1/jobs/{id}`
pub(crate) async fn show(State(shared): State<ServerState>, Path(id): Path<String>) -> JsonResult<JobView> {
    Ok(Json(shared.engine.jobs().get(&id).await?))
}

/// `POST /api/v1/jobs/{id}/cancel`
pub(crate) async fn cancel(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(Nothing {}): Body<Nothing>,
) -> JsonResult<JobView> {
    let job = shared.engine.jobs().get(&id).await?;
    Ok(Json(shared.engine.jobs().cancel(&job.id, &by).await?))
}

/// A body that says nothing more than the route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Resumes a job that failed or was cancelled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// A new budget for the whole job in US dollars, including what it has cost so far.
    pub budget_usd: Option<f64>,
    /// Whether phases that have not passed are taken as the plan file has them now.
    #[serde(default)]
    pub plan: bool,
}

/// Runs a phase again, and all phases that depend on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRequest {
    /// The phase.
    pub phase: String,
    /// A new budget for the whole job in US dollars, including what it has cost so far.
    pub budget_usd: Option<f64>,
    /// As for a resume.
    #[serde(default)]
    pub plan: bool,
}

/// `POST /api/v1/jobs/{id}/resume`
pub(crate) async fn resume(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(ResumeRequest { budget_usd, plan: takes_plan }): Body<ResumeRequest>,
) -> Result<Response, Problem> {
    let job = shared.engine.jobs().get(&id).await?;
    reopen(&shared, &job, ReopenRequest { what: Again::Unfinished, takes_plan, budget_usd, by }).await
}

/// `POST /api/v1/jobs/{id}/retry`
pub(crate) async fn retry(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(RetryRequest { phase, budget_usd, plan: takes_plan }): Body<RetryRequest>,
) -> Result<Response, Problem> {
    let job = shared.engine.jobs().get(&id).await?;
    let what = Again::Phase(phase_of(&job, &phase)?);
    reopen(&shared, &job, ReopenRequest { what, takes_plan, budget_usd, by }).await
}

/// Has the gates judge the last result once more, without an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// The phase; without it, all phases that stopped with a result.
    pub phase: Option<String>,
    /// As for a resume.
    #[serde(default)]
    pub plan: bool,
}

/// `POST /api/v1/jobs/{id}/check`
pub(crate) async fn check(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(CheckRequest { phase, plan: takes_plan }): Body<CheckRequest>,
) -> Result<Response, Problem> {
    let job = shared.engine.jobs().get(&id).await?;
    let what = Again::Gates(phase.map(|phase| phase_of(&job, &phase)).transpose()?);
    reopen(&shared, &job, ReopenRequest { what, takes_plan, budget_usd: None, by }).await
}

/// Lets a result count although a gate did not pass; the phase is not proved then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptRequest {
    /// The phase.
    pub phase: String,
    /// Why.
    pub reason: String,
}

/// `POST /api/v1/jobs/{id}/accept`
pub(crate) async fn accept(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(AcceptRequest { phase, reason }): Body<AcceptRequest>,
) -> Result<Response, Problem> {
    let job = shared.engine.jobs().get(&id).await?;
    let what = Again::Nothing { phase: phase_of(&job, &phase)?, reason };
    reopen(&shared, &job, ReopenRequest { what, takes_plan: false, budget_usd: None, by }).await
}

fn phase_of(job: &JobView, phase: &str) -> Result<PhaseId, Problem> {
    let known: Vec<&str> = job.phases.iter().map(|phase| phase.id.as_str()).collect();
    job.phases.iter().find(|one| one.id.as_str() == phase).map(|one| one.id.clone()).ok_or_else(|| {
        let detail = format!("job {} has no phase {phase:?}", job.id);
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::NOT_FOUND, detail).hint_for(phase, &known)
    })
}

/// Takes a delivery back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackRequest {
    /// The phase whose last delivery is meant; the job's last delivery without it.
    pub phase: Option<String>,
    /// Needed to take back once more what was taken back before.
    #[serde(default)]
    pub again: bool,
    /// Needed to take it back although something else was delivered over it, which is lost then.
    #[serde(default)]
    pub over: bool,
}

/// `POST /api/v1/jobs/{id}/rollback`
pub(crate) async fn rollback(
    State(shared): State<ServerState>,
    Path(job): Path<String>,
    By(by): By,
    Body(RollbackRequest { phase, again, over }): Body<RollbackRequest>,
) -> Result<Response, Problem> {
    let job = shared.engine.jobs().get(&job).await?;
    let phase = phase.map(|phase| phase_of(&job, &phase)).transpose()?;
    let request = engine::RollbackRequest { phase, again, over, by };
    let view = shared.engine.jobs().roll_back(&job.id, request).await?;
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

/// `POST /api/v1/jobs/{id}/revert`
pub(crate) async fn revert(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(Nothing {}): Body<Nothing>,
) -> JsonResult<JobView> {
    let job = shared.engine.jobs().get(&id).await?;
    Ok(Json(shared.engine.jobs().revert(&job.id, by).await?))
}

async fn reopen(shared: &ServerState, job: &JobView, request: ReopenRequest) -> Result<Response, Problem> {
    budget(request.budget_usd)?;
    let view = shared.engine.jobs().reopen(&job.id, request).await?;
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

#[cfg(test)]
#[path = "jobs_test.rs"]
mod tests;
