//! What follows a decision that gets another number, and what stays.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const OWN: &str = "---\nadr_id: \"012\"\ntitle: JSON export\nstatus: accepted # yes\ndepends_on: [12, ADR-007]\n---\n\n\
    # ADR-012: JSON export\n\nADR 12 says so, see [it](012-json-export.md), not 012-csv-export.md, adr-0123 or quadr-012.\n";

fn json() -> Renumbering {
    Renumbering::new("012-json-export.md", 13).unwrap()
}

#[test]
fn a_decision_follows_its_number_and_nothing_else_changes() {
    let renamed = json().own(&Adr::parse("adr/012-json-export.md", OWN));
    let expected = OWN
        .replace("adr_id: \"012\"", "adr_id: \"013\"")
        .replace("# ADR-012:", "# ADR-013:")
        .replace("ADR 12 says", "ADR 13 says")
        .replace("(012-json", "(013-json");
    assert_eq!((renamed.text, renamed.changed), (expected, 4));
    assert_eq!(json().new_name(), "013-json-export.md");
    for (name, to, new) in [
        ("ADR-012-x.md", 7, Some("ADR-007-x.md")),
        ("0012-x.md", 13, Some("0013-x.md")),
        ("999-x.md", 1000, Some("1000-x.md")),
        ("x-012.md", 1, None),
        ("notes.md", 1, None),
    ] {
        assert_eq!(Renumbering::new(name, to).map(|one| one.new_name), new.map(str::to_owned), "{name}");
    }
}

#[test]
fn who_names_the_file_means_it_and_who_names_the_number_may_mean_another() {
    let text = "---\nadr_id: \"014\"\ntitle: T\nstatus: Proposed\nsupersedes: \"012\"\nrelated_to:\n  - 12\n---\n\nADR-012 and adr/012-json-export.md.\n";
    let adr = Adr::parse("adr/014-t.md", text);
    let stays = json().in_adr(&adr, ByNumber::Stays);
    assert_eq!(stays.text, text.replace("012-json", "013-json"));
    assert_eq!((stays.changed, stays.left), (1, vec![5, 7, 10]));
    let follows = json().in_adr(&adr, ByNumber::Follows);
    let expected = text.replace("012", "013").replace("- 12", "- 13");
    assert_eq!((follows.text, follows.changed, follows.left), (expected, 4, Vec::new()));
    let plan = "name: x\nadr: adr/012-json-export.md\nphases: [] # ADR-012\n";
    assert_eq!(json().in_text(plan, ByNumber::Follows).text, plan.replace("012", "013"));
    let other = "see adr/012-csv-export.md and ADR-012-csv-export.md, ADR-0120 and (ADR-012)";
    let told = json().in_text(other, ByNumber::Follows);
    assert_eq!(told.text, other.replace("(ADR-012)", "(ADR-013)"));
}
