//! `node --test`, with its `tap` and `spec` reporters.
//!
//! Must not know what the counts are used for.

use super::lines::{below, counted, location};
use crate::test_run::{FailedTest, TestRun};

pub(super) fn read(lines: &[&str]) -> Option<TestRun> {
    let found = lines.iter().filter_map(|line| {
        let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
        let (word, count) = rest.split_once(' ')?;
        Some((count.parse().ok()?, word))
    });
    let found: Vec<(u32, &str)> = found.collect();
    let names = |words: &[&str]| found.iter().any(|(_, word)| words.contains(word));
    (names(&["tests"]) && names(&["pass"]) && names(&["fail", "cancelled"])).then(|| {
        let mut failures = tap_failures(lines);
        failures.extend(spec_failures(lines));
        TestRun::of(counted(&found, [&["pass"], &["fail", "cancelled"], &["skipped", "todo"]]), failures)
    })
}

/// `not ok` lines with the block of YAML under them; a suite that failed only through its tests is left out.
fn tap_failures(lines: &[&str]) -> Vec<FailedTest> {
    let failure = |(index, line): (usize, &&str)| {
        let (_, name) = line.trim_start().strip_prefix("not ok ")?.split_once(" - ")?;
        // Another result at this depth ends it, too: not every producer writes a block.
        let indent = |line: &str| line.len() - line.trim_start().len();
        let result = |line: &str| ["ok ", "not ok "].iter().any(|word| line.trim_start().starts_with(word));
        let belongs = |inner: &str| inner.trim() != "..." && !(result(inner) && indent(inner) <= indent(line));
        let body = below(lines, index, belongs);
        let todo = name.ends_with("# TODO") || name.contains(" # TODO ");
        if todo || body.iter().any(|line| line.trim() == "failureType: 'subtestsFailed'") {
            return None;
        }
        let place =
            body.iter().find_map(|line| location(line.trim().strip_prefix("location:")?.trim().trim_matches('\'')));
        Some(FailedTest::new(name, place, &body))
    };
    lines.iter().enumerate().filter_map(failure).collect()
}

/// The section after `failing tests:`.
fn spec_failures(lines: &[&str]) -> Vec<FailedTest> {
    let Some(start) = lines.iter().position(|line| line.trim() == "✖ failing tests:") else { return Vec::new() };
    let lines = &lines[start + 1..];
    let failure = |(index, line): (usize, &&str)| {
        let name = line.strip_prefix("✖ ")?;
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let body = below(lines, index, |line| !line.starts_with("test at "));
        let above = index.checked_sub(1).and_then(|above| lines[above].strip_prefix("test at "));
        Some(FailedTest::new(name, above.and_then(location), &body))
    };
    lines.iter().enumerate().filter_map(failure).collect()
}
