//! Reads counts and failures from the output of the known runners.
//!
//! Must not guess: an output that no runner's form fits gives nothing, and a gate that gets nothing does not pass.

use std::collections::BTreeSet;

use helix_core::evidence::TestCounts;

use super::lines::pairs;
use super::{go, javascript, node, python, rust};
use crate::test_run::TestRun;

/// Reads the output of one or several test runners; `None` when no summary of any of them is in it.
pub(crate) fn read(output: &str) -> Option<TestRun> {
    // A carriage return begins a line anew.
    let text = anstream::adapter::strip_str(output).to_string().replace("\r\n", "\n").replace('\r', "\n");
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
    let sum = known.into_iter().flatten().reduce(|mut sum, run| {
        sum.counts = sum.counts + run.counts;
        sum.failures.extend(run.failures);
        sum.passed.extend(run.passed);
        sum
    });
    let mut run = sum.or_else(|| plain(&lines))?;
    // Where by the runner's own count none failed, what looks like a failure was printed by the program.
    if run.counts.failed == 0 {
        run.failures.clear();
    }
    let mut seen = BTreeSet::new();
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
        Some(TestRun { counts, failures: Vec::new(), ..TestRun::default() })
    })
}

#[cfg(test)]
#[path = "output_test.rs"]
mod tests;
