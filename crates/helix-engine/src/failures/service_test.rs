//! Failure intelligence over a real memory: what the engine hands in, and what its next prompt gets.

use helix_core::finding::{Correction, Fault, FaultKind, Finding, Place, Verdict};
use helix_core::ids::{CommitId, JobId, PhaseId, TreeId};
use helix_core::run::{Ending, RunFacts};
use helix_failure::memory::{
    AttemptAnswer, Exposure, FailureEnd, Holdout, Resolution, SuggestionOutcome, SuggestionSource, Work, check,
};
use helix_failure::report::{FailurePlace, HISTORY_TOKENS};
use helix_failure::{Category, FailureObservation, LogSample};
use helix_job::{CommandEvidence, GateReport, TestCounts};
use helix_language::{Language, say};
use helix_store::failures::{Ceasing, FailureMemory};
use helix_store::{Access, DatabaseOptions, StateDir};
use jiff::Timestamp;

use super::{AttemptSite, FailureContext, FailureService, FailureSettings, MemoryUse};

const LOG: &str = "running 1 test\n\
    test adds ... FAILED\n\
    thread 'adds' panicked at src/lib.rs:10:34:\n\
    assertion `left == right` failed: total of the cart\n\
    error: test failed, to rerun pass `--lib`\n";
const OTHER: &str = "running 2 tests\n\
    thread 'names' panicked at src/names.rs:3:4:\n\
    called `Option::unwrap()` on a `None` value\n";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).unwrap()
}

fn work(job: &str) -> Work {
    Work::Job { job: JobId::new(job).unwrap(), phase: Some(PhaseId::new("implement").unwrap()) }
}

fn site(job: &str, attempt: u32) -> AttemptSite {
    let mut site = AttemptSite::new("/projects/shop".into(), work(job), attempt);
    site.report_place.phase_name = "Implement the cart".into();
    site.report_place.goal = "The cart adds up".into();
    site.report_place.max_attempts = Some(3);
    site.place.agent = "claude".into();
    site.place.commit = Some(CommitId::new(format!("{attempt:040x}")).unwrap());
    site
}

fn report(verdict: Verdict) -> GateReport {
    GateReport {
        command: Some(CommandEvidence {
            argv: vec!["cargo".into(), "test".into()],
            exit_code: Some(101),
            output_sha256: String::new(),
            output_file: "gates/out.log".into(),
            walls: None,
        }),
        duration_ms: 1,
        ..GateReport::new("tests_pass", verdict, String::new(), TreeId::new("0".repeat(40)).unwrap())
    }
}

fn finding(message: &str) -> Finding {
    let place = Some(Place { file: "src/lib.rs".into(), line: Some(10), column: None });
    Finding { place, ..Finding::new("tests.failed", message) }
}

fn failing(job: &str, attempt: u32, log: &str) -> FailureContext {
    let report = report(Verdict::Fail { findings: vec![finding("1 test failed")] });
    // What fails elsewhere fails later.
    let later = if matches!(job, "second" | "b") { 5 } else { 0 };
    FailureContext::of_gate(
        &site(job, attempt),
        0,
        &report,
        LogSample::from_texts(log, ""),
        at(i64::from(attempt) + later),
    )
    .unwrap()
}

fn ended(job: &str, attempt: u32, passed: &[String]) -> AttemptAnswer {
    let mut answer = site(job, attempt).answer(passed.to_vec(), at(100 + i64::from(attempt)));
    answer.change.files = vec!["src/lib.rs".into()];
    answer.change.diff = "-    prices.len()\n+    prices.iter().sum()\n".into();
    answer
}

fn tests() -> String {
    check::gate(0, "tests_pass")
}

fn settings(holdout: Holdout) -> FailureSettings {
    FailureSettings { holdout, deadline: std::time::Duration::from_secs(5), ..FailureSettings::default() }
}

fn service(holdout: Holdout) -> (FailureService, tempfile::TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    (FailureService::new(scratch.path(), settings(holdout)), scratch)
}

/// What the agent of the next attempt is told.
async fn prompt(service: &FailureService, job: &str) -> String {
    service.reports().take_prompt(&work(job), 1).await.unwrap().unwrap_or_default()
}

