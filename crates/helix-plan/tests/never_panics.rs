//! No text whatever makes the plan parser panic, hang or answer without a reason.

use helix_core::diagnostic::Diagnostic;
use helix_plan::{Plan, split_words};
use proptest::prelude::*;

const VALID: &str = include_str!("fixtures/plans/good/contract.yaml");
const ALIASES: &str = include_str!("fixtures/plans/good/aliases.yaml");

fn answers(source: &str) {
    match Plan::parse("phases.yaml", source) {
        Ok(parsed) => {
            assert!(!parsed.warnings.iter().any(Diagnostic::is_error));
            assert!(!parsed.plan.phases.is_empty() || parsed.plan.workflow.is_some());
            assert_eq!(parsed.plan.waves().concat().len(), parsed.plan.phases.len(), "every phase is in a wave");
            let ancestry = parsed.plan.ancestry();
            assert!(parsed.plan.phases.iter().all(|phase| !ancestry.is_before(&phase.id, &phase.id)), "no cycles");
            assert_eq!(parsed.places.phases.len(), parsed.plan.phases.len());
        }
        Err(problems) => {
            assert!(problems.iter().any(Diagnostic::is_error));
            for problem in problems {
                assert!(problem.help.is_some(), "{problem}");
                if let Some(span) = problem.span {
                    assert!(span.start <= span.end && span.end <= source.len(), "{problem}");
                    assert!(source.get(span.start..span.start).is_some(), "{problem}");
                }
            }
        }
    }
}

/// Cuts a piece out of a valid plan and puts another text there.
fn mutate(valid: &str, from: usize, length: usize, new: &str) -> String {
    let characters: Vec<char> = valid.chars().collect();
    let from = from % characters.len();
    let to = (from + length).min(characters.len());
    characters[..from].iter().copied().chain(new.chars()).chain(characters[to..].iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(source in "\\PC*") {
        answers(&source);
    }

    #[test]
    fn text_that_looks_like_yaml(source in "([a-z]{0,4}(: |:\n|- |\n  |\n|\t|&a |\\*a|\\[|\\]|\\{|\\}|,|'|\"|\\||>|<<: |ä|!!str |--- )){0,40}") {
        answers(&source);
    }

    #[test]
    fn damaged_plans(from in 0_usize..2000, length in 0_usize..40, new in "(\\PC|\n|\t){0,6}") {
        answers(&mutate(VALID, from, length, &new));
        answers(&mutate(ALIASES, from, length, &new));
    }

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(problems) = Plan::parse_bytes("p", &bytes) {
            prop_assert!(!problems.is_empty());
        }
    }

    #[test]
    fn arbitrary_commands(command in "(\\PC|[ '\"\\\\$|;\n]){0,20}") {
        match split_words(&command) {
            Ok(words) => prop_assert!(!words.is_empty()),
            Err(error) => {
                prop_assert!(command.get(error.at..).is_some());
                prop_assert!(!error.remedy.is_empty());
            }
        }
    }
}
