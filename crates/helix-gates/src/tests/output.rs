//! What a test run says about itself: counts and failures, read from the output of the known runners.
//!
//! Must not guess: an output that no runner's form fits gives nothing, and a gate that gets nothing does not pass.

use helix_core::evidence::TestCounts;
use serde::{Deserialize, Serialize};

use super::{go, javascript, node, python, rust};

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedTest {
    /// Its name as the runner gives it; the same from run to run.
    pub(crate) name: String,
    /// File it failed in, as printed.
    pub(crate) file: Option<String>,
    /// Line, from 1.
    pub(crate) line: Option<u32>,
    /// What the runner printed about it.
    pub(crate) evidence: String,
}

/// What a run amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestRun {
    pub(crate) counts: TestCounts,
    pub(crate) failures: Vec<FailedTest>,
}

impl TestRun {
    pub(crate) fn total(&self) -> u32 {
        self.counts.passed.saturating_add(self.counts.failed)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.counts.passed = self.counts.passed.saturating_add(other.counts.passed);
        self.counts.failed = self.counts.failed.saturating_add(other.counts.failed);
        self.counts.skipped = self.counts.skipped.saturating_add(other.counts.skipped);
        self.failures.extend(other.failures);
    }
}

/// Reads the output of one or several test runners; `None` when no summary of any of them is in it.
pub(crate) fn read(output: &str) -> Option<TestRun> {
    let text = without_escapes(output);
    let lines: Vec<&str> = text.lines().collect();
    // nextest shows the output of failed libtest binaries, which has summaries of its own.
    let cargo = rust::nextest(&lines).or_else(|| rust::libtest(&lines));
    let known = [
        python::pytest(&lines),
        python::unittest(&lines),
        cargo,
        go::read(&lines),
        node::read(&lines),
        javascript::jest(&lines),
        javascript::vitest(&lines),
        javascript::mocha(&lines),
    ];
    let mut sum: Option<TestRun> = None;
    for run in known.into_iter().flatten() {
        sum.get_or_insert_default().add(run);
    }
    let mut run = sum.or_else(|| plain(&lines))?;
    let mut seen = std::collections::BTreeSet::new();
    run.failures.retain(|failure| seen.insert(failure.name.clone()));
    Some(run)
}

/// `N passed, N failed` in one line, the last such line.
fn plain(lines: &[&str]) -> Option<TestRun> {
    lines.iter().rev().find_map(|line| {
        let pairs = pairs(line);
        let count = |words: [&str; 2]| pairs.iter().find(|(_, word)| words.contains(word)).map(|(count, _)| *count);
        let counts = TestCounts {
            passed: count(["passed", "pass"])?,
            failed: count(["failed", "failures"])?,
            skipped: count(["skipped", "ignored"]).unwrap_or_default(),
        };
        Some(TestRun { counts, failures: Vec::new() })
    })
}

/// Every number that is followed by a word: `3 passed, 1 failed` gives `(3, passed)` and `(1, failed)`.
pub(super) fn pairs(line: &str) -> Vec<(u32, &str)> {
    let tokens: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || ",;|()=".contains(c)).filter(|token| !token.is_empty()).collect();
    tokens.windows(2).filter_map(|pair| Some((pair[0].parse().ok()?, pair[1]))).collect()
}

/// Splits `path:line` or `path:line:column` with anything after it.
pub(super) fn location(text: &str) -> Option<(String, u32)> {
    let text = text.trim().trim_start_matches("file://");
    let mut from = 0;
    while let Some(colon) = text[from..].find(':').map(|index| index + from) {
        let rest = &text[colon + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let file = &text[..colon];
        let named = file.contains('.') && !file.is_empty() && !file.contains(char::is_whitespace);
        if digits > 0 && named && rest[digits..].chars().next().is_none_or(|c| !c.is_alphanumeric()) {
            return Some((file.to_owned(), rest[..digits].parse().ok()?));
        }
        from = colon + 1;
    }
    None
}

impl FailedTest {
    pub(super) fn new(name: impl Into<String>, place: Option<(String, u32)>, evidence: &[&str]) -> Self {
        let (file, line) = place.unzip();
        let evidence = super::super::judgement::bounded(evidence.join("\n").trim_matches('\n'), 2 << 10);
        Self { name: name.into(), file, line, evidence }
    }
}

/// Removes terminal escapes; carriage returns begin a new line.
pub(super) fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    for inner in chars.by_ref() {
                        if ('\u{40}'..='\u{7e}').contains(&inner) {
                            break;
                        }
                    }
                }
                Some(']') => {
                    for inner in chars.by_ref() {
                        if inner == '\u{7}' || inner == '\u{1b}' {
                            break;
                        }
                    }
                }
                Some(_) | None => {}
            },
            '\r' if chars.peek() != Some(&'\n') => out.push('\n'),
            '\r' => {}
            _ => out.push(c),
        }
    }
    out
}