/// A job that fails and is fixed; the same failure elsewhere is shown the fix, and the prompt contains it.
#[tokio::test]
async fn what_fixed_a_failure_is_in_the_prompt_when_it_comes_again_elsewhere() {
    let (service, _scratch) = service(Holdout::NONE);
    let first = service.record(failing("first", 1, LOG)).await;
    assert_eq!(first.report.similar.known().map(Vec::len), Some(0));
    assert_eq!(first.occurrence.as_ref().unwrap().1.category, Category::AssertionFailure);
    assert!((2..=4).contains(&first.suggestions.len()), "{:?}", first.suggestions);
    assert_eq!(first.events().len(), 2 + first.suggestions.len());
    service
        .attempt_failed_again(ended("first", 1, &[check::RUN.into()]), tests(), LogSample::from_texts(LOG, ""))
        .await;

    let since = service.changed_since(&work("first")).await;
    assert_eq!(since, site("first", 1).place.commit, "the change is measured from the commit that failed");
    let resolution = service.attempt_ended(ended("first", 2, &[check::RUN.into(), tests()])).await;
    assert_eq!(resolution.gone.len(), 1);
    assert!(resolution.resolved.iter().all(|one| one.outcome == Some(SuggestionOutcome::Helped)), "{resolution:?}");
    assert_eq!(resolution.resolved.len(), first.suggestions.len());

    let again = service.record(failing("second", 1, LOG)).await;
    let memory = service.memory().await.unwrap();
    let (occurrence, _) = again.occurrence.unwrap();
    let known = memory.show(occurrence.diagnosis.fingerprint.to_string()).await.unwrap().unwrap().known;
    assert_eq!(known.count, 2);
    assert!(matches!(&known.end, FailureEnd::Fixed { link, .. } if link.change.work == work("first")), "{known:?}");
    assert!(matches!(again.suggestions[0].source, SuggestionSource::PastFix { .. }), "{:?}", again.suggestions);
    let prompt = prompt(&service, "second").await;
    assert!(prompt.contains("prices.iter().sum()"), "{prompt}");
}

#[tokio::test]
async fn what_is_held_back_is_recorded_and_kept_from_the_prompt() {
    let (service, _scratch) = service(Holdout::new(1.0));
    service.record(failing("first", 1, LOG)).await;
    service.attempt_ended(ended("first", 2, &[tests()])).await;
    let again = service.record(failing("second", 1, LOG)).await;
    let held = again.suggestions.iter().filter(|one| one.exposure == Exposure::HeldBack).count();
    let shown = again.suggestions.len() - held;
    assert!(held == 1 && shown >= 2, "{:?}", again.suggestions);
    let prompt = prompt(&service, "second").await;
    assert!(prompt.contains("total of the cart") && !prompt.contains("prices.iter().sum()"), "{prompt}");
    let figures = service.memory().await.unwrap().statistics().await.unwrap();
    assert_eq!(figures.benefit.held_back.tally.open, 1);
}

/// Another failure is the cause now, but the log still has the first: no credit. Then it is gone: credit.
#[tokio::test]
async fn a_failure_that_the_log_still_shows_is_not_called_fixed() {
    let (service, _scratch) = service(Holdout::NONE);
    let first = service.record(failing("a", 1, LOG)).await.occurrence.unwrap().0.diagnosis.fingerprint;
    let both = format!("{OTHER}{}", "assertion `left == right` failed: total of the cart\n");
    service.record(failing("a", 2, OTHER)).await;
    let log = LogSample::from_texts(&both, "");
    let still = service.attempt_failed_again(ended("a", 2, &[check::RUN.into()]), tests(), log).await;
    assert_eq!(still.gone, Vec::new());
    assert!(still.resolved.iter().all(|one| one.outcome == Some(SuggestionOutcome::NoEffect)), "{still:?}");
    let gone = service.attempt_ended(ended("a", 3, &[check::RUN.into(), tests()])).await.gone;
    assert!(gone.iter().any(|(fingerprint, _)| *fingerprint == first) && gone.len() == 2, "{gone:?}");
}

#[tokio::test]
async fn a_phase_that_was_given_up_leaves_its_suggestions_unknown() {
    let (service, _scratch) = service(Holdout::NONE);
    let recorded = service.record(failing("a", 1, LOG)).await;
    let job = JobId::new("a").unwrap();
    let unknown = service.cease(&job, None, Ceasing::GaveUp, at(9)).await;
    assert_eq!(unknown.len(), recorded.suggestions.len());
    let again = service.record(failing("b", 1, LOG)).await;
    assert_eq!(again.report.similar.known().unwrap()[0].ended, "gave_up");
    assert_eq!(
        service.cease(&JobId::new("b").unwrap(), None, Ceasing::Stopped, at(10)).await.len(),
        again.suggestions.len()
    );
}

