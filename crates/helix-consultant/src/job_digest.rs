//! What happened to a session's jobs since its last turn, for the agent.
//!
//! Must not know who reads it, nor how an event is worded.

use std::sync::Arc;

use helix_core::ids::JobId;
use helix_job::phrases::{chat_line, open_questions};
use helix_job::{JobEvent, JobView, Recorded};
use helix_language::Language;
use helix_store::{Journal, ReadError};
use jiff::Timestamp;

/// Most jobs of a session that are told of, the newest.
const MOST_JOBS: usize = 10;
/// Most lines about one job, the newest.
const MOST_LINES: usize = 20;

/// What happened to a job.
pub(super) struct JobDigest {
    pub(super) job: JobView,
    /// In lines.
    pub(super) text: String,
    /// How often it ended.
    pub(super) ends: usize,
}

/// What happened to these jobs after some time, or ever; jobs to which nothing happened are left out.
///
/// # Errors
/// The journal failed.
pub(super) async fn since(
    journal: &Arc<dyn Journal>,
    jobs: &[JobId],
    after: Option<Timestamp>,
) -> Result<Vec<JobDigest>, ReadError> {
    let mut digests = Vec::new();
    for job in newest_jobs(journal, jobs).await? {
        if after.zip(job.completed_at).is_some_and(|(after, end)| end <= after) {
            continue;
        }
        let events = helix_store::job_events(journal.as_ref(), &job.id, 0).await?;
        let new = || events.iter().filter(|event| after.is_none_or(|after| event.at > after));
        let ends = new().filter(|one| matches!(one.event, JobEvent::JobFinished { .. })).count();
        let line = |recorded: &Recorded<JobEvent>| chat_line(Language::English, &recorded.event, &job);
        let mut lines: Vec<String> = new().filter_map(line).collect();
        if lines.is_empty() {
            continue;
        }
        lines.drain(..lines.len().saturating_sub(MOST_LINES));
        let mut text = format!("Job {} ({}), now {}:\n", job.id, job.name, job.status.word());
        text.extend(lines.iter().map(|line| format!("- {line}\n")));
        text.extend(open_questions(&job).map(|question| format!("It waits for an answer to {}.\n", question.id)));
        digests.push(JobDigest { job, text, ends });
    }
    Ok(digests)
}

/// The newest of a session's jobs. One that is gone from the journal is of no use to anybody.
///
/// # Errors
/// The journal failed.
pub(super) async fn newest_jobs(journal: &Arc<dyn Journal>, ids: &[JobId]) -> Result<Vec<JobView>, ReadError> {
    let mut jobs = Vec::new();
    for id in &ids[ids.len().saturating_sub(MOST_JOBS)..] {
        jobs.extend(journal.job(id.to_string()).await?);
    }
    Ok(jobs)
}
