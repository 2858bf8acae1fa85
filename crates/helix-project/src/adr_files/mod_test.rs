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

/// MADR's categories. What has neither number nor date there may be anything.
#[test]
fn decisions_in_directories_below_are_read() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("docs/decisions");
    let write = |path: &str| {
        let path = directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "# Use CSV\n\n## Context and Problem Statement\n\n## Decision Outcome\n").unwrap();
    };
    let decisions = ["0001-use-csv.md", "api/0003-use-json.md", "api/v2/0002-use-yaml.md"];
    let others = ["api/README.md", "api/notes.md", "templates/template.md", ".old/0009-use-xml.md"];
    decisions.into_iter().chain(others).for_each(write);
    std::os::unix::fs::symlink(root.path(), directory.join("loop")).unwrap();
    let all = AdrDirectory::open(root.path()).unwrap();
    let files: Vec<&str> = all.adrs().iter().map(|adr| adr.file.as_str()).collect();
    assert_eq!(files, decisions.map(|path| format!("docs/decisions/{path}")));
    assert!(all.index().contains("(api/0003-use-json.md)"), "{}", all.index());
    assert_eq!(AdrDirectory::create(root.path(), "Use TOML", None).unwrap().path, "docs/decisions/0004-use-toml.md");
}
