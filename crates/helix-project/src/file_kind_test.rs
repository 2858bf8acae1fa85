//! Which files are decisions and which are plans.

use super::*;

#[test]
fn adrs_and_plans_are_told_by_name_place_and_content() {
    let adr = "---\nadr_id: draft\n---\n";
    let plan = "name: x\nphases:\n  - id: a\n";
    for (path, text, kind) in [
        ("adr-draft.md", "", Some(SavedKind::Adr)),
        ("adr/007-x.md", "", Some(SavedKind::Adr)),
        ("docs/decisions/x.md", "", Some(SavedKind::Adr)),
        ("notes.md", adr, Some(SavedKind::Adr)),
        ("adr/INDEX.md", "", None),
        ("adrenaline.md", "", None),
        ("notes.md", "# adr_id: no\n", None),
        ("tests/fixtures/adrs/bad.md", adr, None),
        ("phases.yaml", "", Some(SavedKind::Plan)),
        ("plans/x/phases.yml", "", Some(SavedKind::Plan)),
        ("shop.phases.yaml", "", Some(SavedKind::Plan)),
        ("plan.yaml", plan, Some(SavedKind::Plan)),
        // A build description of a cloud provider has phases, too.
        ("buildspec.yml", "version: 0.2\nphases:\n  install:\n    commands: [x]\n", None),
        ("src/adr.rs", adr, None),
        ("phases", plan, None),
    ] {
        assert_eq!(SavedKind::detect(Path::new(path), text), kind, "{path}");
    }
}

#[test]
fn templates_and_indexes_are_no_decisions() {
    for name in [
        "INDEX.md",
        "index.md",
        "README.md",
        "template.md",
        "adr-template.md",
        "adr-template-bare.md",
        ".x.md",
        "x.txt",
    ] {
        assert!(!is_decision_name(name), "{name}");
    }
    for name in ["001-x.md", "0012-template-engine.md", "20261127-index.md", "draft-x.md"] {
        assert!(is_decision_name(name), "{name}");
    }
}
