//! What the memory of failures does, one behaviour each.

use helix_failure::memory::{
    Closeness, Credit, FailureEnd, Holdout, MemoryRecord, OccurrencePlace, OccurrenceState, PastFailure, SimilarQuery,
    Suggestion, SuggestionDraft, SuggestionOutcome, SuggestionSource, check,
};
use helix_failure::{Blame, Category, RetryAdvice};
use helix_store::failures::{Ceasing, FailureFilter, FailureMemory, Forget, Imported, MemoryError};

use super::samples::{LINT, TESTS, answer, asks, at, job, phase, place, seen, suggestion, work};

/// A job, the checks of its second attempt that passed and failed, whether the failure came again, and what follows.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], bool, Option<SuggestionOutcome>);

const MISMATCH: &str = "error[E0308]: mismatched types: expected `u32`, found `Price` in `total`";

/// Attempt 1 fails with this line, attempt 2 passes.
async fn fixed(memory: &FailureMemory, job_id: &str, line: &str) {
    memory.capture(seen(line, place(job_id, 1, TESTS))).await.unwrap();
    memory.resolve_outstanding(answer(job_id, 1, &[check::RUN], &[TESTS])).await.unwrap();
    let resolution = memory.resolve_outstanding(answer(job_id, 2, &[check::RUN, TESTS], &[])).await.unwrap();
    assert_eq!(resolution.gone.len(), 1, "{resolution:?}");
}

pub(crate) async fn capturing_twice_remembers_once(memory: FailureMemory) {
    for (job_id, count) in [("a", 1), ("a", 1), ("b", 2)] {
        memory.capture(seen(MISMATCH, place(job_id, 1, TESTS))).await.unwrap();
        let page = memory.list(FailureFilter::default(), None, 10).await.unwrap();
        assert_eq!((page.failures.len(), page.failures[0].count), (1, count));
    }
}

/// A host dies after the capture and before the journal has the gate's answer; the gate runs again and sees another thing.
pub(crate) async fn another_failure_under_the_same_key_replaces_the_first(memory: FailureMemory) {
    memory.capture(seen(MISMATCH, place("a", 1, TESTS))).await.unwrap();
    memory.capture(seen("error: cannot find value `x`", place("a", 1, TESTS))).await.unwrap();
    let page = memory.list(FailureFilter::default(), None, 10).await.unwrap();
    let lines: Vec<_> = page.failures.iter().map(|failure| failure.diagnosis.cause_line.as_str()).collect();
    assert_eq!(lines, ["error: cannot find value `x`"]);
    assert_eq!(memory.search("mismatched".into(), 5).await.unwrap(), Vec::new());
}

