//! The memory of failures in one SQLite file of its own.
//!
//! Must not know what a failure means. This module and those below it are the only ones that know its SQL.
//!
//! Writers of several processes queue for SQLite's own lock, inside the deadline; readers never wait for them (WAL).

mod capture;
mod index;
mod lane;
mod reads;
mod renew;
mod resolve;
mod row;
mod schema;
mod similar;
mod statistics;
mod transfer;
mod upkeep;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::Fingerprint;
use helix_failure::memory::{
    AttemptAnswer, Effectiveness, FailureDetail, FixLink, KnownFailure, MemoryRecord, MemoryStatistics, Occurrence,
    Resolution, SimilarQuery, Suggestion, SuggestionOutcome, Work,
};
use jiff::Timestamp;

use super::answer::{
    Captured, Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, Linked, OpenFailure, Recalled, Stale,
    Trouble,
};
use super::error::MemoryError;
use super::memory::{FailureMemory, Recalling};
use crate::error::{DatabaseError, OpenError};
use crate::journal::Pending;
use crate::sqlite::{Access, SqliteOptions, connect_to_read, create_private};
use lane::{Lane, Opened};
use schema::MEMORY;

/// How long opening may take at least: it happens once, and what is not opened is missing for as long as the host lives.
const OPENING: Duration = Duration::from_secs(5);
/// Connections that read at the same time.
const READERS: usize = 2;

/// How a memory is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOptions {
    pub path: PathBuf,
    pub access: Access,
    /// How long any answer may take; nobody waits longer.
    pub deadline: Duration,
    /// Largest size of the file in bytes; `None`: as large as the disk allows.
    pub size_limit: Option<u64>,
}

impl MemoryOptions {
    /// For an engine: two seconds, since nothing but advice is at stake (the contract allows five).
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, deadline: Duration::from_secs(2), size_limit: None }
    }

    #[must_use]
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }
}

/// The memory of failures in an SQLite file. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SqliteFailureMemory {
    readers: Arc<Lane>,
    /// One connection: writes of one process queue here instead of at the file.
    writer: Option<Arc<Lane>>,
    database: Arc<str>,
}

impl SqliteFailureMemory {
    /// Opens a memory; creates the file and brings its tables up to date if it is opened for writing.
    ///
    /// # Errors
    /// [`OpenError`] when there is nothing to read, the file is not ours, is damaged or too new, or the deadline passed.
    pub async fn open(options: MemoryOptions) -> Result<Self, OpenError> {
        let database = options.path.display().to_string();
        let (closed, patience) = (DatabaseError::Closed { database: database.clone() }, options.deadline.max(OPENING));
        let opening = tokio::task::spawn_blocking(move || Self::open_blocking(&options));
        match tokio::time::timeout(patience, opening).await {
            Ok(opened) => opened.map_err(|_| closed)?,
            Err(elapsed) => Err(DatabaseError::Locked { database, source: Arc::new(elapsed) }.into()),
        }
    }

    fn open_blocking(options: &MemoryOptions) -> Result<Self, OpenError> {
        let database: Arc<str> = options.path.display().to_string().into();
        let mut writing = SqliteOptions::new(&options.path, options.access);
        (writing.busy_timeout, writing.size_limit) = (options.deadline.max(OPENING), options.size_limit);
        let reading = SqliteOptions { access: Access::ReadOnly, ..writing.clone() };
        let writer = match options.access {
            Access::ReadWrite => {
                create_private(&options.path, &database)?;
                let opened = Opened::of(lane::connected(&writing, &database)?, &options.path);
                let lane = Lane::new(writing, Arc::clone(&database), 1, options.deadline);
                lane.lend(opened);
                Some(Arc::new(lane))
            }
            Access::ReadOnly => {
                connect_to_read(&reading, &MEMORY, &database)?;
                None
            }
        };
        let readers = Arc::new(Lane::new(reading, Arc::clone(&database), READERS, options.deadline));
        Ok(Self { readers, writer, database })
    }

    async fn write<T, F>(&self, work: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&lane::Working<'_>) -> Result<T, MemoryError> + Send + 'static,
    {
        let Some(writer) = &self.writer else {
            let source = Arc::new(std::io::Error::from(std::io::ErrorKind::PermissionDenied));
            return Err(DatabaseError::NotWritable { database: self.database.to_string(), source }.into());
        };
        writer.run(work).await
    }
}

impl FailureMemory for SqliteFailureMemory {
    fn capture(&self, occurrence: Occurrence) -> Pending<'_, Captured, MemoryError> {
        Box::pin(self.write(move |working| capture::capture(working, &occurrence)))
    }

