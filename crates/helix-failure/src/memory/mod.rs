//! What is remembered of failures: where each happened, how it ended, and whether suggestions helped. Types and rules only.
//!
//! Must not know where memories are kept; `helix-store` keeps them, and everything here is a function of its arguments.

mod attempt;
mod diagnosis;
mod effectiveness;
mod known;
mod occurrence;
mod record;
mod similarity;
mod suggestion;
mod work;

pub use attempt::{AttemptAnswer, AttemptChange, Credit, Resolution, judge_suggestion};
pub use diagnosis::Diagnosis;
pub use effectiveness::{Benefit, Effectiveness, MemoryStatistics, SourceEffect, Tally};
pub use known::{Closeness, FailureDetail, FailureEnd, FixLink, KnownFailure, OccurrenceEntry, PastFailure};
pub use occurrence::{Occurrence, OccurrencePlace, OccurrenceState, check};
pub use record::{InvalidRecord, MemoryRecord, RememberedFailure};
pub use similarity::{MessageTrigrams, SimilarQuery, words};
pub use suggestion::{Exposure, Holdout, Suggestion, SuggestionDraft, SuggestionOutcome, SuggestionSource};
pub use work::Work;
