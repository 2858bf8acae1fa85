//! What can go wrong with the memory of failures.
//!
//! Must not know SQLite.

use std::time::Duration;

use helix_failure::Fingerprint;
use helix_failure::memory::InvalidRecord;

use crate::error::{Cause, DatabaseError, codes, remedies};

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

remedies!(MemoryError);

impl MemoryError {
    fn remedy(&self) -> (&'static str, String) {
        match self {
            Self::Database(error @ DatabaseError::Damaged { database, .. }) => (
                error.code(),
                format!(
                    "only advice is missing; move {database}, {database}-wal and {database}-shm away together; Helix starts a new memory"
                ),
            ),
            Self::Database(error) => (error.code(), error.hint()),
            Self::Deadline { database, .. } => (
                codes::LOCKED,
                format!(
                    "only advice is missing; if it stays so, see whether another program has {database} open or the disk is slow"
                ),
            ),
            Self::Row { .. } => (
                codes::UNREADABLE,
                "use the helix that wrote this record, or a newer one; `helix failures forget` removes it".into(),
            ),
            Self::Ambiguous { .. } => {
                (codes::AMBIGUOUS, "give more of the id; `helix failures list --json` shows them in full".into())
            }
            Self::Record { .. } | Self::Orphan { .. } => (
                codes::UNREADABLE,
                "import what `helix failures export` wrote, unchanged and from its beginning".into(),
            ),
        }
    }
}
