//! Helix's own pages: each can be read, and what it names is there.

use std::path::PathBuf;

use super::*;
use crate::skills::{SKILL_FILE, SkillCatalog, SkillError, SkillOrigin};

fn pages() -> Vec<(String, String)> {
    let catalog = SkillCatalog::load(None, &[]);
    let names: Vec<String> = catalog.skills().map(|skill| skill.name.clone()).collect();
    names.into_iter().map(|name| (name.clone(), catalog.read(&name, None).unwrap().text)).collect()
}

#[test]
fn each_page_is_listed_and_read_with_its_lists() {
    let pages = pages();
    assert_eq!(pages.len(), PAGES.len());
    for (name, text) in &pages {
        assert!(!text.contains("{{ "), "{name} has a list that nothing is put into");
    }
    let plans = &pages.iter().find(|(name, _)| name == "plans-and-workflows").unwrap().1;
    for list in [gates_markdown(), default_gates_markdown(), keys_markdown()] {
        assert!(plans.contains(list.trim_end()));
    }
    let catalog = SkillCatalog::load(None, &[]);
    for file in ["other.md", "../x"] {
        assert!(matches!(catalog.read("evolution", Some(file)), Err(SkillError::Outside { .. })), "{file}");
    }
    assert!(catalog.read("evolution", Some(SKILL_FILE)).is_ok());
}

#[test]
fn a_users_own_page_takes_the_place_of_helixs() {
    let own = tempfile::tempdir().unwrap();
    std::fs::write(own.path().join(SKILL_FILE), "---\nname: evolution\ndescription: Ours\n---\nAsk Ann.\n").unwrap();
    let catalog = SkillCatalog::load(None, &[PathBuf::from(own.path())]);
    assert_eq!(catalog.get("evolution").unwrap().origin, SkillOrigin::User);
    assert!(catalog.read("evolution", None).unwrap().text.contains("Ask Ann."));
}

/// Words in code spans that look like those of plans are words of plans, workflows that are named are there, and so is every
/// example.
#[test]
fn what_the_pages_name_is_there() {
    let workflows: Vec<&str> = helix_plan::workflow::Workflow::built_in_names().collect();
    for (name, text) in pages() {
        for word in text.split('`').skip(1).step_by(2) {
            if word.starts_with("intern-") || word.starts_with("extern-") {
                assert!(workflows.contains(&word), "{name} names the workflow {word}");
            }
        }
        for example in text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            if example.starts_with("name:") {
                helix_plan::Plan::parse("example", example).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
            } else {
                let gate: String = example.lines().map(|line| format!("      {line}\n")).collect();
                let plan = format!(
                    "name: x\nphases:\n  - id: test\n    type: test\n    name: T\n    gates: [{{ type: tests_pass, command: x }}]\n  \
                     - id: a\n    type: deploy\n    name: A\n    depends_on: [test]\n    gates:\n{gate}"
                );
                helix_plan::Plan::parse("example", &plan)
                    .unwrap_or_else(|problems| panic!("{name}: {problems:?}\n{plan}"));
            }
        }
        for example in text.split("```markdown\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let adr =
                helix_adr::Adr::parse("adr.md", &format!("---\nadr_id: draft\n---\n## Acceptance criteria\n{example}"));
            assert!(!adr.criteria.is_empty(), "{name}");
            for criterion in &adr.criteria {
                assert!(!criterion.evidence.is_empty() && criterion.unusable.is_empty(), "{name}: {}", criterion.text);
            }
        }
    }
}
