//! What is asked of the memory of failures and what it answers, as far as the types of `helix-failure` do not say it.

use helix_core::ids::CommitId;
use helix_failure::memory::{Diagnosis, KnownFailure, MemoryRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failure in the course of some work whose end is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFailure {
    pub diagnosis: Diagnosis,
    pub check: String,
    pub attempt: u32,
    /// The commit in which it was seen.
    pub commit: Option<CommitId>,
    pub(super) id: i64,
    /// Key of the occurrence.
    pub(super) key: String,
}

/// How the work on a phase or job ceased without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceasing {
    /// All attempts were used up, or somebody decided that it ends here.
    GaveUp,
    /// It was stopped for another reason, which says nothing about its failures.
    Stopped,
}

/// How much to forget of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget {
    Everything,
    /// What is said to have fixed it: a correction.
    Fixes,
}

/// Which failures are listed. Empty fields admit all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureFilter {
    /// Label of the category.
    pub category: Option<String>,
    pub tool: Option<String>,
    /// Word of the end: `fixed`, `went_away`, `gave_up`, `open`.
    pub ended: Option<String>,
    /// The project in which it was seen.
    pub project: Option<String>,
}

/// Some failures, the latest seen first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailurePage {
    /// The failures.
    pub failures: Vec<KnownFailure>,
    /// Where the next page begins; `None`: this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Part of an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportPage {
    /// The records, each failure before what belongs to it.
    pub records: Vec<MemoryRecord>,
    /// Where the next page begins; `None`: this is the last.
    pub next: Option<i64>,
}

/// What an import has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// Records that were not there before.
    pub added: u64,
    /// Records that were there.
    pub known: u64,
}

impl Imported {
    pub(super) fn count(&mut self, rows: usize) {
        if rows > 0 { self.added += 1 } else { self.known += 1 }
    }

    /// Adds another part's figures.
    pub fn add(&mut self, other: Self) {
        self.added += other.added;
        self.known += other.known;
    }
}
