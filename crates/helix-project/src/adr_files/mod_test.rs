#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use helix_adr::{NoRepo, check, complete};

use super::*;

/// What the Consultant is given as the form of an ADR is accepted by the rules that its ADRs are measured by.
#[test]
fn the_consultants_template_passes_the_rule_set() {
    let given = template();
    let inner = given.split_once("markdown\n").unwrap().1.trim_end_matches('`').trim_end();
    let adr = Adr::parse("draft.md", inner);
    // What is wrong with it is only that nobody has filled it in.
    let codes: Vec<String> = check(&adr, &NoRepo).into_iter().map(|one| one.code).collect();
    assert_eq!(codes, ["HX0232"]);
    let filled = Adr::parse("draft.md", &inner.replace("<command>", "shop export"));
    assert_eq!(complete(&adr, &built_in_rules()), []);
    assert_eq!(filled.criteria.len(), 3);
    assert!(filled.criteria.iter().all(|one| !one.evidence.is_empty()), "{:#?}", filled.criteria);
}