/// With the memory disabled or damaged everything else works as before.
#[tokio::test]
async fn without_a_memory_failures_are_classified_and_reported_all_the_same() {
    for memory in [MemoryUse::Off, MemoryUse::On] {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(StateDir::FAILURES);
        if memory == MemoryUse::On {
            std::fs::write(&file, "no database at all\n".repeat(500)).unwrap();
        }
        let service = FailureService::new(scratch.path(), FailureSettings { memory, ..FailureSettings::default() });
        assert!(service.memory().await.is_none());
        let recorded = service.record(failing("a", 1, LOG)).await;
        assert_eq!(recorded.occurrence.as_ref().unwrap().1.category, Category::AssertionFailure);
        assert!(recorded.suggestions.len() >= 2 && recorded.report.similar.known().is_none());
        let prompt = prompt(&service, "a").await;
        assert!(prompt.contains("total of the cart"), "{prompt}");
        assert_eq!(service.attempt_ended(ended("a", 2, &[tests()])).await.gone, Vec::new());
        assert_eq!(service.cease(&JobId::new("a").unwrap(), None, Ceasing::GaveUp, at(3)).await, Vec::new());
        assert_eq!(file.exists(), memory == MemoryUse::On);
    }
}

/// The prompt is built while the memory is still asked: it has what is known without it, and what comes later is neither shown
/// nor measured.
#[tokio::test]
async fn a_prompt_takes_what_is_there_and_what_comes_later_counts_for_nothing() {
    let (service, _scratch) = service(Holdout::NONE);
    service.record(failing("first", 1, LOG)).await;
    service.attempt_ended(ended("first", 2, &[tests()])).await;
    assert_eq!(prompt(&service, "second").await, "", "nothing is there yet");
    let late = service.record(failing("second", 1, LOG)).await;
    assert!(late.suggestions.iter().any(|one| one.exposure == Exposure::Missed), "{:?}", late.suggestions);
    assert_eq!(prompt(&service, "second").await, "", "asked again after a crash, it is the same prompt");
    service.attempt_ended(ended("second", 2, &[tests()])).await;
    let benefit = service.memory().await.unwrap().statistics().await.unwrap().benefit;
    assert_eq!((benefit.shown.tally.decided(), benefit.held_back.tally.decided()), (0, 0), "{benefit:?}");
}

/// Trouble that shows only while it works: every write is refused, and what can be read is still of use.
#[tokio::test]
async fn a_memory_that_cannot_be_written_costs_what_would_be_learned_and_nothing_else() {
    let (service, scratch) = service(Holdout::NONE);
    service.record(failing("a", 1, LOG)).await;
    service.attempt_ended(ended("a", 2, &[tests()])).await;
    let broken = FailureService::read_only(scratch.path());
    let recorded = broken.record(failing("b", 1, LOG)).await;
    let prompt = prompt(&broken, "b").await;
    assert!(prompt.contains("prices.iter().sum()") && recorded.suggestions.len() >= 2, "{recorded:?}");
    assert_eq!(broken.attempt_ended(ended("b", 2, &[tests()])).await, Resolution::default());
    assert_eq!(broken.cease(&JobId::new("b").unwrap(), None, Ceasing::GaveUp, at(3)).await, Vec::new());
    assert_eq!(service.memory().await.unwrap().statistics().await.unwrap().occurrences, 1);
}

