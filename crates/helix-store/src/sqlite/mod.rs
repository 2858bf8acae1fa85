//! The journal in one SQLite file: one writer thread with group commit, and a small pool of reading connections.
//!
//! Must not know what events mean. This module and those below it are the only ones that know SQL.
//!
//! A write is durable when it is answered (`synchronous = FULL`). The file is in WAL mode: readers, also those of other
//! processes, never wait for the writer nor the writer for them. Numbers are assigned inside an immediate transaction,
//! so even a second writing process could not break them; that there is only one is the host lock's business.

mod pool;
mod reads;
pub(crate) mod schema;
mod seal;
mod sql;
mod turns;
mod writer;
mod writes;

use async_recursion::async_recursion as boxed;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use helix_core::ids::{AgentSessionId, JobId, SessionId, TurnId};
use helix_job::JobView;
use helix_job::session::{SessionView, TurnSummary, TurnView};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::append::{Append, Appended, Forget, NewJob, NewSession, Opened, Submitted};
use crate::error::{AppendError, DatabaseError, OpenError, ReadError};
use crate::event::StoredEvent;
use crate::fence::Fence;
use crate::journal::{Journal, Pending};
use crate::query::{Counts, EventPage, JobFilter, JobPage, SessionPage};
use crate::stream::Stream;
use crate::subscription::Subscription;
use writer::Writer;

pub(crate) use pool::{Connections, Service};
pub(crate) use sql::{Sql, json, unreadable};

/// Connections that read at the same time; more would only queue at the disk.
const READERS: usize = 4;
/// How long is waited for a file that another process has locked.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause before a lock is tried again that SQLite does not wait for by itself.
const LOCK_RETRY: Duration = Duration::from_millis(2);

/// What a journal is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; creates the file and brings its tables up to date. For the host.
    ReadWrite,
    /// Reading what is there, also while a host writes. Its feed stays silent: it hears nothing of other processes.
    ReadOnly,
}

/// How a database is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseOptions {
    pub path: PathBuf,
    pub access: Access,
    /// How long to wait for another process that has the file locked, and for any answer of the memory of failures. For a file that one has for
    /// itself alone, at most 5 s.
    pub patience: Duration,
    /// Largest size of the file in bytes; `None`: as large as the disk allows.
    pub size_limit: Option<u64>,
}

/// A journal in an SQLite file. Cheap to clone; all clones share one writer.
#[derive(Debug, Clone)]
pub struct SqliteJournal {
    readers: Arc<Connections>,
    writer: Arc<Writer>,
}

impl DatabaseOptions {
    /// The usual patience, no limit of size.
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access, patience: PATIENCE, size_limit: None }
    }

    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

impl SqliteJournal {
    /// Opens a journal with the usual options.
    ///
    /// # Errors
    /// As for [`SqliteJournal::open_with`].
    pub async fn open(path: impl Into<PathBuf>, access: Access) -> Result<Self, OpenError> {
        Self::open_with(DatabaseOptions::new(path, access)).await
    }

    /// Opens a journal.
    ///
    /// The header is checked (program, version), the content is not: that would read the whole file, which takes
    /// minutes for a big one. Damage is reported by the read that meets it; [`SqliteJournal::check`] looks for all of it.
    ///
    /// # Errors
    /// [`OpenError`] when there is nothing to read, the file is not ours or too new, or it cannot be opened for `access`.
    #[boxed]
    pub async fn open_with(options: DatabaseOptions) -> Result<Self, OpenError> {
        let closed = || DatabaseError::Closed { database: options.path.display().to_string() };
        let lost = closed();
        tokio::task::spawn_blocking(move || Self::open_blocking(&options)).await.map_err(|_| lost)?
    }

