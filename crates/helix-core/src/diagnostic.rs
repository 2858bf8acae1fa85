//! Problems in files that people write (plans, ADRs, configuration), with place, cause and remedy.
//!
//! Must not know how a terminal renders them: `helix` draws the caret picture, the API sends them as they are.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// Longest name to which a similar one is sought: time and memory grow with its square.
const LONGEST_NAME: usize = 256;

words! {
    /// How bad a [`Diagnostic`] is.
    pub enum Severity {
        /// Worth knowing; blocks nothing.
        Warning = "warning",
        /// Blocks.
        Error = "error",
    }
}

/// One problem in a source text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// `HX` and four digits; has a page in `docs/errors/`.
    pub code: String,
    /// Whether it blocks.
    pub severity: Severity,
    /// What is wrong, lower case, no full stop.
    pub message: String,
    /// Name of the source as the user knows it, usually a path.
    pub file: String,
    /// Where in the source; absent when the problem is about the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A stretch of a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Line of the first character, from 1.
    pub line: u32,
    /// Column of the first character, in characters, from 1.
    pub column: u32,
    /// Byte offset of the first character.
    pub start: usize,
    /// Byte offset after the last character.
    pub end: usize,
}

impl Span {
    /// Its bytes.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

impl Diagnostic {
    /// An error with a code and a message, about the file as a whole.
    pub fn error(code: &str, file: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity: Severity::Error,
            message: message.into(),
            file: file.into(),
            span: None,
            help: None,
        }
    }

    /// A warning with a code and a message, about the file as a whole.
    pub fn warning(code: &str, file: &str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, file, message) }
    }

    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// True when it blocks.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(span) = &self.span {
            write!(f, ":{}:{}", span.line, span.column)?;
        }
        write!(f, ": {}[{}]: {}", self.severity.word(), self.code, self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  hint: {help}")?;
        }
        Ok(())
    }
}

/// Declares the codes of an area, each with a page in `docs/errors/`, and the list of all of them.
#[macro_export]
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $code;)+
        /// Every code of this area, in order.
        pub const ALL: &[&str] = &[$($code),+];
    };
}

/// The candidate nearest to what was written, if it is near enough to be meant.
///
/// Near enough: Damerau-Levenshtein distance at most a third of the longer word, at least 1; of two equally near ones, the
/// one that begins alike for longer.
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = written.chars().count();
    if length > LONGEST_NAME {
        return None;
    }
    let lower = written.to_lowercase();
    let near = |candidate: &'a str| {
        let other = candidate.chars().count();
        let most = (length.max(other) / 3).max(1);
        if length.abs_diff(other) > most {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
        (distance <= most).then_some((distance, candidate))
    };
    let alike =
        |candidate: &str| written.chars().zip(candidate.chars()).take_while(|(left, right)| left == right).count();
    let nearest = candidates.into_iter().filter_map(near);
    nearest.min_by_key(|(distance, candidate)| (*distance, Reverse(alike(candidate)))).map(|(_, candidate)| candidate)
}

#[cfg(test)]
#[path = "diagnostic_test.rs"]
mod tests;
