//! When a host that nobody asked to stay may leave. Must not know how it was started.

use std::time::Duration;

use helix_engine::{Engine, EngineError};
use helix_job::{JobStatus, JobView};
use helix_store::{JobFilter, StateDir};

use super::visit::is_visited;

/// How long a host stays for somebody who has looked at a page.
const LOOKED_AT: Duration = Duration::from_secs(600);

/// Jobs that need a host: unfinished ones, but for those that wait for persons and nothing else.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) async fn busy_jobs(engine: &Engine) -> Result<Vec<JobView>, EngineError> {
    let mut busy = Vec::new();
    for job in engine.jobs().list(JobFilter::unfinished()).await?.jobs {
        if is_busy(engine, &job).await? {
            busy.push(job);
        }
    }
    Ok(busy)
}

async fn is_busy(engine: &Engine, job: &JobView) -> Result<bool, EngineError> {
    match job.status {
        JobStatus::Waiting => Ok(!engine.jobs().waits_for_person(&job.id).await?),
        JobStatus::Queued | JobStatus::Running => Ok(true),
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Cancelled => Ok(false),
    }
}

/// Waits until no job needs a host, and none has come for `grace`; with a state directory, also until nobody counts on its host.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) async fn until_idle(
    engine: &Engine,
    grace: Duration,
    visitors: Option<&StateDir>,
) -> Result<(), EngineError> {
    loop {
        while let Some(job) = busy_jobs(engine).await?.into_iter().next() {
            let mut events = engine.jobs().events(&job.id, job.last_event).await?;
            while let Some(event) = events.recv().await {
                event?;
                // What waits for a person now needs nobody; its next event may be days away.
                let now = engine.jobs().get(job.id.as_str()).await?;
                if !is_busy(engine, &now).await? {
                    break;
                }
            }
        }
        // Time for somebody to submit the next job, or the first one.
        tokio::time::sleep(grace).await;
        let is_looked_at = visitors.is_some_and(is_visited) || engine.logins().is_in_use(LOOKED_AT);
        if busy_jobs(engine).await?.is_empty() && !is_looked_at {
            return Ok(());
        }
    }
}
