use super::*;
use crate::api::request::parse;

fn submit(body: &str) -> Result<SubmitRequest, Problem> {
    parse::<JobRequest>(body.as_bytes())?.into_submit(Person::from("a test"))
}

#[test]
fn a_project_a_plan_or_both() {
    let both = submit(r#"{"project_path":"/p","plan":"plans/a","phase_filter":"one","budget_usd":2.5}"#).unwrap();
    assert_eq!((both.plan, both.project), ("/p/plans/a".into(), Some("/p".into())));
    assert_eq!((both.only.len(), both.budget_usd), (1, Some(2.5)));
    let project = submit(r#"{"project_path":"/p","phase_filter":["a","b"]}"#).unwrap();
    assert_eq!((project.plan, project.project, project.only.len()), ("/p".into(), Some("/p".into()), 2));
    let plan = submit(r#"{"plan":"/p/phases.yaml","issue":17}"#).unwrap();
    assert_eq!((plan.project, plan.issue.unwrap().to_string()), (None, "#17".to_owned()));
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(submit("nonsense").unwrap_err().status, 400);
    for (body, words) in [
        ("[]", "JSON object"),
        ("{}", "one of project_path and plan"),
        (r#"{"plan":"x"}"#, "absolute"),
        (r#"{"project_path":"x"}"#, "absolute"),
        (r#"{"plan":"/p","phase_filter":"A B"}"#, "phase_filter"),
        (r#"{"plan":"/p","from":""}"#, "from"),
        (r#"{"plan":"/p","budget_usd":0}"#, "budget_usd"),
        (r#"{"plan":"/p","max_turns":0}"#, "max_turns"),
        (r#"{"plan":"/p","issue":0}"#, "the issue must be its number"),
        (r#"{"plan":"/p","issue":"https://github.com/octo"}"#, "or the URL of an issue"),
        (r#"{"plan":"/p","max_turns":"many"}"#, "invalid type"),
    ] {
        let problem = submit(body).unwrap_err();
        assert_eq!(problem.status, 422, "{body}");
        assert!(problem.detail.contains(words), "{body}: {}", problem.detail);
    }
    let problem = submit(r#"{"plan":"/p","phasefilter":"a"}"#).unwrap_err();
    assert_eq!(problem.hint.as_deref(), Some("did you mean `phase_filter`?"));
}
