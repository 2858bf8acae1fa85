use super::*;

#[test]
fn suggestions_are_near_or_absent() {
    let keys = ["depends_on", "description", "gates"];
    assert_eq!(did_you_mean("depend_on", keys), Some("depends_on"));
    assert_eq!(did_you_mean("gate", keys), Some("gates"));
    assert_eq!(did_you_mean("banana", keys), None);
    assert_eq!(did_you_mean("of", ["on", "off"]), Some("off"));
}
