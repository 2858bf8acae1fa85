//! `go test`, plain, with `-v`, and with `-json`. Plain output names no passing test, so there a package that passed counts as one.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::output::{FailedTest, TestRun, location};

pub(super) fn read(lines: &[&str]) -> Option<TestRun> {
    if let Some(run) = json(lines) {
        return Some(run);
    }
    let mut tests = TestCounts::default();
    let mut packages = TestCounts::default();
    let (mut verbose, mut seen) = (false, false);
    let mut failures = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        if let Some(package) = line.strip_prefix("ok  \t") {
            seen = true;
            if !package.contains("[no tests to run]") && !package.contains("[no test files]") {
                packages.passed += 1;
            }
        } else if line.starts_with("FAIL\t") {
            seen = true;
            packages.failed += 1;
        } else if line.starts_with("?   \t") && line.ends_with("[no test files]") {
            seen = true;
        } else if trimmed.starts_with("--- PASS: ") {
            verbose = true;
            tests.passed += 1;
        } else if trimmed.starts_with("--- SKIP: ") {
            tests.skipped += 1;
        } else if let Some(rest) = trimmed.strip_prefix("--- FAIL: ") {
            tests.failed += 1;
            let indent = line.len() - trimmed.len();
            let deeper = |line: &&&str| line.len() - line.trim_start().len() > indent;
            let body: Vec<&str> = lines[index + 1..].iter().take_while(deeper).copied().collect();
            let place = body.iter().find_map(|line| location(line));
            failures.push(FailedTest::new(rest.split(' ').next().unwrap_or(rest), place, &body));
        }
    }
    if !seen {
        return None;
    }
    let failed = if tests.failed > 0 { tests.failed } else { packages.failed };
    let passed = if verbose { tests.passed } else { packages.passed };
    Some(TestRun { counts: TestCounts { passed, failed, skipped: tests.skipped }, failures })
}

#[derive(serde::Deserialize)]
struct Event {
    #[serde(rename = "Action")]
    action: String,
    #[serde(rename = "Package", default)]
    package: String,
    #[serde(rename = "Test")]
    test: Option<String>,
    #[serde(rename = "Output", default)]
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
    let mut run = TestRun::default();
    for event in &events {
        let Some(test) = &event.test else { continue };
        match event.action.as_str() {
            "pass" => run.counts.passed += 1,
            "skip" => run.counts.skipped += 1,
            "fail" => {
                run.counts.failed += 1;
                let same = |other: &&Event| other.test.as_ref() == Some(test) && other.package == event.package;
                let body: Vec<&str> = events.iter().filter(same).map(|event| event.output.trim_end()).collect();
                let place = body.iter().find_map(|line| location(line));
                run.failures.push(FailedTest::new(format!("{}.{test}", event.package), place, &body));
            }
            _ => {}
        }
    }
    Some(run)
}
