//! Failure intelligence, its pure part: from what was observed and logged to what failed, why, and what to do.
//!
//! Must not know where logs come from or where failures are remembered; its answers advise people and prompts and
//! decide no control flow.

mod advice;
pub mod cause;
mod classify;
mod code;
pub mod event;
mod facts;
mod fingerprint;
mod json_line;
mod lexicon;
mod location;
mod log;
pub mod memory;
mod observation;
mod own_check;
mod plain;
mod reading;
pub mod report;
#[macro_use]
mod rule;
mod rules;
mod verdict;

pub use advice::actions;
pub use classify::{Alternative, CauseLine, ClassificationEvidence, Classified, Classifier};
pub use code::tool_code;
pub use fingerprint::{Fingerprint, normalise};
pub use lexicon::{CLASSES, DOUBTED, LIKELY, Lexicon, Likelihoods, NO_CAUSE, words};
pub use location::{Location, Ownership};
pub use log::{LogCollector, LogLine, LogSample, Stream};
pub use observation::{FailureObservation, Termination};
pub use own_check::{HELIX, gate_cause};
pub use plain::plain_text;
pub use rule::{Rule, RuleTableError, TABLE_VERSION};
pub use rules::all as rule_table;
pub use verdict::{Blame, Category, RetryAdvice};
