use super::*;

#[test]
fn suggestions_are_near_or_absent() {
    let keys = ["depends_on", "description", "gates"];
    assert_eq!(did_you_mean("depend_on", keys), Some("depends_on"));
    assert_eq!(did_you_mean("gate", keys), Some("gates"));
    assert_eq!(did_you_mean("banana", keys), None);
    assert_eq!(did_you_mean("of", ["on", "off"]), Some("off"));
}

#[test]
fn a_name_that_nobody_types_has_no_suggestion() {
    let long = "a".repeat(LONGEST_NAME + 1);
    assert_eq!(did_you_mean(&long, [&long[1..]]), None);
    assert_eq!(did_you_mean(&long[1..], [long.as_str()]), Some(long.as_str()));
}
