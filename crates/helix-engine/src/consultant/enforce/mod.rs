//! Reply enforcement: each answer is checked, and where something is wrong the same agent session is told precisely what, a
//! limited number of times. The best answer is kept; what stays wrong is said.
//!
//! Must not run an agent, and takes no part in whether a turn is complete: an answer that fails every check is still an answer.

mod answer;
mod attempts;
mod checked_files;
mod validators;

#[cfg(test)]
mod tests;

pub use validators::Validator;

pub(crate) use attempts::{AnswerAttempt, AnswerAttempts, CorrectionScope, NextStep, Retry};
pub(crate) use checked_files::CheckedFiles;
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

    /// Answers stay as they are.
    pub fn off() -> Self {
        Self { validators: Vec::new(), retries: 0 }
    }
}

impl Default for Enforcement {
    fn default() -> Self {
        Self { validators: Validator::ALL.to_vec(), retries: Self::RETRIES }
    }
}

/// Checks answers by the configured validators and says what comes next.
#[derive(Debug, Clone)]
pub(crate) struct ResponseEnforcer {
    settings: Enforcement,
}

impl ResponseEnforcer {
    pub(crate) fn new(settings: Enforcement) -> Self {
        Self { settings }
    }

    /// Whether there is anything to check.
    pub(crate) fn is_off(&self) -> bool {
        self.settings.validators.is_empty()
    }

    /// Looks at a complete answer. Reads files: not for an async thread.
    ///
    /// # Errors
    /// When what has to be looked at cannot be read: nothing is known of the answer then.
    pub(crate) fn examine(&self, evidence: &Evidence) -> Result<Examined, helix_project::save_check::SaveCheckError> {
        examine(&self.settings.validators, evidence)
    }

    /// An empty list of attempts at one turn.
    pub(crate) fn attempts(&self) -> AnswerAttempts {
        AnswerAttempts::new(self.settings.retries)
    }
}
