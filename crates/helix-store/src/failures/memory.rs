//! What the memory of failures does, and how its file is opened.
//!
//! Must not know SQL. Writers of several processes queue for SQLite's own lock, inside the deadline; readers never wait
//! for them (WAL).

use async_recursion::async_recursion as boxed;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::Fingerprint;
use helix_failure::memory::{
    AttemptAnswer, Effectiveness, FailureDetail, KnownFailure, MemoryRecord, MemoryStatistics, Occurrence, PastFailure,
    Resolution, SimilarQuery, Suggestion, Work,
};
use jiff::Timestamp;

use super::answer::{Captured, Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, OpenFailure, Stale};
use super::connections::{Connections, Opened, Transaction, connected};
use super::error::MemoryError;
use super::schema::MEMORY;
use super::{capture, reads, resolve, similar, statistics, transfer, upkeep};
use crate::error::{DatabaseError, OpenError};
use crate::sqlite::{Access, SqliteOptions, connect_to_read, create_private};

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

/// Failures grouped by fingerprint, with what fixed them and whether suggestions helped. Cheap to clone.
///
/// Every write is one transaction and is idempotent; several processes may write at once. Nothing waits longer than the
/// deadline that the memory was opened with. Texts are redacted before they are stored.
#[derive(Debug, Clone)]
pub struct FailureMemory {
    readers: Arc<Connections>,
    /// One connection: writes of one process queue here instead of at the file.
    writer: Option<Arc<Connections>>,
    database: Arc<str>,
}

impl FailureMemory {
    /// Opens a memory; creates the file and its tables if it is opened for writing.
    ///
    /// # Errors
    /// [`OpenError`] when there is nothing to read, the file is not ours, is damaged or too new, or the deadline passed.
    #[boxed]
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
                let opened = Opened::new(connected(&writing, &database)?, &options.path);
                let connections = Connections::new(writing, Arc::clone(&database), 1, options.deadline);
                connections.lend(opened);
                Some(Arc::new(connections))
            }
            Access::ReadOnly => {
                connect_to_read(&reading, &MEMORY, &database)?;
                None
            }
        };
        let readers = Arc::new(Connections::new(reading, Arc::clone(&database), READERS, options.deadline));
        Ok(Self { readers, writer, database })
    }

    async fn write<T, F>(&self, work: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, MemoryError> + Send + 'static,
    {
        let Some(writer) = &self.writer else {
            let source = Arc::new(std::io::Error::from(std::io::ErrorKind::PermissionDenied));
            return Err(DatabaseError::NotWritable { database: self.database.to_string(), source }.into());
        };
        writer.run(work).await
    }
}

#[expect(clippy::missing_errors_doc, reason = "all answers fail alike: `MemoryError` says how")]
impl FailureMemory {
    /// Remembers that a failure was seen. Capturing an occurrence twice remembers it once; capturing another failure under
    /// the same key replaces it. A fix that was credited earlier in the same phase has not held and is taken back.
    #[boxed]
    pub async fn capture(&self, occurrence: Occurrence) -> Result<Captured, MemoryError> {
        self.write(move |tx| capture::capture(tx, &occurrence)).await
    }

    /// Finds failures with a known end, best first: the same fingerprint, then similar messages of the same tool and category.
    #[boxed]
    pub async fn similar(&self, query: SimilarQuery) -> Result<Vec<PastFailure>, MemoryError> {
        self.readers.run(move |tx| similar::similar(tx, &query)).await
    }

    /// Failures in the course of this work whose end is not known, the oldest first.
    #[boxed]
    pub async fn open_failures(&self, work: Work) -> Result<Vec<OpenFailure>, MemoryError> {
        self.readers.run(move |tx| resolve::open_failures(tx, &work)).await
    }

    /// The number of the last attempt at this work in which a failure was seen; 0 if none was.
    #[boxed]
    pub async fn last_attempt(&self, work: Work) -> Result<u32, MemoryError> {
        self.readers.run(move |tx| resolve::last_attempt(tx, &work)).await
    }

