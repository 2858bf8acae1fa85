//! What the journal holds of a job, with the errors that callers of an engine see.
//!
//! Must not know which jobs are under way.

use helix_core::ids::JobId;
use helix_job::{JobState, JobView};
use helix_store::{Journal, MAX_EVENTS_PER_READ, Stream};
use jiff::Timestamp;

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

/// All events of a job as they were written, with their times; the first is number 1.
///
/// # Errors
/// [`EngineError::Journal`].
pub(crate) async fn texts(journal: &dyn Journal, job: &JobId) -> Result<Vec<(Timestamp, String)>, EngineError> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = journal.read(Stream::Job(job.clone()), after, MAX_EVENTS_PER_READ).await?;
        let more = page.has_more();
        for event in page.events {
            after = event.number;
            all.push((event.at, event.body));
        }
        if !more {
            return Ok(all);
        }
    }
}
