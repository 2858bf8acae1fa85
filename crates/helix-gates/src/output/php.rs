//! PHPUnit.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::lines::{failures, location, pairs, summed};
use crate::test_run::TestRun;

pub(super) fn phpunit(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| match line.trim().strip_prefix("OK (") {
        Some(rest) => {
            let passed = pairs(rest).into_iter().find(|(_, word)| ["test", "tests"].contains(word))?.0;
            Some(TestCounts { passed, ..TestCounts::default() })
        }
        None if line.trim() == "No tests executed!" => Some(TestCounts::default()),
        None => summary(line.trim()),
    })?;
    // Tests that were skipped or are risky are listed in the same way, and messages stand among them as they are: where something has
    // failed, all that is listed may have.
    let listed: Vec<&str> = lines.iter().copied().filter(|line| counts.failed > 0 && !line.is_empty()).collect();
    let belongs = |line: &str| !["FAILURES!", "ERRORS!", "--"].contains(&line);
    let place = |body: &[&str]| body.iter().find_map(|line| location(line).filter(|(file, _)| file.ends_with(".php")));
    Some(TestRun::of(counts, failures(&listed, title, belongs, place)))
}

/// `Tests: 3, Assertions: 4, Errors: 1, Failures: 1, Skipped: 1.`
fn summary(line: &str) -> Option<TestCounts> {
    let parts: Vec<(&str, u32)> = line
        .trim_end_matches('.')
        .split(", ")
        .filter_map(|part| part.split_once(": "))
        .filter_map(|(word, number)| Some((word, number.parse().ok()?)))
        .collect();
    let sum = |words: &[&str]| {
        parts
            .iter()
            .filter(|(word, _)| words.contains(word))
            .fold(0_u32, |sum, (_, number)| sum.saturating_add(*number))
    };
    let is_summary = matches!(parts[..], [("Tests", _), ("Assertions", _), ..]);
    let (failed, skipped) = (sum(&["Failures", "Errors"]), sum(&["Skipped", "Incomplete"]));
    let passed = sum(&["Tests"]).saturating_sub(failed).saturating_sub(skipped);
    is_summary.then_some(TestCounts { passed, failed, skipped })
}

/// `1) BillTest::testOne`
fn title(line: &str) -> Option<&str> {
    let (number, name) = line.split_once(") ")?;
    (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) && name.contains("::")).then_some(name)
}
