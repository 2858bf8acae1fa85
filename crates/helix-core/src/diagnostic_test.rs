use super::*;

#[test]
fn spans_count_characters_not_bytes() {
    let source = "a: 1\nüber: [\n";
    let at = source.find('[').unwrap();
    let span = Span::locate(source, at, at + 1);
    assert_eq!((span.line, span.column), (2, 7));
}

#[test]
fn suggestions_are_near_or_absent() {
    let keys = ["depends_on", "description", "gates"];
    assert_eq!(did_you_mean("depend_on", keys), Some("depends_on"));
    assert_eq!(did_you_mean("gate", keys), Some("gates"));
    assert_eq!(did_you_mean("banana", keys), None);
    assert_eq!(did_you_mean("of", ["on", "off"]), Some("off"));
}
