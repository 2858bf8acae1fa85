//! A suggestion that is measured: for which failure, from where, shown or held back, and what came of it.
//!
//! Must not know how suggestions are thought of or shown.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::occurrence::Occurrence;
use super::work::Work;
use crate::fingerprint::{Fingerprint, digest};
use crate::verdict::Category;

/// One suggested action for one occurrence of a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// Names it forever: thirty-two hexadecimal digits made from occurrence, source and text.
    pub id: String,
    /// The failure that it is to fix.
    pub fingerprint: Fingerprint,
    /// That failure's category.
    pub category: Category,
    /// That failure's finer cause.
    pub cause: String,
    /// What to do.
    pub text: String,
    /// Where it comes from.
    pub source: SuggestionSource,
    /// Whether the agent saw it.
    pub exposure: Exposure,
    /// In the course of which work.
    #[serde(flatten)]
    pub work: Work,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// What saw the failure.
    pub check: String,
    /// When it was made.
    pub at: Timestamp,
    /// What came of it; `None` while that is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SuggestionOutcome>,
    /// When that became known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}

/// Where a suggestion comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum SuggestionSource {
    /// From what fixed this or a similar failure before.
    PastFix {
        /// The failure that was fixed.
        fingerprint: Fingerprint,
    },
    /// From the category and the cause.
    Cause,
    /// From the phase in which it failed.
    Phase,
}

impl SuggestionSource {
    /// The word of the wire format.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::PastFix { .. } => "past_fix",
            Self::Cause => "cause",
            Self::Phase => "phase",
        }
    }
}

helix_core::words! {
    /// Whether the agent saw a suggestion.
    pub enum Exposure {
        /// It did.
        Shown = "shown",
        /// It was kept from the agent by chance, so that the memory's benefit can be measured.
        HeldBack = "held_back",
        /// It was known only when the agent had its prompt.
        Missed = "missed",
    }
}

helix_core::words! {
    /// What came of a suggestion, by whether its failure is gone in the next attempt.
    pub enum SuggestionOutcome {
        /// The failure is gone, and nothing broke that worked before.
        Helped = "helped",
        /// The failure is still there.
        NoEffect = "no_effect",
        /// Something broke that had worked before.
        Worse = "worse",
        /// Nobody looked again.
        Unknown = "unknown",
    }
}

/// A suggestion before it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestionDraft {
    pub text: String,
    /// Where it comes from.
    pub source: SuggestionSource,
}

/// Which share of what the memory has to offer is kept from agents, for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Holdout(f64);

impl Holdout {
    /// Nothing is kept back.
    pub const NONE: Self = Self(0.0);

    /// A share from 0 to 1; what lies outside is taken as the nearer end, and no number as 0.
    pub fn new(share: f64) -> Self {
        Self(if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    pub fn share(self) -> f64 {
        self.0
    }

    /// The draw for a key. It is made from the key alone, so that a crash or a second host draws the same.
    pub fn draw(self, key: &str) -> Exposure {
        let digest = Sha256::digest(format!("holdout {key}"));
        let number = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        // 53 bits, as many as a double has: from 0 (inclusive) to 1 (exclusive).
        let drawn = (number >> 11) as f64 / (1_u64 << 53) as f64;
        if drawn < self.0 { Exposure::HeldBack } else { Exposure::Shown }
    }
}

impl Default for Holdout {
    fn default() -> Self {
        Self(0.1)
    }
}

impl Suggestion {
    /// A suggestion for an occurrence. What comes from the memory is shown or held back by one draw for the whole
    /// occurrence, since half of a memory shown would prove nothing; everything else is always shown.
    pub fn new(draft: SuggestionDraft, occurrence: &Occurrence, holdout: Holdout) -> Self {
        let exposure = match draft.source {
            SuggestionSource::PastFix { .. } => holdout.draw(&occurrence.key),
            SuggestionSource::Cause | SuggestionSource::Phase => Exposure::Shown,
        };
        Self {
            id: digest(&[&occurrence.key, draft.source.word(), &draft.text]),
            fingerprint: occurrence.diagnosis.fingerprint.clone(),
            category: occurrence.diagnosis.category,
            cause: occurrence.diagnosis.cause.clone(),
            text: draft.text,
            source: draft.source,
            exposure,
            work: occurrence.place.work.clone(),
            attempt: occurrence.place.attempt,
            check: occurrence.place.check.clone(),
            at: occurrence.at,
            outcome: None,
            resolved_at: None,
        }
    }
}

#[cfg(test)]
#[path = "suggestion_test.rs"]
mod tests;
