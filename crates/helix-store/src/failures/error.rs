//! What can go wrong with the memory of failures.
//!
//! Must not know SQLite.

use helix_failure::Fingerprint;
use helix_failure::memory::InvalidRecord;

use crate::error::{DatabaseError, codes, remedies};

/// The memory did not do what was asked. Nothing was changed, unless it was late: then it may still happen.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The beginning of a fingerprint fits several failures.
    #[error("{prefix:?} fits several, such as {}", .candidates.join(", "))]
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
            Self::Database(error @ DatabaseError::Late { database, .. }) => (
                error.code(),
                format!(
                    "only advice is missing; if it stays so, see whether another program has {database} open or the disk is slow"
                ),
            ),
            Self::Database(error @ DatabaseError::Unreadable { .. }) => (
                error.code(),
                "use the helix that wrote this record, or a newer one; `helix failures forget` removes it".into(),
            ),
            Self::Database(error) => (error.code(), error.hint()),
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
