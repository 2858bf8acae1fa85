//! What the memory of failures does, and how its file is opened.
//!
//! Must not know SQL. Writers of several processes queue for SQLite's own lock, inside the deadline; readers never wait
//! for them (WAL).

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use helix_core::ids::{JobId, PhaseId};
use helix_failure::Fingerprint;
use helix_failure::memory::{
    AttemptAnswer, Effectiveness, FailureDetail, KnownFailure, MemoryRecord, MemoryStatistics, Occurrence, PastFailure,
    Resolution, SimilarQuery, Suggestion, Work,
};
use jiff::Timestamp;
use rusqlite::Connection;

use super::answer::{Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, OpenFailure};
use super::error::MemoryError;
use super::schema::MEMORY;
use super::{capture, reads, resolve, similar, statistics, transfer, upkeep};
use crate::error::{DatabaseError, OpenError};
use crate::sqlite::{
    Access, Connections, DatabaseOptions, Service, classify, connect, connect_to_read, create_private, not_writable,
};

/// Connections that read at the same time.
const READERS: usize = 2;
/// Pages that a connection keeps, in KiB (SQLite's negative `cache_size`).
const CACHE_KIB: i32 = -16_000;

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
    /// Opens a memory; creates the file and its tables if it is opened for writing. No answer takes longer than the options'
    /// patience.
    ///
    /// # Errors
    /// [`OpenError`] when there is nothing to read, the file is not ours, is damaged or too new, or the time has passed.
    #[boxed]
    pub async fn open(options: DatabaseOptions) -> Result<Self, OpenError> {
        let database = options.path.display().to_string();
        let (closed, patience) = (DatabaseError::Closed { database: database.clone() }, options.patience);
        let opening = tokio::task::spawn_blocking(move || Self::open_blocking(options));
        match tokio::time::timeout(patience, opening).await {
            Ok(opened) => opened.map_err(|_| closed)?,
            Err(elapsed) => Err(DatabaseError::Locked { database, source: Arc::new(elapsed) }.into()),
        }
    }

    fn open_blocking(options: DatabaseOptions) -> Result<Self, OpenError> {
        let database: Arc<str> = options.path.display().to_string().into();
        let service = Service::Advice(options.patience);
        let reading = DatabaseOptions { access: Access::ReadOnly, ..options.clone() };
        let writer = match options.access {
            Access::ReadWrite => {
                create_private(&options.path, &database)?;
                let opened = connected(&options, &database)?;
                let connections = Connections::new(options, connected, 1, service);
                connections.lend(opened);
                Some(Arc::new(connections))
            }
            Access::ReadOnly => {
                connect_to_read(&reading, &MEMORY, &database)?;
                None
            }
        };
        let readers = Arc::new(Connections::new(reading, connected, READERS, service));
        Ok(Self { readers, writer, database })
    }

    fn writer(&self) -> Result<&Connections, MemoryError> {
        self.writer.as_deref().ok_or_else(|| not_writable(&self.database).into())
    }
}

