//! `cargo test` and `cargo nextest`.
//!
//! Must not know what the counts are used for.

use std::collections::HashMap;

use super::lines::{below, counted, location, pairs, summed};
use crate::test_run::{FailedTest, TestRun};

pub(super) fn libtest<'a>(lines: &[&'a str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let rest = line.trim_start().strip_prefix("test result: ")?;
        let found = pairs(rest.split_once(". ").map_or(rest, |(_, counts)| counts));
        (found.len() >= 3).then(|| counted(&found, [&["passed"], &["failed"], &["ignored"]]))
    })?;
    let failed = lines.iter().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let sections = sections(lines);
    let plain = |name: &'a str| name.trim().trim_end_matches(" - should panic");
    let failures = failed.map(|name| described(lines, &sections, plain(name))).collect();
    let passed = lines.iter().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
    Some(TestRun { counts, failures, passed: passed.map(str::to_owned).collect() })
}

/// Where the output of each test begins: `---- name stdout ----`.
fn sections<'a>(lines: &[&'a str]) -> HashMap<&'a str, usize> {
    let name = |line: &'a str| line.strip_prefix("---- ")?.strip_suffix(" stdout ----");
    lines.iter().enumerate().rev().filter_map(|(index, line)| Some((name(line)?, index))).collect()
}

fn described(lines: &[&str], sections: &HashMap<&str, usize>, name: &str) -> FailedTest {
    let belongs = |line: &str| !line.starts_with("---- ") && line != "failures:";
    let body = sections.get(name).map(|start| below(lines, *start, belongs)).unwrap_or_default();
    FailedTest::new(name, body.iter().find_map(|line| panic_place(line)), &body)
}

pub(super) fn nextest<'a>(lines: &[&'a str]) -> Option<TestRun> {
    let counts = summed(lines, |line| {
        let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?;
        Some(counted(&pairs(counts), [&["passed"], &["failed", "timed", "exec"], &["skipped"]]))
    })?;
    let sections = sections(lines);
    // `thread 'name' panicked at …`, in front of which nextest indents.
    let panicked = |line: &'a str| {
        let (name, _) = line.trim_start().strip_prefix("thread '")?.split_once('\'')?;
        Some((name, panic_place(line)?))
    };
    let places: HashMap<&str, _> = lines.iter().rev().filter_map(|line| panicked(line)).collect();
    let failure = |line: &&str| {
        let line = line.trim_start();
        let mut words = ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["].iter();
        let (_, name) = words.find_map(|word| line.strip_prefix(word))?.split_once("] ")?;
        // `( 3/12) crate test::name`: the number changes from run to run.
        let name = if name.starts_with('(') { name.split_once(") ").map_or(name, |(_, name)| name) } else { name };
        let test = name.rsplit(' ').next().unwrap_or(name);
        let mut failed = FailedTest { name: name.to_owned(), ..described(lines, &sections, test) };
        if failed.line.is_none() {
            (failed.file, failed.line) = places.get(test).cloned().unzip();
        }
        Some(failed)
    };
    Some(TestRun::of(counts, lines.iter().filter_map(failure).collect()))
}

fn panic_place(line: &str) -> Option<(String, u32)> {
    location(line.split_once("panicked at ")?.1)
}
