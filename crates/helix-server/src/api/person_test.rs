use super::*;

#[test]
fn a_name_stands_in_one_line() {
    assert_eq!(named(Some(" anna ".into())).unwrap(), "anna");
    assert_eq!(named(None).unwrap(), ANONYMOUS);
    assert_eq!(named(Some("  ".into())).unwrap(), ANONYMOUS);
    for bad in ["a\nb".to_owned(), "x".repeat(201)] {
        assert_eq!(named(Some(bad)).unwrap_err().status, 422);
    }
}
