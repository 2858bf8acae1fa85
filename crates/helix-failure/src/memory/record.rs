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

/// A record that cannot be true, with the contradiction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRecord(String);

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
                let Diagnosis { tool, code, frame, message, cause, cause_line, summary, .. } = &failure.diagnosis;
                named(&[("cause", cause)])?;
                bounded(&[
                    ("tool", tool),
                    ("code", code),
                    ("frame", frame),
                    ("message", message),
                    ("cause_line", cause_line),
                    ("summary", summary),
                ])?;
                let (first, last) = (failure.first_seen, failure.last_seen);
                wrong(last < first, || format!("it was seen last ({last}) before it was seen first ({first})"))
            }
            Self::Occurrence { entry, .. } => {
                let place = &entry.place;
                named(&[("key", &entry.key), ("check", &place.check)])?;
                bounded(&[("project", &place.project), ("agent", &place.agent)])?;
                attempt(place.attempt)
            }
            Self::Fix { link, .. } => {
                bounded(&[("project", &link.change.project), ("diff", &link.change.diff)])?;
                link.change.files.iter().try_for_each(|file| named(&[("files", file)]))?;
                attempt(link.failed_attempt)?;
                let (failed, fixed) = (link.failed_attempt, link.change.attempt);
                wrong(fixed <= failed, || format!("attempt {fixed} cannot have fixed what attempt {failed} saw"))
            }
            Self::Suggestion(suggestion) => {
                let Suggestion { id, text, check, cause, outcome, resolved_at, .. } = suggestion;
                named(&[("id", id), ("text", text), ("check", check), ("cause", cause)])?;
                attempt(suggestion.attempt)?;
                wrong(outcome.is_some() != resolved_at.is_some(), || "`outcome` and `resolved_at` go together".into())
            }
        }
    }
}

fn wrong(wrong: bool, why: impl FnOnce() -> String) -> Result<(), InvalidRecord> {
    if wrong { Err(InvalidRecord(why())) } else { Ok(()) }
}

fn attempt(number: u32) -> Result<(), InvalidRecord> {
    wrong(number == 0, || "attempts are numbered from 1".into())
}

fn named(texts: &[(&str, &str)]) -> Result<(), InvalidRecord> {
    texts.iter().try_for_each(|(field, text)| wrong(text.is_empty(), || format!("{field} is empty")))?;
    bounded(texts)
}

fn bounded(texts: &[(&str, &str)]) -> Result<(), InvalidRecord> {
    let too_long = |(field, text): &(&str, &str)| {
        let bytes = text.len();
        wrong(bytes > LONGEST, || format!("{field} has {bytes} bytes; at most {LONGEST} are possible"))
    };
    texts.iter().try_for_each(too_long)
}
