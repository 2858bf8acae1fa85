//! The labelled corpus, read, classified and scored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub(crate) mod field;
pub(crate) mod training;

use std::collections::BTreeMap;

use helix_failure::{Classified, Classifier, FailureObservation, LogSample, Termination};
use serde_json::Value;

/// Parts that the tools are dealt into.
pub(crate) const PARTS: usize = 5;

/// Which part a tool belongs to.
pub(crate) fn part(tool: &str) -> usize {
    tool.bytes().fold(7, |hash: usize, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte))) % PARTS
}

pub(crate) struct Case {
    pub id: String,
    pub observation: FailureObservation,
    pub log: LogSample,
    pub labels: Value,
}

/// The cases of a set in the corpus' form.
pub(crate) fn records(text: &str) -> Vec<Case> {
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| value[key].as_i64().map(|number| i32::try_from(number).unwrap());
            let termination = match (number("signal"), number("exit_code")) {
                (Some(signal), _) => Termination::Signaled { signal },
                (None, Some(code)) => Termination::Exited { code },
                (None, None) => Termination::Unknown,
            };
            Case {
                id: text("id"),
                observation: FailureObservation {
                    tool: text("tool"),
                    phase: text("phase"),
                    argv: value["argv"].as_array().unwrap().iter().map(|part| part.as_str().unwrap().into()).collect(),
                    termination,
                    http_status: number("http_status").map(|status| u16::try_from(status).unwrap()),
                    api_error_type: value["api_error_type"].as_str().map(str::to_owned),
                    deadline_passed: value["timed_out"].as_bool().unwrap(),
                    oom_kills: u32::from(value["oom_kill"].as_bool().unwrap()),
                    ..FailureObservation::default()
                },
                log: LogSample::from_texts(&text("stdout_tail"), &text("stderr_tail")),
                labels: value["labels"].clone(),
            }
        })
        .collect()
}

/// The scorer's figures.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub category_accuracy: f64,
    pub category_macro_f1: f64,
    pub confident_wrong_rate: f64,
    /// As `category_accuracy`, where a label names another reading as equally right.
    pub category_accuracy_lenient: f64,
    pub confident_wrong_rate_lenient: f64,
    pub retry_accuracy_lenient: f64,
    pub blame_accuracy_lenient: f64,
    pub cause_line_accuracy: f64,
}

fn label<'a>(case: &'a Case, key: &str) -> &'a str {
    case.labels[key].as_str().unwrap()
}

fn lenient(case: &Case, key: &str, predicted: &str) -> bool {
    let alternatives = case.labels["alt"][key].as_array();
    label(case, key) == predicted || alternatives.is_some_and(|all| all.iter().any(|other| other == predicted))
}

/// Whether the line that was named is the labelled one, as the scorer compares them.
pub(crate) fn right_line(case: &Case, classified: &Classified) -> bool {
    let named = classified.cause_line.as_ref().map(|line| line.text.trim()).unwrap_or_default();
    named == label(case, "cause_line").trim()
}

/// Scores predictions with the definitions of the corpus' scorer, at threshold 0.5.
#[allow(clippy::cast_precision_loss, reason = "hundreds of cases")]
pub(crate) fn score(predictions: &[(&Case, Classified)]) -> Figures {
    let count = predictions.len() as f64;
    let share = |hits: usize| hits as f64 / count;
    let mut table: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    let gold: Vec<&str> = predictions.iter().map(|(case, _)| label(case, "category")).collect();
    for ((_, predicted), gold) in predictions.iter().zip(&gold) {
        let predicted = predicted.category.word();
        if predicted == *gold {
            table.entry(predicted.into()).or_default()[0] += 1.0;
        } else {
            table.entry(predicted.into()).or_default()[1] += 1.0;
            table.entry((*gold).into()).or_default()[2] += 1.0;
        }
    }
    let scores: Vec<f64> = table
        .iter()
        .filter(|(class, _)| gold.contains(&class.as_str()))
        .map(|(_, [hit, extra, missed])| if *hit == 0.0 { 0.0 } else { 2.0 * hit / (2.0 * hit + extra + missed) })
        .collect();
    let of = |test: &dyn Fn(&(&Case, Classified)) -> bool| predictions.iter().filter(|one| test(one)).count();
    let with_line: Vec<_> = predictions.iter().filter(|(case, _)| !label(case, "cause_line").is_empty()).collect();
    Figures {
        category_accuracy: share(of(&|(case, got)| label(case, "category") == got.category.word())),
        category_macro_f1: scores.iter().sum::<f64>() / scores.len() as f64,
        confident_wrong_rate: share(of(&|(case, got)| {
            let got_label = got.category.word();
            label(case, "category") != got_label && got_label != "UNKNOWN" && got.confidence >= 0.5
        })),
        category_accuracy_lenient: share(of(&|(case, got)| lenient(case, "category", got.category.word()))),
        confident_wrong_rate_lenient: share(of(&|(case, got)| {
            let got_label = got.category.word();
            !lenient(case, "category", got_label) && got_label != "UNKNOWN" && got.confidence >= 0.5
        })),
        retry_accuracy_lenient: share(of(&|(case, got)| lenient(case, "retry", got.retry.word()))),
        blame_accuracy_lenient: share(of(&|(case, got)| lenient(case, "blame", got.blame.word()))),
        cause_line_accuracy: with_line.iter().filter(|(case, got)| right_line(case, got)).count() as f64
            / with_line.len() as f64,
    }
}

/// What differs from the labels, for whoever mends the rules.
pub(crate) fn misses(predictions: &[(&Case, Classified)]) -> String {
    let mut told = String::new();
    for (case, got) in predictions {
        let category = label(case, "category") == got.category.word();
        let line = label(case, "cause_line").is_empty() || right_line(case, got);
        let retry = lenient(case, "retry", got.retry.word());
        let blame = lenient(case, "blame", got.blame.word());
        if category && line && retry && blame {
            continue;
        }
        let flag = |right: bool, name: &'static str| if right { "" } else { name };
        let named = got.cause_line.as_ref().map(|line| line.text.as_str()).unwrap_or_default();
        let cut = |text: &str| text.chars().take(150).collect::<String>();
        told += &format!(
            "{} {} {:?} [{}{}{}{}]\n   want {}/{} {} {}\n   got  {}/{} {} {} {} {}\n   want> {}\n   got > {}\n",
            case.id,
            case.observation.tool,
            case.observation.termination,
            flag(category, "CATEGORY "),
            flag(line, "line "),
            flag(retry, "retry "),
            flag(blame, "blame"),
            label(case, "category"),
            label(case, "cause"),
            label(case, "retry"),
            label(case, "blame"),
            got.category.word(),
            got.cause,
            got.retry.word(),
            got.blame.word(),
            got.confidence,
            got.evidence.decided_by,
            cut(label(case, "cause_line")),
            cut(named),
        );
    }
    told
}

/// On all processors: most of what these tests take is classifying.
pub(crate) fn predictions<'a>(classifier: &Classifier, cases: &'a [Case]) -> Vec<(&'a Case, Classified)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let predict = |case: &'a Case| (case, classifier.classify(&case.observation, &case.log));
    std::thread::scope(|scope| {
        let each = |part: &'a [Case]| scope.spawn(move || part.iter().map(predict).collect::<Vec<_>>());
        let parts: Vec<_> = cases.chunks(cases.len().div_ceil(threads).max(1)).map(each).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}
