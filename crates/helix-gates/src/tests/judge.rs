//! From two test runs to an answer: pure, so that every case is a line in a table.
//!
//! Must not run or read anything.

use helix_core::finding::Finding;

use crate::baseline::{BaselineEnd, Before, Since};
use crate::command::end_text;
use crate::judgement::{Judgement, finding, last_part};
use crate::test_run::{FailedTest, TestRun};
use helix_process::{CommandEnd, CommandRun};

pub(super) fn judge(
    command: &str,
    ended: &CommandRun,
    output: &str,
    run: Option<&TestRun>,
    before: &[Before],
    known: &[String],
) -> Judgement {
    let how = end_text(ended.end);
    let broken = || {
        let finding = finding("tests.broken", format!("`{command}` failed ({how}) before it could run tests"))
            .evidence(last_part(output))
            .fix("fix what the output names, then run the command yourself");
        Judgement::of(vec![finding], format!("`{command}`: {how}"), Vec::new())
    };
    // 5 is pytest's own code for "no tests collected".
    let clean = matches!(ended.end, CommandEnd::Exited(0 | 5));
    match run {
        None if clean => Judgement::nothing(
            format!(
                "`{command}` ended with {how}, but its output names no number of tests, so nothing proves that any ran"
            ),
            "use a runner whose summary Helix reads (docs/gates.md), let it write JUnit XML, or use the `command` gate",
        ),
        None => broken(),
        Some(run) if run.total() == 0 && clean => Judgement::nothing(
            format!("`{command}` ran no test ({} skipped)", run.counts.skipped),
            "check that the tests are where the command looks for them, and that they are committed",
        ),
        Some(run) if run.total() == 0 => broken(),
        Some(run) => compare(command, ended, output, run, (before, known)),
    }
}

fn compare(
    command: &str,
    ended: &CommandRun,
    output: &str,
    run: &TestRun,
    (before, known): (&[Before], &[String]),
) -> Judgement {
    let mut notes = Vec::new();
    for one in before.iter().filter(|one| one.tests().is_none()) {
        let place = one.since.word();
        notes.push(match &one.baseline.end {
            BaselineEnd::NotRun(why) => format!("nothing to compare with: before {place}, {why}"),
            BaselineEnd::Ran(CommandEnd::TimedOut) => {
                format!("nothing to compare with: before {place}, the command took too long")
            }
            BaselineEnd::Ran(CommandEnd::TooMuchOutput) => {
                format!("nothing to compare with: before {place}, the command printed too much")
            }
            BaselineEnd::Ran(CommandEnd::TooMuchMemory) => {
                format!("nothing to compare with: before {place}, the command took too much memory")
            }
            BaselineEnd::Ran(CommandEnd::Exited(_) | CommandEnd::Signalled(_) | CommandEnd::Cancelled) => {
                format!("nothing to compare with: there were no tests before {place}")
            }
        });
    }
    let is_old = |failure: &&FailedTest| !before.is_empty() && before.iter().all(|one| one.failed(&failure.name));
    let (old, new): (Vec<&FailedTest>, Vec<&FailedTest>) = run.failures.iter().partition(is_old);
    notes.extend(old.iter().map(|failure| format!("{} failed before the job too", failure.name)));
    let mut findings: Vec<Finding> = new.iter().map(|failure| failed(failure, before)).collect();
    let exited_well = ended.end == CommandEnd::Exited(0);
    let named = u32::try_from(run.failures.len()).unwrap_or(u32::MAX);
    if run.counts.failed > named {
        let unnamed = run.counts.failed - named;
        let message = format!("{unnamed} failing test(s) could not be told by name, so they count as new");
        findings.push(finding("tests.failed", message).evidence(last_part(output)));
    } else if !exited_well && findings.is_empty() {
        // Only failures that the base has too excuse a bad exit; a coverage limit or a crash has another cause.
        let explained = !old.is_empty() && run.counts.failed <= named;
        let same_end = before.iter().all(|one| one.baseline.end == BaselineEnd::Ran(ended.end));
        if !(explained && same_end) {
            let message = format!("`{command}` failed ({}) although no new test failed", end_text(ended.end));
            let fix = "look at the end of the output: a coverage limit, a warning taken as an error, or a crash";
            findings.push(finding("tests.exit", message).evidence(last_part(output)).fix(fix));
        }
    }
    findings.extend(diluted(run, before));
    let counts = run.counts;
    let mut summary = format!("{} passed, {} failed", counts.passed, counts.failed);
    if counts.skipped > 0 {
        summary.push_str(&format!(", {} skipped", counts.skipped));
    }
    if !old.is_empty() {
        summary.push_str(&format!(" ({} of them before the job too)", old.len()));
    }
    let unnamed: Vec<&str> = old.iter().map(|one| one.name.as_str()).filter(|name| !is_known(known, name)).collect();
    if findings.is_empty() && !unnamed.is_empty() {
        let shown = unnamed.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let message = format!(
            "{} failed before the job and still fail(s): {shown}",
            helix_core::text::count(unnamed.len(), "test")
        );
        let hint = "fix them; those that are not part of the task belong in `known_failures` of this gate in the plan";
        return Judgement::nothing(message, hint).with_notes(notes);
    }
    if findings.is_empty() && counts.passed == 0 {
        let message = format!("`{command}` passed no test: those that ran had failed before the job too");
        return Judgement::nothing(message, "run tests that can pass, too").with_notes(notes);
    }
    Judgement::of(findings, summary, notes)
}