    fn open_blocking(options: &DatabaseOptions) -> Result<Self, OpenError> {
        let database: Arc<str> = options.path.display().to_string().into();
        check_file(&options.path, &database)?;
        let writer = match options.access {
            Access::ReadWrite => {
                create_private(&options.path, &database)?;
                let connection = seal::connect_sealed(options, &database)?;
                Writer::start(connection, database)?
            }
            Access::ReadOnly => {
                connect_to_read(options, &schema::JOURNAL, &database)?;
                seal::connect_sealed(options, &database)?;
                Writer::absent(database)
            }
        };
        let reading = DatabaseOptions { access: Access::ReadOnly, ..options.clone() };
        let open: pool::Open = seal::connect_sealed;
        let readers = Connections::new(reading, open, READERS, Service::Truth);
        Ok(Self { readers: Arc::new(readers), writer: Arc::new(writer) })
    }

    /// Whether a host could write to the file now: takes the lock of writers and gives it back. Changes nothing in it.
    ///
    /// # Errors
    /// [`DatabaseError`]: it may not be written, or another process keeps it locked.
    pub async fn try_to_lock(path: impl Into<PathBuf>) -> Result<(), DatabaseError> {
        let options = DatabaseOptions::new(path, Access::ReadWrite);
        let database = options.path.display().to_string();
        let lost = DatabaseError::Closed { database: database.clone() };
        let lock = move || {
            let failed = |error| classify(&database, error);
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&options.path, flags).map_err(failed)?;
            if connection.is_readonly("main").map_err(failed)? {
                return Err(not_writable(&database));
            }
            connection.busy_timeout(options.patience).map_err(failed)?;
            connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(failed)
        };
        tokio::task::spawn_blocking(lock).await.map_err(|_| lost)?
    }

    /// Looks through the whole file for damage; an empty list means none. Reads all of it.
    ///
    /// # Errors
    /// [`ReadError`] when it is too damaged to be looked through.
    #[boxed]
    pub async fn check(&self) -> Result<Vec<String>, ReadError> {
        self.readers.run(reads::check).await
    }

    /// Writes what was accepted, ends the writer and waits for it. Later writes are answered with
    /// [`DatabaseError::Closed`]. A journal that is merely dropped does the same without anybody waiting.
    #[boxed]
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

/// Opens the first connection for reading only, to a file that is there and up to date.
pub(crate) fn connect_to_read(
    options: &DatabaseOptions,
    schema: &schema::Schema,
    database: &str,
) -> Result<Connection, OpenError> {
    if !options.path.exists() {
        return Err(OpenError::Missing { database: database.into() });
    }
    let connection = connect(options, schema, database)?;
    let (found, known) = (schema.check_header(&connection, database)?, schema.known_version());
    if found < known {
        return Err(OpenError::Outdated { database: database.into(), found, known });
    }
    Ok(connection)
}

/// Opens one connection and sets what holds for all of them.
pub(crate) fn connect(
    options: &DatabaseOptions,
    schema: &schema::Schema,
    database: &str,
) -> Result<Connection, OpenError> {
    let failed = |error| OpenError::from(classify(database, error));
    let flags = match options.access {
        Access::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Access::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let mut connection =
        Connection::open_with_flags(&options.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    if options.access == Access::ReadWrite && connection.is_readonly("main").map_err(failed)? {
        // SQLite quietly opens a file that it may not write for reading.
        return Err(not_writable(database).into());
    }
    // Of a file that another process has for itself alone, SQLite reads the tables' definitions thirty times, and would wait each time.
    connection.busy_timeout(Duration::ZERO).map_err(failed)?;
    patiently(options.patience.min(PATIENCE), || schema.check_header(&connection, database))?;
    connection.busy_timeout(options.patience).map_err(failed)?;
    match options.access {
        Access::ReadOnly => {}
        Access::ReadWrite => {
            patiently(options.patience, || {
                connection
                    .query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))
                    .map_err(|error| OpenError::from(classify(database, error)))?;
                schema.migrate(&mut connection, database)
            })?;
            connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
            connection.pragma_update(None, "foreign_keys", "ON").map_err(failed)?;
            if let Some(bytes) = options.size_limit {
                let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(failed)?;
                let pages = signed(bytes) / page.max(1);
                connection
                    .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get::<_, i64>(0))
                    .map_err(failed)?;
            }
        }
    }
    Ok(connection)
}

