//! A request whose idempotency key was used before: whether it asks for the job that the key started.
//!
//! Must not know the plan's text: a client that asks again gets its job even if the file has changed or is gone by now.

use std::path::{Path, PathBuf};

use helix_job::JobView;

use super::{Blame, SubmitError, SubmitRequest};
use crate::codes;

/// Refuses a request that names another plan or project than the job has. Blocks: links are resolved.
///
/// # Errors
/// [`SubmitError::Refused`].
pub(crate) fn check_same(request: &SubmitRequest, job: &JobView) -> Result<(), SubmitError> {
    let plan = resolved(&request.plan);
    // A plan is named by its file or by a directory that holds it; a project by its repository or a directory in it.
    let same_plan = Path::new(&job.plan_path).starts_with(&plan);
    let same_project = request.project.as_deref().is_none_or(|path| resolved(path).starts_with(&job.project_path));
    if same_plan && same_project {
        return Ok(());
    }
    let key = request.idempotency_key.as_deref().unwrap_or_default();
    let (id, started) = (&job.id, if same_plan { &job.project_path } else { &job.plan_path });
    let message = format!("the idempotency key {key:?} has started job {id}, which is for {started}");
    let hint = "use a new key for another job; nothing was started";
    Err(SubmitError::refused(codes::KEY_USED, Blame::Request, message, hint))
}

fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
