use helix_adr::{Adr, NoRepo, built_in_rules, check, complete};

use super::super::flavour::ALL;
use super::*;

#[test]
fn what_the_consultant_writes_is_valid_in_every_flavour() {
    for flavour in ALL {
        let plan = plan_of(flavour).unwrap();
        assert_eq!((plan.plan.phases.len(), plan.warnings), (2, Vec::new()), "{}", flavour.name);
        let cassette = cassette(flavour, "/s", "/c", "/p");
        let text = cassette.pointer("/takes/0/actions/2/write/text").and_then(Value::as_str).unwrap();
        let adr = Adr::parse("adr-draft.md", text);
        assert_eq!(check(&adr, &NoRepo), [], "{}", flavour.name);
        assert_eq!(complete(&adr, &built_in_rules()), [], "{}", flavour.name);
    }
}

#[test]
fn the_correction_applies_to_the_first_try() {
    for flavour in ALL {
        assert_eq!(flavour.first.matches(flavour.find).count(), 1, "{}", flavour.name);
    }
}
