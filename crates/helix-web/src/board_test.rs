use serde_json::{Value, json};

use super::*;

fn phase(status: &str, more: &Value) -> PhaseView {
    let mut one = json!({
        "id": "p", "name": "P", "status": status, "stage": null, "waits_for": null, "attempt": 1, "started_at": null, "completed_at": null,
        "duration_seconds": null, "outputs": [], "gates": [], "verdict": null, "cost": 0.0, "runs": [], "commit": null, "error": null,
    });
    one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(one).unwrap()
}

#[test]
fn nothing_is_in_the_lane_of_what_is_proven_that_was_not_checked_or_was_overruled() {
    let gate = json!({
        "gate": "tests_pass", "verdict": "pass", "summary": "", "tree": "0000000000000000000000000000000000000000", "duration_ms": 1,
    });
    let accepted = json!([{ "gate": 0, "name": "tests_pass", "by": "root (terminal)", "reason": "known" }]);
    for (status, more, is_proven) in [
        ("passed", json!({ "gates": [gate] }), true),
        ("passed", json!({}), false),
        ("passed", json!({ "gates": [gate], "accepted": accepted }), false),
        ("skipped", json!({ "attempt": 0 }), true),
        ("skipped", json!({ "error": { "message": "failed", "hint": null } }), false),
        ("failed", json!({ "gates": [gate] }), false),
    ] {
        assert_eq!(is_checked(&phase(status, &more)), is_proven, "{status} {more}");
    }
}

#[test]
fn what_an_agent_does_is_told_until_its_end() {
    let (now_doing, job) = (NowDoing::default(), "j1".parse::<JobId>().unwrap());
    let input = json!({ "command": "pytest -q" });
    now_doing.hear(job.clone(), &AgentEvent::ToolStarted { id: "t".into(), name: "Bash".into(), input, parent: None });
    assert_eq!(now_doing.activity(&job).as_deref(), Some("$ pytest -q"));
    let end =
        json!({ "kind": "finished", "is_error": false, "answer": null, "usage": helix_core::usage::Usage::default() });
    now_doing.hear(job.clone(), &serde_json::from_value(end).unwrap());
    assert_eq!(now_doing.activity(&job), None, "a gate that runs then is not what the agent does");
}
