//! pytest and unittest.
//!
//! Must not know what the counts are used for.

use std::collections::BTreeSet;

use helix_core::evidence::TestCounts;

use super::lines::{Words, below, counted, location, pairs, summed};
use crate::test_run::{FailedTest, TestRun};

/// An expected failure counts as skipped: it proves nothing, and marking a failing test so is one way to silence it.
const PYTEST_WORDS: Words<'_> =
    [&["passed", "xpassed"], &["failed", "error", "errors"], &["skipped", "xfailed", "deselected"]];
/// Words that count something else than tests.
const OTHER_WORDS: &[&str] = &["warning", "warnings", "rerun", "subtests passed"];

/// The words of pytest's last line.
fn pytest_summary(line: &str) -> Option<TestCounts> {
    let line = line.trim().trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) || !time.split(' ').next()?.ends_with('s') {
        return None;
    }
    if counts == "no tests ran" {
        return Some(TestCounts::default());
    }
    let part = |part| str::split_once(part, ' ').and_then(|(number, word)| Some((number.parse().ok()?, word)));
    let found: Vec<(u32, &str)> = counts.split(", ").map(part).collect::<Option<_>>()?;
    let known = |word: &str| PYTEST_WORDS.iter().chain([&OTHER_WORDS]).any(|words| words.contains(&word));
    found.iter().all(|(_, word)| known(word)).then(|| counted(&found, PYTEST_WORDS))
}

pub(super) fn pytest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, pytest_summary)?;
    let titles: Vec<(usize, &str)> =
        lines.iter().enumerate().filter_map(|(index, line)| Some((index, pytest_title(line)?))).collect();
    let failure = |line: &&str| {
        let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
        let (name, reason) = rest.split_once(" - ").unwrap_or((rest, ""));
        if !name.contains(".py") {
            return None;
        }
        let (file, test) = name.split_once("::").unwrap_or((name, ""));
        let block = pytest_block(lines, &titles, &test.replace("::", "."), file);
        let place = block.iter().rev().find_map(|line| {
            let found = location(line)?;
            (found.0 == file || !line.starts_with(char::is_whitespace)).then_some(found)
        });
        let evidence = if block.is_empty() { vec![reason] } else { block };
        let mut failed = FailedTest::new(name, place, &evidence);
        failed.file.get_or_insert_with(|| file.to_owned());
        Some(failed)
    };
    Some(TestRun::of(counts, lines.iter().filter_map(failure).collect()))
}

/// What stands in `____ test ____`.
fn pytest_title(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("__")?.strip_suffix("__")?.trim_matches('_').trim();
    (!inner.is_empty() && inner != "_").then_some(inner)
}

/// The lines under the title of a test.
fn pytest_block<'a>(lines: &[&'a str], titles: &[(usize, &str)], test: &str, file: &str) -> Vec<&'a str> {
    let after_a_word = |name: &str| name.strip_suffix(test).is_some_and(|rest| rest.ends_with(' '));
    let wanted = |name: &str| if test.is_empty() { name.ends_with(file) } else { name == test || after_a_word(name) };
    let Some((start, _)) = titles.iter().find(|(_, name)| wanted(name)) else { return Vec::new() };
    below(lines, *start, |line| pytest_title(line).is_none() && !line.starts_with("===="))
}

/// How many runs of unittest ended in these lines.
pub(super) fn unittest_runs(lines: &[&str]) -> usize {
    lines.iter().enumerate().filter_map(|(index, line)| unittest_summary(lines, index, line)).count()
}

fn unittest_summary(lines: &[&str], index: usize, line: &str) -> Option<TestCounts> {
    let rest = line.strip_prefix("Ran ").filter(|rest| rest.contains(" in ") && rest.ends_with('s'))?;
    let (count, "test" | "tests") = pairs(rest).first().copied()? else { return None };
    let verdict = lines[index + 1..].iter().find(|line| !line.trim().is_empty())?;
    if !["OK", "FAILED", "NO TESTS RAN"].iter().any(|word| verdict.starts_with(word)) {
        return None;
    }
    // `FAILED (failures=1, unexpected successes=1)`.
    let parts = verdict.split(['(', ')', ',']).filter_map(|part| part.trim().split_once('='));
    let parts: Vec<(u32, &str)> = parts.filter_map(|(word, number)| Some((number.parse().ok()?, word))).collect();
    let failed: &[&str] = &["failures", "errors", "unexpected successes"];
    let counts = counted(&parts, [&[], failed, &["skipped", "expected failures"]]);
    let passed = count.saturating_sub(counts.failed).saturating_sub(counts.skipped);
    Some(TestCounts { passed, ..counts })
}

pub(super) fn unittest(lines: &[&str]) -> Option<TestRun> {
    let found = lines.iter().enumerate().filter_map(|(index, line)| unittest_summary(lines, index, line));
    let counts = found.reduce(|sum, counts| sum + counts)?;
    let place = |body: &[&str]| {
        body.iter().rev().find_map(|line| {
            let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
            Some((file.to_owned(), rest.split(',').next()?.trim().parse().ok()?))
        })
    };
    // A program may print such words by itself; only those under a rule begin what unittest says of a failure.
    let failure = |(index, line): (usize, &&str)| {
        let name = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
        let above = lines.get(index.checked_sub(1)?)?;
        let body = below(lines, index, |line| !line.starts_with("=====") && !line.starts_with("Ran "));
        // A file of tests that cannot be loaded is no test: one that is not there yet fails otherwise than one that is broken.
        let last = || body.iter().rev().find(|line| line.contains(|c| c != '-')).map_or("", |line| line.trim());
        let name = match name.split_once(" (unittest.loader._FailedTest") {
            Some((file, _)) => format!("{file}: {}", last()),
            None => name.trim().to_owned(),
        };
        above.starts_with("=====").then(|| FailedTest::new(name, place(&body), &body))
    };
    let passed: BTreeSet<String> = (lines.iter().enumerate())
        .filter_map(|(index, line)| {
            let said = line.strip_suffix(" ... ok")?;
            // What a test says of itself stands below its name.
            let above = index.checked_sub(1).map(|above| lines[above].trim());
            Some(above.filter(|above| !is_unittest_name(said) && is_unittest_name(above)).unwrap_or(said).to_owned())
        })
        .collect();
    // What tests print may stand between a name and its result: then nobody knows all names.
    let passed = if passed.len() == counts.passed as usize { passed } else { BTreeSet::new() };
    Some(TestRun { counts, failures: lines.iter().enumerate().filter_map(failure).collect(), passed })
}

/// `test_sum (tests.test_prices.Prices.test_sum)`.
fn is_unittest_name(line: &str) -> bool {
    line.split_once(" (").is_some_and(|(name, rest)| !name.contains(' ') && rest.ends_with(')') && !rest.contains(' '))
}
