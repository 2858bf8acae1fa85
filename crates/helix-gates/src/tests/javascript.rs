//! jest, vitest and mocha.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::output::{FailedTest, TestRun, location, pairs};

fn add(counts: &mut TestCounts, found: &[(u32, &str)]) {
    for (count, word) in found {
        match *word {
            "passed" => counts.passed = counts.passed.saturating_add(*count),
            "failed" => counts.failed = counts.failed.saturating_add(*count),
            "skipped" | "todo" | "pending" => counts.skipped = counts.skipped.saturating_add(*count),
            _ => {}
        }
    }
}

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
    let mut run: Option<TestRun> = None;
    for line in lines {
        let Some(rest) = line.strip_prefix("Tests:").filter(|rest| rest.trim_end().ends_with(" total")) else {
            continue;
        };
        let mut counts = TestCounts::default();
        add(&mut counts, &pairs(rest));
        run.get_or_insert_default().add(TestRun { counts, failures: Vec::new() });
    }
    let mut run = run?;
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("  ● ") else { continue };
        let body: Vec<&str> = lines[index + 1..]
            .iter()
            .take_while(|line| !line.starts_with("  ● ") && (line.is_empty() || line.starts_with("  ")))
            .copied()
            .collect();
        run.failures.push(FailedTest::new(name.trim(), trace_place(&body), &body));
    }
    Some(run)
}

pub(super) fn vitest(lines: &[&str]) -> Option<TestRun> {
    let mut run: Option<TestRun> = None;
    for line in lines {
        let trimmed = line.trim();
        if trimmed.starts_with("No test files found") {
            run.get_or_insert_default();
        }
        let Some(rest) = trimmed.strip_prefix("Tests  ").filter(|rest| rest.ends_with(')')) else { continue };
        let mut counts = TestCounts::default();
        add(&mut counts, &pairs(rest));
        run.get_or_insert_default().add(TestRun { counts, failures: Vec::new() });
    }
    let mut run = run?;
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = line.trim_start().strip_prefix("FAIL  ") else { continue };
        let body: Vec<&str> = lines[index + 1..]
            .iter()
            .take_while(|line| !line.contains("⎯⎯⎯⎯") && !line.trim_start().starts_with("FAIL "))
            .copied()
            .collect();
        run.failures.push(FailedTest::new(name.trim(), trace_place(&body), &body));
    }
    Some(run)
}

pub(super) fn mocha(lines: &[&str]) -> Option<TestRun> {
    let mut counts = TestCounts::default();
    let (mut passing, mut failing) = (false, None);
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else { continue };
        let found = pairs(rest);
        let Some((count, word)) = found.first() else { continue };
        let alone = rest.split_whitespace().count() == 2;
        match *word {
            "passing" if rest.ends_with(')') => {
                passing = true;
                counts.passed = counts.passed.saturating_add(*count);
            }
            "failing" if alone => {
                failing = Some(index);
                counts.failed = counts.failed.saturating_add(*count);
            }
            "pending" if alone => counts.skipped = counts.skipped.saturating_add(*count),
            _ => {}
        }
    }
    if !passing {
        return None;
    }
    let mut failures = Vec::new();
    let lines = failing.map_or(&[][..], |start| &lines[start + 1..]);
    let numbered = |line: &str| -> bool {
        line.strip_prefix("  ")
            .and_then(|rest| rest.split_once(") "))
            .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| numbered(line)) {
        let body: Vec<&str> = lines[index + 1..].iter().take_while(|line| !numbered(line)).copied().collect();
        let mut name = line.split_once(") ").map(|(_, name)| name.to_owned()).unwrap_or_default();
        for part in body.iter().take_while(|line| !line.trim().is_empty()) {
            name.push(' ');
            name.push_str(part.trim());
        }
        failures.push(FailedTest::new(name.trim_end_matches(':'), trace_place(&body), &body));
    }
    Some(TestRun { counts, failures })
}
