//! RSpec, and minitest and test-unit, which print alike.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::lines::{below, counted, location, pairs, summed};
use crate::test_run::{FailedTest, TestRun};

pub(super) fn rspec(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let [all, failed, skipped] = sums(line, [&["example", "examples"], &["failure", "failures"], &["pending"]])?;
        // Of a file that cannot be loaded, no example runs.
        let errors = if line.contains("outside of examples") { of(line, &["error", "errors"]) } else { None };
        let failed = failed?;
        let skipped = skipped.unwrap_or_default();
        let passed = all?.saturating_sub(failed).saturating_sub(skipped);
        Some(TestCounts { passed, failed: failed.saturating_add(errors.unwrap_or_default()), skipped })
    })?;
    // Pending examples are listed in the same way, before. What a test prints may look like a list: it can only add to it.
    let mut is_listed = false;
    let mut listed = Vec::new();
    for line in lines {
        is_listed = line.trim() == "Failures:" || is_listed && !line.starts_with("Finished in ");
        listed.extend(is_listed.then_some(*line));
    }
    let failure = |(index, line): (usize, &&str)| {
        let name = numbered(line)?;
        let body = below(&listed, index, |line| numbered(line).is_none());
        let place = body.iter().find_map(|line| location(line.trim().strip_prefix("# ./")?));
        Some(FailedTest::new(name, place, &body))
    };
    Some(TestRun::of(counts, listed.iter().enumerate().filter_map(failure).collect()))
}

pub(super) fn minitest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let [all, failed, errors] = sums(line, [&["runs", "tests"], &["failures"], &["errors"]])?;
        of(line, &["assertions"])?;
        let failed = failed?.saturating_add(errors?);
        let skipped = counted(&pairs(line), [&[], &[], &["skips", "pendings", "omissions"]]).skipped;
        Some(TestCounts { passed: all?.saturating_sub(failed).saturating_sub(skipped), failed, skipped })
    })?;
    let failure = |(index, line): (usize, &&str)| {
        matches!(numbered(line)?, "Failure:" | "Error:").then_some(())?;
        let body = below(lines, index, |line| numbered(line).is_none() && !line.contains(" assertions, "));
        let name = body.first()?.trim().trim_end_matches(':').split(" [").next()?;
        let place = body.iter().find_map(|line| location(line.split_once('[').map_or(*line, |(_, place)| place)));
        Some(FailedTest::new(name, place, &body[1..]))
    };
    Some(TestRun::of(counts, lines.iter().enumerate().filter_map(failure).collect()))
}

/// What stands after `  1) `.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.trim_start().split_once(") ")?;
    (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then(|| rest.trim())
}

/// The numbers before words of a line that begins with the first of them.
fn sums(line: &str, words: [&[&str]; 3]) -> Option<[Option<u32>; 3]> {
    line.trim_start().starts_with(|first: char| first.is_ascii_digit()).then(|| words.map(|words| of(line, words)))
}

fn of(line: &str, words: &[&str]) -> Option<u32> {
    pairs(line).into_iter().find(|(_, word)| words.contains(word)).map(|(number, _)| number)
}
