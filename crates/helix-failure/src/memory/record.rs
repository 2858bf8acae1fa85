//! The lines of an exported memory: one JSON object each, complete enough to build the memory anew.
//!
//! Must not know files; it says of one record whether it can be true.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnosis::Diagnosis;
use super::known::{FixLink, OccurrenceEntry};
use super::suggestion::Suggestion;
use crate::fingerprint::Fingerprint;

/// Longest text of any field, in bytes. Far above what Helix writes; what is longer was not written by it.
const LONGEST: usize = 64 * 1024;

/// One line of an exported memory. A failure stands before what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum MemoryRecord {
    /// A failure.
    Failure(RememberedFailure),
    /// One time that it was seen.
    Occurrence {
        /// Of which failure.
        fingerprint: Fingerprint,
        /// Where and when, and what became of it.
        #[serde(flatten)]
        entry: OccurrenceEntry,
    },
    /// What fixed it.
    Fix {
        /// Which failure.
        fingerprint: Fingerprint,
        /// The change.
        #[serde(flatten)]
        link: FixLink,
    },
    /// What was suggested, and what came of it.
    Suggestion(Suggestion),
}

/// A failure without what is counted from its occurrences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RememberedFailure {
    /// What it is.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// When it was seen first.
    pub first_seen: Timestamp,
    /// When it was seen last.
    pub last_seen: Timestamp,
    /// How many of its occurrences are no longer kept one by one.
    #[serde(default)]
    pub dropped: u64,
}

/// A record that cannot be true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRecord {
    /// A text is too long.
    #[error("{field} has {bytes} bytes; at most {LONGEST} are possible")]
    TooLong { field: &'static str, bytes: usize },
    /// A text that names something is empty.
    #[error("{field} is empty")]
    Empty { field: &'static str },
    /// It was seen last before it was seen first.
    #[error("it was seen last ({last}) before it was seen first ({first})")]
    Backwards { first: Timestamp, last: Timestamp },
    /// An attempt is numbered 0.
    #[error("attempts are numbered from 1")]
    AttemptZero,
    /// A fix was made in an attempt that is not after the failing one.
    #[error("attempt {fixed} cannot have fixed what attempt {failed} saw")]
    FixBeforeFailure {
        /// The attempt that failed.
        failed: u32,
        /// The attempt that is called the fix.
        fixed: u32,
    },
    /// A suggestion has an outcome without a time, or a time without an outcome.
    #[error("`outcome` and `resolved_at` go together")]
    HalfResolved,
}

impl MemoryRecord {
    /// The failure that it belongs to.
    pub fn fingerprint(&self) -> &Fingerprint {
        match self {
            Self::Failure(failure) => &failure.diagnosis.fingerprint,
            Self::Occurrence { fingerprint, .. } | Self::Fix { fingerprint, .. } => fingerprint,
            Self::Suggestion(suggestion) => &suggestion.fingerprint,
        }
    }

    /// Says whether it can be true.
    ///
    /// # Errors
    /// [`InvalidRecord`] with the first contradiction.
    pub fn check(&self) -> Result<(), InvalidRecord> {
        match self {
            Self::Failure(failure) => {
                let diagnosis = &failure.diagnosis;
                name("cause", &diagnosis.cause)?;
                for (field, text) in [
                    ("tool", &diagnosis.tool),
                    ("code", &diagnosis.code),
                    ("frame", &diagnosis.frame),
                    ("message", &diagnosis.message),
                    ("cause_line", &diagnosis.cause_line),
                    ("summary", &diagnosis.summary),
                ] {
                    bounded(field, text)?;
                }
                if failure.last_seen < failure.first_seen {
                    return Err(InvalidRecord::Backwards { first: failure.first_seen, last: failure.last_seen });
                }
                Ok(())
            }
            Self::Occurrence { entry, .. } => {
                name("key", &entry.key)?;
                name("check", &entry.place.check)?;
                bounded("project", &entry.place.project)?;
                bounded("agent", &entry.place.agent)?;
                attempt(entry.place.attempt)
            }
            Self::Fix { link, .. } => {
                bounded("project", &link.project)?;
                bounded("diff", &link.diff)?;
                for file in &link.files {
                    name("files", file)?;
                }
                attempt(link.failed_attempt)?;
                if link.attempt <= link.failed_attempt {
                    return Err(InvalidRecord::FixBeforeFailure { failed: link.failed_attempt, fixed: link.attempt });
                }
                Ok(())
            }
            Self::Suggestion(suggestion) => {
                name("id", &suggestion.id)?;
                name("text", &suggestion.text)?;
                name("check", &suggestion.check)?;
                name("cause", &suggestion.cause)?;
                attempt(suggestion.attempt)?;
                if suggestion.outcome.is_some() != suggestion.resolved_at.is_some() {
                    return Err(InvalidRecord::HalfResolved);
                }
                Ok(())
            }
        }
    }
}

fn attempt(number: u32) -> Result<(), InvalidRecord> {
    if number == 0 { Err(InvalidRecord::AttemptZero) } else { Ok(()) }
}

fn name(field: &'static str, text: &str) -> Result<(), InvalidRecord> {
    if text.is_empty() { Err(InvalidRecord::Empty { field }) } else { bounded(field, text) }
}

fn bounded(field: &'static str, text: &str) -> Result<(), InvalidRecord> {
    let bytes = text.len();
    if bytes > LONGEST { Err(InvalidRecord::TooLong { field, bytes }) } else { Ok(()) }
}
