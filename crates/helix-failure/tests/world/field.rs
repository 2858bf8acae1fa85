//! Reads the labelled failures that are written as text: a head line, then the log, its cause marked with `»`.

use helix_failure::{FailureObservation, LogSample, Termination};
use serde_json::json;

use super::{Case, records};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../fixtures/failures/", $name))
    };
}

/// Every set by its name, the corpus first. `docs/failures.md` says how each came about.
pub(crate) fn sets() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("corpus", records(fixture!("corpus.jsonl"))),
        ("field-1", read(fixture!("field-1.txt"))),
        ("field-2", read(fixture!("field-2.txt"))),
        ("field-3", read(fixture!("field-3.txt"))),
        ("field-4", records(fixture!("field-4.jsonl"))),
        ("field-5", records(fixture!("field-5.jsonl"))),
        ("field-6", records(fixture!("field-6.jsonl"))),
        ("field-7", records(fixture!("field-7.jsonl"))),
        ("field-8", records(fixture!("field-8.jsonl"))),
        ("field-9", records(fixture!("field-9.jsonl"))),
        ("field-10", records(fixture!("field-10.jsonl"))),
        ("field-11", records(fixture!("field-11.jsonl"))),
        ("field-12", records(fixture!("field-12.jsonl"))),
        ("field-14", records(fixture!("field-14.jsonl"))),
        ("field-15", records(fixture!("field-15.jsonl"))),
    ]
}

/// Failures produced by running tools after everything else was done. Nothing is learned from them: they say how the classifier
/// does at first contact.
pub(crate) fn held_out() -> [Vec<Case>; 2] {
    [records(fixture!("field-13.jsonl")), records(fixture!("field-16.jsonl"))]
}

/// Every case of all sets.
pub(crate) fn all() -> Vec<Case> {
    sets().into_iter().flat_map(|(_, cases)| cases).collect()
}

/// `### id tool phase exit CATEGORY/cause retry blame flags`; alternatives after `|`; `\e` is an escape character.
fn read(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in text.split("\n### ").skip(2) {
        let (head, log) = part.split_once('\n').unwrap_or((part, ""));
        let words: Vec<&str> = head.split_whitespace().collect();
        let [id, tool, phase, exit, label, retry, blame, flags @ ..] = words.as_slice() else {
            panic!("{head}");
        };
        let (category, cause) = label.split_once('/').unwrap();
        let log = log.replace("\\e", "\u{1b}");
        let cause_line = log.lines().find_map(|line| line.strip_prefix('»')).unwrap_or_default().to_owned();
        let log: Vec<&str> = log.lines().map(|line| line.strip_prefix('»').unwrap_or(line)).collect();
        let flag = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
        let first = |words: &str| words.split('|').next().unwrap_or_default().to_owned();
        let all = |words: &str| words.split('|').map(str::to_owned).collect::<Vec<_>>();
        cases.push(Case {
            id: (*id).to_owned(),
            observation: FailureObservation {
                tool: (*tool).to_owned(),
                phase: (*phase).to_owned(),
                argv: Vec::new(),
                termination: match exit.parse::<i32>() {
                    Ok(signal @ ..=-1) => Termination::Signaled { signal: -signal },
                    Ok(code) => Termination::Exited { code },
                    Err(_) => Termination::Unknown,
                },
                http_status: flag("http=").map(|status| status.parse().unwrap()),
                api_error_type: flag("api=").map(str::to_owned),
                deadline_passed: flags.contains(&"timeout"),
                oom_kills: u32::from(flags.contains(&"oom")),
                ..FailureObservation::default()
            },
            log: LogSample::from_texts("", &log.join("\n")),
            labels: json!({
                "category": category, "cause": cause, "cause_line": cause_line,
                "retry": first(retry), "blame": first(blame), "alt": {"retry": all(retry), "blame": all(blame)},
            }),
        });
    }
    cases
}
