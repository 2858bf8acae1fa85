//! No text whatever makes the classifier or the fingerprint panic; the same text gives the same answer.

use std::sync::LazyLock;

use helix_failure::memory::Diagnosis;
use helix_failure::{Classifier, FailureObservation, LogCollector, LogSample, Stream, Termination, actions, normalise};
use proptest::prelude::*;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::new().unwrap());

fn judged(observation: &FailureObservation, log: &LogSample) {
    let got = CLASSIFIER.classify(observation, log);
    assert_eq!(got, CLASSIFIER.classify(observation, log), "the same text gives the same answer");
    assert!((0.0..=1.0).contains(&got.confidence), "{got:?}");
    if let Some(line) = &got.cause_line {
        let there = log
            .lines
            .iter()
            .any(|kept| kept.raw == line.text && kept.number == line.number && kept.stream == line.stream);
        assert!(there, "a cause line is a line of the log: {line:?}");
    }
    let steps = actions("", &got);
    assert!((2..=4).contains(&steps.len()), "{steps:?}");
    assert_eq!(Diagnosis::new("cargo", &got), Diagnosis::new("cargo", &got));
}

/// Text made of what the rules look at, in any order and cut anywhere.
fn fragments() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("Traceback (most recent call last):\n".to_owned()),
        Just("  File \"a.py\", line 3\n".to_owned()),
        Just("thread 'x' panicked at a.rs:1:2:\n".to_owned()),
        Just("{\"type\":\"result\",\"is_error\":true,\"result\":3}\n".to_owned()),
        Just("{\"reason\":\"compiler-message\",\"message\":7}\n".to_owned()),
        Just("<failure message=\"a\" type=\"b\n".to_owned()),
        Just("\u{1b}[31merror[E0382]: \u{1b}".to_owned()),
        Just("E   ".to_owned()),
        Just(">   ".to_owned()),
        Just(">\u{e4}\n".to_owned()),
        Just("10%\r50%\r\n".to_owned()),
        Just("错误: 没有那个文件或目录\n".to_owned()),
        "\\PC{0,20}",
    ];
    prop::collection::vec(words, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_it(stdout in fragments(), stderr in fragments(), code in any::<i32>(), signal in any::<Option<i32>>()) {
        let termination = signal.map_or(Termination::Exited { code }, |signal| Termination::Signaled { signal });
        let observation = FailureObservation { tool: "pytest".into(), termination, ..FailureObservation::default() };
        judged(&observation, &LogSample::from_texts(&stdout, &stderr));
    }

    #[test]
    fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..2_000), cut in 1_usize..64) {
        let mut pieces = LogCollector::new(Stream::Stdout);
        for piece in bytes.chunks(cut) {
            pieces.push(piece);
        }
        let mut whole = LogCollector::new(Stream::Stdout);
        whole.push(&bytes);
        let (pieces, whole) = (pieces.finish(), whole.finish());
        prop_assert_eq!(&pieces, &whole);
        judged(&FailureObservation::default(), &whole);
    }

    #[test]
    fn masking_twice_changes_nothing(message in fragments(), path in "(/[a-z]{1,6}){2,4}", number in any::<u64>()) {
        let once = normalise(&message);
        prop_assert_eq!(&normalise(&once), &once);
        prop_assert!(once.chars().count() <= 400);
        let one = normalise(&format!("cannot open {path} after {number} tries"));
        prop_assert_eq!(one, "cannot open <path> after <n> tries");
    }
}

#[test]
fn an_empty_log_is_an_answer_too() {
    let got = CLASSIFIER.classify(&FailureObservation::default(), &LogSample::default());
    assert_eq!((got.category.word(), got.cause, got.cause_line), ("UNKNOWN", "exit_without_reason", None));
}

#[test]
fn a_fingerprint_survives_paths_numbers_and_times_and_tells_messages_apart() {
    let print = |text: &str| {
        let got = CLASSIFIER.classify(&FailureObservation::default(), &LogSample::from_texts("", text));
        Diagnosis::new("python", &got).fingerprint
    };
    let one = "Traceback (most recent call last):\n  File \"/home/user/app/main.py\", line 9, in f\n    x\nKeyError: 'user' after 12 ms";
    let moved = "noise\nTraceback (most recent call last):\n  File \"/srv/b/app/main.py\", line 31, in f\n    x\nKeyError: 'user' after 7 ms";
    let other = one.replace("'user'", "'name'");
    assert_eq!(print(one), print(moved));
    assert_ne!(print(one), print(&other));
}

#[test]
fn a_huge_log_is_kept_in_bounded_memory_with_the_cause_in_its_middle() {
    let mut collector = LogCollector::new(Stream::Stdout);
    let filler = "[ 12%] Compiling something quite ordinary number 4711 of many\n".repeat(1_000);
    for _ in 0..40 {
        collector.push(filler.as_bytes());
    }
    collector.push(b"write: No space left on device (os error 28)\n");
    for _ in 0..40 {
        collector.push(filler.as_bytes());
    }
    let log = collector.finish();
    assert_eq!(log.seen, 80_001);
    assert!(log.lines.len() < 12_001, "{}", log.lines.len());
    let got = CLASSIFIER.classify(&FailureObservation::default(), &log);
    assert_eq!((got.cause, got.cause_line.map(|line| line.number)), ("disk_full", Some(40_001)));
}

