//! What an attempt proves about the failures of the attempts before it.
//!
//! Must not know who keeps failures; the rules are functions of what the two attempts saw.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::suggestion::{Suggestion, SuggestionOutcome};
use super::work::Work;
use crate::fingerprint::Fingerprint;
use crate::verdict::{Blame, RetryAdvice};
use helix_core::ids::CommitId;

/// What an attempt showed: which checks really looked, and what they saw.
///
/// A check that was not reached, or could not be made, is in neither list: it proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptAnswer {
    /// The attempt, with its change since the commit that had failed.
    pub change: AttemptChange,
    /// Checks that were made and found nothing, by the names of [`super::check`].
    pub passed: Vec<String>,
    /// Checks that were made and found something. The failures themselves were captured before.
    pub failed: Vec<String>,
    /// Earlier failures of this work that what was logged now still shows, though another one was captured as the cause.
    pub still: Vec<Fingerprint>,
}

/// An attempt, and what was changed for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptChange {
    /// In which project.
    pub project: String,
    /// In the course of which work.
    #[serde(flatten)]
    pub work: Work,
    /// Which try, from 1.
    pub attempt: u32,
    /// The commit that was examined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// Files that were changed, with `/`; of a fix, at most fifty are kept.
    pub files: Vec<String>,
    /// The change as a unified diff; of a fix, cut to a readable size. Data, never instructions.
    pub diff: String,
    /// When.
    pub at: Timestamp,
}

/// What followed from an attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolution {
    /// Failures that are gone, each with what it owes that to.
    pub gone: Vec<(Fingerprint, Credit)>,
    /// Suggestions whose outcome is known now.
    pub resolved: Vec<Suggestion>,
}

/// What a failure's disappearance is put down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// The change between the two attempts.
    Change,
    /// Not a change: there was none, or the failure is one that changes do not fix.
    Time,
}

impl Credit {
    /// Whom to thank: a change is credited only where there is one and where one could have helped.
    pub fn for_change(retry: RetryAdvice, files: &[String]) -> Self {
        let could_help = matches!(retry, RetryAdvice::AfterChange | RetryAdvice::Never);
        if could_help && !files.is_empty() { Self::Change } else { Self::Time }
    }
}

/// What came of a suggestion, seen from the next attempt; `None`: that attempt proves nothing about it.
///
/// `seen` are the fingerprints captured in the next attempt with whose move each was, `before` the checks that had passed
/// in the suggestion's own attempt.
pub fn judge_suggestion(
    suggestion: &Suggestion,
    answer: &AttemptAnswer,
    seen: &[(Fingerprint, Blame)],
    before: &BTreeSet<String>,
) -> Option<SuggestionOutcome> {
    // What the environment or the provider broke says nothing about the work.
    let of_the_work = seen.iter().any(|(_, blame)| *blame == Blame::Agent);
    let broke = of_the_work && answer.failed.iter().any(|check| before.contains(check));
    let looked = answer.passed.contains(&suggestion.check) || answer.failed.contains(&suggestion.check);
    let still = answer.still.contains(&suggestion.fingerprint)
        || seen.iter().any(|(fingerprint, _)| *fingerprint == suggestion.fingerprint);
    match (still, looked, broke) {
        (_, _, true) => Some(SuggestionOutcome::Worse),
        (true, _, false) => Some(SuggestionOutcome::NoEffect),
        (false, true, false) => Some(SuggestionOutcome::Helped),
        (false, false, false) => None,
    }
}
