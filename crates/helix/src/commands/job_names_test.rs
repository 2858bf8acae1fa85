use helix_store::JobPage;
use serde_json::json;

use super::*;

fn job(id: &str, name: &str, project: &str) -> JobView {
    serde_json::from_value(json!({
        "id": id, "name": name, "status": "failed", "project_path": project, "plan_path": "p.yaml", "adr": null,
        "created_at": "2026-05-20T12:00:00Z", "started_at": null, "completed_at": null, "duration_seconds": 1.0,
        "phases": [], "usage": { "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "turns": 0, "cost_usd": 0.0 },
        "cost": 0.0, "commit": null, "integration": null, "error": null, "questions": [], "last_event": 1,
    }))
    .unwrap()
}

fn chosen(said: &str) -> Result<String, String> {
    let jobs = vec![job("j3", "tax", "/a"), job("j2", "shop", "/b"), job("j1", "tax", "/b")];
    let page = JobPage { jobs, unreadable: vec!["j0".parse().unwrap()], ..JobPage::default() };
    let numbers = numbers(&page);
    let known: Vec<_> = page.jobs.into_iter().map(|job| (numbers[&job.id], job)).collect();
    choose(&known, said, |job| job.project_path == "/b", |_| "today".to_owned()).map_err(|error| error.in_one_line())
}

#[test]
fn jobs_are_named_by_number_by_last_and_by_their_plan() {
    assert_eq!(chosen("#4"), Ok("j3".to_owned()), "what cannot be read has its number, too");
    assert_eq!(chosen("2"), Ok("j1".to_owned()));
    assert_eq!(chosen("last"), Ok("j2".to_owned()), "the newest of this repository");
    assert_eq!(chosen("shop"), Ok("j2".to_owned()));
    assert_eq!(chosen("j"), Ok("j".to_owned()), "whoever looks for it says that it fits several");
    assert_eq!(chosen("other"), Ok("other".to_owned()));
}

#[test]
fn a_name_of_several_jobs_is_refused_with_their_numbers() {
    let error = chosen("tax").unwrap_err();
    assert!(error.contains("4 (today), 2 (today)"), "{error}");
    assert!(chosen("#9").unwrap_err().contains("no job 9"));
}
