//! `/api/v1`, `/helix`, `/openapi.json`: as far as no agent is needed.

use crate::host::Host;
use serde_json::{Value, json};

#[tokio::test]
async fn an_empty_host_lists_nothing_under_both_names() {
    let host = Host::start().await;
    for path in ["/api/v1/jobs", "/api/v1/jobs?status=running,failed"] {
        let list: Value = host.get(path).send().await.unwrap().json().await.unwrap();
        assert_eq!(list, json!({ "jobs": [] }), "{path}");
    }
    let older: Value = host.get("/helix/jobs").send().await.unwrap().json().await.unwrap();
    assert_eq!(older, json!([]));
    host.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_with_a_hint() {
    let host = Host::start().await;
    for path in [
        "/api/v1/jobs/j0",
        "/api/v1/jobs/j0/events",
        "/api/v1/jobs/j0/activity",
        "/api/v1/jobs/j0/log/r0",
        "/helix/jobs/j0",
        "/helix/stream/j0",
        "/api/v1/sessions/s0",
        "/api/v1/sessions/a%2Fb",
    ] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "HX0807", "{path}: {problem}");
        assert_eq!(problem["status"], 404);
    }
    for (path, words) in [
        ("/api/v1/jobs?status=runing", "runing"),
        ("/api/v1/jobs?size=3", "size"),
        ("/api/v1/jobs?limit=0", "from 1 to 500"),
        ("/api/v1/jobs?limit=501", "from 1 to 500"),
        ("/api/v1/jobs?limit=abc", "limit cannot be \"abc\""),
        ("/api/v1/jobs?after=a%2Fb", "after"),
        ("/api/v1/jobs/j0/events?after=x", "after"),
        ("/api/v1/jobs/j0/log/r0?follow=maybe", "maybe"),
    ] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().contains(words), "{path}: {problem}");
    }
    for (path, near) in
        [("/api/v1/jobs?statu=failed", "status"), ("/api/v1/jobs/j0/reports?format=markdwn", "markdown")]
    {
        let problem: Value = host.get(path).send().await.unwrap().json().await.unwrap();
        assert_eq!(problem["hint"], format!("did you mean `{near}`?"), "{path}: {problem}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_wrong_request_starts_nothing() {
    let host = Host::start().await;
    for path in ["/api/v1/jobs", "/helix/execute"] {
        let answer = host.post(path).body(r#"{"plan":"/p","phase":"x"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 422, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "HX0804");
        assert!(problem["detail"].as_str().unwrap().contains("`phase`"), "{problem}");
    }
    host.stop().await;
}

#[tokio::test]
async fn the_document_is_served_and_every_route_in_it_answers() {
    let host = Host::start().await;
    let document: Value = host.get("/openapi.json").send().await.unwrap().json().await.unwrap();
    assert_eq!(document, helix_server::openapi_document());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let url = format!("{}{}", host.url, path.replace(['{', '}'], ""));
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = host.http.request(method, url).bearer_auth(crate::host::TOKEN).send().await.unwrap();
            let status = answer.status();
            let body = answer.text().await.unwrap();
            assert!(status != 405 && !body.contains("HX0803") && !body.contains("unknown_url"), "{path}: {body}");
        }
    }
    host.stop().await;
}

#[tokio::test]
async fn figures_of_the_host_are_there_for_collectors() {
    let host = Host::start().await;
    let answer = host.get("/metrics").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let form = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(form.starts_with("application/openmetrics-text"), "{form}");
    let text = answer.text().await.unwrap();
    for line in [
        "helix_jobs{status=\"running\"} 0",
        "helix_jobs{status=\"succeeded\"} 0",
        "helix_sessions 0",
        "helix_questions_open 0",
        "helix_places_taken{kind=\"agent\"} 0",
        "helix_places_waiting{kind=\"gate\"} 0",
        "# TYPE helix_journal_events counter",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} in\n{text}");
    }
    let all = text.lines().find_map(|line| line.strip_prefix("helix_places{kind=\"agent\"} ")).unwrap();
    assert!(all.parse::<u32>().unwrap() >= 1, "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    host.stop().await;
}

