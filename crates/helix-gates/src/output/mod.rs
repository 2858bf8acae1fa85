//! Reads counts and failures from the output of the known runners.
//!
//! Must not guess: an output that no runner's form fits gives nothing, and a gate that gets nothing does not pass.

mod go;
mod java;
mod javascript;
mod junit;
mod lines;
mod node;
mod php;
mod python;
mod ruby;
mod rust;

use std::collections::BTreeSet;

use helix_core::evidence::TestCounts;
use helix_core::said::Words;
use helix_language::recorded;
use serde::{Deserialize, Serialize};

use super::test_run::TestRun;
pub(crate) use junit::report_path;
use lines::pairs;

/// Which runner a command starts, as far as that can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Runner {
    /// One that always writes the report, unless it is kept from it.
    Reports,
    /// unittest, which ends with one summary.
    Unittest,
    /// A script, several runners, or one that is asked for no report.
    Other,
}

/// What the output and the report of a run say.
#[derive(Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) run: Option<TestRun>,
    /// Why that is not to be believed.
    pub(crate) doubt: Option<Words>,
}

/// Reads the output of one or several test runners; `None` when no summary of any of them is in it.
fn read(output: &str) -> Option<TestRun> {
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
        java::surefire(&lines),
        node::read(&lines),
        javascript::jest(&lines),
        javascript::vitest(&lines),
        javascript::mocha(&lines),
        ruby::rspec(&lines),
        ruby::minitest(&lines),
        php::phpunit(&lines),
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
        Some(TestRun::of(counts, Vec::new()))
    })
}

/// Counts and failures from a report if there is one, otherwise from the output.
pub(crate) fn counted(runner: Runner, has_ended: bool, output: &str, report: Option<&str>) -> Counted {
    let printed = read(output);
    let report = report.and_then(junit::read);
    let doubt = match (&printed, &report, runner) {
        (Some(printed), None, Runner::Reports) if has_ended && printed.total() > 0 => {
            Some(recorded!("gate-doubt-ended", passed = printed.counts.passed))
        }
        (Some(printed), Some(report), Runner::Reports) if says_better(printed, report) => Some(recorded!(
            "gate-doubt-better",
            passed = printed.counts.passed,
            failed = printed.counts.failed,
            really_passed = report.counts.passed,
            really_failed = report.counts.failed
        )),
        (Some(_), _, Runner::Unittest) => {
            let lines: Vec<&str> = output.lines().collect();
            let runs = python::unittest_runs(&lines);
            (runs > 1).then(|| recorded!("gate-doubt-summaries", runs = runs))
        }
        _ => None,
    };
    let run = match (printed, report) {
        // Names and places as printed are those that the agent knows.
        (Some(printed), Some(report)) if runner == Runner::Reports || printed.counts == report.counts => {
            Some(TestRun { passed: report.passed, ..printed })
        }
        (_, Some(report)) => Some(report),
        (printed, None) => printed,
    };
    Counted { run, doubt }
}

/// Whether an output promises more than the runner's own report holds.
fn says_better(printed: &TestRun, report: &TestRun) -> bool {
    printed.counts.failed < report.counts.failed
        || report.counts.failed == 0 && printed.counts.passed > report.counts.passed
}

#[cfg(test)]
#[path = "output_test.rs"]
mod tests;
