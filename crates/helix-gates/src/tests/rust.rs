//! `cargo test` and `cargo nextest`.
//!
//! Must not know what the counts are used for.

use super::run::{FailedTest, TestRun, below, counted, location, pairs, summed};

pub(super) fn libtest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let rest = line.trim_start().strip_prefix("test result: ")?;
        let found = pairs(rest.split_once(". ").map_or(rest, |(_, counts)| counts));
        (found.len() >= 3).then(|| counted(&found, [&["passed"], &["failed"], &["ignored"]]))
    })?;
    let failed = lines.iter().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let failures = failed.map(|name| described(lines, name.trim().trim_end_matches(" - should panic"))).collect();
    Some(TestRun { counts, failures })
}

fn described(lines: &[&str], name: &str) -> FailedTest {
    let title = format!("---- {name} stdout ----");
    let start = lines.iter().position(|line| **line == title);
    let belongs = |line: &str| !line.starts_with("---- ") && line != "failures:";
    let body = start.map(|start| below(lines, start, belongs)).unwrap_or_default();
    FailedTest::new(name, body.iter().find_map(|line| panic_place(line)), &body)
}

pub(super) fn nextest(lines: &[&str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?;
        Some(counted(&pairs(counts), [&["passed"], &["failed", "timed", "exec"], &["skipped"]]))
    })?;
    let failure = |line: &&str| {
        let line = line.trim_start();
        let mut words = ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["].iter();
        let (_, name) = words.find_map(|word| line.strip_prefix(word))?.split_once("] ")?;
        // `( 3/12) crate test::name`: the number changes from run to run.
        let name = if name.starts_with('(') { name.split_once(") ").map_or(name, |(_, name)| name) } else { name };
        let test = name.rsplit(' ').next().unwrap_or(name);
        let mut failed = FailedTest { name: name.to_owned(), ..described(lines, test) };
        if failed.line.is_none() {
            let thread = format!("thread '{test}'");
            let place =
                lines.iter().filter(|line| line.trim_start().starts_with(&thread)).find_map(|line| panic_place(line));
            (failed.file, failed.line) = place.unzip();
        }
        Some(failed)
    };
    Some(TestRun { counts, failures: lines.iter().filter_map(failure).collect() })
}

fn panic_place(line: &str) -> Option<(String, u32)> {
    location(line.split_once("panicked at ")?.1)
}
