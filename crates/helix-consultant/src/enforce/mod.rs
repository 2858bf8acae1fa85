//! Reply enforcement: each answer is checked, and where something is wrong the same agent session is told precisely what, a
//! limited number of times. The best answer is kept; what stays wrong is said.
//!
//! Must not run an agent, and takes no part in whether a turn is complete: an answer that fails every check is still an answer.

mod answer;
mod attempts;
mod checked_files;
mod own;
mod validators;

#[cfg(test)]
#[path = "enforce_test.rs"]
mod tests;

pub use answer::linked_path;
pub use own::OwnValidator;
pub use validators::Validator;

pub(crate) use attempts::{AnswerAttempt, AnswerAttempts, CorrectionScope};
pub use checked_files::CheckedFiles;
pub(crate) use own::CheckedAnswer;
pub(crate) use validators::{Evidence, Examined, examine};

/// How answers are enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// Which of Helix's validators look.
    pub validators: Vec<Validator>,
    /// The user's own, which look after those.
    pub own: Vec<OwnValidator>,
    /// How often a correction is asked for in one turn.
    pub retries: u32,
}

impl Enforcement {
    /// Corrections in one turn when nothing else is said.
    pub const RETRIES: u32 = 2;

    /// Whether nobody looks.
    pub(crate) fn is_off(&self) -> bool {
        self.validators.is_empty() && self.own.is_empty()
    }
}

impl Default for Enforcement {
    fn default() -> Self {
        Self { validators: Validator::ALL.to_vec(), own: Vec::new(), retries: Self::RETRIES }
    }
}
