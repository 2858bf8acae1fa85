//! From two test runs to an answer: pure, so that every case is a line in a table.
//!
//! Must not run or read anything.

use std::collections::BTreeSet;

use helix_core::finding::{FaultKind, Finding};

use super::baseline::{Baseline, BaselineEnd};
use super::output::{FailedTest, TestRun};
use crate::command::{CommandEnd, CommandRun};
use crate::gates::command::{end_text, last_part};
use crate::gates::judgement::{Describe, Judgement, finding};

pub(super) fn judge(
    command: &str,
    ended: &CommandRun,
    output: &str,
    run: Option<&TestRun>,
    baseline: Option<&Baseline>,
) -> Judgement {
    let how = end_text(ended.end);
    let broken = || {
        let finding = finding("tests.broken", format!("`{command}` failed ({how}) before it could run tests"))
            .evidence(&last_part(output))
            .fix("mend what the output names, then run the command yourself");
        Judgement::of(vec![finding], format!("`{command}`: {how}"), Vec::new())
    };
    // 5 is pytest's own code for "no tests collected".
    let clean = matches!(ended.end, CommandEnd::Exited(0 | 5));
    match run {
        None if clean => Judgement::inconclusive(
            FaultKind::NothingChecked,
            format!(
                "`{command}` ended with {how}, but its output names no number of tests, so nothing proves that any ran"
            ),
            "use a runner whose summary Helix reads (docs/gates.md), let it write JUnit XML, or use the `command` gate",
        ),
        None => broken(),
        Some(run) if run.total() == 0 && clean => Judgement::inconclusive(
            FaultKind::NothingChecked,
            format!("`{command}` ran no test ({} skipped)", run.counts.skipped),
            "check that the tests are where the command looks for them, and that they are committed",
        ),
        Some(run) if run.total() == 0 => broken(),
        Some(run) => compare(command, ended, output, run, baseline),
    }
}

fn compare(command: &str, ended: &CommandRun, output: &str, run: &TestRun, baseline: Option<&Baseline>) -> Judgement {
    let mut notes = Vec::new();
    let before = baseline.and_then(|baseline| baseline.run.as_ref()).filter(|before| before.total() > 0);
    if let (Some(baseline), None) = (baseline, before) {
        notes.push(match &baseline.end {
            BaselineEnd::NotRun(why) => format!("nothing to compare with: on the base, {why}"),
            BaselineEnd::TimedOut => "nothing to compare with: on the base, the command took too long".into(),
            BaselineEnd::Exited(_) | BaselineEnd::Signalled(_) => {
                "nothing to compare with: the base has no tests".into()
            }
        });
    }
    let known: BTreeSet<&str> =
        before.map(|before| before.failures.iter().map(|failure| failure.name.as_str()).collect()).unwrap_or_default();
    let (old, new): (Vec<&FailedTest>, Vec<&FailedTest>) =
        run.failures.iter().partition(|failure| known.contains(failure.name.as_str()));
    notes.extend(old.iter().map(|failure| format!("{} failed before the phase too and does not block", failure.name)));
    let mut findings: Vec<Finding> = new.iter().map(|failure| failed(failure)).collect();
    let exited_well = ended.end == CommandEnd::Exited(0);
    let named = u32::try_from(run.failures.len()).unwrap_or(u32::MAX);
    if run.counts.failed > named {
        let unnamed = run.counts.failed - named;
        let message = format!("{unnamed} failing test(s) could not be told by name, so they count as new");
        findings.push(finding("tests.failed", message).evidence(&last_part(output)));
    } else if !exited_well && findings.is_empty() {
        // Only failures that the base has too excuse a bad exit; a coverage limit or a crash has another cause.
        let explained = !old.is_empty() && run.counts.failed <= named;
        let same_end = baseline.is_some_and(|baseline| baseline.end == BaselineEnd::from(ended.end));
        if !(explained && same_end) {
            let message = format!("`{command}` failed ({}) although no new test failed", end_text(ended.end));
            let fix = "look at the end of the output: a coverage limit, a warning taken as an error, or a crash";
            findings.push(finding("tests.exit", message).evidence(&last_part(output)).fix(fix));
        }
    }
    if let Some(before) = before {
        findings.extend(diluted(run, before));
    }
    let counts = run.counts;
    let mut summary = format!("{} passed, {} failed", counts.passed, counts.failed);
    if counts.skipped > 0 {
        summary.push_str(&format!(", {} skipped", counts.skipped));
    }
    if !old.is_empty() {
        summary.push_str(&format!(" ({} of them before the phase too)", old.len()));
    }
    Judgement::of(findings, summary, notes)
}

