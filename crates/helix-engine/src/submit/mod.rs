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
mod rules;
mod venv;

use std::path::{Path, PathBuf};

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::evidence::Land;
use helix_core::ids::PhaseId;
use helix_core::issue::Issue;
use helix_core::text::count;
use helix_job::{AskPerson, JobView, Origin, Person, Replaced};
use helix_store::DatabaseError;

pub use inspect::{Checked, Inspection, Projects, inspect};
pub use plan_file::{plan_file, plans_in};
pub use venv::chosen_venv;

use crate::codes;
pub(crate) use inspect::{Site, workspace_of};
pub(crate) use repeated::check_same;
pub(crate) use rules::unkept;

/// A request to carry out a plan.
#[derive(Debug, Clone, Default)]
pub struct SubmitRequest {
    /// The plan file, or a directory that holds `phases.yaml` (or `plans/*/phases.yaml`, if there is just one).
    pub plan: PathBuf,
    /// Repository to work in; `None` means the one that the plan lies in.
    pub project: Option<PathBuf>,
    pub only: Vec<PhaseId>,
    /// This phase and all that do not come before it.
    pub from: Option<PhaseId>,
    pub replaced: Replaced,
    /// Money for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Replaces the plan's way to land its result.
    pub land: Option<Land>,
    /// Virtual environment of Python that its agents and gates use, an absolute path; that of the configuration, else `.venv` of
    /// the repository, where absent.
    pub venv: Option<PathBuf>,
    /// Whether its first agent starts without the gates' commands having been tried where the job starts.
    pub no_preflight: bool,
    /// Replaces the configuration's: whether a person is asked about a phase that has used up its attempts.
    pub escalate_to: Option<AskPerson>,
    /// Submitting again with the same key gives the same job.
    pub idempotency_key: Option<String>,
    /// Replaces the plan's issue.
    pub issue: Option<Issue>,
    pub origin: Origin,
    /// Who submits it.
    pub by: Option<Person>,
    /// What messages call the plan, if not its path.
    pub shown_as: Option<String>,
    /// Whether its paths have been confined to what the caller may use; else they must lie below the roots.
    pub is_confined: bool,
}

impl SubmitRequest {
    /// A request for the whole plan as it is.
    pub fn new(plan: PathBuf, origin: Origin) -> Self {
        Self { plan, origin, ..Self::default() }
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
    #[error("{file} has {}", count(diagnostics.iter().filter(|one| one.is_error()).count(), "error"))]
    Plan { file: String, source_text: String, diagnostics: Vec<Diagnostic> },
    /// Something else in the request or its environment is wrong.
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
    pub(crate) fn refused(code: &'static str, blame: Blame, message: String, hint: impl Into<String>) -> Self {
        Self::Refused { code, message, hint: Some(hint.into()), blame }
    }

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
    let message = format!("{} lies outside the allowed roots", path.display());
    let hint = "add its directory to [server] roots in helix.toml";
    Err(SubmitError::refused(codes::OUTSIDE_ROOTS, Blame::Permission, message, hint))
}

pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SubmitError> + Send + 'static,
) -> Result<T, SubmitError> {
    match helix_process::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(defect(error.to_string())),
    }
}

/// What to write instead of a name that is not known.
fn suggestion(written: &str, known: &[&str], what: &str) -> String {
    match did_you_mean(written, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{what}: {}", known.join(", ")),
    }
}

pub(crate) fn defect(message: String) -> SubmitError {
    let hint = "this is a bug in Helix: please report it";
    SubmitError::refused(codes::JOURNAL_FAILED, Blame::Helix, message, hint)
}

pub(crate) fn journal_refusal(error: &(dyn std::error::Error + 'static)) -> SubmitError {
    let hint = DatabaseError::among(error)
        .map(DatabaseError::hint)
        .unwrap_or_else(|| "check that the state directory is writable and not full, then submit again".into());
    let message = format!("the job cannot be recorded: {}", helix_core::error_chain(error));
    SubmitError::refused(codes::JOURNAL_FAILED, Blame::Environment, message, hint)
}
