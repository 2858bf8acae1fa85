use super::*;

#[test]
fn white_space_is_no_difference_and_everything_else_is() {
    assert_eq!(TextDigest::new(" a\r\nb "), TextDigest::new("ab"));
    assert_ne!(TextDigest::new("a_b"), TextDigest::new("a-b"));
    // SHA-256 of the letters, however many there are: what older journals hold.
    assert_eq!(TextDigest::new("a b c").as_str(), "ba7816bf8f01cfea414140de5dae2223");
    let long = "ä".repeat(PIECE);
    assert_eq!(TextDigest::new(&long), TextDigest::new(&long.replace("ääää", "ä ä\nää")));
    assert_ne!(TextDigest::new(&long), TextDigest::new(&long[2..]));
    assert_eq!(relation("Yes.\n\nNo", "Yes. No"), TextRelation::Same);
    assert_eq!(relation("Yes. N", "Yes. No"), TextRelation::Part);
    assert_eq!(relation("Yes. X", "Yes. No"), TextRelation::Different);
    assert_eq!(rest_after("Yes.\n\nNo ä", " Y es."), Some("\n\nNo ä"));
    assert_eq!((rest_after("Yes.", ""), rest_after("Yes.", "Yes.")), (Some("Yes."), Some("")));
    assert_eq!((rest_after("Yes.", "Yes. No"), rest_after("Yes.", "No")), (None, None));
}
