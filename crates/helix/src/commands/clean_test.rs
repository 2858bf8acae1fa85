use serde_json::json;

use super::*;

fn job(deliveries: &serde_json::Value) -> JobView {
    let run = |rest: &str| format!("j1.{rest}");
    let phase = |id: &str, attempt: u32, runs: &[&str]| {
        json!({
            "id": id, "name": id, "status": "passed", "stage": null, "waits_for": null, "attempt": attempt,
            "started_at": null, "completed_at": null, "duration_seconds": null, "outputs": [], "gates": [], "verdict": null,
            "cost": 0.0, "runs": runs.iter().map(|rest| run(rest)).collect::<Vec<_>>(), "commit": null, "error": null,
        })
    };
    let runs = ["a.1", "a.1.review-0-1", "a.2", "a.2.verify-1", "a.advice-1", "a.3", "a.3.verify-1"];
    let view = json!({
        "id": "j1", "name": "n", "status": "succeeded", "project_path": "/p", "plan_path": "p.yaml", "adr": null,
        "created_at": "2026-01-01T00:00:00Z", "started_at": null, "completed_at": null, "duration_seconds": 1.0,
        "phases": [phase("a", 3, &runs), phase("b", 1, &["b.1"])], "usage": helix_core::usage::Usage::default(),
        "cost": 0.0, "commit": null, "integration": null, "error": null, "questions": [], "deliveries": deliveries,
        "last_event": 1,
    });
    serde_json::from_value(view).unwrap()
}

/// What proves a phase is its last attempt, and what it delivered before.
#[test]
fn the_last_attempt_of_each_phase_stays() {
    let spare: Vec<String> = spare_runs(&job(&json!([]))).iter().map(ToString::to_string).collect();
    assert_eq!(spare, ["j1.a.1", "j1.a.1.review-0-1", "j1.a.2", "j1.a.2.verify-1", "j1.a.advice-1"]);
}

#[test]
fn sizes_are_read_at_a_glance() {
    let sizes = [0, 1 << 20, (5 << 20) + (1 << 19)];
    assert_eq!(sizes.map(|bytes| mebibytes(Language::English, bytes)), ["0.0 MiB", "1.0 MiB", "5.5 MiB"]);
    assert_eq!(mebibytes(Language::German, 1 << 20), "1,0 MiB");
}
