//! What the journal holds of a job, with the errors that callers of an engine see.
//!
//! Must not know which jobs are under way.

use helix_core::ids::JobId;
use helix_job::{JobState, JobView};
use helix_store::Journal;

use crate::error::EngineError;

/// A job by its id or a unique prefix of it.
///
/// # Errors
/// [`EngineError::NotFound`], [`EngineError::Ambiguous`], [`EngineError::Journal`].
pub(crate) async fn view(journal: &dyn Journal, id: &str) -> Result<JobView, EngineError> {
    journal.job(id.to_owned()).await?.ok_or_else(|| EngineError::not_found("job", id))
}

/// The state that the events of a job add up to.
///
/// # Errors
/// [`EngineError::Journal`], [`EngineError::Contradiction`].
pub(crate) async fn state(journal: &dyn Journal, job: &JobId) -> Result<JobState, EngineError> {
    let events = helix_store::job_events(journal, job, 0).await?;
    JobState::fold(&events).map_err(|source| EngineError::Contradiction { job: job.clone(), source: Box::new(source) })
}