pub(crate) fn not_writable(database: &str) -> DatabaseError {
    let source = std::io::Error::from(ErrorKind::PermissionDenied);
    DatabaseError::NotWritable { database: database.to_owned(), source: Arc::new(source) }
}

/// Repeats a step that SQLite refuses at once because of a lock: by itself (the change to WAL mode, the first migration), or since it was told not to
/// wait (a look at the file). Runs on a thread for blocking work.
fn patiently<T>(timeout: Duration, mut step: impl FnMut() -> Result<T, OpenError>) -> Result<T, OpenError> {
    let started = Instant::now();
    loop {
        match step() {
            Err(OpenError::Database(DatabaseError::Locked { .. })) if started.elapsed() < timeout => {
                std::thread::sleep(LOCK_RETRY);
            }
            other => return other,
        }
    }
}

/// Creates the file for its owner only; SQLite gives its companions the same mode.
pub(crate) fn create_private(path: &Path, database: &str) -> Result<(), DatabaseError> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => {
            let (kind, database, source) = (error.kind(), database.to_owned(), Arc::new(error));
            Err(match kind {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DatabaseError::Full { database, source },
                ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::NotFound
                | ErrorKind::NotADirectory => DatabaseError::NotWritable { database, source },
                _ => DatabaseError::Unexpected { database, source },
            })
        }
    }
}

/// Turns SQLite's codes into what the user can do something about. The only place that does.
pub(crate) fn classify(database: &str, error: rusqlite::Error) -> DatabaseError {
    let database = database.to_owned();
    if let rusqlite::Error::FromSqlConversionFailure(_, _, source) = &error
        && let Some(sql::Unreadable { what, source }) = source.downcast_ref().cloned()
    {
        return match source.is::<sql::Broken>() {
            true => DatabaseError::Altered { database, what },
            false => DatabaseError::Unreadable { database, what, source },
        };
    }
    let code = error.sqlite_error_code();
    let extended = error.sqlite_error().map(|error| error.extended_code);
    let source = Arc::new(error);
    match code {
        // The shared index of the write-ahead log, which readers need, too, finds no room to grow; SQLite reserves the blocks
        // before it maps them, and calls it an input/output error when it cannot.
        Some(_) if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => DatabaseError::Full { database, source },
        Some(ErrorCode::DiskFull) => DatabaseError::Full { database, source },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseError::Locked { database, source },
        Some(ErrorCode::OperationInterrupted) => DatabaseError::Late { database, source },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Damaged { database, source },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            DatabaseError::NotWritable { database, source }
        }
        // The tables are strict, so that only damage makes a text or a number that is none.
        None if is_no_value(&source) => DatabaseError::Damaged { database, source },
        Some(_) | None => DatabaseError::Unexpected { database, source },
    }
}

fn is_no_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::Utf8Error(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
    )
}

/// Refuses what SQLite would name badly, or not at all: something that is not a file, and a file that lost all its content, which to
/// SQLite is a new database.
fn check_file(path: &Path, database: &str) -> Result<(), DatabaseError> {
    let Ok(found) = path.metadata() else { return Ok(()) };
    let database = || database.to_owned();
    if found.is_dir() {
        return Err(DatabaseError::NotWritable {
            database: database(),
            source: Arc::new(std::io::Error::from(ErrorKind::IsADirectory)),
        });
    }
    let runs = path.with_file_name(crate::state_dir::RUNS);
    let lost = found.len() == 0 && runs.read_dir().is_ok_and(|mut runs| runs.next().is_some());
    if lost {
        let source = std::io::Error::other("the file is empty, but runs of earlier jobs exist beside it");
        return Err(DatabaseError::Damaged { database: database(), source: Arc::new(source) });
    }
    Ok(())
}