/// 20 captures made 20 entries.
pub(crate) async fn of_racing_captures_each_counts_once(memory: FailureMemory) {
    let mut tasks = Vec::new();
    for number in 0..64_u32 {
        let memory = memory.clone();
        // Every occurrence is captured by two at once.
        let occurrence = seen(MISMATCH, place(&format!("j{}", number / 2), 1, TESTS));
        tasks.push(tokio::spawn(async move { memory.capture(occurrence).await }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(memory.list(FailureFilter::default(), None, 10).await.unwrap().failures[0].count, 32);
}

pub(crate) async fn what_fixed_it_is_recalled_for_the_same_failure_elsewhere(memory: FailureMemory) {
    fixed(&memory, "a", MISMATCH).await;
    let past = &memory.similar(asks(MISMATCH)).await.unwrap()[0];
    assert_eq!(past.closeness, Closeness::Exact);
    let FailureEnd::Fixed { link, fixes: 1 } = &past.known.end else { panic!("{past:?}") };
    assert_eq!((link.failed_attempt, link.change.attempt, &link.change.work), (1, 2, &work("a")));
    assert_eq!(link.change.files, ["src/lib.rs"]);
    assert!(link.change.diff.contains("price.into()"), "{link:?}");
}

pub(crate) async fn a_failure_without_a_known_end_is_no_help(memory: FailureMemory) {
    memory.capture(seen(MISMATCH, place("a", 1, TESTS))).await.unwrap();
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap(), Vec::new());
    assert_eq!(memory.search("mismatched".into(), 5).await.unwrap().len(), 1, "people find it all the same");
}

pub(crate) async fn similar_messages_of_the_same_tool_and_category_are_found_and_others_are_not(memory: FailureMemory) {
    fixed(&memory, "near", "error[E0308]: mismatched types: expected `u32`, found `Amount` in `total`").await;
    fixed(&memory, "far", "error[E0277]: the trait bound `Cart: Clone` is not satisfied").await;
    let mut python = seen(MISMATCH, place("python", 1, TESTS));
    (python.diagnosis.tool, python.diagnosis.fingerprint) =
        ("pytest".into(), seen("python", place("x", 1, "x")).diagnosis.fingerprint);
    memory.capture(python).await.unwrap();
    memory.resolve_outstanding(answer("python", 2, &[TESTS], &[])).await.unwrap();
    let recalled = memory.similar(asks(MISMATCH)).await.unwrap();
    let lines: Vec<_> = recalled.iter().map(|past| past.known.diagnosis.cause_line.as_str()).collect();
    assert_eq!(lines, ["error[E0308]: mismatched types: expected `u32`, found `Amount` in `total`"]);
    assert!(matches!(recalled[0].closeness, Closeness::Near { score } if score > 0.5 && score < 1.0), "{recalled:?}");
    let mut other = asks(MISMATCH);
    other.diagnosis.category = Category::SyntaxError;
    other.diagnosis.fingerprint = seen("none", place("x", 1, "x")).diagnosis.fingerprint;
    assert_eq!(memory.similar(other).await.unwrap(), Vec::new());
}

pub(crate) async fn the_exact_one_comes_first_and_no_more_than_asked_for_come(memory: FailureMemory) {
    for name in ["Apple", "Berry", "Cherry", "Damson", "Elder", "Fig"] {
        fixed(&memory, name, &format!("mismatched types: expected `u32`, found `{name}`")).await;
    }
    let line = "mismatched types: expected `u32`, found `Damson`";
    let recalled = memory.similar(asks(line)).await.unwrap();
    assert_eq!(recalled.len(), 3);
    assert_eq!((recalled[0].closeness, recalled[0].known.diagnosis.cause_line.as_str()), (Closeness::Exact, line));
    assert!(recalled[1..].iter().all(|past| matches!(past.closeness, Closeness::Near { .. })));
    let none = helix_failure::memory::SimilarQuery { most: 0, ..asks(line) };
    assert_eq!(memory.similar(none).await.unwrap(), Vec::new());
}

/// What another project's agents wrote, and what changed there, is told in no other: neither to learn from it nor to be misled by it.
pub(crate) async fn a_project_hears_of_its_own_failures_alone(memory: FailureMemory) {
    let alike = "error[E0308]: mismatched types: expected `u32`, found `Amount` in `total`";
    let asked_in = |project: &str| SimilarQuery { project: Some(project.into()), ..asks(MISMATCH) };
    for (id, line) in [("a", MISMATCH), ("b", alike)] {
        let mut secret = seen(line, OccurrencePlace { project: "/projects/secret".into(), ..place(id, 1, TESTS) });
        secret.diagnosis.cause_line = format!("{line} secret");
        memory.capture(secret).await.unwrap();
        let mut passed = answer(id, 2, &[check::RUN, TESTS], &[]);
        passed.change.project = "/projects/secret".into();
        memory.resolve_outstanding(passed).await.unwrap();
    }
    assert_eq!(memory.similar(asked_in("/projects/secret")).await.unwrap().len(), 2);
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap().len(), 2, "a person asks for all");
    assert_eq!(memory.similar(asked_in("/projects/shop")).await.unwrap(), []);
    assert_eq!(memory.similar(asked_in("")).await.unwrap(), []);

    // It has the same one, and has given up on it.
    memory.capture(seen(MISMATCH, place("shop", 1, TESTS))).await.unwrap();
    assert_eq!(memory.similar(asked_in("/projects/shop")).await.unwrap(), [], "how it ended elsewhere is no end here");
    memory.cease(job("shop"), phase(), Ceasing::GaveUp, at(5)).await.unwrap();
    let own = memory.similar(asked_in("/projects/shop")).await.unwrap();
    let [PastFailure { known, closeness: Closeness::Exact }] = own.as_slice() else { panic!("{own:?}") };
    assert_eq!(
        (known.count, &known.end, known.projects.as_slice()),
        (1, &FailureEnd::GaveUp, &["/projects/shop".to_owned()][..])
    );
    assert!(!format!("{own:?}").contains("secret"), "{own:?}");
    // Its own fix is the one that it is told.
    fixed(&memory, "mended", MISMATCH).await;
    let own = memory.similar(asked_in("/projects/shop")).await.unwrap();
    let FailureEnd::Fixed { link, fixes: 1 } = &own[0].known.end else { panic!("{own:?}") };
    assert_eq!(link.change.project, "/projects/shop");
}

/// Of two that are alike, the one that was fixed and seen lately is worth more.
pub(crate) async fn outcome_and_recency_rank(memory: FailureMemory) {
    let lines = ["mismatched types: expected `u32`, found `Aaa`", "mismatched types: expected `u32`, found `Bbb`"];
    memory.capture(seen(lines[0], place("gone", 1, TESTS))).await.unwrap();
    memory.cease(job("gone"), phase(), Ceasing::GaveUp, at(5)).await.unwrap();
    fixed(&memory, "kept", lines[1]).await;
    let recalled = memory.similar(asks("mismatched types: expected `u32`, found `Ccc`")).await.unwrap();
    let ends: Vec<_> = recalled.iter().map(|past| past.known.end.word()).collect();
    assert_eq!(ends, ["fixed", "gave_up"]);
}

/// "Any success resolves all suggestions": a check that was not reached proves nothing.
/// Any success resolved all.
pub(crate) async fn credit_only_when_the_check_looked_again_and_the_failure_was_gone(memory: FailureMemory) {
    memory.capture(seen(MISMATCH, place("a", 1, TESTS))).await.unwrap();
    let unreached = memory.resolve_outstanding(answer("a", 2, &[check::RUN], &[LINT])).await.unwrap();
    assert_eq!(unreached.gone, Vec::new());
    memory.capture(seen(MISMATCH, place("a", 3, TESTS))).await.unwrap();
    let still = memory.resolve_outstanding(answer("a", 3, &[check::RUN], &[TESTS])).await.unwrap();
    assert_eq!(still.gone, Vec::new());
    // Another failure is the cause now, but the log shows the old one as well.
    memory.capture(seen("assertion failed: other", place("a", 4, TESTS))).await.unwrap();
    let mut shown = answer("a", 4, &[check::RUN], &[TESTS]);
    shown.still = vec![seen(MISMATCH, place("a", 1, TESTS)).diagnosis.fingerprint];
    assert_eq!(memory.resolve_outstanding(shown).await.unwrap().gone, Vec::new());
    let gone = memory.resolve_outstanding(answer("a", 5, &[check::RUN, LINT, TESTS], &[])).await.unwrap();
    assert_eq!(gone.gone.len(), 2, "{gone:?}");
    let detail =
        memory.show(seen(MISMATCH, place("a", 1, TESTS)).diagnosis.fingerprint.to_string()).await.unwrap().unwrap();
    let states: Vec<_> = detail.occurrences.iter().map(|entry| (entry.place.attempt, entry.state)).collect();
    assert_eq!(states, [(3, OccurrenceState::Gone), (1, OccurrenceState::SeenAgain)]);
    assert_eq!((detail.fixes[0].failed_attempt, detail.fixes[0].change.attempt), (3, 5));
}

pub(crate) async fn a_change_is_not_credited_where_waiting_or_a_person_mends(memory: FailureMemory) {
    for (name, retry) in [("delay", RetryAdvice::AfterDelay), ("human", RetryAdvice::Human)] {
        let mut limited = seen(&format!("rate limited {name}"), place(name, 1, check::RUN));
        (limited.diagnosis.retry, limited.diagnosis.blame) = (retry, Blame::Provider);
        memory.capture(limited).await.unwrap();
        let gone = memory.resolve_outstanding(answer(name, 2, &[check::RUN], &[])).await.unwrap();
        assert!(matches!(gone.gone.as_slice(), [(_, Credit::Time)]), "{gone:?}");
    }
    memory.capture(seen(MISMATCH, place("same", 1, TESTS))).await.unwrap();
    let mut unchanged = answer("same", 2, &[TESTS], &[]);
    unchanged.change.files.clear();
    let gone = memory.resolve_outstanding(unchanged).await.unwrap();
    assert!(matches!(gone.gone.as_slice(), [(_, Credit::Time)]), "a flaky test is not fixed: {gone:?}");
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap()[0].known.end, FailureEnd::WentAway);
}

