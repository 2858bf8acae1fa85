//! `node --test`, with its `tap` and `spec` reporters.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::output::{FailedTest, TestRun, location};

pub(super) fn read(lines: &[&str]) -> Option<TestRun> {
    let mut counts = TestCounts::default();
    let (mut tests, mut pass, mut fail) = (false, false, false);
    for line in lines {
        let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) else { continue };
        let Some((word, Ok(count))) = rest.split_once(' ').map(|(word, count)| (word, count.parse::<u32>())) else {
            continue;
        };
        match word {
            "tests" => tests = true,
            "pass" => {
                pass = true;
                counts.passed = counts.passed.saturating_add(count);
            }
            "fail" | "cancelled" => {
                fail = true;
                counts.failed = counts.failed.saturating_add(count);
            }
            "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(count),
            _ => {}
        }
    }
    (tests && pass && fail).then(|| {
        let mut failures = tap_failures(lines);
        failures.extend(spec_failures(lines));
        TestRun { counts, failures }
    })
}

/// `not ok` lines with the block of YAML under them; a suite that failed only through its tests is left out.
fn tap_failures(lines: &[&str]) -> Vec<FailedTest> {
    let mut failures = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("not ok ") else { continue };
        let Some((_, name)) = rest.split_once(" - ") else { continue };
        if name.ends_with("# TODO") || name.contains(" # TODO ") {
            continue;
        }
        let body: Vec<&str> = lines[index + 1..].iter().take_while(|line| line.trim() != "...").copied().collect();
        if body.iter().any(|line| line.trim() == "failureType: 'subtestsFailed'") {
            continue;
        }
        let place =
            body.iter().find_map(|line| location(line.trim().strip_prefix("location:")?.trim().trim_matches('\'')));
        failures.push(FailedTest::new(name, place, &body));
    }
    failures
}

/// The section after `failing tests:`.
fn spec_failures(lines: &[&str]) -> Vec<FailedTest> {
    let Some(start) = lines.iter().position(|line| line.trim() == "✖ failing tests:") else { return Vec::new() };
    let lines = &lines[start + 1..];
    let mut failures = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("✖ ") else { continue };
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let body: Vec<&str> =
            lines[index + 1..].iter().take_while(|line| !line.starts_with("test at ")).copied().collect();
        let above = index.checked_sub(1).and_then(|above| lines[above].strip_prefix("test at "));
        failures.push(FailedTest::new(name, above.and_then(location), &body));
    }
    failures
}
