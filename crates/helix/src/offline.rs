//! Reading jobs, from the host if one is running, else from the journal.
//!
//! Must not change anything, not even create a state directory.

use std::collections::BTreeMap;

use helix_core::ids::JobId;
use helix_engine::EngineError;
use helix_engine::evidence::Archive;
use helix_git::GitEnvironment;
use helix_job::JobView;
use helix_job::phrases::open_questions;
use helix_job::question::QuestionView;
use helix_store::{Access, JobFilter, JobPage, Journal, MAX_ROWS_PER_PAGE, OpenError, SqliteJournal};
use jiff::Timestamp;

use crate::config::Settings;
use crate::context::Context;
use crate::error::CommandError;
use crate::host::find;

/// The journal for reading.
///
/// # Errors
/// As [`job`] when there is none.
pub(crate) async fn open_or_missing(context: &Context, id: &str) -> Result<SqliteJournal, CommandError> {
    let settings = context.settings()?;
    open(settings).await?.ok_or_else(|| missing(settings, id))
}

/// Evidence and changes of jobs.
pub(crate) fn archive<'a>(context: &'a Context, journal: &'a SqliteJournal) -> Result<Archive<'a>, CommandError> {
    let state_dir = &context.settings()?.state_dir.value;
    Ok(Archive { journal, state_dir, git: GitEnvironment::from_process() })
}

fn missing(settings: &Settings, id: &str) -> CommandError {
    let place = settings.state_dir.value.display();
    CommandError::from(EngineError::NotFound { kind: "job", id: id.to_owned() })
        .hint(format!("`helix jobs list` shows the jobs of {place}; a unique prefix of the id is enough"))
}

/// All jobs, newest first.
pub(crate) async fn jobs(context: &Context) -> Result<JobPage, CommandError> {
    let settings = context.settings()?;
    match find(settings).await? {
        Some(client) => Ok(client.jobs().await?),
        None => recorded_jobs(settings, JobFilter::default()).await,
    }
}

/// The number of each job: the first one of a state directory is 1. Ids sort by the time of submission.
pub(crate) fn numbers(page: &JobPage) -> BTreeMap<JobId, usize> {
    let mut ids: Vec<&JobId> = page.jobs.iter().map(|job| &job.id).chain(&page.unreadable).collect();
    ids.sort();
    ids.into_iter().enumerate().map(|(place, id)| (id.clone(), place + 1)).collect()
}

/// Jobs of the journal alone.
async fn recorded_jobs(settings: &Settings, filter: JobFilter) -> Result<JobPage, CommandError> {
    let mut all = JobPage::default();
    let Some(journal) = open(settings).await? else { return Ok(all) };
    let mut cursor = None;
    loop {
        let page = journal.list_jobs(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await?;
        // Without a host nothing goes on, but the job still waits for one.
        all.jobs.extend(page.jobs.into_iter().map(|job| job.at(Timestamp::now())));
        all.unreadable.extend(page.unreadable);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

/// One job, by id or unique beginning.
pub(crate) async fn job(context: &Context, id: &str) -> Result<JobView, CommandError> {
    let settings = context.settings()?;
    if let Some(client) = find(settings).await? {
        return Ok(client.job(id).await?);
    }
    let found = open_or_missing(context, id).await?.job(id.to_owned()).await?;
    found.map(|job| job.at(Timestamp::now())).ok_or_else(|| missing(settings, id))
}

/// All questions of a job, or the open questions of all jobs, oldest first.
pub(crate) async fn questions(context: &Context, of: Option<&str>) -> Result<Vec<QuestionView>, CommandError> {
    let mut questions: Vec<QuestionView> = match of {
        Some(id) => job(context, id).await?.questions,
        None => {
            // A host knows no more of them than the journal does.
            let jobs = recorded_jobs(context.settings()?, JobFilter::unfinished()).await?.jobs;
            jobs.iter().flat_map(open_questions).cloned().collect()
        }
    };
    questions.sort_by_key(|question| question.asked_at);
    Ok(questions)
}

async fn open(settings: &Settings) -> Result<Option<SqliteJournal>, CommandError> {
    let path = settings.state_dir.value.join("helix.db");
    match SqliteJournal::open(path, Access::ReadOnly).await {
        Ok(journal) => Ok(Some(journal)),
        // Version 0 is a database that a host is just making: there is nothing in it yet.
        Err(OpenError::Missing { .. } | OpenError::Outdated { found: 0, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
