//! From two test runs to an answer: pure, so that every case is a line in a table.
//!
//! Must not run or read anything.

use helix_core::finding::Finding;
use helix_language::recorded;

use crate::baseline::{BaselineEnd, Before, Since};
use crate::command::end_words;
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
    let how = end_words(ended.end);
    let broken = || {
        let message = recorded!("gate-tests-broken", command = command, how = &how);
        let finding = finding("tests.broken", message).evidence(last_part(output));
        let summary = finding.words();
        Judgement::of(vec![finding], summary, Vec::new())
    };
    // 5 is pytest's own code for "no tests collected".
    let clean = matches!(ended.end, CommandEnd::Exited(0 | 5));
    match run {
        None if clean => Judgement::nothing(recorded!("gate-tests-uncounted", command = command, how = how)),
        None => broken(),
        Some(run) if run.total() == 0 && clean => {
            Judgement::nothing(recorded!("gate-tests-none", command = command, skipped = run.counts.skipped))
        }
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
            BaselineEnd::NotRun(why) => recorded!("gate-before-not-run", since = place, why = why),
            BaselineEnd::Ran(CommandEnd::TimedOut) => recorded!("gate-before-time", since = place),
            BaselineEnd::Ran(CommandEnd::TooMuchOutput) => recorded!("gate-before-output", since = place),
            BaselineEnd::Ran(CommandEnd::TooMuchMemory) => recorded!("gate-before-memory", since = place),
            BaselineEnd::Ran(CommandEnd::Exited(_) | CommandEnd::Signalled(_) | CommandEnd::Cancelled) => {
                recorded!("gate-before-none", since = place)
            }
        });
    }
    let is_old = |failure: &&FailedTest| !before.is_empty() && before.iter().all(|one| one.failed(&failure.name));
    let (old, new): (Vec<&FailedTest>, Vec<&FailedTest>) = run.failures.iter().partition(is_old);
    notes.extend(old.iter().map(|failure| recorded!("gate-failed-before", test = &failure.name)));
    let mut findings: Vec<Finding> = new.iter().map(|failure| failed(failure, before)).collect();
    let exited_well = ended.end == CommandEnd::Exited(0);
    let named = u32::try_from(run.failures.len()).unwrap_or(u32::MAX);
    if run.counts.failed > named {
        let unnamed = run.counts.failed - named;
        let message = recorded!("gate-tests-unnamed", tests = unnamed);
        findings.push(finding("tests.failed", message).evidence(last_part(output)));
    } else if !exited_well && findings.is_empty() {
        // Only failures that the base has too excuse a bad exit; a coverage limit or a crash has another cause.
        let explained = !old.is_empty() && run.counts.failed <= named;
        let same_end = before.iter().all(|one| one.baseline.end == BaselineEnd::Ran(ended.end));
        if !(explained && same_end) {
            let message = recorded!("gate-tests-exit", command = command, how = end_words(ended.end));
            findings.push(finding("tests.exit", message).evidence(last_part(output)));
        }
    }
    findings.extend(diluted(run, before));
    let counts = run.counts;
    let mut summary = recorded!("gate-tests", passed = counts.passed, failed = counts.failed, skipped = counts.skipped);
    if !old.is_empty() {
        summary = recorded!("gate-tests-old", counts = summary, old = old.len());
    }
    let unnamed: Vec<&str> = old.iter().map(|one| one.name.as_str()).filter(|name| !is_known(known, name)).collect();
    if findings.is_empty() && !unnamed.is_empty() {
        let shown = unnamed.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let message = recorded!("gate-tests-still-fail", tests = unnamed.len(), shown = shown);
        return Judgement::nothing(message).with_notes(notes);
    }
    if findings.is_empty() && counts.passed == 0 {
        return Judgement::nothing(recorded!("gate-tests-none-passed", command = command)).with_notes(notes);
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
    let message = match (then(Since::Job), then(Since::Phase)) {
        (Some(false), Some(true)) => recorded!("gate-test-broken-earlier", test = &failure.name),
        (Some(true), Some(false)) => recorded!("gate-test-fixed-earlier", test = &failure.name),
        (Some(_) | None, Some(_) | None) => recorded!("gate-test-failed", test = &failure.name),
    };
    let found = finding("tests.failed", message).evidence(&failure.evidence);
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
        let message = recorded!("gate-tests-fewer", before = most.total(), since = place, now = run.total());
        findings.push(finding("tests.fewer", message));
    }
    if let Some((place, least)) = known().min_by_key(|(_, tests)| tests.counts.skipped)
        && run.counts.skipped > least.counts.skipped
    {
        let (then, now) = (least.counts.skipped, run.counts.skipped);
        let message = recorded!("gate-tests-skipped", before = then, since = place, now = now);
        findings.push(finding("tests.skipped", message));
    }
    findings
}

#[cfg(test)]
#[path = "judge_test.rs"]
mod tests;
