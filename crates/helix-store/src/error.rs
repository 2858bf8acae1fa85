//! Everything that can go wrong with the journal and its directory, each with its code and its remedy.
//!
//! Must not know SQLite: `sqlite` turns the library's codes into these variants, once.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::event::DecodeError;
use crate::stream::Stream;

/// What a lower layer said; shared, since one failed commit is the answer to many writers.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// Codes of this crate's errors; each has a page in `docs/errors/`.
pub mod codes {
    helix_core::codes! {
        /// The database or the state directory cannot be written.
        NOT_WRITABLE = "HX0301";
        /// The disk is full.
        FULL = "HX0302";
        /// Another process keeps the database locked.
        LOCKED = "HX0303";
        /// The database is damaged.
        DAMAGED = "HX0304";
        /// The file belongs to another program.
        FOREIGN = "HX0305";
        /// The database was written by a newer Helix.
        TOO_NEW = "HX0306";
        /// There is no database yet, or it has to be brought up to date first.
        NOT_READY = "HX0307";
        /// Another host holds the state directory.
        HELD = "HX0308";
        /// The operating system or the database failed in another way.
        UNEXPECTED = "HX0309";
        /// The journal was closed.
        CLOSED = "HX0310";
        /// The stream has moved on.
        CONFLICT = "HX0311";
        /// Somebody else has taken over.
        STALE_FENCE = "HX0312";
        /// A record cannot be understood.
        UNREADABLE = "HX0313";
        /// An id's beginning fits several jobs.
        AMBIGUOUS = "HX0314";
        /// Helix asked the journal for something that contradicts itself.
        ILLEGAL = "HX0315";
        /// The key that seals the journal's records is not there.
        NO_KEY = "HX0316";
        /// A record is not what Helix wrote.
        ALTERED = "HX0317";
    }
}

/// The database failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DatabaseError {
    /// It may only be read: permissions, a read-only file system, or a journal that was opened for reading.
    #[error("the database {database} cannot be written")]
    NotWritable {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    /// There is no room for the write. Nothing of it was kept; what was there before is whole.
    #[error("disk full: cannot write to the database {database}")]
    Full {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    /// Another process kept it locked for longer than the busy timeout.
    #[error("another process keeps the database {database} locked")]
    Locked {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    /// It took longer than anybody waits for it.
    #[error("the database {database} did not answer in time")]
    Late {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    /// A row cannot be understood.
    #[error("the record of {what} in {database} cannot be read")]
    Unreadable { database: String, what: String, source: Cause },
    /// Something else has changed a record, or what comes before it, or has taken it out.
    #[error("the record of {what} in {database} is not what Helix wrote: its seal does not fit")]
    Altered { database: String, what: String },
    /// The key that its records are sealed with cannot be read.
    #[error("the database {database} cannot be verified without its key {key}")]
    NoKey { database: String, key: String, source: Cause },
    /// Its content contradicts itself, or it is not a database.
    #[error("the database {database} is damaged")]
    Damaged {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    #[error("the database {database} failed")]
    Unexpected {
        database: String,
        /// What the lower layer said.
        source: Cause,
    },
    /// The journal was closed, or its writer ended.
    #[error("the journal in {database} is closed")]
    Closed { database: String },
}

/// A database cannot be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// It was to be read, but is not there.
    #[error("no database at {database}")]
    Missing { database: String },
    /// It belongs to another program.
    #[error("{database} is a database of another program (application id {application_id:#010x})")]
    Foreign {
        database: String,
        /// The number by which SQLite files name their program.
        application_id: i32,
    },
    /// A newer Helix wrote it.
    #[error("the database {database} has schema version {found}, this Helix knows versions up to {known}")]
    TooNew {
        database: String,
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// It was to be read, but an older Helix wrote it and reading may not change it.
    #[error("the database {database} has schema version {found} and must be brought to version {known} first")]
    Outdated {
        database: String,
        found: i64,
        /// The version that is needed.
        known: i64,
    },
}

impl OpenError {
    /// The same as a failure of a database that was open before: header and version were checked then, so that opening it again
    /// can only fail in the ways of a database.
    pub(crate) fn again(self) -> DatabaseError {
        match self {
            Self::Database(error) => error,
            Self::Missing { ref database }
            | Self::Foreign { ref database, .. }
            | Self::TooNew { ref database, .. }
            | Self::Outdated { ref database, .. } => {
                DatabaseError::Unexpected { database: database.clone(), source: Arc::new(self) }
            }
        }
    }
}

/// Events were not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The database failed; nothing was written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The stream's last event is another one than expected.
    #[error("{stream} was expected to end at event {expected} but ends at {actual}")]
    Conflict { stream: Stream, expected: u64, actual: u64 },
    /// Somebody else has taken over since the fence was given out that was to prove the right to write.
    #[error("fence {name} number {number} is no longer valid; the newest is {newest}")]
    StaleFence {
        /// What was taken over.
        name: String,
        /// The number that was shown.
        number: u64,
        /// The newest number that was given out; 0: none ever was.
        newest: u64,
    },
    /// What was to be written contradicts itself, or another row has a key that must be its own.
    #[error("events of {stream} cannot be written: {why}")]
    Illegal { stream: Stream, why: String },
}

/// A question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An event cannot be understood.
    #[error(transparent)]
    Event(#[from] DecodeError),
    /// The beginning of an id fits several jobs.
    #[error("{prefix:?} fits several, such as {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of the jobs that it fits.
        candidates: Vec<String>,
    },
}

/// A state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// It cannot be created or written.
    #[error("the state directory {} cannot be written", .path.display())]
    NotWritable {
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Something else is where the directory should be.
    #[error("{} is not a directory", .path.display())]
    NoDirectory { path: PathBuf },
    /// Its disk is full.
    #[error("disk full: cannot write to {}", .path.display())]
    Full {
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Another host works in it.
    #[error("another Helix host{} uses the state directory {}", .pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(), .path.display())]
    Held {
        path: PathBuf,
        /// The other host's process, if it has announced itself.
        pid: Option<u32>,
        /// Where it serves its API, if it has announced itself.
        url: Option<String>,
    },
    /// The announcement of a host cannot be understood.
    #[error("{} cannot be understood", .path.display())]
    Announcement { path: PathBuf, source: serde_json::Error },
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// What was being done, such as `lock`.
        doing: &'static str,
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl DatabaseError {
    /// The failure of a database among an error and its causes, whichever of this crate's errors carries it.
    pub fn among<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            let found = match (
                error.downcast_ref::<Self>(),
                error.downcast_ref::<OpenError>(),
                error.downcast_ref::<ReadError>(),
                error.downcast_ref::<AppendError>(),
            ) {
                (Some(found), ..)
                | (_, Some(OpenError::Database(found)), ..)
                | (_, _, Some(ReadError::Database(found)), _)
                | (_, _, _, Some(AppendError::Database(found))) => Some(found),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
            next = error.source();
        }
        None
    }
}

/// Gives errors their code and what to do about them, from one `remedy` for both.
macro_rules! remedies {
    ($($error:ident)+) => {
        $(impl $error {
            /// The error's code; it has a page in `docs/errors/`.
            pub fn code(&self) -> &'static str {
                self.remedy().0
            }

            /// What to do about it.
            pub fn hint(&self) -> String {
                self.remedy().1
            }
        })+
    };
}
pub(crate) use remedies;

remedies!(DatabaseError OpenError AppendError ReadError StateDirError);

const OTHER_VERSION: &str =
    "use the helix that wrote this record, or a newer one; if it is the newest, report this as a bug";

impl DatabaseError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::NotWritable { database, .. } => (
                codes::NOT_WRITABLE,
                format!("check owner and permissions of {database} and its directory, or choose another --state-dir"),
            ),
            Self::Full { .. } => (
                codes::FULL,
                "free some disk space: jobs that wait then continue, a refused command can be run again; nothing recorded is lost"
                    .into(),
            ),
            Self::Locked { database, .. } | Self::Late { database, .. } => (
                codes::LOCKED,
                format!(
                    "stop the program that has {database} open (`fuser {database}` names it); a backup or sqlite3 shell will do it"
                ),
            ),
            Self::Damaged { database, .. } => (
                codes::DAMAGED,
                format!(
                    "move {database}, {database}-wal and {database}-shm away together and restore a backup, or try `sqlite3 {database} .recover`"
                ),
            ),
            Self::Unreadable { .. } => (codes::UNREADABLE, OTHER_VERSION.into()),
            Self::Altered { .. } => (
                codes::ALTERED,
                "restore a backup; until then nothing that rests on this record is proved".into(),
            ),
            Self::NoKey { key, .. } => (codes::NO_KEY, format!("restore {key} from the backup that the database is from")),
            Self::Unexpected { .. } => {
                (codes::UNEXPECTED, "run `helix doctor`; if it finds nothing, report this as a bug".into())
            }
            Self::Closed { .. } => (codes::CLOSED, "start helix again".into()),
        }
    }
}

