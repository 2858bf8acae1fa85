//! From a plan file to a job: everything that can be wrong is found here, before anything runs.
//!
//! Must not know how a job is carried out.

mod agents;
mod gates;
mod guessed;
mod inspect;
mod plan_file;
mod repeated;
mod repository;

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::{JobId, PhaseId};
use helix_job::{JobEvent, JobState, JobView, Origin, Recorded};
use helix_store::{DatabaseError, NewEvent, NewJob, Submitted};
use jiff::Timestamp;

pub use inspect::{Checked, Inspection, inspect};

use crate::codes;
use crate::engine::Engine;
use crate::failures::Depth;
use inspect::Inspector;
pub(crate) use inspect::Site;

/// A request to carry out a plan.
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// The plan file, or a directory that holds `phases.yaml` (or `plans/*/phases.yaml`, if there is just one).
    pub plan: PathBuf,
    /// Repository to work in; `None` means the one that the plan lies in.
    pub project: Option<PathBuf>,
    pub only: Vec<PhaseId>,
    /// This phase and all that do not come before it.
    pub from: Option<PhaseId>,
    /// Replaces every phase's agent.
    pub agent: Option<String>,
    /// Replaces every phase's model.
    pub model: Option<String>,
    /// Money for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Replaces every phase's turn limit.
    pub max_turns: Option<u32>,
    /// Submitting again with the same key gives the same job.
    pub idempotency_key: Option<String>,
    pub origin: Origin,
    /// What messages call the plan, if not its path.
    pub shown_as: Option<String>,
}

impl SubmitRequest {
    /// A request for the whole plan as it is.
    pub fn new(plan: PathBuf, origin: Origin) -> Self {
        Self {
            plan,
            project: None,
            only: Vec::new(),
            from: None,
            agent: None,
            model: None,
            budget_usd: None,
            max_turns: None,
            idempotency_key: None,
            origin,
            shown_as: None,
        }
    }
}

/// An accepted request.
#[derive(Debug, Clone)]
pub struct Submission {
    pub job: JobView,
    /// Whether it existed before, by its idempotency key.
    pub existed: bool,
    /// What is worth knowing about the plan and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// Why a request was not accepted. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The plan has errors; all of them are listed, with the source for pictures.
    #[error("{file} has {} error(s)", diagnostics.iter().filter(|one| one.is_error()).count())]
    Plan { file: String, source_text: String, diagnostics: Vec<Diagnostic> },
    /// Something else in the request or its surroundings is wrong.
    #[error("{message}")]
    Refused {
        /// `HX` and four digits.
        code: &'static str,
        message: String,
        hint: Option<String>,
        /// Whose fault it is, for exit codes and HTTP statuses.
        blame: Blame,
    },
}

impl SubmitError {
    /// `HX` and four digits.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan { .. } => codes::PLAN_INVALID,
            Self::Refused { code, .. } => code,
        }
    }
}

/// Whose fault a refusal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request is wrong: exit code 2, HTTP 422.
    Request,
    /// It is outside what the caller may touch: exit code 2, HTTP 403.
    Permission,
    /// The environment is at fault (agent missing, disk full): exit code 4, HTTP 503.
    Environment,
    /// Helix itself is at fault: exit code 5, HTTP 500.
    Helix,
}

/// Checks everything and writes the job's first event.
pub(crate) async fn submit(engine: &Engine, request: SubmitRequest) -> Result<Submission, SubmitError> {
    let inner = &engine.inner;
    if let Some(key) = request.idempotency_key.clone() {
        let known = inner.journal.job_by_key(key).await.map_err(|error| journal_refusal(&error))?;
        if let Some(job) = known {
            return repeated(request, job, Vec::new()).await;
        }
    }
    let inspected = inspector(engine, &inner.config.roots).inspect(&request, &Site::Repository).await;
    let inspected = inspected.and_then(Inspection::accepted);
    remember(engine, &inspected).await;
    let checked = inspected?;
    let now = Timestamp::now();
    let id = JobId::from_parts(u64::try_from(now.as_millisecond()).unwrap_or(0), crate::engine::random());
    let event = JobEvent::JobSubmitted { spec: Box::new(checked.spec) };
    let new = NewEvent::of(now, &event).map_err(|error| journal_refusal(&error))?;
    let state = JobState::New.apply(&Recorded { number: 1, at: now, event }).map_err(|error| defect(chain(&error)))?;
    let view = JobView::project(&id, &state).ok_or_else(|| defect("a submitted job has no view".into()))?;
    let job =
        NewJob { idempotency_key: request.idempotency_key.clone(), events: vec![new], view: Box::new(view.clone()) };
    keep_agents(engine, &id).await?;
    inner.config.crash.pass(|| "before a submission".into());
    match inner.journal.submit(job).await.map_err(|error| journal_refusal(&error))? {
        Submitted::Created(_) => {
            inner.config.crash.pass(|| "after a submission".into());
            engine.start_loop(id, state);
            Ok(Submission { job: view, existed: false, warnings: checked.warnings })
        }
        Submitted::Existing(other) => {
            let job = engine.job(other.as_str()).await.map_err(|error| journal_refusal(&error))?;
            repeated(request, job, checked.warnings).await
        }
    }
}

