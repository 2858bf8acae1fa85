//! A few connections that work on the runtime's threads for blocking work, and never longer than a deadline.
//!
//! Must not know what is read or written: it gives a transaction, and names the database in every error.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, TransactionBehavior};
use tokio::sync::Semaphore;

use super::schema::MEMORY;
use crate::error::{DatabaseError, OpenError};
use crate::failures::error::MemoryError;
use crate::sqlite::{Access, SqliteOptions, classify, connect, create_private};

/// Steps of SQLite's virtual machine between two looks at the clock: a few microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;
/// Pages that a connection keeps, in KiB (SQLite's negative `cache_size`).
const CACHE_KIB: i32 = -16_000;

/// The connections.
#[derive(Debug)]
pub(super) struct Connections {
    options: SqliteOptions,
    database: Arc<str>,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Opened>>>,
    deadline: Duration,
}

/// A connection, and the file that it has open: what its path names may be another one by now, or nothing.
#[derive(Debug)]
pub(super) struct Opened {
    connection: Connection,
    file: Option<FileId>,
}

/// Device and inode of a file.
type FileId = (u64, u64);

impl Opened {
    pub(super) fn new(connection: Connection, path: &Path) -> Self {
        Self { connection, file: file_id(path) }
    }
}

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// One piece of work on a connection: all of it happens, or nothing.
pub(super) struct Transaction<'a> {
    connection: &'a Connection,
    database: &'a str,
}

/// What a record has is not what Helix writes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the record of {what} cannot be read")]
pub(super) struct Unreadable {
    pub(super) what: String,
    pub(super) source: crate::error::Cause,
}

impl Transaction<'_> {
    /// All rows of a query.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, MemoryError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
        };
        rows().map_err(|error| self.failed(error))
    }

    /// The first row of a query, if it has any.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, MemoryError> {
        let row = || self.connection.prepare_cached(sql)?.query_row(parameters, read).optional();
        row().map_err(|error| self.failed(error))
    }

    /// The row of a query that always has one.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        let row = || self.connection.prepare_cached(sql)?.query_row(parameters, read);
        row().map_err(|error| self.failed(error))
    }

    /// Changes rows; returns how many.
    pub(super) fn change(&self, sql: &str, parameters: impl Params) -> Result<usize, MemoryError> {
        let changed = || self.connection.prepare_cached(sql)?.execute(parameters);
        changed().map_err(|error| self.failed(error))
    }

    /// The id of the row that was inserted last.
    pub(super) fn inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Names the database in an error.
    fn failed(&self, error: rusqlite::Error) -> MemoryError {
        if let rusqlite::Error::FromSqlConversionFailure(_, _, source) = &error
            && let Some(Unreadable { what, source }) = source.downcast_ref().cloned()
        {
            return MemoryError::Row { database: self.database.to_owned(), what, source };
        }
        classify(self.database, error).into()
    }
}

impl Connections {
    pub(super) fn new(options: SqliteOptions, database: Arc<str>, connections: usize, deadline: Duration) -> Self {
        let permits = Arc::new(Semaphore::new(connections));
        Self { options, database, permits, idle: Arc::default(), deadline }
    }

    /// Runs one piece of work in a transaction, off the runtime's own threads. Answers when the deadline has passed, even
    /// if the disk has not: the work is then interrupted as soon as SQLite can be, and its connection is not used before.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, MemoryError> + Send + 'static,
    {
        let until = Instant::now() + self.deadline;
        let (options, database, idle) = (self.options.clone(), self.database.clone(), self.idle.clone());
        let closed = || DatabaseError::Closed { database: self.database.to_string() };
        let late = || MemoryError::Deadline { database: self.database.to_string(), deadline: self.deadline };
        let answered = tokio::time::timeout_at(until.into(), async {
            let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
            let blocking = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut opened = match pooled.filter(|opened| opened.file == file_id(&options.path)) {
                    Some(opened) => opened,
                    // The first of its kind, or somebody has removed or replaced the file: what is written to the old one
                    // would be lost.
                    None => {
                        if options.access == Access::ReadWrite {
                            create_private(&options.path, &database)?;
                        }
                        Opened::new(connected(&options, &database).map_err(OpenError::again)?, &options.path)
                    }
                };
                let answer = within(&mut opened.connection, options.access, &database, until, work);
                if answer.is_ok() {
                    idle.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
                }
                answer
            });
            match blocking.await {
                Ok(answer) => answer,
                Err(_) => Err(closed().into()),
            }
        });
        match answered.await {
            Ok(Err(MemoryError::Database(DatabaseError::Unexpected { source, .. }))) if was_interrupted(&source) => {
                Err(late())
            }
            Ok(answer) => answer,
            Err(_) => Err(late()),
        }
    }

    /// Takes a connection that was opened elsewhere.
    pub(super) fn lend(&self, opened: Opened) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
    }
}

fn was_interrupted(source: &crate::error::Cause) -> bool {
    let error = source.downcast_ref::<rusqlite::Error>();
    error.and_then(rusqlite::Error::sqlite_error_code) == Some(ErrorCode::OperationInterrupted)
}

/// Opens a connection of this memory.
pub(super) fn connected(options: &SqliteOptions, database: &str) -> Result<Connection, OpenError> {
    let connection = connect(options, &MEMORY, database)?;
    let failed = |error| OpenError::from(classify(database, error));
    connection.pragma_update(None, "cache_size", CACHE_KIB).map_err(failed)?;
    if options.access == Access::ReadWrite {
        // It is advice: a power failure may cost the last of it, `kill -9` does not.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    }
    Ok(connection)
}

fn within<T>(
    connection: &mut Connection,
    access: Access,
    database: &str,
    until: Instant,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, MemoryError>,
) -> Result<T, MemoryError> {
    let failed = |error| MemoryError::from(classify(database, error));
    connection.busy_timeout(until.saturating_duration_since(Instant::now())).map_err(failed)?;
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || Instant::now() >= until)).map_err(failed)?;
    let behavior = match access {
        Access::ReadWrite => TransactionBehavior::Immediate,
        Access::ReadOnly => TransactionBehavior::Deferred,
    };
    let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
    let answer = work(&Transaction { connection: &transaction, database })?;
    transaction.commit().map_err(failed)?;
    Ok(answer)
}
