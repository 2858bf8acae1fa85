//! The rule table keeps its own promises: every example matches, nothing stands twice, examples are judged rightly.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use helix_core::failure::{Classifier, FailureObservation, Log, rule_table};

#[test]
fn every_rule_matches_its_examples_and_not_its_counterexamples() {
    let mut wrong = Vec::new();
    for rule in rule_table() {
        let pattern = regex::Regex::new(&rule.expanded()).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
        assert!(!rule.yes.is_empty() && !rule.no.is_empty(), "{} lacks examples", rule.id);
        wrong.extend(
            rule.yes.iter().filter(|text| !pattern.is_match(text)).map(|text| format!("{} misses {text}", rule.id)),
        );
        wrong.extend(
            rule.no.iter().filter(|text| pattern.is_match(text)).map(|text| format!("{} takes {text}", rule.id)),
        );
        assert!((1..=100).contains(&rule.priority), "{}", rule.id);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_rule_stands_twice() {
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut patterns: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for rule in rule_table() {
        *ids.entry(rule.id).or_default() += 1;
        *patterns.entry((rule.pattern, rule.cause.slug)).or_default() += 1;
    }
    assert!(ids.values().all(|count| *count == 1), "{ids:?}");
    assert!(patterns.values().all(|count| *count == 1), "{patterns:?}");
}

#[test]
fn an_example_alone_is_judged_as_its_rule_says_whatever_other_rules_say() {
    let classifier = Classifier::new().unwrap();
    let mut wrong = Vec::new();
    for rule in rule_table() {
        for example in rule.yes {
            let observation = FailureObservation {
                tool: rule.tools.first().copied().unwrap_or_default().to_owned(),
                phase: rule.phases.first().copied().unwrap_or_default().to_owned(),
                ..FailureObservation::default()
            };
            let got = classifier.classify(&observation, &Log::of_texts("", example));
            if got.category != rule.cause.category {
                wrong.push(format!("{} {example:?}: {} by {}", rule.id, got.category, got.evidence.decided_by));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
