//! Reading jobs when no host is running. Must not change anything, not even create a state directory.

use helix_job::JobView;
use helix_store::{Access, JobFilter, Journal, MAX_ROWS_PER_PAGE, OpenError, ReadError, SqliteJournal};
use jiff::Timestamp;

use crate::codes;
use crate::config::Settings;
use crate::error::CommandError;
use crate::host::open_error;

/// The journal for reading.
///
/// # Errors
/// As [`job`] when there is none.
pub(crate) async fn open_or_missing(settings: &Settings, id: &str) -> Result<SqliteJournal, CommandError> {
    open(settings).await?.ok_or_else(|| missing(id))
}

fn missing(id: &str) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, format!("no job {id:?}"))
        .hint("`helix jobs list` shows all jobs; a unique prefix of the id is enough")
}

pub(crate) async fn jobs(settings: &Settings, filter: JobFilter) -> Result<Vec<JobView>, CommandError> {
    let Some(journal) = open(settings).await? else { return Ok(Vec::new()) };
    let mut jobs = Vec::new();
    let mut cursor = None;
    loop {
        let page =
            journal.list_jobs(filter.clone(), cursor, MAX_ROWS_PER_PAGE).await.map_err(|error| read_error(&error))?;
        // Without a host nothing goes on, but the job still waits for one.
        jobs.extend(page.jobs.into_iter().map(|job| job.at(Timestamp::now())));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(jobs);
        }
    }
}

/// One job, by id or unique beginning.
pub(crate) async fn job(settings: &Settings, id: &str) -> Result<JobView, CommandError> {
    let Some(journal) = open(settings).await? else { return Err(missing(id)) };
    let found = journal.job(id.to_owned()).await.map_err(|error| read_error(&error))?;
    found.map(|job| job.at(Timestamp::now())).ok_or_else(|| missing(id))
}

async fn open(settings: &Settings) -> Result<Option<SqliteJournal>, CommandError> {
    let path = settings.state_dir.value.join("helix.db");
    match SqliteJournal::open(path, Access::ReadOnly).await {
        Ok(journal) => Ok(Some(journal)),
        // Version 0 is a database that a host is just making: there is nothing in it yet.
        Err(OpenError::Missing { .. } | OpenError::Outdated { found: 0, .. }) => Ok(None),
        Err(error) => Err(open_error(&error)),
    }
}

fn read_error(error: &ReadError) -> CommandError {
    let shown = match error {
        ReadError::Database(error) => return open_error(&error.clone().into()),
        ReadError::Ambiguous { .. } => CommandError::usage(error.code(), error),
        ReadError::Event(_) | ReadError::Row { .. } => CommandError::environment(error.code(), error),
    };
    match std::error::Error::source(error) {
        Some(source) => shown.because(source),
        None => shown,
    }
    .hint(error.hint())
}