/// Opens a connection of this memory.
fn connected(options: &DatabaseOptions, database: &str) -> Result<Connection, OpenError> {
    let connection = connect(options, &MEMORY, database)?;
    let failed = |error| OpenError::from(classify(database, error));
    connection.pragma_update(None, "cache_size", CACHE_KIB).map_err(failed)?;
    if options.access == Access::ReadWrite {
        // It is advice: a power failure may cost the last of it, `kill -9` does not.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    }
    Ok(connection)
}

impl FailureMemory {
    /// Remembers that a failure was seen. Capturing an occurrence twice remembers it once; capturing another failure under
    /// the same key replaces it. A fix that was credited earlier in the same phase has not held and is taken back.
    #[boxed]
    pub async fn capture(&self, occurrence: Occurrence) -> Result<(), MemoryError> {
        Ok(self.writer()?.run(move |tx| capture::capture(tx, &occurrence)).await?)
    }

    /// Finds failures with a known end, best first: the same fingerprint, then similar messages of the same tool and category.
    #[boxed]
    pub async fn similar(&self, query: SimilarQuery) -> Result<Vec<PastFailure>, MemoryError> {
        Ok(self.readers.run(move |tx| similar::similar(tx, &query)).await?)
    }

    /// Failures in the course of this work whose end is not known, the oldest first.
    #[boxed]
    pub async fn open_failures(&self, work: Work) -> Result<Vec<OpenFailure>, MemoryError> {
        Ok(self.readers.run(move |tx| resolve::open_failures(tx, &work)).await?)
    }

    /// The number of the last attempt at this work in which a failure was seen; 0 if none was.
    #[boxed]
    pub async fn last_attempt(&self, work: Work) -> Result<u32, MemoryError> {
        Ok(self.readers.run(move |tx| resolve::last_attempt(tx, &work)).await?)
    }

    /// Records suggestions; those that are there are left alone.
    #[boxed]
    pub async fn record_suggestions(&self, suggestions: Vec<Suggestion>) -> Result<(), MemoryError> {
        Ok(self.writer()?.run(move |tx| resolve::record_suggestions(tx, &suggestions)).await?)
    }

    /// Draws what follows from an attempt for all open failures and suggestions of its work: fixes are linked, outcomes
    /// set. What the attempt does not prove stays open. Asked again about the same attempt, it names the same suggestions.
    #[boxed]
    pub async fn resolve_outstanding(&self, answer: AttemptAnswer) -> Result<Resolution, MemoryError> {
        Ok(self.writer()?.run(move |tx| resolve::resolve_outstanding(tx, &answer)).await?)
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
        Ok(self.writer()?.run(move |tx| resolve::cease(tx, &job, phase.as_ref(), how, at)).await?)
    }

    /// How well each of these texts did as a suggestion for this cause, in their order.
    #[boxed]
    pub async fn effectiveness(&self, cause: String, texts: Vec<String>) -> Result<Vec<Effectiveness>, MemoryError> {
        Ok(self.readers.run(move |tx| statistics::effectiveness(tx, &cause, &texts)).await?)
    }

    /// The memory in figures.
    #[boxed]
    pub async fn statistics(&self) -> Result<MemoryStatistics, MemoryError> {
        Ok(self.readers.run(statistics::statistics).await?)
    }

    /// Failures, the latest seen first, after a cursor.
    #[boxed]
    pub async fn list(
        &self,
        filter: FailureFilter,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<FailurePage, MemoryError> {
        Ok(self.readers.run(move |tx| reads::list(tx, &filter, cursor.as_deref(), limit)).await?)
    }

    /// All about the failure with this fingerprint, or with a beginning of it that no other one has.
    #[boxed]
    pub async fn show(&self, prefix: String) -> Result<Option<FailureDetail>, MemoryError> {
        self.readers.run(move |tx| reads::show(tx, &prefix)).await
    }

    /// Failures whose texts have all of these words (the last one may be a beginning), best first.
    #[boxed]
    pub async fn search(&self, text: String, limit: usize) -> Result<Vec<KnownFailure>, MemoryError> {
        Ok(self.readers.run(move |tx| reads::search(tx, &text, limit)).await?)
    }

    /// Forgets a failure, or what is said to have fixed it. `false`: there is no such failure.
    #[boxed]
    pub async fn forget(&self, fingerprint: Fingerprint, what: Forget) -> Result<bool, MemoryError> {
        Ok(self.writer()?.run(move |tx| upkeep::forget(tx, &fingerprint, what)).await?)
    }

    /// Forgets what was not seen for long, at most 200 failures at a time; returns how many that were.
    #[boxed]
    pub async fn decay(&self, now: Timestamp) -> Result<u64, MemoryError> {
        Ok(self.writer()?.run(move |tx| upkeep::decay(tx, now)).await?)
    }

    /// Part of an export, from a place that the part before named (0: from the beginning).
    #[boxed]
    pub async fn export(&self, from: i64, limit: usize) -> Result<ExportPage, MemoryError> {
        Ok(self.readers.run(move |tx| transfer::export(tx, from, limit)).await?)
    }

    /// Takes records in, all or none. What is there stays as it is, so that a second import changes nothing.
    #[boxed]
    pub async fn import(&self, records: Vec<MemoryRecord>) -> Result<Imported, MemoryError> {
        self.writer()?.run(move |tx| transfer::import(tx, &records)).await
    }
}