/// Whether one of these names stands for a test; `*` in it for any text.
fn is_known(known: &[String], name: &str) -> bool {
    known.iter().any(|known| {
        let Some((start, rest)) = known.split_once('*') else { return known == name };
        let Some(mut left) = name.strip_prefix(start) else { return false };
        let mut parts = rest.split('*').peekable();
        while let Some(part) = parts.next() {
            let found = if parts.peek().is_none() {
                left.strip_suffix(part).map(|_| "")
            } else {
                left.split_once(part).map(|(_, rest)| rest)
            };
            let Some(rest) = found else { return false };
            left = rest;
        }
        true
    })
}

fn failed(failure: &FailedTest, before: &[Before]) -> Finding {
    let then = |wanted| before.iter().find(|one| one.since == wanted).map(|one| one.failed(&failure.name));
    // Whose doing it was: the agent of this phase may find a fault that an earlier one has left it.
    let history = match (then(Since::Job), then(Since::Phase)) {
        (Some(false), Some(true)) => " (and did before this phase, but not before the job: an earlier phase broke it)",
        (Some(true), Some(false)) => " (as it did before the job; an earlier phase had fixed it)",
        (Some(_) | None, Some(_) | None) => "",
    };
    let found = finding("tests.failed", format!("{} failed{history}", failure.name))
        .evidence(&failure.evidence)
        .fix("fix the code; change the test only if it contradicts the task");
    match &failure.file {
        Some(file) => found.at(file, failure.line, None),
        None => found,
    }
}

/// Neither a phase nor phases together may win by testing less.
fn diluted(run: &TestRun, before: &[Before]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let known = || before.iter().filter_map(|one| Some((one.since.word(), one.tests()?)));
    if let Some((place, most)) = known().max_by_key(|(_, tests)| tests.total())
        && run.total() < most.total()
    {
        let message = format!("{} tests ran before {place}, only {} run now", most.total(), run.total());
        let fix = "put the tests back that were removed; a test that is wrong is corrected, not deleted";
        findings.push(finding("tests.fewer", message).fix(fix));
    }
    if let Some((place, least)) = known().min_by_key(|(_, tests)| tests.counts.skipped)
        && run.counts.skipped > least.counts.skipped
    {
        let message =
            format!("{} tests were skipped before {place}, {} are now", least.counts.skipped, run.counts.skipped);
        findings.push(finding("tests.skipped", message).fix("remove the new skip marks and make those tests pass"));
    }
    findings
}

#[cfg(test)]
#[path = "judge_test.rs"]
mod tests;
