use helix_adr::{Adr, NoRepo, built_in_rules, check, complete};
use helix_plan::Plan;

use super::*;

#[test]
fn what_the_consultant_writes_is_valid() {
    let plan = Plan::parse("phases.yaml", PLAN).unwrap();
    assert_eq!((plan.plan.phases.len(), plan.warnings), (2, Vec::new()));
    let adr = Adr::parse("adr-draft.md", ADR);
    assert_eq!(check(&adr, &NoRepo), []);
    assert_eq!(complete(&adr, &built_in_rules()), []);
}

#[test]
fn the_correction_applies_to_the_first_try() {
    assert_eq!(SOURCE.matches(CORRECTION[0]).count(), 1);
}
