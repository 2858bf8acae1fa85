//! The routes of the former API, in its own words: clients that were written for it go on as they are.
//!
//! Must not know how a job is carried out. What the former API had no word for stands as in `/api/v1`.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::{Component, PathBuf};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use helix_core::finding::Verdict;
use helix_core::ids::PhaseId;
use helix_engine::{EngineError, JobFilter};
use helix_job::{JobEnd, JobEvent, JobState, JobStatus, JobView, PhaseStatus, PhaseView, Recorded};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_stream::wrappers::ReceiverStream;

use super::events::{EventQuery, PROBLEM, last_event_id};
use super::job_request::{JobRequest, PhaseFilter};
use super::jobs::CancelRequest;
use super::person;
use super::request::{Body, JsonResult, Params, page_size};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sse;

/// Jobs in a list unless the client says otherwise.
const JOBS: u16 = 20;

/// A job; its other fields are those of `/api/v1/jobs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OlderJob {
    /// Its id.
    job_id: String,
    /// `pending running completed failed cancelled`.
    status: &'static str,
    /// When it was submitted.
    created_at: Timestamp,
    /// When its first phase started.
    started_at: Option<Timestamp>,
    /// When it ended.
    completed_at: Option<Timestamp>,
    /// The phase that runs, or ran last.
    current_phase: Option<String>,
    /// Its phases.
    phases: Vec<OlderPhase>,
    /// Why it failed.
    error: Option<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// A phase; its other fields are those of a phase in `/api/v1/jobs/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OlderPhase {
    /// Its id.
    phase_id: String,
    /// `pending running completed failed skipped`.
    status: &'static str,
    /// Its files.
    output_files: Vec<String>,
    /// Why it failed.
    error: Option<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// What became of a request to stop a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OlderStop {
    /// `cancelled`, or `already_stopped`.
    status: &'static str,
    /// The job.
    job_id: String,
    /// Its status, if it was over already.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_status: Option<&'static str>,
}

/// How many jobs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OlderQuery {
    /// From 1 to 500; 20 without it.
    limit: Option<u16>,
}

/// `POST /helix/execute`
pub(crate) async fn execute(State(shared): State<Shared>, Body(mut request): Body<JobRequest>) -> JsonResult<OlderJob> {
    if let Some(path) = request.project_path.take() {
        request.project_path = Some(project(&shared, path).await?);
    }
    let modern = |id: String| helix_engine::modern_id(&id).unwrap_or(id);
    request.phase_filter = request.phase_filter.map(|filter| match filter {
        PhaseFilter::One(id) => PhaseFilter::One(modern(id)),
        PhaseFilter::Several(ids) => PhaseFilter::Several(ids.into_iter().map(modern).collect()),
    });
    Ok(Json(OlderJob::of(&shared.engine.jobs().submit(request.into_submit()?).await?.job)))
}

/// `GET /helix/jobs`
pub(crate) async fn list(State(shared): State<Shared>, Params(asked): Params<OlderQuery>) -> JsonResult<Vec<OlderJob>> {
    let limit = page_size(Some(asked.limit.unwrap_or(JOBS)), None::<&()>)?.unwrap_or_default();
    let page = shared.engine.jobs().page(JobFilter::default(), None, limit).await?;
    Ok(Json(page.jobs.iter().map(OlderJob::of).collect()))
}

/// `GET /helix/jobs/{id}`
pub(crate) async fn show(State(shared): State<Shared>, Path(id): Path<String>) -> JsonResult<OlderJob> {
    Ok(Json(OlderJob::of(&shared.engine.jobs().get(&id).await?)))
}

/// `DELETE /helix/jobs/{id}`
pub(crate) async fn stop(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Body(CancelRequest { by }): Body<CancelRequest>,
) -> JsonResult<OlderStop> {
    let by = person::named(by)?;
    let job = shared.engine.jobs().get(&id).await?;
    let job_id = job.id.to_string();
    Ok(Json(match shared.engine.jobs().cancel(&job.id, &by).await {
        Ok(_) => OlderStop { status: word(JobStatus::Cancelled), job_id, job_status: None },
        Err(EngineError::Over { .. }) => {
            let job = shared.engine.jobs().get(&id).await?;
            OlderStop { status: "already_stopped", job_id, job_status: Some(word(job.status)) }
        }
        Err(error) => return Err(error.into()),
    }))
}

/// `GET /helix/stream/{id}`
pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Params(asked): Params<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = last_event_id(&headers)?.unwrap_or(asked.after);
    let job = shared.engine.jobs().get(&id).await?;
    if job.status.is_final() && after >= job.last_event {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let events = ReceiverStream::new(shared.engine.jobs().events(&job.id, 0).await?);
    let mut teller = Teller { after, job: job.id, state: Some(JobState::default()), statuses: HashMap::new() };
    Ok(sse::follow(&shared, events, move |out, event| match event {
        None => Break(()),
        Some(Ok(event)) => teller.tell(out, &event),
        Some(Err(error)) => {
            sse::named(out, PROBLEM, &Problem::from(error));
            Break(())
        }
    }))
}