#[tokio::test]
async fn decisions_of_a_project_are_listed() {
    let host = Host::start().await;
    let project = tempfile::tempdir().unwrap();
    let path = project.path().to_str().unwrap().to_owned();
    let adrs = async |path: &str| {
        let answer = host.get("/api/v1/adrs").query(&[("project_path", path)]).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    assert_eq!(adrs(&path).await, (200, json!({ "adrs": [] })));
    std::fs::create_dir(project.path().join("adr")).unwrap();
    let text = "---\nadr_id: ADR-007\ntitle: Keep it\nstatus: Accepted\n---\n# Keep it\n\n## Acceptance criteria\n\n- [x] one\n- [ ] two\n";
    std::fs::write(project.path().join("adr/007-keep-it.md"), text).unwrap();
    let expected = json!({
        "id": "ADR-007", "title": "Keep it", "status": "Accepted", "file": "adr/007-keep-it.md", "criteria": 2, "met": 1
    });
    assert_eq!(adrs(&path).await, (200, json!({ "adrs": [expected] })));
    for (path, status, words) in [("relative", 400, "absolute"), ("/no/such/project", 422, "not a directory")] {
        let (answered, problem) = adrs(path).await;
        assert_eq!(answered, status, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{problem}");
    }
    assert_eq!(host.get("/api/v1/adrs").send().await.unwrap().status(), 400);
    host.stop().await;
}

#[tokio::test]
async fn decisions_outside_of_the_roots_are_nobody_s_business() {
    let allowed = tempfile::tempdir().unwrap();
    let root = allowed.path().to_owned();
    let host = Host::with_engine(helix_server::ServerConfig::default(), |config| config.roots = vec![root]).await;
    let outside = tempfile::tempdir().unwrap();
    // A link inside that leads outside is outside.
    std::os::unix::fs::symlink(outside.path(), allowed.path().join("link")).unwrap();
    for path in [outside.path().to_owned(), allowed.path().join("link"), allowed.path().join("../")] {
        let path = path.to_str().unwrap().to_owned();
        let answer = host.get("/api/v1/adrs").query(&[("project_path", &path)]).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{path}");
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], "HX0410");
    }
    host.stop().await;
}

#[tokio::test]
async fn any_log_is_explained_and_what_cannot_be_is_a_problem() {
    let host = Host::start().await;
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let log = format!("error[E0308]: mismatched types\n --> src/lib.rs:3:5\ntoken {key}\n");
    let asked = json!({ "log": log, "tool": "cargo", "exit": 101, "phase": "build" });
    let answer = host.post("/api/v1/failures/explain").json(&asked).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.unwrap();
    assert!(!text.contains(&key), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["category"], "TYPE_ERROR", "{answer:#}");
    assert_eq!(answer["cause_line"], "error[E0308]: mismatched types");
    assert_eq!(answer["fingerprint"], answer["report"]["fingerprint"]);
    assert!(answer["report"]["actions"].as_array().unwrap().len() >= 2);
    let killed = host.post("/api/v1/failures/explain").json(&json!({ "log": "", "exit": -9 })).send().await.unwrap();
    let killed: Value = killed.json().await.unwrap();
    assert!(killed["report"]["what_failed"]["ended"].as_str().unwrap().contains("signal 9"), "{killed:#}");

    let large = json!({ "log": "x".repeat(9 << 20) });
    for (body, status, code) in [
        (json!({}), 422, "HX0804"),
        (json!({ "log": "x", "exit": 300 }), 422, "HX0804"),
        (json!({ "log": "x", "tol": "y" }), 422, "HX0804"),
        (large, 413, "HX0805"),
    ] {
        let answer = host.post("/api/v1/failures/explain").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], code, "{problem}");
    }
    let list: Value = host.get("/api/v1/failures").send().await.unwrap().json().await.unwrap();
    assert_eq!(list, json!({ "failures": [] }), "explaining remembers nothing");
    for (path, status) in [
        ("/api/v1/failures/abc", 404),
        ("/api/v1/jobs/j0/reports", 404),
        ("/api/v1/failures?category=TYPE_EROR", 400),
        ("/api/v1/failures?limit=0", 400),
        ("/api/v1/failures?q=x&tool=cargo", 400),
        ("/api/v1/failures?qq=x", 400),
    ] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json", "{path}");
    }
    host.stop().await;
}