fn failed(failure: &FailedTest) -> Finding {
    let found = finding("tests.failed", format!("{} failed", failure.name))
        .evidence(&failure.evidence)
        .fix("mend the code; change the test only if it contradicts what the phase was asked for");
    match &failure.file {
        Some(file) => found.at(file, failure.line, None),
        None => found,
    }
}

/// A phase must not win by testing less [T7].
fn diluted(run: &TestRun, before: &TestRun) -> Vec<Finding> {
    let mut findings = Vec::new();
    if run.total() < before.total() {
        let message = format!("{} tests ran before the phase, only {} run now", before.total(), run.total());
        let fix = "put the tests back that were removed; a test that is wrong is corrected, not deleted";
        findings.push(finding("tests.fewer", message).fix(fix));
    }
    if run.counts.skipped > before.counts.skipped {
        let message =
            format!("{} tests were skipped before the phase, {} are now", before.counts.skipped, run.counts.skipped);
        findings.push(finding("tests.skipped", message).fix("remove the new skip marks and make those tests pass"));
    }
    findings
}

#[cfg(test)]
mod tests {

    use helix_core::finding::Verdict;
    use helix_core::job::TestCounts;

    use super::*;

    fn run(passed: u32, failed: &[&str], skipped: u32) -> TestRun {
        let failures = failed.iter().map(|name| FailedTest {
            name: (*name).into(),
            file: None,
            line: None,
            evidence: String::new(),
        });
        let failed = u32::try_from(failed.len()).unwrap();
        TestRun { counts: TestCounts { passed, failed, skipped }, failures: failures.collect() }
    }

    fn verdict(exit: i32, run: Option<TestRun>, before: Option<(i32, TestRun)>) -> String {
        let ended = CommandRun {
            end: CommandEnd::Exited(exit),
            sha256: String::new(),
            length: 0,
            tail: String::new(),
            leftovers_killed: 0,
        };
        let before = before.map(|(code, run)| Baseline { end: BaselineEnd::Exited(code), run: Some(run) });
        match judge("t", &ended, "out", run.as_ref(), before.as_ref()).verdict {
            Verdict::Pass => "pass".into(),
            Verdict::Fail { findings } => findings.iter().map(|f| f.rule.as_str()).collect::<Vec<_>>().join(" "),
            Verdict::Inconclusive { fault } => format!("{:?}", fault.kind),
        }
    }

    #[test]
    fn evidence_decides_not_optimism_24_43_t7() {
        let cases = [
            (0, Some(run(3, &[], 0)), None, "pass"),
            (0, None, None, "NothingChecked"),
            (0, Some(run(0, &[], 0)), None, "NothingChecked"),
            (0, Some(run(0, &[], 4)), None, "NothingChecked"),
            (5, Some(run(0, &[], 0)), None, "NothingChecked"),
            (5, None, None, "NothingChecked"),
            (2, Some(run(0, &[], 0)), None, "tests.broken"),
            (101, None, None, "tests.broken"),
            (1, Some(run(2, &["a"], 0)), None, "tests.failed"),
            // A lying exit code does not help.
            (0, Some(run(2, &["a"], 0)), None, "tests.failed"),
            (1, Some(run(2, &[], 0)), None, "tests.exit"),
            // Known failures do not block, new ones do.
            (1, Some(run(510, &["old"], 0)), Some((1, run(510, &["old"], 0))), "pass"),
            (1, Some(run(510, &["old", "new"], 0)), Some((1, run(510, &["old"], 0))), "tests.failed"),
            (2, Some(run(510, &["old"], 0)), Some((1, run(510, &["old"], 0))), "tests.exit"),
            // Deleting or skipping tests is no way to pass.
            (0, Some(run(2, &[], 0)), Some((1, run(2, &["a"], 0))), "tests.fewer"),
            (0, Some(run(3, &[], 1)), Some((0, run(3, &[], 0))), "tests.skipped"),
            (0, Some(run(2, &[], 1)), Some((0, run(3, &[], 0))), "tests.fewer tests.skipped"),
            // A project without tests before.
            (0, Some(run(2, &[], 0)), Some((5, run(0, &[], 0))), "pass"),
        ];
        for (exit, now, before, expected) in cases {
            let shown = format!("{exit} {now:?} {before:?}");
            assert_eq!(verdict(exit, now, before), expected, "{shown}");
        }
    }
}