/// The disk fills up while it works: what was learned stays, nothing new is, and every report is as it was.
#[tokio::test]
async fn on_a_full_disk_failures_are_classified_and_reported_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let options = DatabaseOptions {
        size_limit: Some(300 * 1024),
        ..DatabaseOptions::new(scratch.path().join("failures.db"), Access::ReadWrite)
            .within(std::time::Duration::from_secs(5))
    };
    let memory = FailureMemory::open(options).await.unwrap();
    let service = FailureService::new(scratch.path(), settings(Holdout::NONE));
    assert!(service.state.memory.set(memory.clone()).is_ok(), "nobody has opened it");
    let mut before = None;
    for number in 0..2_000 {
        let log = LOG.replace("total of the cart", &"y".repeat(300 + number % 97));
        let recorded = service.record(failing(&format!("j{number}"), 1, &log)).await;
        assert!((2..=4).contains(&recorded.suggestions.len()) && recorded.occurrence.is_some(), "{recorded:?}");
        assert!(recorded.report.prompt(HISTORY_TOKENS).contains("yyy") && recorded.report.why.known().is_some());
        let known = memory.statistics().await.unwrap().occurrences;
        if before == Some(known) {
            assert!(known > 10, "the disk was full from the beginning");
            return;
        }
        before = Some(known);
    }
    panic!("the disk never was full");
}

#[tokio::test]
async fn contexts_are_made_of_what_failed_and_of_nothing_that_did_not() {
    let passed = FailureContext::of_gate(&site("a", 1), 0, &report(Verdict::Pass), LogSample::default(), at(1));
    assert!(passed.is_none());
    let fault = Fault { kind: FaultKind::ToolMissing, message: "cannot run `pytest`".into(), hint: None, said: None };
    let mut missing = report(Verdict::Inconclusive { fault: fault.clone() });
    missing.command = None;
    let missing = FailureContext::of_gate(&site("a", 1), 2, &missing, LogSample::default(), at(1)).unwrap();
    assert_eq!(missing.place.check, "gate/2/tests_pass");
    assert_eq!(missing.observation.shell_status(), Some(127));
    let mut facts =
        RunFacts::without_record(Ending::NotStarted { reason: "permission denied".into(), errno: None }, None);
    facts.stderr_tail = "claude: not logged in".into();
    let run = FailureContext::of_run(&site("a", 1), "claude", &facts, at(1)).unwrap();
    let lines: Vec<&str> = run.log.lines.iter().map(|line| line.raw.as_str()).collect();
    assert!(lines.contains(&"claude: not logged in") && lines.contains(&"permission denied"), "{lines:?}");
    let (service, _scratch) = service(Holdout::NONE);
    for context in [
        missing,
        run,
        FailureContext::of_fault(&site("a", 2), check::COMMIT, &fault, at(2)),
        FailureContext::of_findings(&site("a", 2), check::VERIFY, &[finding("the total is wrong")], at(2)),
    ] {
        let recorded = service.record(context).await;
        assert!(recorded.occurrence.is_some() && recorded.suggestions.len() >= 2, "{recorded:?}");
    }
    assert_eq!(service.memory().await.unwrap().statistics().await.unwrap().occurrences, 4);
}

/// Helix knows what its own checks look for, whatever the words of what they found remind of.
#[tokio::test]
async fn what_a_check_of_our_own_found_is_never_read_as_something_else() {
    let (service, _scratch) = service(Holdout::NONE);
    let report = |gate: &str, message: &str| GateReport {
        gate: gate.into(),
        command: None,
        ..report(Verdict::Fail { findings: vec![finding(message), finding("Connection refused")] })
    };
    for (gate, message, category) in [
        ("syntax_check", "unexpected EOF while parsing", Category::SyntaxError),
        ("files_exist", "report.md: 429 Too Many Requests", Category::FileAccess),
        ("outputs_claimed", "src/oom_killed.py is claimed and not in the diff", Category::AssertionFailure),
        ("conflicts_resolved", "a conflict is left in timeout.py", Category::Unknown),
    ] {
        let context =
            FailureContext::of_gate(&site("a", 1), 0, &report(gate, message), LogSample::from_texts("", ""), at(1));
        let recorded = service.record(context.unwrap()).await;
        let classified = recorded.occurrence.unwrap().1;
        assert_eq!(classified.category, category, "{gate}: {classified:?}");
        assert!(classified.confidence > 0.8, "{gate}: {}", classified.confidence);
        assert!(classified.cause_line.unwrap().text.contains(message), "{gate}");
    }
    let review =
        FailureContext::of_findings(&site("a", 2), check::VERIFY, &[finding("the disk is full of TODOs")], at(2));
    let classified = service.record(review).await.occurrence.unwrap().1;
    assert_eq!(classified.category, Category::AssertionFailure, "{classified:?}");
}