impl OpenError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::Database(error) => error.remedy(),
            Self::Missing { .. } => {
                (codes::NOT_READY, "run a job or `helix serve` first, or name the right --state-dir".into())
            }
            Self::Foreign { database, .. } => {
                (codes::FOREIGN, format!("move {database} away, or choose another --state-dir"))
            }
            Self::TooNew { .. } => {
                (codes::TOO_NEW, "use the newer helix that wrote it, or choose another --state-dir".into())
            }
            Self::Outdated { .. } => {
                (codes::NOT_READY, "start `helix serve` or a job once: that brings the database up to date".into())
            }
        }
    }
}

impl AppendError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::Database(error) => error.remedy(),
            Self::Conflict { .. } => (codes::CONFLICT, "read the stream again and decide again".into()),
            Self::StaleFence { .. } => {
                (codes::STALE_FENCE, "another helix has taken over this work; this one must stop it".into())
            }
            Self::Illegal { .. } => (codes::ILLEGAL, "this is a bug in helix; please report it".into()),
        }
    }
}

impl ReadError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::Database(error) => error.remedy(),
            Self::Event(_) => (codes::UNREADABLE, OTHER_VERSION.into()),
            Self::Ambiguous { .. } => {
                (codes::AMBIGUOUS, "give more of the id; `helix jobs list` shows them in full".into())
            }
        }
    }
}

impl StateDirError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::NotWritable { path, .. } => (
                codes::NOT_WRITABLE,
                format!("make {} writable for this user, or choose another --state-dir", path.display()),
            ),
            Self::NoDirectory { .. } => (codes::NOT_WRITABLE, "choose another --state-dir".into()),
            Self::Full { .. } => (codes::FULL, "free some disk space, or choose a --state-dir on another disk".into()),
            Self::Held { url: Some(url), .. } => {
                (codes::HELD, format!("use it: it serves {url}; or stop it, or choose another --state-dir"))
            }
            Self::Held { url: None, .. } => {
                (codes::HELD, "wait until it has started or ended, or choose another --state-dir".into())
            }
            Self::Announcement { path, .. } => {
                (codes::UNREADABLE, format!("if no helix is running, delete {}; it is written anew", path.display()))
            }
            Self::Io { path, .. } => {
                (codes::UNEXPECTED, format!("check {} and the file system that holds it", path.display()))
            }
        }
    }
}
