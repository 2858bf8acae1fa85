//! When a host that nobody asked to stay may leave. Must not know how it was started.

use std::time::Duration;

use helix_engine::{Engine, EngineError};
use helix_store::JobFilter;

/// Waits until no job is unfinished, and none has come for `grace`.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) async fn until_idle(engine: &Engine, grace: Duration) -> Result<(), EngineError> {
    loop {
        while let Some(job) = engine.jobs(JobFilter::unfinished()).await?.into_iter().next() {
            let mut events = engine.job_events(&job.id, job.last_event).await?;
            while let Some(event) = events.recv().await {
                event?;
            }
        }
        // Time for somebody to submit the next job, or the first one.
        tokio::time::sleep(grace).await;
        if engine.jobs(JobFilter::unfinished()).await?.is_empty() {
            return Ok(());
        }
    }
}
