//! pytest and unittest.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::output::{FailedTest, TestRun, location, pairs};

/// The words of pytest's last line. An expected failure counts as skipped: it proves nothing, and marking a failing test so
/// is one way to silence it.
fn pytest_summary(line: &str) -> Option<TestCounts> {
    let line = line.trim().trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) || !time.split(' ').next()?.ends_with('s') {
        return None;
    }
    if counts == "no tests ran" {
        return Some(TestCounts::default());
    }
    let mut sum = TestCounts::default();
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        match word {
            "passed" | "xpassed" => sum.passed = sum.passed.saturating_add(number),
            "failed" | "error" | "errors" => sum.failed = sum.failed.saturating_add(number),
            "skipped" | "xfailed" | "deselected" => sum.skipped = sum.skipped.saturating_add(number),
            "warning" | "warnings" | "rerun" | "subtests passed" => {}
            _ => return None,
        }
    }
    Some(sum)
}

pub(super) fn pytest(lines: &[&str]) -> Option<TestRun> {
    let mut run: Option<TestRun> = None;
    for counts in lines.iter().filter_map(|line| pytest_summary(line)) {
        run.get_or_insert_default().add(TestRun { counts, failures: Vec::new() });
    }
    let mut run = run?;
    for line in lines {
        let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) else { continue };
        let (name, reason) = rest.split_once(" - ").unwrap_or((rest, ""));
        if !name.contains(".py") {
            continue;
        }
        let (file, test) = name.split_once("::").unwrap_or((name, ""));
        let block = pytest_block(lines, &test.replace("::", "."), file);
        let place = block.iter().rev().find_map(|line| {
            let found = location(line)?;
            (found.0 == file || !line.starts_with(char::is_whitespace)).then_some(found)
        });
        let evidence = if block.is_empty() { vec![reason] } else { block };
        run.failures.push(FailedTest::new(name, place.or_else(|| Some((file.to_owned(), 0))), &evidence));
    }
    for failure in &mut run.failures {
        failure.line = failure.line.filter(|line| *line > 0);
    }
    Some(run)
}

/// The lines under `____ test ____`.
fn pytest_block<'a>(lines: &[&'a str], test: &str, file: &str) -> Vec<&'a str> {
    let title = |line: &str| -> Option<String> {
        let inner = line.strip_prefix("__")?.strip_suffix("__")?.trim_matches('_').trim();
        (!inner.is_empty() && inner != "_").then(|| inner.to_owned())
    };
    let wanted = |name: &str| {
        if test.is_empty() { name.ends_with(file) } else { name == test || name.ends_with(&format!(" {test}")) }
    };
    let Some(start) = lines.iter().position(|line| title(line).is_some_and(|name| wanted(&name))) else {
        return Vec::new();
    };
    let body = lines[start + 1..].iter();
    body.take_while(|line| title(line).is_none() && !line.starts_with("====")).copied().collect()
}

pub(super) fn unittest(lines: &[&str]) -> Option<TestRun> {
    let mut run: Option<TestRun> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some((count, "test" | "tests")) = line
            .strip_prefix("Ran ")
            .filter(|rest| rest.contains(" in ") && rest.ends_with('s'))
            .and_then(|rest| pairs(rest).first().copied())
        else {
            continue;
        };
        let Some(verdict) = lines[index + 1..].iter().find(|line| !line.trim().is_empty()) else { continue };
        if !["OK", "FAILED", "NO TESTS RAN"].iter().any(|word| verdict.starts_with(word)) {
            continue;
        }
        let named = |name: &str| -> u32 {
            verdict
                .split(['(', ')', ','])
                .filter_map(|part| part.trim().strip_prefix(name)?.strip_prefix('=')?.parse::<u32>().ok())
                .fold(0, u32::saturating_add)
        };
        let failed = named("failures").saturating_add(named("errors")).saturating_add(named("unexpected successes"));
        let skipped = named("skipped").saturating_add(named("expected failures"));
        let passed = count.saturating_sub(failed).saturating_sub(skipped);
        run.get_or_insert_default()
            .add(TestRun { counts: TestCounts { passed, failed, skipped }, failures: Vec::new() });
    }
    let mut run = run?;
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) else { continue };
        let body: Vec<&str> = lines[index + 1..]
            .iter()
            .take_while(|line| !line.starts_with("=====") && !line.starts_with("Ran "))
            .copied()
            .collect();
        let place = body.iter().rev().find_map(|line| {
            let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
            Some((file.to_owned(), rest.split(',').next()?.trim().parse().ok()?))
        });
        run.failures.push(FailedTest::new(rest.trim(), place, &body));
    }
    Some(run)
}
