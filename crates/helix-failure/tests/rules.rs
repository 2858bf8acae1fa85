//! The rule table keeps its own promises: every example matches, nothing stands twice, examples are judged rightly.

use std::collections::BTreeMap;

use crate::world::training::rule_examples;
use helix_failure::{Classifier, FailureObservation, LogSample, rule_table};

#[test]
fn every_rule_matches_its_examples_and_not_its_counterexamples() {
    let mut wrong = Vec::new();
    let examples = rule_examples();
    assert_eq!(examples.len(), rule_table().count());
    for (id, yes, no) in &examples {
        let rule = rule_table().find(|rule| rule.id == *id).unwrap();
        let pattern = regex::Regex::new(&rule.expanded()).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
        assert!(!yes.is_empty() && !no.is_empty(), "{} lacks examples", rule.id);
        wrong
            .extend(yes.iter().filter(|text| !pattern.is_match(text)).map(|text| format!("{} misses {text}", rule.id)));
        wrong.extend(no.iter().filter(|text| pattern.is_match(text)).map(|text| format!("{} takes {text}", rule.id)));
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
    for (id, yes, _) in rule_examples() {
        let rule = rule_table().find(|rule| rule.id == id).unwrap();
        for example in yes {
            let observation = FailureObservation {
                tool: rule.tools.first().copied().unwrap_or_default().to_owned(),
                phase: rule.phases.first().copied().unwrap_or_default().to_owned(),
                ..FailureObservation::default()
            };
            let got = classifier.classify(&observation, &LogSample::from_texts("", example));
            if got.category != rule.cause.category {
                wrong.push(format!("{} {example:?}: {} by {}", rule.id, got.category, got.evidence.decided_by));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Acceptance, *Load* (3 cases): the table loads; loading it twice changes nothing; the functions of the contract are there
/// (`failure_report.rs` calls suggest and the forms of reports, the store's tests similar, record and resolve).
#[test]
fn the_table_loads_twice_and_gives_the_same_answers() {
    let (first, second) = (Classifier::new().unwrap(), Classifier::new().unwrap());
    let log = LogSample::from_texts("", "error: linker `cc` not found");
    let observation = FailureObservation::default();
    assert_eq!(first.classify(&observation, &log), second.classify(&observation, &log));
}

/// Acceptance, *Categorise* (14 cases): one for each of the ten; nothing; several lines; any case of letters; words of
/// several categories at once.
#[test]
fn each_category_is_reached_and_words_of_others_do_not_mislead() {
    let classifier = Classifier::new().unwrap();
    let category = |text: &str| {
        classifier.classify(&FailureObservation::default(), &LogSample::from_texts("", text)).category.word()
    };
    for (text, wanted) in [
        ("cat: data.csv: No such file or directory", "FILE_ACCESS"),
        ("TypeError: cart.add is not a function\n    at f (/x/a.js:1:2)", "FUNCTION_ERROR"),
        ("SyntaxError: Unexpected token '}'\n    at f (/x/a.js:1:2)", "SYNTAX_ERROR"),
        ("AssertionError: expected 3 to be 4", "ASSERTION_FAILURE"),
        ("src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.", "TYPE_ERROR"),
        ("Error: Test timed out in 5000ms.", "TIMEOUT"),
        ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "MEMORY_ERROR"),
        ("curl: (6) Could not resolve host: api.example", "NETWORK_ERROR"),
        ("write: No space left on device", "RESOURCE_ERROR"),
        ("CONFLICT (content): Merge conflict in a.rs", "UNKNOWN"),
        ("", "UNKNOWN"),
        ("starting\nstep 1 ok\nconnect ECONNREFUSED 127.0.0.1:5432\nstopping\n", "NETWORK_ERROR"),
        ("ERROR: NO SPACE LEFT ON DEVICE", "RESOURCE_ERROR"),
        (
            "AssertionError: expected 'connection refused, out of memory, permission denied' to be ''",
            "ASSERTION_FAILURE",
        ),
    ] {
        assert_eq!(category(text), wanted, "{text}");
    }
}
