//! jest, vitest and mocha.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::lines::{Words, below, counted, failures, location, pairs, summed};
use crate::test_run::{FailedTest, TestRun};

const WORDS: Words<'_> = [&["passed"], &["failed"], &["skipped", "todo", "pending"]];

/// A place in a stack trace: `at name (file:line:column)` or `❯ file:line:column`.
fn trace_place(body: &[&str]) -> Option<(String, u32)> {
    body.iter().find_map(|line| {
        let line = line.trim();
        let rest = line.strip_prefix("at ").or_else(|| line.strip_prefix("❯ "))?;
        let inner = rest.rsplit_once('(').map_or(rest, |(_, inner)| inner.trim_end_matches(')'));
        let inner = inner.rsplit(' ').next().unwrap_or(inner);
        location(inner).filter(|(file, _)| !file.contains("node_modules") && !file.starts_with("node:"))
    })
}

pub(super) fn jest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let rest = line.strip_prefix("Tests:").filter(|rest| rest.trim_end().ends_with(" total"))?;
        Some(counted(&pairs(rest), WORDS))
    })?;
    let belongs = |line: &str| !line.starts_with("  ● ") && (line.is_empty() || line.starts_with("  "));
    Some(TestRun::of(counts, failures(lines, |line| line.strip_prefix("  ● "), belongs, trace_place)))
}

pub(super) fn vitest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let line = line.trim();
        if line.starts_with("No test files found") {
            return Some(TestCounts::default());
        }
        let rest = line.strip_prefix("Tests  ").filter(|rest| rest.ends_with(')'))?;
        Some(counted(&pairs(rest), WORDS))
    })?;
    let belongs = |line: &str| !line.contains("⎯⎯⎯⎯") && !line.trim_start().starts_with("FAIL ");
    let title = |line| str::trim_start(line).strip_prefix("FAIL  ");
    Some(TestRun::of(counts, failures(lines, title, belongs, trace_place)))
}

pub(super) fn mocha(lines: &[&str]) -> Option<TestRun> {
    let found = lines.iter().enumerate().filter_map(|(index, line)| {
        let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        let (count, word) = *pairs(rest).first()?;
        let fits = match word {
            "passing" => rest.ends_with(')'),
            "failing" | "pending" => rest.split_whitespace().count() == 2,
            _ => false,
        };
        fits.then_some((index, (count, word)))
    });
    let (places, found): (Vec<usize>, Vec<(u32, &str)>) = found.unzip();
    if !found.iter().any(|(_, word)| *word == "passing") {
        return None;
    }
    let failing = found.iter().rposition(|(_, word)| *word == "failing");
    let lines = failing.map_or(&[][..], |at| &lines[places[at] + 1..]);
    let numbered = |line: &str| -> bool {
        line.strip_prefix("  ")
            .and_then(|rest| rest.split_once(") "))
            .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    let failure = |(index, line): (usize, &&str)| {
        let body = below(lines, index, |line| !numbered(line));
        let mut name = line.split_once(") ").map(|(_, name)| name.to_owned()).unwrap_or_default();
        for part in body.iter().take_while(|line| !line.trim().is_empty()) {
            name.push(' ');
            name.push_str(part.trim());
        }
        FailedTest::new(name.trim_end_matches(':'), trace_place(&body), &body)
    };
    let failures = lines.iter().enumerate().filter(|(_, line)| numbered(line)).map(failure).collect();
    Some(TestRun::of(counted(&found, [&["passing"], &["failing"], &["pending"]]), failures))
}