/// Run with `--release -- --ignored`: a debug build says nothing about speed.
#[test]
#[ignore = "a measurement: 100 MB in 2 s and 200 cases in 1 s, in a release build"]
fn a_hundred_megabytes_take_less_than_two_seconds_and_two_hundred_cases_less_than_one() {
    let started = std::time::Instant::now();
    let classifier = Classifier::new().unwrap();
    println!("table: {:?}", started.elapsed());
    let started = std::time::Instant::now();
    let mut collector = LogCollector::new(Stream::Stdout);
    let block = (0..1_000)
        .map(|at| {
            format!("{at} src/a_{at}.rs:3: warning: error-like text, failed to be quiet, step {at} of many more\n")
        })
        .collect::<String>();
    let blocks = 100 * 1024 * 1024 / block.len() + 1;
    for _ in 0..blocks {
        collector.push(block.as_bytes());
    }
    let log = collector.finish();
    println!("collected: {:?}", started.elapsed());
    let got = classifier.classify(&FailureObservation::default(), &log);
    println!("classified: {:?} {}", started.elapsed(), got.cause);
    assert!(started.elapsed().as_secs_f64() < 2.0);
    let started = std::time::Instant::now();
    let cases = crate::world::field::sets().swap_remove(0).1;
    let predictions = crate::world::predictions(&classifier, &cases);
    println!("{} cases: {:?}", predictions.len(), started.elapsed());
    assert!(started.elapsed().as_secs_f64() < 1.0);
}

/// What breaks text: a piece lost, doubled, moved, replaced by other bytes, or the rest cut off.
#[derive(Debug, Clone)]
enum Mutation {
    Lose(usize, usize),
    Double(usize, usize),
    Replace(usize, u8),
    Cut(usize),
    Glue(usize),
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let one = prop_oneof![
        (any::<usize>(), 1_usize..200).prop_map(|(at, length)| Mutation::Lose(at, length)),
        (any::<usize>(), 1_usize..200).prop_map(|(at, length)| Mutation::Double(at, length)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        any::<usize>().prop_map(Mutation::Cut),
        any::<usize>().prop_map(Mutation::Glue),
    ];
    prop::collection::vec(one, 1..8)
}

fn mutated(text: &str, mutations: &[Mutation]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let size = bytes.len();
        match *mutation {
            Mutation::Lose(at, length) => {
                let at = at % size;
                bytes.drain(at..(at + length).min(size));
            }
            Mutation::Double(at, length) => {
                let at = at % size;
                let piece = bytes[at..(at + length).min(size)].to_vec();
                bytes.splice(at..at, piece);
            }
            Mutation::Replace(at, byte) => bytes[at % size] = byte,
            Mutation::Cut(at) => bytes.truncate(at % size),
            // The end of a line is lost: two streams wrote at once.
            Mutation::Glue(at) => {
                if let Some(found) = bytes[at % size..].iter().position(|byte| *byte == b'\n') {
                    bytes.remove(at % size + found);
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn reported(observation: &FailureObservation, log: &LogSample) {
    use helix_failure::report::{FailurePlace, Look, Report, ReportRequest, Section};
    let classified = CLASSIFIER.classify(observation, log);
    let report = Report::build(ReportRequest {
        place: FailurePlace::default(),
        observation,
        classified: Section::Known(&classified),
        log,
        similar: Section::Known(Vec::new()),
        suggestions: &[],
    });
    assert!((2..=4).contains(&report.actions.len()));
    assert!(report.prompt(200).len() <= 600);
    assert!(report.markdown().len() < 64 * 1024, "GitHub takes no longer comment");
    assert!(!report.terminal(Look::Plain, "en").contains('\u{1b}'));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damaged_log_breaks_a_parser(at in any::<prop::sample::Index>(), mutations in mutations()) {
        let corpus = include_str!("fixtures/failures/corpus.jsonl").lines().collect::<Vec<_>>();
        let case: serde_json::Value = serde_json::from_str(corpus[at.index(corpus.len())]).unwrap();
        let text = |key: &str| mutated(case[key].as_str().unwrap(), &mutations);
        let log = LogSample::from_texts(&text("stdout_tail"), &text("stderr_tail"));
        let observation = FailureObservation { tool: case["tool"].as_str().unwrap().into(), ..FailureObservation::default() };
        judged(&observation, &log);
        reported(&observation, &log);
    }

    #[test]
    fn what_varies_from_run_to_run_is_masked(
        path in "(/[a-z]{1,6}){2,4}\\.rs", number in 0_u64..1_000_000_000, hexadecimal in "0x[0-9a-f]{4,16}",
        id in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", hour in 0_u32..24, minute in 0_u32..60, request in "req_[A-Za-z0-9]{8,24}",
    ) {
        let text = format!("{path}: {number} of {hexadecimal} in {id} at 2026-03-04T{hour:02}:{minute:02}:09Z for {request}");
        prop_assert_eq!(normalise(&text), "<path>: <n> of <id> in <id> at <time> for <id>");
    }
}

/// Ten times the line takes about ten times as long, whatever it is made of; and none breaks a report.
#[test]
fn huge_lines_take_linear_time() {
    let pieces = [
        "{\"type\":",
        "[[[[",
        "<failure message=\"",
        "a: ",
        "expected ",
        "File \"a\", line 1",
        "::",
        "\u{1b}[31m",
        "at f (a.js:1:2) ",
        "错误",
        "://a@b",
        "error: ",
        "cannot find ",
        "-----BEGIN PRIVATE KEY-----",
    ];
    for piece in pieces {
        let line = piece.repeat(2_000_000 / piece.len());
        let started = std::time::Instant::now();
        let log = LogSample::from_texts("", &line);
        judged(&FailureObservation::default(), &log);
        reported(&FailureObservation::default(), &log);
        assert!(started.elapsed().as_secs() < 30, "{piece:?}: {:?}", started.elapsed());
    }
}
