//! The shape of a rule of the table: what it matches, where, and what it says.
//!
//! Must not know how matches are weighed.

use super::cause::Cause;
use super::verdict::{Blame, RetryAdvice};

/// Version of the table; raised with every change of its meaning.
pub const TABLE_VERSION: u32 = 1;

/// What the classifier knows does not compile.
#[derive(Debug, thiserror::Error)]
pub enum RuleTableError {
    #[error("the failure rules do not compile")]
    Pattern(#[from] regex::Error),
    /// A line of the weights of words is none; its number counts from 1.
    #[error("line {line} of the lexicon is not `word class weight…`: {text}")]
    Words { line: usize, text: String },
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name, such as `rust.borrow`.
    pub id: &'static str,
    pub cause: &'static Cause,
    /// Weight against other rules, 1 to 100.
    pub priority: i32,
    /// Pattern for a line without colours, surrounding blanks and log prefixes. `{py}` is what may stand before an exception's class.
    pub pattern: &'static str,
    /// Tools that it is for; none means all.
    pub tools: &'static [&'static str],
    /// Phases that it is for; none means all.
    pub phases: &'static [&'static str],
    /// When to try again, if not as the cause usually says.
    pub retry: Option<RetryAdvice>,
    /// Whose move it is, if not as the cause usually says.
    pub blame: Option<Blame>,
}

pub(super) const fn rule(id: &'static str, cause: &'static Cause, priority: i32, pattern: &'static str) -> Rule {
    Rule { id, cause, priority, pattern, tools: &[], phases: &[], retry: None, blame: None }
}

/// A part of the table, a rule a line: its name, cause, weight and pattern, then what restricts or changes it. Lines that each
/// one matches, and lines that it must not match, are in `tests/fixtures/failures/rules.txt`.
macro_rules! rules {
    ($($id:literal $cause:ident $priority:literal $pattern:literal $(.$method:ident($($argument:expr),*))*;)+) => {
        pub(super) static RULES: &[crate::rule::Rule] =
            &[$(crate::rule::rule($id, &$cause, $priority, $pattern) $(.$method($($argument),*))*),+];
    };
}

impl Rule {
    /// Restricts it to these tools.
    pub(super) const fn tools(mut self, tools: &'static [&'static str]) -> Self {
        self.tools = tools;
        self
    }

    /// Restricts it to these phases.
    pub(super) const fn phases(mut self, phases: &'static [&'static str]) -> Self {
        self.phases = phases;
        self
    }

    /// Says when to try again.
    pub(super) const fn retry(mut self, retry: RetryAdvice) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Says whose move it is.
    pub(super) const fn blame(mut self, blame: Blame) -> Self {
        self.blame = Some(blame);
        self
    }

    /// The pattern with its abbreviations written out, its classes and word boundaries meant for ASCII: all of
    /// Unicode makes the automaton many times larger, and slow on lines in other languages.
    pub fn expanded(&self) -> String {
        self.pattern
            .replace("{py}", r"^(?:E\s+)?(?:[A-Za-z_$][\w$]*(?:\.|::|\\|\$))*")
            .replace(r"\b", r"(?-u:\b)")
            .replace(r"\d", "[0-9]")
            .replace(r"\w", "[0-9A-Za-z_]")
            .replace(r"\s", r"[\t ]")
            .replace(r"\S", r"[^\t ]")
    }
}
