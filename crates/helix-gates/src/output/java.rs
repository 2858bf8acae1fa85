//! Maven's Surefire and Failsafe, with the level of each line in front of it or without.
//!
//! Must not know what the counts are used for.

use helix_core::evidence::TestCounts;

use super::lines::{below, summed};
use crate::test_run::{FailedTest, TestRun};

pub(super) fn surefire(lines: &[&str]) -> Option<TestRun> {
    let lines: Vec<&str> = lines.iter().map(|line| without_level(line)).collect();
    // Each module ends with its sum; the line of each class has a time.
    let counts = summed(&lines, |line| counts(line).filter(|_| !line.contains("Time elapsed")))
        .or_else(|| lines.contains(&"No tests to run.").then(TestCounts::default))?;
    Some(TestRun::of(counts, failed(&lines)))
}

fn without_level(line: &str) -> &str {
    let levels = ["[INFO]", "[ERROR]", "[WARNING]"];
    levels.iter().find_map(|level| line.strip_prefix(level)).map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `Tests run: 3, Failures: 1, Errors: 0, Skipped: 1`.
fn counts(line: &str) -> Option<TestCounts> {
    let mut numbers =
        ["Tests run: ", "Failures: ", "Errors: ", "Skipped: "].into_iter().zip(line.split(", ")).map(|(word, part)| {
            let rest = part.strip_prefix(word)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        });
    let mut next = || numbers.next().flatten();
    let (run, failed, errors, skipped) = (next()?, next()?, next()?, next()?);
    let failed = failed.saturating_add(errors);
    Some(TestCounts { passed: run.saturating_sub(failed).saturating_sub(skipped), failed, skipped })
}

/// `com.example.TotalTest.total -- Time elapsed: 0.01 s <<< FAILURE!`, in older versions `total(com.example.TotalTest)  Time elapsed: …`.
fn failed(lines: &[&str]) -> Vec<FailedTest> {
    let title = |line: &'_ str| -> Option<String> {
        let (name, rest) = line.split_once("Time elapsed: ")?;
        let is_failed = rest.contains("<<< FAILURE!") || rest.contains("<<< ERROR!");
        let name = name.trim_end_matches([' ', '-']);
        if !is_failed || name.is_empty() || name.starts_with("Tests run:") {
            return None;
        }
        Some(match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
            Some((test, class)) if class.contains('.') => format!("{class}.{test}"),
            _ => name.to_owned(),
        })
    };
    let found = lines.iter().enumerate().filter_map(|(index, line)| Some((index, title(line)?)));
    let failure = |(index, name): (usize, String)| {
        let body =
            below(lines, index, |line| !line.trim().is_empty() && title(line).is_none() && counts(line).is_none());
        // `at com.example.TotalTest.total(TotalTest.java:6)`, of the test's own class: that is the name itself where all of the class failed.
        let place = body.iter().find_map(|line| {
            let (at, file) = line.trim().strip_prefix("at ")?.strip_suffix(')')?.split_once('(')?;
            let (file, number) = file.split_once(':')?;
            let (class, _) = at.rsplit('/').next()?.rsplit_once('.')?;
            let outer = class.split('$').next().unwrap_or(class);
            let is_own = name.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '$']));
            is_own.then_some((path_of(class, file), number.parse().ok()?))
        });
        FailedTest::new(name, place, &body)
    };
    found.map(failure).collect()
}

/// Where a class's file lies below the directory of tests.
fn path_of(class: &str, file: &str) -> String {
    let package =
        class.rsplit_once('.').map_or(String::new(), |(package, _)| format!("{}/", package.replace('.', "/")));
    format!("{package}{file}")
}
