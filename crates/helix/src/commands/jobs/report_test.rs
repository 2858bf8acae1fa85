use super::*;

fn view(phases: usize) -> JobView {
    let phase = |at: usize| {
        json!({
            "id": format!("phase-{at}"), "name": "p", "status": "passed", "stage": null, "waits_for": null, "attempt": 1,
            "started_at": null, "completed_at": null, "duration_seconds": null, "outputs": [], "gates": [], "verdict": null,
            "cost": 0.0, "runs": [], "commit": null, "error": null,
        })
    };
    let view = json!({
        "id": "j1", "name": "Pages <!-- @all `x` -->", "status": "failed", "project_path": "/p", "plan_path": "p.yaml", "adr": null,
        "issue": 17, "created_at": "2026-01-01T00:00:00Z", "started_at": null, "completed_at": null, "duration_seconds": 1.0,
        "phases": (0..phases).map(phase).collect::<Vec<_>>(), "usage": helix_core::usage::Usage::default(), "cost": 0.0,
        "commit": null, "integration": null, "error": { "message": "password=hunter2222 closes #3", "hint": null },
        "questions": [], "last_event": 1,
    });
    serde_json::from_value(view).unwrap()
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let small = view(2);
    let text = fitted(&parts(&small, &[]), &small);
    assert!(text.starts_with("<!-- helix-job: j1 -->\n## Helix: ``Pages <!-- @all `x` -->`` ✗ failed\n"), "{text}");
    assert!(text.contains("- **For:** #17\n") && text.contains("- **Why:** `password=[secret] closes #3`\n"), "{text}");
    assert!(text.ends_with("- ✓ `phase-0`: passed, attempt 1\n- ✓ `phase-1`: passed, attempt 1\n"), "{text}");
    let large = view(3_000);
    let all = parts(&large, &[]);
    let text = fitted(&all, &large);
    assert!(text.len() <= LONGEST && text.len() > LONGEST - 300, "{}", text.len());
    let kept = text.matches("passed, attempt").count();
    let note = format!(
        "_Shortened: {} more parts do not fit into a comment. The whole report: `helix jobs report j1`_",
        3_000 - kept
    );
    assert!(text.trim_end().ends_with(&note), "{}", &text[text.len() - 200..]);
}
