use super::*;

#[test]
fn a_split_into_what_delivers_is_refused() {
    let text = "name: n\nphases:\n  - { id: big, type: documentation, description: d, outputs: [a.md, b.md] }\n";
    let plan = Plan::parse("p", text).unwrap().plan;
    let id = PhaseId::new("big").unwrap();
    let pieces = |gates: Value| {
        json!([
            { "id": "one", "description": "d", "outputs": ["a.md"] },
            { "id": "two", "description": "d", "outputs": ["b.md"], "gates": gates },
        ])
    };
    let added = split(&plan, &id, &pieces(json!([{ "type": "docs_refs_valid" }]))).unwrap();
    assert_eq!(added.len(), 2);
    let deploys = json!([{ "type": "deploy_success", "command": "make deploy" }]);
    let findings = split(&plan, &id, &pieces(deploys)).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].message.contains("deploy_success"), "{findings:#?}");
    assert!(findings[0].fix.as_deref().is_some_and(|fix| fix.contains("command")), "{findings:#?}");
    // What acts outside of the repository is done by the phase as a whole or not at all.
    let mut delivers = plan.clone();
    delivers.phases[0].gates.push(GateSpec::DeploySuccess(helix_plan::Delivery::of_command("make")));
    let findings = split(&delivers, &id, &pieces(json!([]))).unwrap_err();
    assert!(findings[0].message.contains("`big` delivers"), "{findings:#?}");
}

/// A model that the agent does not have would only fail the next try: it goes back to the adviser.
#[test]
fn another_model_is_one_that_the_agent_has() {
    let text = "name: n\nphases:\n  - { id: big, type: documentation, description: d, outputs: [a.md] }\n";
    let plan = Plan::parse("p", text).unwrap().plan;
    let id = PhaseId::new("big").unwrap();
    let propose = |model: &str, models: &[&str]| {
        let value = json!({ "action": "other_model", "reason": "r", "model": model, "hint": "h" });
        let models: Vec<String> = models.iter().map(|model| (*model).to_owned()).collect();
        read(&plan, &id, value, &models)
    };
    assert!(matches!(propose("opus", &["sonnet", "opus"]), Ok((AdviceAction::OtherModel { .. }, _))));
    let refused = propose("opsu", &["sonnet", "opus"]).unwrap_err();
    assert!(refused.message.contains("sonnet, opus") && refused.message.contains("did you mean opus?"), "{refused:?}");
    // Where nobody has said which there are, any is tried.
    assert!(matches!(propose("any", &[]), Ok((AdviceAction::OtherModel { .. }, _))));
}