pub(crate) async fn a_fix_that_did_not_hold_is_taken_back(memory: FailureMemory) {
    fixed(&memory, "a", MISMATCH).await;
    memory.capture(seen(MISMATCH, place("a", 3, TESTS))).await.unwrap();
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap(), Vec::new());
    // Elsewhere it may come again without that: the fix held where it was made.
    fixed(&memory, "b", MISMATCH).await;
    memory.capture(seen(MISMATCH, place("c", 1, TESTS))).await.unwrap();
    let recalled = memory.similar(asks(MISMATCH)).await.unwrap();
    assert!(matches!(&recalled[0].known.end, FailureEnd::Fixed { link, fixes: 1 } if link.change.work == work("b")));
}

async fn memory_of(memory: &FailureMemory, job_id: &str) -> helix_failure::Fingerprint {
    let occurrence = seen(MISMATCH, place(job_id, 1, TESTS));
    memory.capture(occurrence.clone()).await.unwrap();
    occurrence.diagnosis.fingerprint
}

/// "Tried, failed" was no outcome: all four are, and only what the next attempt proves is set.
pub(crate) async fn suggestions_are_resolved_by_what_the_next_attempt_proves(memory: FailureMemory) {
    let cases: [Case; 5] = [
        ("helped", &[check::RUN, LINT, TESTS], &[], false, Some(SuggestionOutcome::Helped)),
        ("still", &[check::RUN, LINT], &[TESTS], true, Some(SuggestionOutcome::NoEffect)),
        ("worse", &[check::RUN], &[LINT], false, Some(SuggestionOutcome::Worse)),
        ("provider", &[], &[check::RUN], false, None),
        ("other", &[check::RUN, LINT], &[TESTS], false, Some(SuggestionOutcome::Helped)),
    ];
    for (name, passed, failed, again, outcome) in cases {
        let occurrence = seen(MISMATCH, place(name, 1, TESTS));
        memory.capture(occurrence.clone()).await.unwrap();
        memory.resolve_outstanding(answer(name, 1, &[check::RUN, LINT], &[TESTS])).await.unwrap();
        let made = suggestion("convert with `into`", SuggestionSource::Cause, &occurrence);
        memory.record_suggestions(vec![made.clone(), made.clone()]).await.unwrap();
        if let [check] = failed {
            let line = if again { MISMATCH } else { "error: something else broke" };
            let mut next = seen(line, place(name, 2, check));
            if name == "provider" {
                next.diagnosis.blame = Blame::Provider;
                next.diagnosis.fingerprint = seen("overloaded", place("x", 1, "x")).diagnosis.fingerprint;
            }
            memory.capture(next).await.unwrap();
        }
        let resolution = memory.resolve_outstanding(answer(name, 2, passed, failed)).await.unwrap();
        let outcomes: Vec<_> = resolution.resolved.iter().map(|resolved| (&resolved.id, resolved.outcome)).collect();
        let expected: Vec<_> = outcome.iter().map(|outcome| (&made.id, Some(*outcome))).collect();
        assert_eq!(outcomes, expected, "{name}");
        // A host that died before it could tell anybody asks again.
        let again = memory.resolve_outstanding(answer(name, 2, passed, failed)).await.unwrap();
        assert_eq!(again.resolved, resolution.resolved, "{name}");
    }
    let left = memory.cease(job("provider"), None, Ceasing::Stopped, at(60)).await.unwrap();
    assert_eq!(left.iter().map(|one| one.outcome).collect::<Vec<_>>(), [Some(SuggestionOutcome::Unknown)]);
    let rates = memory.effectiveness("type_mismatch".into(), vec!["convert with `into`".into(), "other".into()]).await;
    let rates = rates.unwrap();
    let tally = rates[0].tally;
    assert_eq!((tally.helped, tally.no_effect, tally.worse, tally.unknown, tally.open), (2, 1, 1, 1, 0));
    assert_eq!(rates[1].rate, 0.5);
}

