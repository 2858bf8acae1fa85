//! `go test`, plain, with `-v`, and with `-json`. Plain output names no passing test, so there a package that passed counts as one.
//!
//! Must not know what the counts are used for.

use std::collections::HashMap;

use helix_core::evidence::TestCounts;

use super::lines::{below, location};
use crate::test_run::{FailedTest, TestRun};

pub(super) fn read(lines: &[&str]) -> Option<TestRun> {
    json(lines).or_else(|| plain(lines))
}

fn plain(lines: &[&str]) -> Option<TestRun> {
    let number =
        |of: &dyn Fn(&str) -> bool| u32::try_from(lines.iter().filter(|line| of(line)).count()).unwrap_or(u32::MAX);
    let empty = |line: &str| line.contains("[no tests to run]") || line.contains("[no test files]");
    let passed = number(&|line| line.starts_with("ok  \t") && !empty(line));
    let failed = number(&|line| line.starts_with("FAIL\t"));
    if passed + failed + number(&|line| (line.starts_with("ok  \t") || line.starts_with("?   \t")) && empty(line)) == 0
    {
        return None;
    }
    let tests = |word: &str| number(&|line| line.trim_start().starts_with(word));
    let (verbose, broken) = (tests("--- PASS: "), tests("--- FAIL: "));
    let counts = TestCounts {
        passed: if verbose > 0 { verbose } else { passed },
        failed: if broken > 0 { broken } else { failed },
        skipped: tests("--- SKIP: "),
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let failure = |(index, line): (usize, &&str)| {
        let rest = line.trim_start().strip_prefix("--- FAIL: ")?;
        let body = below(lines, index, |inner| indent(inner) > indent(line));
        let place = body.iter().find_map(|line| location(line));
        Some(FailedTest::new(rest.split(' ').next().unwrap_or(rest), place, &body))
    };
    Some(TestRun::of(counts, lines.iter().enumerate().filter_map(failure).collect()))
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    #[serde(default)]
    output: String,
}

fn json(lines: &[&str]) -> Option<TestRun> {
    let events: Vec<Event> =
        lines.iter().filter(|line| line.starts_with('{')).filter_map(|line| serde_json::from_str(line).ok()).collect();
    let package_ended = events.iter().any(|event| {
        event.test.is_none() && !event.package.is_empty() && matches!(event.action.as_str(), "pass" | "fail" | "skip")
    });
    if !package_ended {
        return None;
    }
    let mut outputs: HashMap<(&String, &String), Vec<&str>> = HashMap::new();
    for event in &events {
        if let Some(test) = &event.test {
            outputs.entry((&event.package, test)).or_default().push(event.output.trim_end());
        }
    }
    let mut run = TestRun::default();
    for event in &events {
        let Some(test) = &event.test else { continue };
        match event.action.as_str() {
            "pass" => run.counts.passed += 1,
            "skip" => run.counts.skipped += 1,
            "fail" => {
                run.counts.failed += 1;
                let body = outputs.get(&(&event.package, test)).map_or(&[][..], Vec::as_slice);
                let place = body.iter().find_map(|line| location(line));
                run.failures.push(FailedTest::new(format!("{}.{test}", event.package), place, body));
            }
            _ => {}
        }
    }
    Some(run)
}
