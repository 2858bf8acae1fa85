//! The routes of the former API, in its own words: clients that were written for it go on as they are.
//!
//! Must not know how a job is carried out. What the former API had no word for stands as in `/api/v1`.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::{Component, PathBuf};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use helix_core::finding::Verdict;
use helix_core::ids::{JobId, PhaseId};
use helix_engine::{EngineError, JobFilter};
use helix_job::{AskPerson, JobEnd, JobEvent, JobState, JobStatus, JobView, PhaseStatus, PhaseView, Recorded};
use helix_language::ErrorView;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::events::{self, EventQuery};
use super::job_request::{JobRequest, PhaseFilter};
use super::jobs::Nothing;
use super::request::{Body, JsonResult, Params, page_size};
use crate::principal::By;
use crate::problem::Problem;
use crate::sse;
use crate::state::ServerState;

/// Jobs in a list unless the client says otherwise.
const JOBS: u16 = 20;

/// How many jobs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OlderQuery {
    /// From 1 to 500; 20 without it.
    limit: Option<u16>,
}

/// `POST /helix/execute`
pub(crate) async fn execute(
    State(shared): State<ServerState>,
    By(by): By,
    Body(mut request): Body<JobRequest>,
) -> JsonResult<Value> {
    if let Some(path) = request.project_path.take() {
        request.project_path = Some(project(&shared, path).await?);
    }
    let modern = |id: String| helix_engine::modern_id(&id).unwrap_or(id);
    request.phase_filter = request.phase_filter.map(|filter| match filter {
        PhaseFilter::One(id) => PhaseFilter::One(modern(id)),
        PhaseFilter::Several(ids) => PhaseFilter::Several(ids.into_iter().map(modern).collect()),
    });
    let mut submit = request.into_submit(by)?;
    // The former API failed at the last attempt; its clients are told of no question and have no route to answer one.
    submit.escalate_to = Some(AskPerson::Never);
    Ok(Json(older_job(&shared.engine.jobs().submit(submit).await?.job)))
}

/// `GET /helix/jobs`
pub(crate) async fn list(
    State(shared): State<ServerState>,
    Params(asked): Params<OlderQuery>,
) -> JsonResult<Vec<Value>> {
    let limit = page_size(Some(asked.limit.unwrap_or(JOBS)), None::<&()>)?.unwrap_or_default();
    let page = shared.engine.jobs().page(JobFilter::default(), None, limit).await?;
    Ok(Json(page.jobs.iter().map(older_job).collect()))
}

/// `GET /helix/jobs/{id}`
pub(crate) async fn show(State(shared): State<ServerState>, Path(id): Path<String>) -> JsonResult<Value> {
    Ok(Json(older_job(&shared.engine.jobs().get(&id).await?)))
}

/// `DELETE /helix/jobs/{id}`
pub(crate) async fn stop(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    By(by): By,
    Body(Nothing {}): Body<Nothing>,
) -> JsonResult<Value> {
    let job = shared.engine.jobs().get(&id).await?;
    Ok(Json(match shared.engine.jobs().cancel(&job.id, &by).await {
        Ok(_) => json!({ "status": "cancelled", "job_id": job.id }),
        Err(EngineError::Over { .. }) => {
            let job = shared.engine.jobs().get(&id).await?;
            json!({ "status": "already_stopped", "job_id": job.id, "job_status": word(job.status) })
        }
        Err(error) => return Err(error.into()),
    }))
}

/// `GET /helix/stream/{id}`
pub(crate) async fn stream(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    Params(asked): Params<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    events::follow(&shared, &id, &asked, &headers, |job, after| {
        let mut teller =
            Teller { after, job: job.id.clone(), state: Some(JobState::default()), statuses: HashMap::new() };
        (0, move |out: &mut Vec<u8>, event: &Recorded<JobEvent>| teller.tell(out, event))
    })
    .await
}

/// Where a project is: a relative path lies below one of the roots.
async fn project(shared: &ServerState, path: PathBuf) -> Result<PathBuf, Problem> {
    let roots = shared.engine.projects().roots();
    let candidates = match path.is_absolute() {
        true => vec![path.clone()],
        false if path.components().any(|part| part == Component::ParentDir) => Vec::new(),
        false => roots.iter().map(|root| root.join(&path)).collect(),
    };
    for candidate in candidates {
        if tokio::fs::try_exists(&candidate).await.unwrap_or(false) {
            return Ok(candidate);
        }
    }
    let hint = match path.is_relative() && roots.is_empty() {
        true => "give an absolute path, or set `roots` in [server], below which relative paths are looked for",
        false => "check the path; relative paths are looked for below `roots` in [server]",
    };
    Err(Problem::not_found(format!("Project not found: {}", path.display())).hint(hint))
}

fn word(status: JobStatus) -> &'static str {
    match status {
        JobStatus::Queued => "pending",
        JobStatus::Running | JobStatus::Waiting => "running",
        JobStatus::Succeeded => "completed",
        JobStatus::Failed => "failed",
        JobStatus::Cancelled => "cancelled",
    }
}

fn phase_word(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Pending => "pending",
        PhaseStatus::Running | PhaseStatus::Waiting => "running",
        PhaseStatus::Passed => "completed",
        PhaseStatus::Failed => "failed",
        PhaseStatus::Skipped | PhaseStatus::Cancelled => "skipped",
    }
}