/// Where a project is: a relative path lies below one of the roots.
async fn project(shared: &Shared, path: PathBuf) -> Result<PathBuf, Problem> {
    let leads_out = path.components().any(|part| part == Component::ParentDir);
    let candidates = match path.is_absolute() {
        true => vec![path.clone()],
        false if leads_out => Vec::new(),
        false => shared.engine.projects().roots().iter().map(|root| root.join(&path)).collect(),
    };
    for candidate in candidates {
        if tokio::fs::try_exists(&candidate).await.unwrap_or(false) {
            return Ok(candidate);
        }
    }
    let hint = match path.is_relative() && shared.engine.projects().roots().is_empty() {
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

/// The fields of `/api/v1`, without those that are written otherwise here.
fn fields(value: &impl Serialize, but: &[&str]) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|name, _| !but.contains(&name.as_str()));
            fields
        }
        Ok(_) | Err(_) => Map::new(),
    }
}

impl OlderJob {
    fn of(job: &JobView) -> Self {
        let running = job.phases.iter().find(|phase| phase_word(phase.status) == "running");
        let current = running.or_else(|| job.phases.iter().max_by_key(|phase| phase.started_at));
        Self {
            job_id: job.id.to_string(),
            status: word(job.status),
            created_at: job.created_at,
            started_at: job.started_at,
            completed_at: job.completed_at,
            current_phase: current.filter(|phase| phase.started_at.is_some()).map(|phase| phase.id.to_string()),
            phases: job.phases.iter().map(OlderPhase::of).collect(),
            error: job.error.as_ref().map(|error| error.message.clone()),
            more: fields(job, &["status", "created_at", "started_at", "completed_at", "phases", "error"]),
        }
    }
}

impl OlderPhase {
    fn of(phase: &PhaseView) -> Self {
        Self {
            phase_id: phase.id.to_string(),
            status: phase_word(phase.status),
            output_files: phase.outputs.clone(),
            error: phase.error.as_ref().map(|error| error.message.clone()),
            more: fields(phase, &["status", "error"]),
        }
    }
}

/// Tells a job's events; it follows the job's state, since the former API told when a phase ended.
struct Teller {
    /// Number of the last event that the client has.
    after: u64,
    job: helix_core::ids::JobId,
    /// `None` once an event did not fit.
    state: Option<JobState>,
    statuses: HashMap<PhaseId, PhaseStatus>,
}

impl Teller {
    fn tell(&mut self, out: &mut Vec<u8>, recorded: &Recorded<JobEvent>) -> ControlFlow<()> {
        self.state = self.state.take().and_then(|state| state.apply(recorded).ok());
        let Some(view) = self.state.as_ref().and_then(|state| JobView::project(&self.job, state)) else {
            return Break(());
        };
        let mut frames = vec![self.event(&view, recorded)];
        for phase in &view.phases {
            let before = self.statuses.insert(phase.id.clone(), phase.status);
            if before != Some(phase.status) {
                frames.extend(ended(phase));
            }
        }
        // The end of the job comes after the ends of its phases.
        if let JobEvent::JobFinished { .. } = recorded.event {
            frames.rotate_left(1);
        }
        for (name, mut data) in frames.into_iter().filter(|_| recorded.number > self.after) {
            data.entry("phase_id").or_insert(Value::Null);
            data.insert("timestamp".into(), json!(recorded.at));
            sse::numbered(out, recorded.number, name, &data);
        }
        Continue(())
    }

    /// The event itself: its name, and its data on top of those of `/api/v1`.
    fn event(&self, view: &JobView, recorded: &Recorded<JobEvent>) -> (&'static str, Map<String, Value>) {
        let mut data = fields(recorded, &[]);
        if let Some(phase) = data.get("phase").filter(|phase| phase.is_string()).cloned() {
            data.insert("phase_id".into(), phase);
        }
        let (name, own) = match &recorded.event {
            JobEvent::JobSubmitted { .. } => ("job_started", json!({ "project": view.project_path })),
            JobEvent::AttemptStarted(begin) if begin.attempt == 1 => {
                let active = self.state.as_ref().and_then(JobState::active);
                let phase = active.and_then(|active| active.pairs().find(|(phase, _)| phase.id == begin.phase));
                ("phase_start", phase.map_or(json!({}), |(phase, _)| json!({ "name": phase.name, "type": phase.kind })))
            }
            JobEvent::GateFinished { report, .. } => {
                let passed = matches!(report.verdict, Verdict::Pass);
                let name = if passed { "gate_passed" } else { "gate_failed" };
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
        if let Value::Object(own) = own {
            data.extend(own);
        }
        (name, data)
    }
}

/// How a phase ended, if it did.
fn ended(phase: &PhaseView) -> Option<(&'static str, Map<String, Value>)> {
    let duration = phase.duration_seconds.unwrap_or_default();
    let (name, data) = match phase.status {
        PhaseStatus::Passed => ("phase_complete", json!({ "success": true })),
        PhaseStatus::Failed => {
            let error = phase.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
            ("phase_failed", json!({ "error": error }))
        }
        PhaseStatus::Pending
        | PhaseStatus::Running
        | PhaseStatus::Waiting
        | PhaseStatus::Skipped
        | PhaseStatus::Cancelled => return None,
    };
    let mut data = fields(&data, &[]);
    data.insert("phase_id".into(), json!(phase.id));
    data.insert("duration".into(), json!(duration));
    Some((name, data))
}
