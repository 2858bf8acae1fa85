//! The journal: the only truth about jobs and sessions, with the projections that are read from it; and beside it, in a
//! file of its own, the memory of failures.
//!
//! Must not know processes, agents or HTTP. SQL is known to the modules `sqlite` alone; everything else speaks through [`Journal`],
//! so that a second backend is a second implementation of one trait that passes the same contract tests.

mod append;
mod error;
mod event;
pub mod failures;
mod fence;
mod follow;
mod journal;
mod query;
mod sqlite;
mod state_dir;
mod stream;
mod subscription;

pub use append::{Append, Appended, Forget, NewJob, NewSession, Opened, Projection, Submitted};
pub use error::{AppendError, Cause, DatabaseError, OpenError, ReadError, StateDirError, codes};
pub use event::{DecodeError, NewEvent, StoredEvent};
pub use fence::Fence;
pub use follow::Follower;
pub use journal::{Journal, Pending, all_sessions, job_events};
pub use query::{Counts, EventPage, JobFilter, JobPage, MAX_EVENTS_PER_READ, MAX_ROWS_PER_PAGE, SessionPage};
pub use sqlite::{Access, DatabaseOptions, SqliteJournal};
pub use state_dir::{HostInfo, HostLock, Key, StateDir, kept_key, known_key};
pub use stream::{InvalidStream, Stream};
pub use subscription::{Moved, Subscription};
