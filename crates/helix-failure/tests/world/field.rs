//! Reads the labelled failures that are written as text: a head line, then the log, its cause marked with `»`.

use helix_failure::{FailureObservation, Log, Termination};
use serde_json::json;

use super::{Case, records};

/// The first set: the rules were mended by it.
const FIRST: &str = include_str!("../fixtures/failures/field-1.txt");

/// The second set: put together after that.
const SECOND: &str = include_str!("../fixtures/failures/field-2.txt");

/// Every case of the second set.
pub(crate) fn second() -> Vec<Case> {
    read(SECOND)
}

/// The third set: common tools, put together last.
const THIRD: &str = include_str!("../fixtures/failures/field-3.txt");

/// Every case of the third set.
pub(crate) fn third() -> Vec<Case> {
    read(THIRD)
}

/// Failures of common tools, produced by running them.
const FOURTH: &str = include_str!("../fixtures/failures/field-4.jsonl");

/// Failures of less common tools, produced by running them.
const FIFTH: &str = include_str!("../fixtures/failures/field-5.jsonl");

/// Wrapped, killed, starved, foreign-language failures, and public ones; put together after the rules were mended by the others.
const SIXTH: &str = include_str!("../fixtures/failures/field-6.jsonl");

/// Further causes of the commonest tools, put together last.
const SEVENTH: &str = include_str!("../fixtures/failures/field-7.jsonl");

/// Every case of the seventh set.
pub(crate) fn seventh() -> Vec<Case> {
    records(SEVENTH)
}

/// Failures of tools and languages that nobody had thought of before, put together after all others.
const EIGHTH: &str = include_str!("../fixtures/failures/field-8.jsonl");

/// Every case of the eighth set.
pub(crate) fn eighth() -> Vec<Case> {
    records(EIGHTH)
}

/// Failures of tools that were installed anyway, produced by running them with other faults than before; none of them had a rule.
const NINTH: &str = include_str!("../fixtures/failures/field-9.jsonl");

/// Failures of 90 further tools, libraries and languages, produced by running them.
const TENTH: &str = include_str!("../fixtures/failures/field-10.jsonl");

/// Further causes of the commonest tools, produced by running them, after words were weighed.
const ELEVENTH: &str = include_str!("../fixtures/failures/field-11.jsonl");

/// Every case of the eleventh set.
pub(crate) fn eleventh() -> Vec<Case> {
    records(ELEVENTH)
}

/// Small tools and libraries that no set had before, produced by running them, last of all.
const TWELFTH: &str = include_str!("../fixtures/failures/field-12.jsonl");

/// Every case of the twelfth set.
pub(crate) fn twelfth() -> Vec<Case> {
    records(TWELFTH)
}

/// Every case of the ninth set.
pub(crate) fn ninth() -> Vec<Case> {
    records(NINTH)
}

/// Every case of the tenth set.
pub(crate) fn tenth() -> Vec<Case> {
    records(TENTH)
}

/// Every case of the fourth set.
pub(crate) fn fourth() -> Vec<Case> {
    records(FOURTH)
}

/// Every case of the fifth set.
pub(crate) fn fifth() -> Vec<Case> {
    records(FIFTH)
}

/// Every case of the sixth set.
pub(crate) fn sixth() -> Vec<Case> {
    records(SIXTH)
}

/// Every case of all sets and of the corpus.
pub(crate) fn all() -> Vec<Case> {
    let sets = [
        first(),
        second(),
        third(),
        fourth(),
        fifth(),
        sixth(),
        seventh(),
        eighth(),
        ninth(),
        tenth(),
        eleventh(),
        twelfth(),
    ];
    super::cases().into_iter().chain(sets.into_iter().flatten()).collect()
}

/// Every case of the first set.
pub(crate) fn first() -> Vec<Case> {
    read(FIRST)
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
                own_check: None,
            },
            log: Log::of_texts("", &log.join("\n")),
            labels: json!({
                "category": category, "cause": cause, "cause_line": cause_line,
                "retry": first(retry), "blame": first(blame), "alt": {"retry": all(retry), "blame": all(blame)},
            }),
        });
    }
    cases
}