    fn similar(&self, query: SimilarQuery) -> Recalling<'_> {
        Box::pin(async move {
            match self.readers.run(move |working| similar::similar(working, &query)).await {
                Ok(failures) => Recalled { failures, trouble: None },
                Err(error) => Recalled { failures: Vec::new(), trouble: Some(Trouble::from(&error)) },
            }
        })
    }

    fn open_failures(&self, work: Work) -> Pending<'_, Vec<OpenFailure>, MemoryError> {
        Box::pin(self.readers.run(move |working| resolve::open_failures(working, &work)))
    }

    fn last_attempt(&self, work: Work) -> Pending<'_, u32, MemoryError> {
        Box::pin(self.readers.run(move |working| resolve::last_attempt(working, &work)))
    }

    fn link_fix(&self, fingerprint: Fingerprint, link: FixLink) -> Pending<'_, Linked, MemoryError> {
        Box::pin(self.write(move |working| resolve::link_fix(working, &fingerprint, &link)))
    }

    fn record_suggestions(&self, suggestions: Vec<Suggestion>) -> Pending<'_, (), MemoryError> {
        Box::pin(self.write(move |working| resolve::record_suggestions(working, &suggestions)))
    }

    fn resolve_one(
        &self,
        id: String,
        outcome: SuggestionOutcome,
        at: Timestamp,
    ) -> Pending<'_, Option<Suggestion>, MemoryError> {
        Box::pin(self.write(move |working| resolve::resolve_one(working, &id, outcome, at)))
    }

    fn resolve_outstanding(&self, answer: AttemptAnswer) -> Pending<'_, Resolution, MemoryError> {
        Box::pin(self.write(move |working| resolve::resolve_outstanding(working, &answer)))
    }

    fn cease(
        &self,
        job: JobId,
        phase: Option<PhaseId>,
        how: Ceasing,
        at: Timestamp,
    ) -> Pending<'_, Vec<Suggestion>, MemoryError> {
        Box::pin(self.write(move |working| resolve::cease(working, &job, phase.as_ref(), how, at)))
    }

    fn effectiveness(&self, cause: String, texts: Vec<String>) -> Pending<'_, Vec<Effectiveness>, MemoryError> {
        Box::pin(self.readers.run(move |working| statistics::effectiveness(working, &cause, &texts)))
    }

    fn statistics(&self) -> Pending<'_, MemoryStatistics, MemoryError> {
        Box::pin(self.readers.run(statistics::statistics))
    }

    fn list(
        &self,
        filter: FailureFilter,
        cursor: Option<String>,
        limit: usize,
    ) -> Pending<'_, FailurePage, MemoryError> {
        Box::pin(self.readers.run(move |working| reads::list(working, &filter, cursor.as_deref(), limit)))
    }

    fn show(&self, prefix: String) -> Pending<'_, Option<FailureDetail>, MemoryError> {
        Box::pin(self.readers.run(move |working| reads::show(working, &prefix)))
    }

    fn search(&self, text: String, limit: usize) -> Pending<'_, Vec<KnownFailure>, MemoryError> {
        Box::pin(self.readers.run(move |working| reads::search(working, &text, limit)))
    }

    fn forget(&self, fingerprint: Fingerprint, what: Forget) -> Pending<'_, bool, MemoryError> {
        Box::pin(self.write(move |working| upkeep::forget(working, &fingerprint, what)))
    }

    fn decay(&self, stale: Stale) -> Pending<'_, u64, MemoryError> {
        Box::pin(self.write(move |working| upkeep::decay(working, &stale)))
    }

    fn renew(&self, most: usize) -> Pending<'_, u64, MemoryError> {
        Box::pin(self.write(move |working| renew::renew(working, most)))
    }

    fn export(&self, from: i64, limit: usize) -> Pending<'_, ExportPage, MemoryError> {
        Box::pin(self.readers.run(move |working| transfer::export(working, from, limit)))
    }

    fn import(&self, records: Vec<MemoryRecord>) -> Pending<'_, Imported, MemoryError> {
        Box::pin(self.write(move |working| transfer::import(working, &records)))
    }
}