pub(crate) async fn statistics_count_and_show_what_the_memory_is_worth(memory: FailureMemory) {
    let origin = memory_of(&memory, "origin").await;
    for number in 0..40_u32 {
        let name = format!("n{number}");
        let occurrence = seen(MISMATCH, place(&name, 1, TESTS));
        memory.capture(occurrence.clone()).await.unwrap();
        let draft = SuggestionDraft {
            text: "as before".into(),
            source: SuggestionSource::PastFix { fingerprint: origin.clone() },
        };
        let holdout = if number % 2 == 0 { Holdout::new(1.0) } else { Holdout::NONE };
        memory.record_suggestions(vec![Suggestion::new(draft, &occurrence, holdout)]).await.unwrap();
        if number % 2 == 0 {
            memory.capture(seen(MISMATCH, place(&name, 2, TESTS))).await.unwrap();
        }
        let failed: &[&str] = if number % 2 == 0 { &[TESTS] } else { &[] };
        let passed: &[&str] = if number % 2 == 0 { &[] } else { &[TESTS] };
        memory.resolve_outstanding(answer(&name, 2, passed, failed)).await.unwrap();
    }
    let figures = memory.statistics().await.unwrap();
    assert_eq!((figures.failures, figures.occurrences, figures.fixed, figures.open), (1, 61, 1, 0));
    assert_eq!(figures.categories, [(Category::TypeError, 1)]);
    assert_eq!((figures.benefit.shown.tally.helped, figures.benefit.held_back.tally.no_effect), (20, 20));
    assert!(figures.benefit.low > 0.5, "{figures:?}");
    assert_eq!(figures.suggestions[0].effectiveness.tally.helped, 20, "held back ones do not count as tried");
    assert_eq!((figures.first_seen, figures.last_seen), (Some(at(1)), Some(at(2))));
}

