#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use helix_adr::{NoRepo, check, complete};

use super::*;

/// What the Consultant is given as the form of an ADR is accepted by the rules that its ADRs are measured by.
#[test]
fn the_consultants_template_passes_the_rule_set() {
    let given = template();
    let inner = given.split_once("markdown\n").unwrap().1.trim_end_matches('`').trim_end();
    let adr = Adr::parse("draft.md", inner);
    // What is wrong with it is only that nobody has filled it in.
    let codes: Vec<String> = check(&adr, &NoRepo).into_iter().map(|one| one.code).collect();
    assert_eq!(codes, ["HX0232"]);
    let filled = Adr::parse("draft.md", &inner.replace("<command>", "shop export"));
    assert_eq!(complete(&adr, &built_in_rules()), []);
    assert_eq!(filled.criteria.len(), 3);
    assert!(filled.criteria.iter().all(|one| !one.evidence.is_empty()), "{:#?}", filled.criteria);
}

/// A new decision is what its directory's template makes of it.
#[test]
fn a_new_decision_is_made_from_the_directorys_template() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("doc/adr");
    std::fs::create_dir_all(directory.join("templates")).unwrap();
    let nygard = "# 1. Record decisions\n\nDate: 2026-11-01\n\n## Status\n\nAccepted\n\n## Context\n\n## Decision\n";
    std::fs::write(directory.join("0001-record-decisions.md"), nygard).unwrap();
    let template = "# NUMBER. TITLE\n\n## Status\n\nSTATUS\n\n## Context\n\n## Decision\n\n## Who pays\n";
    std::fs::write(directory.join("templates/template.md"), template).unwrap();
    let made = AdrDirectory::create(root.path(), "Use CSV", None).unwrap();
    assert_eq!(made.path, "doc/adr/0002-use-csv.md");
    let text = std::fs::read_to_string(root.path().join(made.path)).unwrap();
    assert_eq!(text, template.replace("NUMBER", "2").replace("TITLE", "Use CSV").replace("STATUS", "Proposed"));
}