/// SQLite's integers have a sign. Ours count events, and 2^63 of them do not happen.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The way back; the tables' checks keep the numbers from being negative.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl Journal for SqliteJournal {
    fn append(&self, append: Append) -> Pending<'_, Appended, AppendError> {
        Box::pin(self.writer.run(move |sql| writes::append(sql, &append)))
    }

    fn submit(&self, job: NewJob) -> Pending<'_, Submitted, AppendError> {
        Box::pin(self.writer.run(move |sql| writes::submit(sql, &job)))
    }

    fn open_session(&self, session: NewSession) -> Pending<'_, Opened, AppendError> {
        Box::pin(self.writer.run(move |sql| writes::open_session(sql, &session)))
    }

    fn forget_session(&self, forget: Forget) -> Pending<'_, (), AppendError> {
        Box::pin(self.writer.run(move |sql| writes::forget_session(sql, &forget)))
    }

    fn take_over(&self, name: String) -> Pending<'_, Fence, DatabaseError> {
        Box::pin(self.writer.run(move |sql| writes::take_over(sql, &name)))
    }

    fn read(&self, stream: Stream, after: u64, limit: usize) -> Pending<'_, EventPage, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::events(sql, &stream, after, limit)))
    }

    fn read_all(&self, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::all_events(sql, after, limit)))
    }

    fn list_jobs(&self, filter: JobFilter, cursor: Option<JobId>, limit: usize) -> Pending<'_, JobPage, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::list_jobs(sql, &filter, cursor.as_ref(), limit)))
    }

    fn job(&self, id_or_prefix: String) -> Pending<'_, Option<JobView>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::job(sql, &id_or_prefix)))
    }

    fn job_by_key(&self, idempotency_key: String) -> Pending<'_, Option<JobView>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::job_by_key(sql, &idempotency_key)))
    }

    fn counts(&self) -> Pending<'_, Counts, ReadError> {
        Box::pin(self.readers.run(reads::counts))
    }

    fn list_sessions(&self, cursor: Option<SessionId>, limit: usize) -> Pending<'_, SessionPage, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::list_sessions(sql, cursor.as_ref(), limit)))
    }

    fn session(&self, id: SessionId) -> Pending<'_, Option<SessionView>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::session(sql, &id)))
    }

    fn session_by_key(&self, key: String) -> Pending<'_, Option<SessionView>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::session_by_key(sql, &key)))
    }

    fn sessions_by_prefix(&self, prefix: String, limit: usize) -> Pending<'_, Vec<SessionView>, ReadError> {
        Box::pin(self.readers.run(move |sql| reads::sessions_by_prefix(sql, &prefix, limit)))
    }

    fn list_turns(&self, session: SessionId, after: u32, limit: usize) -> Pending<'_, Vec<TurnView>, ReadError> {
        Box::pin(self.readers.run(move |sql| turns::list(sql, &session, after, limit)))
    }

    fn turn(&self, id: TurnId) -> Pending<'_, Option<TurnView>, ReadError> {
        Box::pin(self.readers.run(move |sql| turns::by_id(sql, &id)))
    }

    fn turn_by_message(&self, owner: Option<String>, message: String) -> Pending<'_, Option<TurnView>, ReadError> {
        let owner = owner.unwrap_or_default();
        Box::pin(self.readers.run(move |sql| turns::by_message(sql, &owner, &message)))
    }

    fn turn_summaries(&self, session: SessionId) -> Pending<'_, Vec<TurnSummary>, ReadError> {
        Box::pin(self.readers.run(move |sql| turns::summaries(sql, &session)))
    }

    fn last_writer(&self, agent_session: AgentSessionId) -> Pending<'_, Option<TurnId>, ReadError> {
        Box::pin(self.readers.run(move |sql| turns::last_writer(sql, &agent_session)))
    }

    fn subscribe(&self) -> Subscription {
        self.writer.subscribe()
    }
}
