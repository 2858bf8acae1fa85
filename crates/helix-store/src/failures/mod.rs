//! The memory of failures: what it does, whichever database is behind it.
//!
//! Must not know how failures are classified, nor who asks. It is kept apart from the journal, in a file of its own, so
//! that a damaged memory can never hurt the journal; nothing but advice is made from it.

mod answer;
mod error;
mod memory;
mod sqlite;

pub use answer::{
    Captured, Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, Linked, OpenFailure, Recalled, Stale,
    Trouble,
};
pub use error::MemoryError;
pub use memory::{FailureMemory, Recalling};
pub use sqlite::{MemoryOptions, SqliteFailureMemory};