/// The job that the request's key has started.
async fn repeated(request: SubmitRequest, job: JobView, warnings: Vec<Diagnostic>) -> Result<Submission, SubmitError> {
    run_blocking(move || {
        repeated::of_the_same(&request, &job)?;
        Ok(Submission { job, existed: true, warnings })
    })
    .await
}

fn inspector<'a>(engine: &'a Engine, roots: &'a [PathBuf]) -> Inspector<'a> {
    let inner = &engine.inner;
    Inspector { config: &inner.config, git: inner.git.clone(), probes: &inner.probes, roots }
}

/// Inspects a plan for somebody who only wants to know and whose paths have been confined.
///
/// # Errors
/// There is no such plan.
pub(crate) async fn look_at(engine: &Engine, request: &SubmitRequest, site: &Site) -> Result<Inspection, SubmitError> {
    inspector(engine, &[]).inspect(request, site).await
}

/// Keeps how the job's agents are configured, before anybody knows of the job.
async fn keep_agents(engine: &Engine, id: &JobId) -> Result<(), SubmitError> {
    let (state, id, agents) = (engine.inner.state.root().to_path_buf(), id.clone(), engine.inner.config.agents.clone());
    run_blocking(move || crate::job::keep_agents(&state, &id, &agents).map_err(|error| journal_refusal(&error))).await
}

/// Has it remembered that a plan was refused or accepted.
async fn remember(engine: &Engine, checked: &Result<Checked, SubmitError>) {
    let (path, project, diagnostics) = match checked {
        Ok(checked) => (&checked.spec.plan_path, Some(Path::new(&checked.spec.repo.path)), [].as_slice()),
        Err(SubmitError::Plan { file, diagnostics, .. }) => (file, None, diagnostics.as_slice()),
        Err(SubmitError::Refused { .. }) => return,
    };
    engine.inner.failures.document_checked(Path::new(path), project, Depth::Submission, diagnostics).await;
}

/// Refuses a path that lies outside the roots, links resolved.
///
/// # Errors
/// [`SubmitError::Refused`]; with no roots there is no outside.
pub fn confine(path: &Path, roots: &[PathBuf]) -> Result<(), SubmitError> {
    if roots.is_empty() {
        return Ok(());
    }
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let inside =
        roots.iter().any(|root| real.starts_with(std::fs::canonicalize(root).unwrap_or_else(|_| root.clone())));
    if inside {
        return Ok(());
    }
    Err(SubmitError::Refused {
        code: codes::OUTSIDE_ROOTS,
        message: format!("{} lies outside the allowed roots", path.display()),
        hint: Some("add its directory to [server] roots in helix.toml".into()),
        blame: Blame::Permission,
    })
}

pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SubmitError> + Send + 'static,
) -> Result<T, SubmitError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(defect(format!("a task of Helix ended early: {error}"))),
    }
}

fn defect(message: String) -> SubmitError {
    SubmitError::Refused {
        code: codes::JOURNAL_FAILED,
        message,
        hint: Some("this is a defect of Helix: please report it".into()),
        blame: Blame::Helix,
    }
}

fn journal_refusal(error: &(dyn std::error::Error + 'static)) -> SubmitError {
    let hint = DatabaseError::among(error).map(DatabaseError::hint);
    SubmitError::Refused {
        code: codes::JOURNAL_FAILED,
        message: format!("the job cannot be recorded: {}", chain(error)),
        hint: Some(
            hint.unwrap_or_else(|| "check that the state directory is writable and not full, then submit again".into()),
        ),
        blame: Blame::Environment,
    }
}

/// An error with all its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    helix_core::error_chain(error)
}