    /// Records suggestions; those that are there are left alone.
    #[boxed]
    pub async fn record_suggestions(&self, suggestions: Vec<Suggestion>) -> Result<(), MemoryError> {
        self.write(move |tx| resolve::record_suggestions(tx, &suggestions)).await
    }

    /// Draws what follows from an attempt for all open failures and suggestions of its work: fixes are linked, outcomes
    /// set. What the attempt does not prove stays open. Asked again about the same attempt, it names the same suggestions.
    #[boxed]
    pub async fn resolve_outstanding(&self, answer: AttemptAnswer) -> Result<Resolution, MemoryError> {
        self.write(move |tx| resolve::resolve_outstanding(tx, &answer)).await
    }

    /// Notes that the work on a phase (or with `None` on the whole job) ceased: open suggestions are never known to have
    /// helped; open failures were given up, or stay open. Returns all suggestions there whose outcome is unknown.
    #[boxed]
    pub async fn cease(
        &self,
        job: JobId,
        phase: Option<PhaseId>,
        how: Ceasing,
        at: Timestamp,
    ) -> Result<Vec<Suggestion>, MemoryError> {
        self.write(move |tx| resolve::cease(tx, &job, phase.as_ref(), how, at)).await
    }

    /// How well each of these texts did as a suggestion for this cause, in their order.
    #[boxed]
    pub async fn effectiveness(&self, cause: String, texts: Vec<String>) -> Result<Vec<Effectiveness>, MemoryError> {
        self.readers.run(move |tx| statistics::effectiveness(tx, &cause, &texts)).await
    }

    /// The memory in figures.
    #[boxed]
    pub async fn statistics(&self) -> Result<MemoryStatistics, MemoryError> {
        self.readers.run(statistics::statistics).await
    }

    /// Failures, the latest seen first, after a cursor.
    #[boxed]
    pub async fn list(
        &self,
        filter: FailureFilter,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<FailurePage, MemoryError> {
        self.readers.run(move |tx| reads::list(tx, &filter, cursor.as_deref(), limit)).await
    }

    /// All about the failure with this fingerprint, or with a beginning of it that no other one has.
    #[boxed]
    pub async fn show(&self, prefix: String) -> Result<Option<FailureDetail>, MemoryError> {
        self.readers.run(move |tx| reads::show(tx, &prefix)).await
    }

    /// Failures whose texts have all of these words (the last one may be a beginning), best first.
    #[boxed]
    pub async fn search(&self, text: String, limit: usize) -> Result<Vec<KnownFailure>, MemoryError> {
        self.readers.run(move |tx| reads::search(tx, &text, limit)).await
    }

    /// Forgets a failure, or what is said to have fixed it. `false`: there is no such failure.
    #[boxed]
    pub async fn forget(&self, fingerprint: Fingerprint, what: Forget) -> Result<bool, MemoryError> {
        self.write(move |tx| upkeep::forget(tx, &fingerprint, what)).await
    }

    /// Forgets what is old; returns how many failures that were.
    #[boxed]
    pub async fn decay(&self, stale: Stale) -> Result<u64, MemoryError> {
        self.write(move |tx| upkeep::decay(tx, &stale)).await
    }

    /// Part of an export, from a place that the part before named (0: from the beginning).
    #[boxed]
    pub async fn export(&self, from: i64, limit: usize) -> Result<ExportPage, MemoryError> {
        self.readers.run(move |tx| transfer::export(tx, from, limit)).await
    }

    /// Takes records in, all or none. What is there stays as it is, so that a second import changes nothing.
    #[boxed]
    pub async fn import(&self, records: Vec<MemoryRecord>) -> Result<Imported, MemoryError> {
        self.write(move |tx| transfer::import(tx, &records)).await
    }
}
