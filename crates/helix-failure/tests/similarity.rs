//! The threshold of the similarity fallback is what the labelled sets say: measured again here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are what people run this test for")]

mod world;

use helix_failure::{Examples, RESEMBLANCE, rule_table};
use world::{Case, field};

/// Category of the nearest example of a rule that does not know the line itself, if it is near enough.
struct Answer {
    right: bool,
    resemblance: f64,
}

fn answers(cases: &[Case]) -> Vec<Answer> {
    let examples = Examples::new(rule_table());
    let patterns: Vec<_> = rule_table().map(|rule| (rule.id, regex::Regex::new(&rule.expanded()).unwrap())).collect();
    let mut answers = Vec::new();
    for case in cases {
        let line = case.labels["cause_line"].as_str().unwrap().trim();
        if line.is_empty() || line.starts_with('{') {
            continue;
        }
        let knowing: Vec<&str> =
            patterns.iter().filter(|(_, pattern)| pattern.is_match(line)).map(|(id, _)| *id).collect();
        if let Some((rule, resemblance)) = examples.nearest(line, |rule| knowing.contains(&rule.id)) {
            let right = rule.cause.category.label() == case.labels["category"].as_str().unwrap();
            answers.push(Answer { right, resemblance });
        }
    }
    answers
}

/// Above the threshold most nearest examples are right; far below it most are wrong, so that a lower one would not do.
#[test]
fn the_threshold_separates_right_from_wrong_neighbours() {
    let all = field::all();
    let answers = answers(&all);
    let precision = |from: f64, to: f64| {
        let within: Vec<_> = answers.iter().filter(|answer| (from..to).contains(&answer.resemblance)).collect();
        let right = within.iter().filter(|answer| answer.right).count();
        #[allow(clippy::cast_precision_loss, reason = "hundreds of cases")]
        let share = right as f64 / within.len().max(1) as f64;
        (within.len(), share)
    };
    for step in 0..10 {
        let from = f64::from(step) / 10.0;
        println!("{from:.1}: {:?}", precision(from, from + 0.1));
    }
    let (taken, above) = precision(RESEMBLANCE, 1.1);
    let (left, below) = precision(0.0, RESEMBLANCE / 2.0);
    println!("from {RESEMBLANCE}: {taken} taken, {above:.2} right; under half of it: {left}, {below:.2} right");
    assert!(taken >= 20, "{taken}");
    assert!(above >= 0.66, "{above}");
    assert!(below < 0.5, "{below}");
}
