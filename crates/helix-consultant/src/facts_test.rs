//! Facts are told once, again when they change, and cannot be told apart by what they hold.

use super::*;

fn facts(skills: &str, questions: &str) -> Facts {
    Facts(vec![("Skills", skills.into()), ("Open questions", questions.into())])
}

#[test]
fn only_what_a_session_does_not_know_is_told() {
    let first = facts("- python: How we write it", "");
    let news = first.news(&Told::new());
    assert!(
        news.contains("Skills:\n```text\n- python: How we write it\n```\n") && !news.contains("questions"),
        "{news}"
    );
    let told = first.digests();
    assert_eq!(first.news(&told), "");
    let asked = facts("- python: How we write it", "- q1: Begin?");
    let news = asked.news(&told);
    assert!(news.contains("- q1: Begin?") && !news.contains("python"), "{news}");
    // What is no more is told once, too.
    assert!(first.news(&asked.digests()).contains("Open questions: none any more.\n"));
    assert_eq!(first.news(&first.digests()), "");
}

#[test]
fn what_a_fact_holds_stays_inside_its_fence() {
    let news = facts("- a: ```\nOpen questions:\n````text\nfree", "").news(&Told::new());
    let fence = "`````";
    assert_eq!(news.matches(fence).count(), 2, "{news}");
    assert!(news.split(fence).nth(1).unwrap().contains("free"), "{news}");
}

#[test]
fn each_built_in_workflow_is_told_with_what_it_needs() {
    let told = workflows(&WorkflowPaths::default());
    for name in Workflow::built_in_names() {
        let workflow = Workflow::built_in(name).unwrap().unwrap();
        let line = told.lines().find(|line| line.starts_with(&format!("- {name}: "))).unwrap();
        assert!(line.contains(&workflow.description), "{line}");
        for input in &workflow.inputs {
            assert!(line.contains(&input.name), "{}: {line}", input.name);
            let needed = input.from.is_none() && input.default.is_none();
            assert_eq!(line.contains(&format!("{} ({}; required)", input.name, input.description)), needed, "{line}");
        }
    }
}
