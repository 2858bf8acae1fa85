//! A failure as the memory knows it: how often, where, and how it ended.
//!
//! Must not know how it was found.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attempt::AttemptChange;
use super::diagnosis::Diagnosis;
use super::occurrence::{OccurrencePlace, OccurrenceState};
use super::suggestion::Suggestion;

/// A failure that was seen at least once. Texts are redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFailure {
    /// What it is.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// How often it was seen.
    pub count: u64,
    /// When it was seen first.
    pub first_seen: Timestamp,
    /// When it was seen last.
    pub last_seen: Timestamp,
    /// Projects in which it was seen, latest first, at most ten.
    pub projects: Vec<String>,
    /// How it ended.
    pub end: FailureEnd,
}

/// How a failure ended, as far as is proved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum FailureEnd {
    /// It disappeared in the attempt that made this change; the latest of its fixes.
    Fixed {
        /// The change.
        link: FixLink,
        /// How many changes are known after which it disappeared.
        fixes: u64,
    },
    /// It disappeared without a change that could have caused that: trying again, or a person, was enough.
    WentAway,
    /// Its phase was given up.
    GaveUp,
    /// Not known.
    Open,
}

impl FailureEnd {
    /// The word of the wire format.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Fixed { .. } => "fixed",
            Self::WentAway => "went_away",
            Self::GaveUp => "gave_up",
            Self::Open => "open",
        }
    }
}

/// The change after which a failure disappeared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixLink {
    /// The attempt that had seen it last.
    pub failed_attempt: u32,
    /// The attempt in which it was gone, and its change.
    #[serde(flatten)]
    pub change: AttemptChange,
}

/// A failure of the past that resembles the one that was asked about, and that has a known end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastFailure {
    /// The failure.
    #[serde(flatten)]
    pub known: KnownFailure,
    /// How close it is.
    pub closeness: Closeness,
}

/// How close a past failure is to the one that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "match", rename_all = "snake_case")]
pub enum Closeness {
    /// The same fingerprint.
    Exact,
    /// The same tool and category, and a similar message.
    Near {
        /// From 0 to 1.
        score: f64,
    },
}

/// Everything that is remembered of one failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureDetail {
    /// The failure.
    #[serde(flatten)]
    pub known: KnownFailure,
    /// Where it was seen, latest first, at most fifty.
    pub occurrences: Vec<OccurrenceEntry>,
    /// Its fixes, latest first.
    pub fixes: Vec<FixLink>,
    /// What was suggested, latest first, at most fifty.
    pub suggestions: Vec<Suggestion>,
}

/// One time that a failure was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OccurrenceEntry {
    /// Names it.
    pub key: String,
    /// Where.
    #[serde(flatten)]
    pub place: OccurrencePlace,
    /// When.
    pub at: Timestamp,
    /// What became of it.
    pub state: OccurrenceState,
}
