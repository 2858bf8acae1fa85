//! New projects with plans that name workflows and decisions.

use super::*;

#[test]
fn a_plan_is_checked_with_the_phases_of_its_workflow() {
    let scratch = tempfile::tempdir().unwrap();
    let draft = scratch.path().join("phases.yaml");
    let create = |name: &str, text: &str| {
        std::fs::write(&draft, text).unwrap();
        let git = GitEnvironment::from_process();
        create(&scratch.path().join(name), git, &WorkflowPaths::default(), None, Some(&draft))
    };
    let plan = |workflow: &str| {
        format!(
            "name: pages\nworkflow: {workflow}\nphases:\n  - {{ id: page, type: documentation, description: Write it., outputs: [page.md] }}\n"
        )
    };
    for (workflow, code) in [("extern-simpel", "HX0129"), ("extern-simple", "HX0130")] {
        match create("refused", &plan(workflow)) {
            Err(ProjectError::Plan { diagnostics, .. }) => {
                assert!(diagnostics.iter().any(|one| one.code == code), "{workflow}: {diagnostics:#?}");
            }
            other => panic!("{workflow}: {other:?}"),
        }
        assert!(!scratch.path().join("refused").exists());
    }
}

#[test]
fn the_adr_key_is_set_and_nothing_else_changes() {
    let without = "# a plan\nname: x\nphases:\n  - id: a\n    name: adr\n";
    assert_eq!(
        with_adr(without, false, "adr/001-x.md"),
        "# a plan\nname: x\nadr: adr/001-x.md\nphases:\n  - id: a\n    name: adr\n"
    );
    let with = "name: x\nadr: draft.md\nphases: []\n";
    assert_eq!(with_adr(with, true, "adr/001-x.md"), "name: x\nadr: adr/001-x.md\nphases: []\n");
}

#[test]
fn a_plan_that_is_too_large_to_be_one_is_not_read() {
    let scratch = tempfile::tempdir().unwrap();
    let draft = scratch.path().join("phases.yaml");
    std::fs::File::create(&draft).unwrap().set_len(1 << 40).unwrap();
    let refused = create(
        &scratch.path().join("p"),
        GitEnvironment::from_process(),
        &WorkflowPaths::default(),
        None,
        Some(&draft),
    );
    assert!(matches!(&refused, Err(ProjectError::Disk { path, .. }) if *path == draft), "{refused:?}");
}

/// A draft names no decision: only with it does a plan lack a proof of its criteria.
#[test]
fn what_a_plan_lacks_for_its_decision_is_said_once_it_names_it() {
    let scratch = tempfile::tempdir().unwrap();
    let (decision, plan) = (scratch.path().join("adr.md"), scratch.path().join("phases.yaml"));
    let adr = "---\nadr_id: draft\ntitle: Export\nstatus: Proposed\n---\n# Export\n\n## Context\nRows are needed elsewhere.\n\n## Decision\nWrite CSV.\n\n## Acceptance criteria\n- [ ] `true` exits 0\n";
    std::fs::write(&decision, adr).unwrap();
    std::fs::write(
        &plan,
        "name: csv\nphases:\n  - { id: a, name: A, type: development, description: Write it., outputs: [a.py] }\n",
    )
    .unwrap();
    let git = GitEnvironment::from_process();
    let made = create(&scratch.path().join("p"), git, &WorkflowPaths::default(), Some(&decision), Some(&plan)).unwrap();
    let told: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    for lacks in ["no gate checks the acceptance criteria", "no verifier looks at the result of phase `a`"] {
        assert!(told.iter().any(|one| one.contains(lacks) && one.contains("plans/csv/phases.yaml")), "{told:#?}");
    }
}
