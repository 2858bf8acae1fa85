//! Plans and decisions that were just saved.

use super::*;

#[test]
fn a_plan_is_looked_at_with_its_workflow() {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join("phases.yaml");
    let plan = |text: &str| {
        let text = format!(
            "name: pages\nworkflow: {text}\nphases:\n  - {{ id: page, type: documentation, description: d, outputs: [page.md], depends_on: [verify] }}\n"
        );
        std::fs::write(&path, text).unwrap();
        let workflow_paths = WorkflowPaths::new(Some(project.path()), None);
        let checked =
            check_file(&path, "p", Belongs::Unknown, &SkillCatalog::default(), &workflow_paths).unwrap().unwrap();
        checked.errors().map(|one| one.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(plan("{ name: extern-simple, inputs: { tests: pytest } }"), Vec::<String>::new());
    assert_eq!(plan("extern-simple"), ["HX0130"]);
    assert_eq!(plan("own"), ["HX0129"]);
    std::fs::create_dir(project.path().join("workflows")).unwrap();
    let own = "name: own\ndescription: d\nphases:\n  - slot: work\n  - { id: verify, type: documentation, description: d, outputs: [v.md] }\n";
    std::fs::write(project.path().join("workflows/own.yaml"), own).unwrap();
    assert_eq!(plan("own"), Vec::<String>::new());
}

#[test]
fn claims_are_checked_for_drafts_of_a_known_project_only() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("here.py"), "").unwrap();
    let adr = |id: &str, status: &str| {
        format!(
            "---\nadr_id: {id}\ntitle: T\nstatus: {status}\nfiles:\n  create: [here.py]\n  modify: [gone.py]\n---\n\n# T\n"
        )
    };
    let claims = |text: &str, belongs: Belongs<'_>| {
        let found = adr_diagnostics("adr-draft.md", text.as_bytes(), belongs).unwrap();
        found.iter().filter(|one| one.message.contains(".py") && one.is_error()).count()
    };
    assert_eq!(claims(&adr("draft", "Proposed"), Belongs::Project(project.path())), 2);
    assert_eq!(claims(&adr("draft", "Proposed"), Belongs::Unknown), 0);
    // What is to be changed must be there, and before there is a project nothing is.
    assert_eq!(claims(&adr("draft", "Proposed"), Belongs::NoProject), 1);
    assert_eq!(claims(&adr("3", "Accepted"), Belongs::Project(project.path())), 0);
}
