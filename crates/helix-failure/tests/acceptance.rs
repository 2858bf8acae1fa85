//! The 52 acceptance cases of failure intelligence, each with the test that proves it; the fourteen of the classifier are here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use helix_failure::{Category, Classifier, FailureObservation, Log, Termination};

const HERE: &str = "helix-failure/tests/acceptance.rs";
const REPORT: &str = "helix-failure/tests/report.rs";
const MEMORY: &str = "helix-store/tests/failure_memory.rs";
const CASES: &str = "helix-store/tests/failure_memory/cases.rs";
const DESK: &str = "helix-engine/src/failures/desk_test.rs";
const TERMINAL: &str = "helix/tests/failures/memory.rs";
const TROUBLE: &str = "helix/tests/failures/trouble.rs";
const JOBS: &str = "helix/tests/failures/reports.rs";

/// Group, case, file, test. Where the original speaks of shell functions and files, the case is what it stands for here.
const ACCEPTANCE: [(&str, &str, &str, &str); 52] = [
    // Load: the library is there, twice does no harm, its functions can be reached.
    ("load", "loads clean", DESK, "what_fixed_a_failure_is_in_the_prompt_when_it_comes_again_elsewhere"),
    ("load", "a second user does no harm", MEMORY, "a_reader_sees_what_a_writer_has_answered_and_cannot_write"),
    ("load", "all of it can be reached", TERMINAL, "what_is_remembered_is_listed_shown_searched_and_counted"),
    // Categorise.
    ("categorise", "FILE_ACCESS", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "FUNCTION_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "SYNTAX_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "ASSERTION_FAILURE", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "TYPE_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "TIMEOUT", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "MEMORY_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "NETWORK_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "RESOURCE_ERROR", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "UNKNOWN", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "empty", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "multi-line", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "mixed case", HERE, "each_category_and_the_four_special_cases"),
    ("categorise", "precedence", HERE, "each_category_and_the_four_special_cases"),
    // Query.
    ("query", "memory switched off", JOBS, "without_a_memory_everything_else_works_and_the_host_says_so_once"),
    ("query", "no directory", TERMINAL, "without_a_memory_there_is_nothing_and_a_damaged_one_is_named"),
    (
        "query",
        "too slow: cut at the deadline",
        MEMORY,
        "a_locked_memory_is_waited_for_until_the_deadline_and_no_longer",
    ),
    ("query", "shape of the answer", CASES, "what_fixed_it_is_recalled_for_the_same_failure_elsewhere"),
    ("query", "no more than asked for", CASES, "the_exact_one_comes_first_and_no_more_than_asked_for_come"),
    ("query", "malformed: nothing", MEMORY, "a_damaged_memory_recalls_nothing_and_says_why"),
    // Actions.
    ("actions", "at least two", REPORT, "every_cause_has_two_to_four_different_actions_with_every_tool"),
    ("actions", "at most four", REPORT, "every_cause_has_two_to_four_different_actions_with_every_tool"),
    ("actions", "the memory's first", REPORT, "actions_are_two_to_four_the_memorys_first_and_none_twice"),
    (
        "actions",
        "an unusable memory drops only its own",
        DESK,
        "without_a_memory_failures_are_classified_and_reported_all_the_same",
    ),
    ("actions", "one from the phase", REPORT, "the_last_attempt_is_told_to_change_the_approach"),
    ("actions", "UNKNOWN", REPORT, "an_empty_log_and_a_place_that_nobody_knows_give_a_report"),
    ("actions", "none twice", REPORT, "actions_are_two_to_four_the_memorys_first_and_none_twice"),
    // Terminal.
    ("terminal", "What failed", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "Why", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "Similar past failures", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "Suggested actions", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "phase", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "attempt", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "issue and goal", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    ("terminal", "NO_COLOR", REPORT, "terminal_has_four_sections_and_the_place_and_plain_has_no_boxes"),
    // GitHub.
    ("github", "headings", REPORT, "github_gets_headings_and_a_fenced_log_in_details_without_ansi"),
    ("github", "details", REPORT, "github_gets_headings_and_a_fenced_log_in_details_without_ansi"),
    ("github", "fenced log", REPORT, "github_gets_headings_and_a_fenced_log_in_details_without_ansi"),
    ("github", "no ANSI", REPORT, "github_gets_headings_and_a_fenced_log_in_details_without_ansi"),
    ("github", "hostile text", REPORT, "hostile_text_is_not_live_on_github"),
    // Tracking.
    ("tracking", "makes the file", TROUBLE, "a_memory_that_is_deleted_while_the_host_runs_is_begun_anew"),
    ("tracking", "valid JSON lines", TERMINAL, "an_export_is_imported_elsewhere_once_and_what_is_forgotten_is_gone"),
    (
        "tracking",
        "a second record keeps the first",
        MEMORY,
        "several_processes_capture_at_once_and_a_kill_loses_nothing_that_was_answered",
    ),
    ("tracking", "the event", REPORT, "events_have_their_names_and_fit_their_schema"),
    ("tracking", "resolve one", CASES, "one_suggestion_is_resolved_and_the_others_are_left"),
    ("tracking", "others untouched", CASES, "one_suggestion_is_resolved_and_the_others_are_left"),
    ("tracking", "unknown id", CASES, "one_suggestion_is_resolved_and_the_others_are_left"),
    ("tracking", "missing file", MEMORY, "files_that_cannot_be_a_memory_are_named_and_left_alone"),
    (
        "tracking",
        "resolving all touches open ones only",
        CASES,
        "suggestions_are_resolved_by_what_the_next_attempt_proves",
    ),
];

#[test]
fn each_category_and_the_four_special_cases() {
    let classifier = Classifier::new().unwrap();
    let deadline = FailureObservation { deadline_passed: true, ..FailureObservation::default() };
    let of = |tool: &str, code: i32| FailureObservation {
        tool: tool.into(),
        termination: Termination::Exited { code },
        ..FailureObservation::default()
    };
    for (case, observation, log, category) in [
        ("FILE_ACCESS", of("cat", 1), "cat: notes.txt: No such file or directory", Category::FileAccess),
        ("FUNCTION_ERROR", of("node", 1), "Error: Cannot find module 'left-pad'", Category::FunctionError),
        ("SYNTAX_ERROR", of("node", 1), "SyntaxError: Unexpected token '}'", Category::SyntaxError),
        ("ASSERTION_FAILURE", of("pytest", 1), "E       AssertionError: assert 1 == 2", Category::AssertionFailure),
        (
            "TYPE_ERROR",
            of("tsc", 2),
            "a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
            Category::TypeError,
        ),
        ("TIMEOUT", deadline, "", Category::Timeout),
        (
            "MEMORY_ERROR",
            of("node", 134),
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            Category::MemoryError,
        ),
        ("NETWORK_ERROR", of("curl", 7), "Error: connect ECONNREFUSED 127.0.0.1:5432", Category::NetworkError),
        ("RESOURCE_ERROR", of("cp", 1), "cp: error writing 'x': No space left on device", Category::ResourceError),
        ("UNKNOWN", of("tool", 1), "it did not work out today", Category::Unknown),
        ("empty", of("tool", 1), "", Category::Unknown),
        (
            "multi-line",
            of("cargo", 101),
            "   Compiling shop v0.1.0\nwarning: unused variable\nerror[E0308]: mismatched types\n --> src/a.rs:3:4\nerror: could not compile",
            Category::TypeError,
        ),
        ("mixed case", of("bash", 1), "/srv/notes.txt: NO SUCH FILE OR DIRECTORY", Category::FileAccess),
        // "expected", "failed" and "no such file" are all in it; a test's own assertion decides.
        (
            "precedence",
            of("pytest", 1),
            "E       AssertionError: expected the message 'No such file or directory', got 'timeout'\nFAILED tests/test_a.py::test_b",
            Category::AssertionFailure,
        ),
    ] {
        let classified = classifier.classify(&observation, &Log::of_texts("", log));
        assert_eq!(classified.category, category, "{case}: {classified:?}");
    }
}

/// A list that names tests that are not there proves nothing.
#[test]
fn every_case_has_its_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (group, case, file, test) in ACCEPTANCE {
        let text = texts.entry(file).or_insert_with(|| std::fs::read_to_string(crates.join(file)).unwrap());
        assert!(text.contains(&format!("fn {test}(")), "{group}, {case}: {file} has no test {test}");
        assert!(seen.insert((group, case)), "{group}, {case} is listed twice");
    }
    let count = |group: &str| ACCEPTANCE.iter().filter(|one| one.0 == group).count();
    let counts = ["load", "categorise", "query", "actions", "terminal", "github", "tracking"].map(count);
    assert_eq!(counts, [3, 14, 6, 7, 8, 5, 9]);
}
