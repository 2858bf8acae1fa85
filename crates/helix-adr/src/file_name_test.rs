//! Names and numbers of finalized decisions.

use super::*;

#[test]
fn names_are_ascii_and_safe() {
    for (title, name) in [
        ("CSV-Export für Größen & Maße", "012-csv-export-fuer-groessen-masse.md"),
        ("  ../../etc/passwd ", "012-etc-passwd.md"),
        ("日本", "012-decision.md"),
        ("Don't café", "012-dont-cafe.md"),
    ] {
        assert_eq!(Numbering::HELIX.file_name(12, title), name);
        assert_eq!(number_of_file_name(&Numbering::HELIX.file_name(12, title)), Some(12));
    }
    assert!(Numbering::HELIX.file_name(1234, &"wörter ".repeat(100)).len() < 80);
}

#[test]
fn numbers_are_read_from_both_forms() {
    for (file, number) in [
        ("adr/012-x.md", Some(12)),
        ("ADR-007-x.md", Some(7)),
        ("1234-x.md", Some(1234)),
        ("12-x.md", None),
        ("012x.md", None),
        ("012-x.txt", None),
        ("ü12-x.md", None),
    ] {
        assert_eq!(number_of_file_name(file), number, "{file}");
    }
    assert_eq!(next_number(&[]), 1);
    assert_eq!(next_number(&[3, 41, 7]), 42);
}
