//! A few connections that work on the runtime's threads for blocking work.
//!
//! Must not know what is read or written: it gives a transaction.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Semaphore;

use super::sql::Sql;
use super::{Access, DatabaseOptions, classify, create_private};
use crate::error::{DatabaseError, OpenError};

/// Steps of SQLite's virtual machine between two looks at the clock: a few microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;

/// Opens a connection of one kind of database.
pub(crate) type Open = fn(&DatabaseOptions, &str) -> Result<Connection, OpenError>;

/// How long work may take, and what it works on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Service {
    /// As long as it takes, in the file that was there first.
    Truth,
    /// No longer than this, in whichever file is there.
    Advice(Duration),
}

#[derive(Debug)]
pub(crate) struct Connections {
    options: DatabaseOptions,
    open: Open,
    service: Service,
    database: Arc<str>,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Opened>>>,
}

/// A connection, and the file that it has open: what its path names may be another one by now, or nothing.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    file: Option<FileId>,
}

/// Device and inode of a file.
type FileId = (u64, u64);

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl Connections {
    /// At most so many connections, opened when they are needed.
    pub(crate) fn new(options: DatabaseOptions, open: Open, most: usize, service: Service) -> Self {
        let database = options.path.display().to_string().into();
        let permits = Arc::new(Semaphore::new(most));
        Self { options, open, service, database, permits, idle: Arc::default() }
    }

    /// Runs one piece of work in a transaction, off the runtime's own threads: several statements see the same state, and all of
    /// it happens or nothing. Advice is answered when its time has passed, even if the disk has not: the work is then interrupted
    /// as soon as SQLite can be, and its connection is not used before.
    pub(crate) async fn run<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
        F: FnOnce(Sql<'_>) -> Result<T, E> + Send + 'static,
    {
        let Service::Advice(limit) = self.service else { return self.work(None, work).await };
        let until = Instant::now() + limit;
        tokio::time::timeout_at(until.into(), self.work(Some(until), work)).await.unwrap_or_else(|elapsed| {
            Err(DatabaseError::Late { database: self.database.to_string(), source: Arc::new(elapsed) }.into())
        })
    }

    async fn work<T, E, F>(&self, until: Option<Instant>, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
        F: FnOnce(Sql<'_>) -> Result<T, E> + Send + 'static,
    {
        let closed = || DatabaseError::Closed { database: self.database.to_string() };
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (options, open, database, idle) =
            (self.options.clone(), self.open, self.database.clone(), self.idle.clone());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            // What is written to a file that somebody has removed or replaced would be lost.
            let usable = pooled.filter(|opened| until.is_none() || opened.file == file_id(&options.path));
            let mut opened = match usable {
                Some(opened) => opened,
                None => {
                    if options.access == Access::ReadWrite {
                        create_private(&options.path, &database)?;
                    }
                    let connection = open(&options, &database).map_err(OpenError::again)?;
                    Opened { connection, file: file_id(&options.path) }
                }
            };
            let answer = within(&mut opened.connection, options.access, &database, until, work);
            if answer.is_ok() {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
            }
            answer
        });
        done.await.unwrap_or_else(|_| Err(closed().into()))
    }

    /// Takes a connection that was opened elsewhere.
    pub(crate) fn lend(&self, connection: Connection) {
        let opened = Opened { connection, file: file_id(&self.options.path) };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
    }
}

fn within<T, E: From<DatabaseError>>(
    connection: &mut Connection,
    access: Access,
    database: &str,
    until: Option<Instant>,
    work: impl FnOnce(Sql<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let failed = |error| E::from(classify(database, error));
    if let Some(until) = until {
        connection.busy_timeout(until.saturating_duration_since(Instant::now())).map_err(failed)?;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || Instant::now() >= until)).map_err(failed)?;
    }
    let behavior = match access {
        Access::ReadWrite => TransactionBehavior::Immediate,
        Access::ReadOnly => TransactionBehavior::Deferred,
    };
    let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
    let answer = work(Sql { connection: &transaction, database })?;
    transaction.commit().map_err(failed)?;
    Ok(answer)
}
