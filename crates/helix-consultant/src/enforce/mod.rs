//! Reply enforcement: each answer is checked, and where something is wrong the same agent session is told precisely what, a
//! limited number of times. The best answer is kept; what stays wrong is said.
//!
//! Must not run an agent, and takes no part in whether a turn is complete: an answer that fails every check is still an answer.

mod answer;
mod attempts;
mod checked_files;
mod validators;

#[cfg(test)]
#[path = "enforce_test.rs"]
mod tests;

pub use validators::Validator;

pub(crate) use attempts::{AnswerAttempt, AnswerAttempts, CorrectionScope, NextStep};
pub use checked_files::CheckedFiles;
pub(crate) use validators::{Evidence, Examined, examine};

/// How answers are enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// Which validators look; none means no enforcement.
    pub validators: Vec<Validator>,
    /// How often a correction is asked for in one turn.
    pub retries: u32,
}

impl Enforcement {
    /// Corrections in one turn when nothing else is said.
    pub const RETRIES: u32 = 2;
}

impl Default for Enforcement {
    fn default() -> Self {
        Self { validators: Validator::ALL.to_vec(), retries: Self::RETRIES }
    }
}
