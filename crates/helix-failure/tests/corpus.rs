//! The classifier reaches its bars on the labelled corpus, on each half of it as well.

use crate::world::{Figures, field, misses, predictions, score};
use helix_failure::{Classifier, FailureObservation, LogSample, Termination};

/// The bars of the corpus and of the sets that rules were written for.
fn high(name: &str, figures: &Figures, misses: &str) {
    println!("{name}: {figures:?}");
    assert!(figures.category_accuracy >= 0.95, "{name}: {figures:?}\n{misses}");
    assert!(figures.category_macro_f1 >= 0.93, "{name}: {figures:?}\n{misses}");
    assert!(figures.confident_wrong_rate <= 0.02, "{name}: {figures:?}\n{misses}");
    assert!(figures.retry_accuracy_lenient >= 0.92, "{name}: {figures:?}\n{misses}");
    assert!(figures.blame_accuracy_lenient >= 0.92, "{name}: {figures:?}\n{misses}");
    assert!(figures.cause_line_accuracy >= 0.85, "{name}: {figures:?}\n{misses}");
}

/// The bars of the sets that no rule was written for.
fn lower(name: &str, figures: &Figures, line: f64, misses: &str) {
    println!("{name}: {figures:?}");
    assert!(figures.category_accuracy >= 0.88, "{name}: {figures:?}\n{misses}");
    assert!(figures.confident_wrong_rate <= 0.02, "{name}: {figures:?}\n{misses}");
    assert!(figures.retry_accuracy_lenient >= 0.95, "{name}: {figures:?}\n{misses}");
    assert!(figures.blame_accuracy_lenient >= 0.95, "{name}: {figures:?}\n{misses}");
    assert!(figures.cause_line_accuracy >= line, "{name}: {figures:?}\n{misses}");
}

#[test]
fn the_bars_hold_on_every_set_and_on_each_half_of_the_corpus() {
    let classifier = Classifier::new().unwrap();
    for (name, cases) in field::sets() {
        let all = predictions(&classifier, &cases);
        match name {
            "corpus" => {
                let (first, second) = all.split_at(cases.len() / 2);
                for (name, half) in [("first half", first), ("second half", second), (name, all.as_slice())] {
                    high(name, &score(half), &misses(half));
                }
            }
            "field-9" | "field-10" | "field-11" | "field-12" => lower(name, &score(&all), 0.88, &misses(&all)),
            // Its labels name a line within a test's output more often than the line that its runner ends with.
            "field-14" | "field-15" => lower(name, &score(&all), 0.80, &misses(&all)),
            _ => high(name, &score(&all), &misses(&all)),
        }
    }
}

/// At first contact 13 had category 0.890 and confidently wrong 0.022.
#[test]
fn failures_that_nothing_was_learned_from_are_judged_nearly_as_well() {
    let classifier = Classifier::new().unwrap();
    let bars = [(300, [0.91, 0.02], [0.91, 0.02]), (500, [0.94, 0.02], [0.95, 0.02])];
    for (cases, (count, strict, lenient)) in field::held_out().iter().zip(bars) {
        let all = predictions(&classifier, cases);
        let figures = score(&all);
        println!("held out: {figures:?}");
        assert!(all.len() >= count, "the set is there: {}", all.len());
        assert!(figures.category_accuracy >= strict[0], "{figures:?}");
        assert!(figures.confident_wrong_rate <= strict[1], "{figures:?}");
        assert!(figures.category_accuracy_lenient >= lenient[0], "{figures:?}");
        assert!(figures.confident_wrong_rate_lenient <= lenient[1], "{figures:?}");
    }
}

/// A kill by the memory controller and the supervisor's deadline are known without a word of text.
#[test]
fn facts_decide_where_nothing_is_written() {
    let classifier = Classifier::new().unwrap();
    let killed = FailureObservation {
        tool: "cargo".into(),
        termination: Termination::Signaled { signal: 9 },
        ..FailureObservation::default()
    };
    let by = |observation: &FailureObservation| {
        let got = classifier.classify(observation, &LogSample::from_texts("", "Compiling a v1.0.0"));
        (got.category.word(), got.cause, got.evidence.decided_by)
    };
    assert_eq!(by(&killed), ("UNKNOWN", "killed_external", "fact:signal=9".to_owned()));
    assert_eq!(
        by(&FailureObservation { oom_kills: 1, ..killed.clone() }),
        ("MEMORY_ERROR", "oom_kill", "fact:oom_kills=1".to_owned())
    );
    assert_eq!(
        by(&FailureObservation { deadline_passed: true, ..killed }),
        ("TIMEOUT", "deadline", "fact:deadline passed".to_owned())
    );
}

/// What make says of its own file, what an agent's last word says of the network.
#[test]
fn the_cause_is_found_where_the_last_line_only_sums_up() {
    let classifier = Classifier::new().unwrap();
    let by = |tool: &str, code: i32, text: &str| {
        let termination = Termination::Exited { code };
        let observation = FailureObservation { tool: tool.into(), termination, ..FailureObservation::default() };
        let got = classifier.classify(&observation, &LogSample::from_texts("", text));
        (got.category.word(), got.cause, got.cause_line.unwrap().number)
    };
    assert_eq!(
        by("make", 2, "make: none.mk: No such file or directory\nmake: *** No rule to make target 'none.mk'.  Stop.\n"),
        ("FILE_ACCESS", "file_missing", 1)
    );
    let passed_on = "cp: cannot stat 'dist/app': No such file or directory\n\
        Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\n\
        subprocess.CalledProcessError: Command '['cp']' returned non-zero exit status 1.\n";
    assert_eq!(by("python", 1, passed_on), ("FILE_ACCESS", "file_missing", 1));
    let in_a_test =
        "not ok 1 - adds\n  ---\n  error: 'total is not defined'\n  code: 'ERR_TEST_FAILURE'\n  ...\n# fail 1\n";
    assert_eq!(by("node", 1, in_a_test), ("FUNCTION_ERROR", "missing_symbol", 3));
    let last_word = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: Unable to connect to API (EAI_AGAIN)"}"#;
    assert_eq!(by("claude-cli", 1, last_word), ("NETWORK_ERROR", "dns", 1));
}