pub(crate) async fn lists_are_filtered_and_paged_and_prefixes_show_one(memory: FailureMemory) {
    for number in 0..5 {
        fixed(&memory, &format!("l{number}"), &format!("error number {} of `Kind{number}x`", "i".repeat(number + 1)))
            .await;
    }
    memory.capture(seen("still open", place("open", 1, TESTS))).await.unwrap();
    let (mut seen_all, mut cursor) = (Vec::new(), None);
    loop {
        let page = memory.list(FailureFilter::default(), cursor, 2).await.unwrap();
        assert!(page.failures.len() <= 2);
        seen_all.extend(page.failures.into_iter().map(|failure| failure.diagnosis.fingerprint));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let mut distinct = seen_all.clone();
    distinct.dedup();
    assert_eq!((seen_all.len(), distinct.len()), (6, 6));
    let count = |filter| async { memory.list(filter, None, 100).await.unwrap().failures.len() };
    let only = |ended: &str| FailureFilter { ended: Some(ended.into()), ..FailureFilter::default() };
    assert_eq!((count(only("open")).await, count(only("fixed")).await), (1, 5));
    let of = |project: &str| FailureFilter { project: Some(project.into()), ..FailureFilter::default() };
    assert_eq!((count(of("/projects/shop")).await, count(of("/elsewhere")).await), (6, 0));
    let whole = seen_all[0].as_str();
    assert!(memory.show(whole[..8].to_owned()).await.unwrap().is_some());
    assert_eq!(memory.show("not hexadecimal".into()).await.unwrap(), None);
    assert_eq!(memory.show(String::new()).await.unwrap(), None);
}

/// Text as a pattern.
pub(crate) async fn search_finds_words_and_beginnings_in_any_script(memory: FailureMemory) {
    for (name, line) in [
        ("a", "cannot find function `parse_header` in this scope"),
        ("b", "错误：文件不存在"),
        ("c", "Datei oder Verzeichnis nicht gefunden: größe"),
    ] {
        memory.capture(seen(line, place(name, 1, TESTS))).await.unwrap();
    }
    for (text, hits) in [
        ("parse_header", 1),
        ("function pars", 1),
        ("文件", 1),
        ("GRÖSSE", 0),
        ("größe", 1),
        ("cargo", 3),
        ("nothing like this", 0),
        ("", 0),
        ("\" OR * NEAR( :", 0),
        ("pa", 0),
    ] {
        assert_eq!(memory.search(text.into(), 10).await.unwrap().len(), hits, "{text:?}");
    }
}

/// One question took 18 to 27 s at 100 entries, and the error's text was used as a pattern.
pub(crate) async fn what_is_similar_is_found_quickly_among_many_whatever_its_text(memory: FailureMemory) {
    let letters = |number: u32| -> String {
        [number / 26 % 26, number % 26].iter().map(|at| char::from(b'a' + *at as u8)).collect()
    };
    for number in 0..500 {
        let line = format!("error: cannot find type `Zq{}` in module `Wx{}`", letters(number), letters(499 - number));
        memory.capture(seen(&line, place(&format!("j{number}"), 1, TESTS))).await.unwrap();
    }
    let hostile = [".*[(\" OR NEAR", "' OR 1=1; --", "a* AND (b OR", "\"\"\" NEAR/2 {", "%_\\ ^$ x"];
    for (number, line) in hostile.into_iter().enumerate() {
        fixed(&memory, &format!("hostile{number}"), line).await;
    }
    for line in hostile {
        let begun = std::time::Instant::now();
        let found = memory.similar(asks(line)).await.unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{line:?} took {:?}", begun.elapsed());
        assert_eq!(found.first().map(|one| one.known.diagnosis.cause_line.as_str()), Some(line), "{:?}", found);
        assert!(found.len() <= 3, "{line:?} matches {} as a pattern", found.len());
    }
}

pub(crate) async fn what_is_forgotten_is_gone_and_a_wrong_fix_alone_can_be(memory: FailureMemory) {
    fixed(&memory, "a", MISMATCH).await;
    let fingerprint = seen(MISMATCH, place("a", 1, TESTS)).diagnosis.fingerprint;
    assert!(memory.forget(fingerprint.clone(), Forget::Fixes).await.unwrap());
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap(), Vec::new());
    assert_eq!(memory.show(fingerprint.to_string()).await.unwrap().unwrap().known.count, 1);
    assert!(memory.forget(fingerprint.clone(), Forget::Everything).await.unwrap());
    assert!(!memory.forget(fingerprint.clone(), Forget::Everything).await.unwrap());
    assert_eq!(memory.show(fingerprint.to_string()).await.unwrap(), None);
    assert_eq!(memory.search("mismatched".into(), 5).await.unwrap(), Vec::new());
    // It can be learned again.
    fixed(&memory, "b", MISMATCH).await;
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap().len(), 1);
}