/// Each gate of Helix's own says what failed and what to do about it, also where its finding is quoted in another text; an agent
/// that repeats what it was told has not failed by that.
#[tokio::test]
async fn a_finding_of_our_own_is_known_by_its_gate_and_wherever_it_is_quoted() {
    let (service, _scratch) = service(Holdout::NONE);
    for (gate, rule, message, category, cause) in [
        (
            "outputs_claimed",
            "outputs.unchanged",
            "src/import.py is claimed as an output but the phase did not change it",
            Category::AssertionFailure,
            "output_unchanged",
        ),
        (
            "criteria_covered",
            "criteria.test_failed",
            "the criterion \"Imports are checked\" is not met: No module named 'shop'",
            Category::AssertionFailure,
            "criterion_unproved",
        ),
        ("files_exist", "files.missing", "docs/a.md is not in the result", Category::FileAccess, "result_file_missing"),
        (
            "docs_refs_valid",
            "docs.reference",
            "b.md leads to docs/b.md, which is not in the result",
            Category::FileAccess,
            "broken_reference",
        ),
        (
            "conflicts_resolved",
            "conflicts.marker",
            "a conflict marker is left: <<<<<<< ours",
            Category::Unknown,
            "conflict_marker",
        ),
    ] {
        let found = Finding { rule: rule.into(), ..finding(message) }.fix("do this first");
        let verdict = Verdict::Fail { findings: vec![found.clone()] };
        let report = GateReport { gate: gate.into(), ..report(verdict) };
        let context = FailureContext::of_gate(&site("a", 1), 0, &report, LogSample::from_texts("", ""), at(1));
        let recorded = service.record(context.unwrap()).await;
        let classified = recorded.occurrence.unwrap().1;
        assert_eq!((classified.category, classified.cause), (category, cause), "{gate}: {classified:?}");
        let steps: Vec<&str> = recorded.suggestions.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(steps[0], "do this first", "{gate}");
        assert!(!steps.iter().any(|step| step.contains("import") || step.contains("same build")), "{gate}: {steps:?}");

        let told = Correction::new("Your last attempt was not accepted.", vec![found]).to_markdown();
        let asked = FailureObservation::default();
        let log = LogSample::from_texts(&told, "");
        let explained = service.explain(asked, log, FailurePlace::default()).await.unwrap().classification;
        assert_eq!((explained.category, explained.cause.as_str()), (category, cause), "{gate}, quoted: {explained:?}");

        let mut facts = RunFacts::without_record(Ending::Exited { code: 1 }, None);
        facts.stderr_tail = format!("{told}\nPrompt is too long\n");
        let run = FailureContext::of_run(&site("a", 2), "claude", &facts, at(2)).unwrap();
        let classified = service.record(run).await.occurrence.unwrap().1;
        assert_eq!(classified.cause, "context_too_long", "{gate}, repeated by an agent: {classified:?}");
    }
}

/// What a terminal printed in its reader's language may be pasted back, too.
#[tokio::test]
async fn a_finding_of_our_own_is_known_in_every_language() {
    let (service, _scratch) = service(Holdout::NONE);
    for language in Language::ALL {
        for (cause, said) in [
            ("output_unchanged", say!(language, "gate-outputs-unchanged", path = "src/import.py")),
            ("output_unchanged", say!(language, "gate-outputs-deleted", path = "src/import.py")),
            ("output_unchanged", say!(language, "gate-outputs-outside", path = "a.py", how = "changed")),
            ("criterion_unproved", say!(language, "gate-criterion-bare", criterion = "Totals add up")),
            ("criterion_unproved", say!(language, "gate-criterion-unmet", criterion = "Totals add up", why = "exit 1")),
            ("result_file_missing", say!(language, "gate-files-missing", path = "docs/a.md")),
            ("result_file_missing", say!(language, "gate-files-dangling", path = "a.md", target = "\"b.md\"")),
            ("broken_reference", say!(language, "gate-docs-gone", target = "b.md", path = "docs/b.md")),
            ("broken_reference", say!(language, "gate-docs-anchor", target = "b.md", anchor = "end")),
            ("conflict_marker", say!(language, "gate-conflict-marker", marker = "<<<<<<< ours")),
            ("tests_left_out", say!(language, "gate-tests-fewer", before = 4, since = "job", now = 3)),
            ("tests_left_out", say!(language, "gate-tests-skipped", before = 0, since = "phase", now = 3)),
            ("gate_changed", say!(language, "gate-decides", path = "ci.sh", command = "sh ci.sh", how = "changed")),
            ("nothing_changed", say!(language, "gate-syntax-nothing")),
            ("answer_unfit", say!(language, "answer-no-file", file = "\"plan.yaml\"")),
        ] {
            let log = LogSample::from_texts(&format!("\u{2717} [implement] gate\n    {said}\n"), "");
            let explained = service.explain(FailureObservation::default(), log, FailurePlace::default()).await.unwrap();
            assert_eq!(explained.classification.cause, cause, "{said}");
        }
    }
}

