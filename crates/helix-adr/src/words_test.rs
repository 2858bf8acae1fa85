//! Ids and headings in all forms in which people write them.

use super::*;

#[test]
fn old_and_new_ids_are_one() {
    for text in ["012", "12", "ADR-012", "adr-12", " ADR-12 "] {
        assert_eq!(text.parse(), Ok(AdrId::Number(12)), "{text}");
    }
    assert_eq!("Draft".parse(), Ok(AdrId::Draft));
    assert_eq!(AdrId::Number(7).to_string(), "ADR-007");
    for text in ["", "ADR-", "ADR-x", "1.5", "99999999999", "ä012"] {
        assert!(text.parse::<AdrId>().is_err(), "{text}");
    }
}

#[test]
fn headings_have_one_meaning_in_both_languages() {
    for (heading, kind) in [
        ("Context", Some(SectionKind::Context)),
        ("2. KONTEXT:", Some(SectionKind::Context)),
        ("Akzeptanzkriterien", Some(SectionKind::AcceptanceCriteria)),
        ("Context / Kontext", Some(SectionKind::Context)),
        ("Entscheidung und Begründung", Some(SectionKind::Decision)),
        ("Decision drivers", None),
        ("Contextual notes", None),
        ("", None),
    ] {
        assert_eq!(SectionKind::of_heading(heading), kind, "{heading}");
    }
}
