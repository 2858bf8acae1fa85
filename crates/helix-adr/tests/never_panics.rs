//! No text whatever makes the ADR reader panic, and every place lies in the text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use helix_adr::{Adr, AdrId, NoRepo, Numbering, Status, built_in_rules, check, complete, index_markdown};
use proptest::prelude::*;

const VALID: &str = include_str!("fixtures/adrs/good/012-csv-export.md");

fn answers(source: &str) {
    let adr = Adr::parse("012-a.md", source);
    for problem in check(&adr, &NoRepo).into_iter().chain(complete(&adr, &built_in_rules())) {
        let span = problem.span.unwrap_or_else(|| panic!("{problem} has no place"));
        assert!(span.start <= span.end && span.end <= source.len(), "{problem}");
        assert!(problem.help.is_some(), "{problem}");
    }
    for section in &adr.sections {
        assert!(source.get(section.body.clone()).is_some(), "{section:?}");
        assert!(source.get(section.heading_range.clone()).is_some(), "{section:?}");
    }
    for criterion in &adr.criteria {
        assert!(source.get(criterion.span.start..criterion.span.end).is_some(), "{criterion:?}");
    }
    if let Ok(text) = adr.with_id_and_status(AdrId::Number(7), Status::Accepted) {
        let again = Adr::parse("007-a.md", &text);
        let front = again.front.as_ref().expect("a rewritten front matter is readable");
        assert_eq!(front.adr_id.as_ref().map(|id| &id.value), Some(&AdrId::Number(7)), "{text}");
    }
    assert!(index_markdown(&[adr]).starts_with("# Arch"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(source in "\\PC*", title in "\\PC*") {
        answers(&source);
        let name = Numbering::HELIX.file_name(1, &title);
        prop_assert!(name.is_ascii() && !name.contains('/') && name.len() < 100);
    }

    #[test]
    fn text_that_looks_like_markdown(
        body in "((# |## Context|## Acceptance criteria|- \\[ \\] |- \\[x\\] |```|~~~|> |  |\t|1\\. |\\||---|===|<b>|\\*|_|`|\\[a\\]|\\(b\\)|ä|a)(\n|\r\n|\r|\n\n| |)){0,60}",
    ) {
        answers(&body);
        answers(&format!("---\nadr_id: 1\ntitle: t\nstatus: Proposed\n---\n{body}"));
    }

    #[test]
    fn damaged_adrs(from in 0_usize..1500, length in 0_usize..60, new in "(\\PC|\n|\r|\t|---){0,6}") {
        let characters: Vec<char> = VALID.chars().collect();
        let from = from % characters.len();
        let to = (from + length).min(characters.len());
        let text: String =
            characters[..from].iter().copied().chain(new.chars()).chain(characters[to..].iter().copied()).collect();
        answers(&text);
    }
}