/// What Helix knows as data is the cause; lines of the log that look like failures are about something else then.
#[tokio::test]
async fn what_is_known_as_data_goes_before_what_a_log_reminds_of() {
    let (service, _scratch) = service(Holdout::NONE);
    let log =
        || LogSample::from_texts("FAILED tests/test_old.py::test_old - E   assert False\n1 failed, 2 passed\n", "");
    let rule = |rule: &str, message: &str| Finding { rule: rule.into(), ..finding(message) };
    let nothing = |message: &str| {
        let fault = Fault { kind: FaultKind::NothingChecked, message: message.into(), hint: None, said: None };
        Verdict::Inconclusive { fault }
    };
    let counts = |failed| Some(TestCounts { passed: 2, failed, skipped: 0 });
    let fail = |findings| Verdict::Fail { findings };
    for (verdict, tests, log, category, cause, said) in [
        (
            fail(vec![rule("tests.fewer", "4 tests ran before, 3 now")]),
            counts(1),
            log(),
            Category::AssertionFailure,
            "tests_left_out",
            "4 tests ran before",
        ),
        (
            fail(vec![rule("tests.failed", "test_new failed: assert 1 == 2")]),
            counts(2),
            log(),
            Category::AssertionFailure,
            "",
            "test_new",
        ),
        (
            nothing("`pytest -q` ran no test (0 skipped)"),
            None,
            LogSample::from_texts("0 passed in 0.01s\n", ""),
            Category::Unknown,
            "no_tests",
            "ran no test",
        ),
        (
            nothing("names no number of tests"),
            None,
            LogSample::from_texts("ok\n", ""),
            Category::Unknown,
            "no_tests",
            "no number",
        ),
    ] {
        let report = GateReport { tests, ..report(verdict) };
        let context = FailureContext::of_gate(&site("a", 1), 0, &report, log, at(1)).unwrap();
        let classified = service.record(context).await.occurrence.unwrap().1;
        assert_eq!(classified.category, category, "{said}: {classified:?}");
        assert!(cause.is_empty() || classified.cause == cause, "{said}: {classified:?}");
        let line = classified.cause_line.clone().unwrap().text;
        assert!(line.contains(said), "{said}: {line}");
        assert!(!line.contains("test_old"), "{line}");
    }
    let reason = "cannot start claude: not found in PATH (/usr/bin)".into();
    let facts = RunFacts::without_record(Ending::NotStarted { reason, errno: Some(2) }, None);
    let run = FailureContext::of_run(&site("a", 2), "claude", &facts, at(2)).unwrap();
    let classified = service.record(run).await.occurrence.unwrap().1;
    assert_eq!(classified.cause, "missing_command", "{classified:?}");
    assert!(classified.confidence > 0.8, "{classified:?}");
}

/// A report that is made late, or twice, finds its own failure in the memory.
#[tokio::test]
async fn a_failure_is_not_its_own_past() {
    let (service, _scratch) = service(Holdout::NONE);
    let context = || {
        let verdict = Verdict::Fail { findings: vec![finding("no")] };
        FailureContext::of_gate(&site("a", 1), 0, &report(verdict), LogSample::from_texts(LOG, ""), at(1)).unwrap()
    };
    service.record(context()).await;
    service.cease(&JobId::new("a").unwrap(), None, Ceasing::GaveUp, at(3)).await;
    let again = service.record(context()).await.report;
    assert_eq!(again.similar.known().map(Vec::len), Some(0), "{again:#?}");
    let explained = async |before| {
        let FailureContext { report_place, observation, log, .. } = context();
        let report = service.explain_from(observation, log, report_place, before).await.unwrap().report;
        report.similar.known().map(Vec::len)
    };
    assert_eq!((explained(at(1)).await, explained(at(4)).await), (Some(0), Some(1)));
}
