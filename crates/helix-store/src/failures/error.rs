//! What can go wrong with the memory of failures.
//!
//! Must not know SQLite.

use std::time::Duration;

use helix_failure::Fingerprint;
use helix_failure::memory::InvalidRecord;

use crate::error::{Cause, DatabaseError, codes};

/// The memory did not do what was asked. Nothing was changed, unless the deadline passed: then it may still happen.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// It took too long.
    #[error("the memory of failures in {database} did not answer within {deadline:?}")]
    Deadline {
        database: String,
        /// How long it was waited for.
        deadline: Duration,
    },
    /// A row cannot be understood.
    #[error("the record of {what} in {database} cannot be read")]
    Row { database: String, what: String, source: Cause },
    /// The beginning of a fingerprint fits several failures.
    #[error("{prefix:?} could be any of: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of the failures that it fits.
        candidates: Vec<String>,
    },
    /// A record of an import cannot be true.
    #[error("record {index} cannot be imported")]
    Record {
        /// Its place among the records that were given, from 0.
        index: usize,
        source: InvalidRecord,
    },
    /// A record of an import belongs to a failure that is neither known nor stands before it.
    #[error("record {index} belongs to failure {fingerprint}, which does not stand before it")]
    Orphan {
        /// Its place among the records that were given, from 0.
        index: usize,
        fingerprint: Fingerprint,
    },
}

impl MemoryError {
    /// The error's code; it has a page in `docs/errors/`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Database(error) => error.code(),
            Self::Deadline { .. } => codes::LOCKED,
            Self::Row { .. } | Self::Record { .. } | Self::Orphan { .. } => codes::UNREADABLE,
            Self::Ambiguous { .. } => codes::AMBIGUOUS,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Database(DatabaseError::Damaged { database, .. }) => format!(
                "only advice is missing; move {database}, {database}-wal and {database}-shm away together; Helix starts a new memory"
            ),
            Self::Database(error) => error.hint(),
            Self::Deadline { database, .. } => {
                format!(
                    "only advice is missing; if it stays so, see whether another program has {database} open or the disk is slow"
                )
            }
            Self::Row { .. } => {
                "use the helix that wrote this record, or a newer one; `helix failures forget` removes it".into()
            }
            Self::Ambiguous { .. } => "give more of the id; `helix failures list --json` shows them in full".into(),
            Self::Record { .. } | Self::Orphan { .. } => {
                "import what `helix failures export` wrote, unchanged and from its beginning".into()
            }
        }
    }
}