fn message(error: Option<&ErrorView>) -> Option<&str> {
    error.map(|error| error.message.as_str())
}

/// A value of `/api/v1` with these fields added, or written otherwise.
fn with(value: &impl serde::Serialize, own: Value) -> Value {
    let mut value = json!(value);
    if let (Value::Object(fields), Value::Object(own)) = (&mut value, own) {
        fields.extend(own);
    }
    value
}

fn older_job(job: &JobView) -> Value {
    let running = job.phases.iter().find(|phase| phase_word(phase.status) == "running");
    let current = running.or_else(|| job.phases.iter().max_by_key(|phase| phase.started_at));
    let own = json!({
        "job_id": job.id,
        "status": word(job.status),
        "current_phase": current.filter(|phase| phase.started_at.is_some()).map(|phase| &phase.id),
        "phases": job.phases.iter().map(older_phase).collect::<Vec<_>>(),
        "error": message(job.error.as_ref()),
    });
    with(job, own)
}

fn older_phase(phase: &PhaseView) -> Value {
    let own = json!({
        "phase_id": phase.id,
        "status": phase_word(phase.status),
        "output_files": phase.outputs,
        "error": message(phase.error.as_ref()),
    });
    with(phase, own)
}

/// Tells a job's events; it follows the job's state, since the former API told when a phase ended.
struct Teller {
    /// Number of the last event that the client has.
    after: u64,
    job: JobId,
    /// `None` once an event did not fit.
    state: Option<JobState>,
    statuses: HashMap<PhaseId, PhaseStatus>,
}

impl Teller {
    fn tell(&mut self, out: &mut Vec<u8>, recorded: &Recorded<JobEvent>) -> ControlFlow<()> {
        self.state = self.state.take().and_then(|state| state.apply(recorded).ok());
        // What the client has moves the state alone; where it stands then shows at the last of it.
        if recorded.number < self.after && self.state.is_some() {
            return Continue(());
        }
        let Some(view) = self.state.as_ref().and_then(|state| JobView::project(&self.job, state)) else {
            return Break(());
        };
        let mut frames = vec![self.event(&view, recorded)];
        for phase in &view.phases {
            if self.statuses.insert(phase.id.clone(), phase.status) != Some(phase.status) {
                frames.extend(ended(phase));
            }
        }
        // The end of the job comes after the ends of its phases.
        if let JobEvent::JobFinished { .. } = recorded.event {
            frames.rotate_left(1);
        }
        for (name, mut data) in frames.into_iter().filter(|_| recorded.number > self.after) {
            data["timestamp"] = json!(recorded.at);
            sse::numbered(out, recorded.number, name, &data);
        }
        Continue(())
    }

    /// The event itself: its name, and its data on top of those of `/api/v1`.
    fn event(&self, view: &JobView, recorded: &Recorded<JobEvent>) -> (&'static str, Value) {
        let (name, own) = match &recorded.event {
            JobEvent::JobSubmitted { .. } => ("job_started", json!({ "project": view.project_path })),
            JobEvent::AttemptStarted(begin) if begin.attempt == 1 => {
                let active = self.state.as_ref().and_then(JobState::active);
                let phase = active.and_then(|active| active.pairs().find(|(phase, _)| phase.id == begin.phase));
                ("phase_start", phase.map_or(json!({}), |(phase, _)| json!({ "name": phase.name, "type": phase.kind })))
            }
            JobEvent::GateFinished { report, .. } => {
                let name = if report.verdict == Verdict::Pass { "gate_passed" } else { "gate_failed" };
                (name, json!({ "gate_type": report.gate, "message": report.summary }))
            }
            JobEvent::JobFinished { end: JobEnd::Succeeded } => {
                let passed = view.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
                ("job_completed", json!({ "phases_completed": passed, "phases_total": view.phases.len() }))
            }
            JobEvent::JobFinished { end: JobEnd::Failed { reason, .. } } => ("job_failed", json!({ "error": reason })),
            JobEvent::JobFinished { end: JobEnd::Cancelled { by } } => {
                ("job_cancelled", json!({ "message": format!("Job cancelled by {by}") }))
            }
            other => (other.name(), json!({})),
        };
        let mut data = with(recorded, own);
        data["phase_id"] = data.get("phase").filter(|phase| phase.is_string()).cloned().unwrap_or_default();
        (name, data)
    }
}

/// How a phase ended, if it did.
fn ended(phase: &PhaseView) -> Option<(&'static str, Value)> {
    let duration = phase.duration_seconds.unwrap_or_default();
    match phase.status {
        PhaseStatus::Passed => {
            Some(("phase_complete", json!({ "phase_id": phase.id, "success": true, "duration": duration })))
        }
        PhaseStatus::Failed => {
            let error = message(phase.error.as_ref()).unwrap_or_default();
            Some(("phase_failed", json!({ "phase_id": phase.id, "error": error, "duration": duration })))
        }
        PhaseStatus::Pending
        | PhaseStatus::Running
        | PhaseStatus::Waiting
        | PhaseStatus::Skipped
        | PhaseStatus::Cancelled => None,
    }
}
