//! `cargo test` and `cargo nextest`.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::output::{FailedTest, TestRun, location, pairs};

pub(super) fn libtest(lines: &[&str]) -> Option<TestRun> {
    let mut run: Option<TestRun> = None;
    for line in lines {
        let Some(rest) = line.trim_start().strip_prefix("test result: ") else { continue };
        let mut counts = TestCounts::default();
        let found = pairs(rest.split_once(". ").map_or(rest, |(_, counts)| counts));
        if found.len() < 3 {
            continue;
        }
        for (count, word) in found {
            match word {
                "passed" => counts.passed = count,
                "failed" => counts.failed = count,
                "ignored" => counts.skipped = count,
                _ => {}
            }
        }
        run.get_or_insert_default().add(TestRun { counts, failures: Vec::new() });
    }
    let mut run = run?;
    for line in lines {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            let name = name.trim().trim_end_matches(" - should panic");
            run.failures.push(described(lines, name));
        }
    }
    Some(run)
}

fn described(lines: &[&str], name: &str) -> FailedTest {
    let title = format!("---- {name} stdout ----");
    let body: Vec<&str> = match lines.iter().position(|line| **line == title) {
        Some(start) => lines[start + 1..]
            .iter()
            .take_while(|line| !line.starts_with("---- ") && **line != "failures:")
            .copied()
            .collect(),
        None => Vec::new(),
    };
    let place = body.iter().find_map(|line| location(line.split_once("panicked at ")?.1));
    FailedTest::new(name, place, &body)
}

pub(super) fn nextest(lines: &[&str]) -> Option<TestRun> {
    let mut run: Option<TestRun> = None;
    for line in lines {
        let Some(rest) = line.trim_start().strip_prefix("Summary [") else { continue };
        let Some((_, counts_text)) = rest.split_once(" run: ") else { continue };
        let mut counts = TestCounts::default();
        for (count, word) in pairs(counts_text) {
            match word {
                "passed" => counts.passed = counts.passed.saturating_add(count),
                "failed" | "timed" | "exec" => counts.failed = counts.failed.saturating_add(count),
                "skipped" => counts.skipped = counts.skipped.saturating_add(count),
                _ => {}
            }
        }
        run.get_or_insert_default().add(TestRun { counts, failures: Vec::new() });
    }
    let mut run = run?;
    for line in lines {
        let trimmed = line.trim_start();
        let Some(rest) =
            ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["].iter().find_map(|word| trimmed.strip_prefix(word))
        else {
            continue;
        };
        let Some((_, name)) = rest.split_once("] ") else { continue };
        // `( 3/12) crate test::name`: the number changes from run to run.
        let name = if name.starts_with('(') { name.split_once(") ").map_or(name, |(_, name)| name) } else { name };
        let test = name.rsplit(' ').next().unwrap_or(name);
        let found = described(lines, test);
        let place = found.file.clone().zip(found.line).or_else(|| panic_place(lines, test));
        let (file, line) = place.unzip();
        run.failures.push(FailedTest { name: name.to_owned(), file, line, ..found });
    }
    Some(run)
}

fn panic_place(lines: &[&str], test: &str) -> Option<(String, u32)> {
    let start = format!("thread '{test}'");
    lines
        .iter()
        .filter(|line| line.trim_start().starts_with(&start))
        .find_map(|line| location(line.split_once("panicked at ")?.1))
}