pub(crate) async fn what_is_old_and_was_never_seen_again_fades(memory: FailureMemory) {
    fixed(&memory, "often1", MISMATCH).await;
    fixed(&memory, "often2", MISMATCH).await;
    fixed(&memory, "once", "error: seen once only").await;
    let days_after = |days: i64| at(500) + jiff::SignedDuration::from_hours(24 * days);
    assert_eq!(memory.decay(days_after(179)).await.unwrap(), 0);
    assert_eq!(memory.decay(days_after(180)).await.unwrap(), 1);
    assert_eq!(memory.similar(asks(MISMATCH)).await.unwrap().len(), 1);
    assert_eq!(memory.decay(days_after(729)).await.unwrap(), 0);
    assert_eq!(memory.decay(days_after(730)).await.unwrap(), 1);
    assert_eq!(memory.statistics().await.unwrap().failures, 0);
}

async fn exported(memory: &FailureMemory) -> Vec<MemoryRecord> {
    let (mut records, mut from) = (Vec::new(), 0);
    loop {
        let page = memory.export(from, 2).await.unwrap();
        records.extend(page.records);
        match page.next {
            Some(next) => from = next,
            None => return records,
        }
    }
}

pub(crate) async fn an_export_builds_the_memory_anew_and_a_second_import_changes_nothing(memory: FailureMemory) {
    for number in 0..3 {
        fixed(&memory, &format!("e{number}"), &format!("error of `Kind{number}x` with {}", "y".repeat(number))).await;
    }
    let occurrence = seen(MISMATCH, place("open", 1, TESTS));
    memory.capture(occurrence.clone()).await.unwrap();
    memory.record_suggestions(vec![suggestion("try this", SuggestionSource::Cause, &occurrence)]).await.unwrap();
    let records = exported(&memory).await;
    assert_eq!(records.len(), 4 + 4 + 3 + 1);
    let before = memory.statistics().await.unwrap();
    assert_eq!(memory.import(records.clone()).await.unwrap(), Imported { added: 0, known: 12 });
    assert_eq!(exported(&memory).await, records);

    for record in &records {
        memory.forget(record.fingerprint().clone(), Forget::Everything).await.unwrap();
    }
    assert_eq!(memory.statistics().await.unwrap().failures, 0);
    let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    let read: Vec<MemoryRecord> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(memory.import(read).await.unwrap(), Imported { added: 12, known: 0 });
    assert_eq!(exported(&memory).await, records);
    assert_eq!(memory.statistics().await.unwrap(), before);
    assert_eq!(memory.similar(asks("error of `Kind1x` with y")).await.unwrap()[0].closeness, Closeness::Exact);
}

pub(crate) async fn records_that_cannot_be_true_are_refused_by_their_place_and_nothing_is_kept(memory: FailureMemory) {
    fixed(&memory, "a", MISMATCH).await;
    let records = exported(&memory).await;
    memory.forget(records[0].fingerprint().clone(), Forget::Everything).await.unwrap();
    let mut broken = records.clone();
    if let MemoryRecord::Fix { link, .. } = &mut broken[2] {
        link.change.attempt = link.failed_attempt;
    }
    let error = memory.import(broken).await.unwrap_err();
    assert!(matches!(error, MemoryError::Record { index: 2, .. }), "{error:?}");
    let orphans = records[1..].to_vec();
    let error = memory.import(orphans).await.unwrap_err();
    assert!(matches!(error, MemoryError::Orphan { index: 0, .. }), "{error:?}");
    assert_eq!(memory.statistics().await.unwrap().failures, 0);
}

pub(crate) async fn secrets_are_masked_before_they_are_kept(memory: FailureMemory) {
    const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let line = format!("error: request with token {KEY} was refused");
    let occurrence = seen(&line, place("a", 1, TESTS));
    memory.capture(occurrence.clone()).await.unwrap();
    let text = format!("export GITHUB_TOKEN={KEY}");
    memory.record_suggestions(vec![suggestion(&text, SuggestionSource::Cause, &occurrence)]).await.unwrap();
    let mut passed = answer("a", 2, &[TESTS], &[]);
    passed.change.diff = format!("+GITHUB_TOKEN={KEY}\n");
    memory.resolve_outstanding(passed).await.unwrap();
    let kept = serde_json::to_string(&exported(&memory).await).unwrap();
    assert!(!kept.contains(KEY), "{kept}");
    assert!(kept.contains("[secret]"), "{kept}");
}
