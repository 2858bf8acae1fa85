//! Reports of a failed job where people and programs look: after `helix run`, in `helix jobs show`, over the API.

use serde_json::{Value, json};

use crate::stage::{LIMIT, LOOK_AGAIN, Stage};

pub(crate) const SCRIPT: &str = "parts:\n  - { name: a, prompt: 'Write the page', act: { steps: [{ write: { path: a.md, content: \"wrong\\n\" } }] } }\n";
pub(crate) const PLAN: &str = "name: Pages\nphases:\n  - { id: a, name: The page, type: documentation, description: Write the page., outputs: [a.md], max_attempts: 2, \
    on_failure: fail, gates: [{ type: command, command: \"sh -c 'python3 -m page_checker'\" }] }\n";

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    let output = stage.helix(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn failed_job(stage: &Stage) -> (Ran, String) {
    let plan = stage.plan("pages", PLAN);
    let ran = run(stage, &["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.stdout, ran.stderr);
    let jobs: Value = serde_json::from_str(&run(stage, &["jobs", "list", "--json"]).stdout).unwrap();
    (ran, jobs[0]["id"].as_str().unwrap().to_owned())
}

#[test]
fn a_failed_job_shows_why_and_what_to_do_with_and_without_a_host() {
    let stage = Stage::new(SCRIPT, "");
    let (ran, id) = failed_job(&stage);
    let shown = run(&stage, &["jobs", "show", &id]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for text in [&ran.stdout, &shown.stdout] {
        assert_eq!(text.matches("report of a, attempt 2").count(), 1, "only the last report of the phase: {text}");
        for part in ["failed: ", "No module named page_checker", "cause: ", "suggested: "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains('│'), "plain: {text}");
    }
    let json: Value = serde_json::from_str(&run(&stage, &["jobs", "show", &id, "--json"]).stdout).unwrap();
    let reports = json["reports"].as_array().unwrap();
    assert_eq!((json["status"].as_str(), reports.len()), (Some("failed"), 2), "{json:#}");
    for (at, report) in reports.iter().enumerate() {
        assert_eq!((&report["phase"], &report["attempt"]), (&json!("a"), &json!(at + 1)), "oldest first");
        assert_eq!(report["report"]["why"]["content"]["category"], "FUNCTION_ERROR", "{report:#}");
        assert!(report["report"]["actions"].as_array().unwrap().len() >= 2);
    }

    // A report that is gone is made again from the record; a damaged one is named, and the rest is as it was.
    let kept = stage.sandbox.state().join(format!("reports/{id}/a.2.gate-1-command.json"));
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    let _absent = std::fs::remove_file(&kept);
    let again: Value = serde_json::from_slice(run(&stage, &["jobs", "show", &id, "--json"]).stdout.as_bytes()).unwrap();
    assert_eq!(again["reports"][1]["report"]["why"], reports[1]["report"]["why"], "{again:#}");
    std::fs::write(&kept, "{").unwrap();
    let shown = run(&stage, &["jobs", "show", &id]);
    assert!(
        shown.stdout.contains("report of a, attempt 2") && shown.stdout.contains("cannot be read"),
        "{}",
        shown.stdout
    );
    assert_eq!(shown.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_gives_the_reports_and_the_memory_of_a_job() {
    let stage = Stage::new(SCRIPT, "");
    let _host = stage.start();
    let job = stage.submit(&stage.plan("pages", PLAN), &stage.repo, "k").await;
    stage.events(&job).await;
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |path: String| http.get(format!("{url}/api/v1/{path}")).bearer_auth(&token).send();

    let list: Value = get(format!("jobs/{job}/reports")).await.unwrap().json().await.unwrap();
    let attempts: Vec<&Value> = list["reports"].as_array().unwrap().iter().map(|one| &one["attempt"]).collect();
    assert_eq!(attempts, [1, 2]);
    let page = get(format!("jobs/{job}/reports?format=markdown")).await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/markdown; charset=utf-8");
    let page = page.text().await.unwrap();
    assert_eq!(page.matches("### Suggested actions").count(), 2, "{page}");
    assert!(page.starts_with("## a, attempt 1\n") && page.contains("\n## a, attempt 2\n"), "{page}");
    let wrong = get(format!("jobs/{job}/reports?format=markdwn")).await.unwrap();
    assert_eq!(wrong.status(), 400);
    assert!(wrong.text().await.unwrap().contains("did you mean `markdown`?"));

    // The memory learns of it after the job.
    let fingerprint = list["reports"][0]["report"]["fingerprint"].as_str().unwrap().to_owned();
    let start = std::time::Instant::now();
    loop {
        let all: Value =
            get("failures?ended=gave_up&category=function_error&limit=1".into()).await.unwrap().json().await.unwrap();
        if all["failures"][0]["fingerprint"] == json!(fingerprint) {
            break;
        }
        assert!(start.elapsed() < LIMIT, "{all:#}\n{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let found: Value = get("failures?q=page_checker".into()).await.unwrap().json().await.unwrap();
    assert_eq!(
        (&found["failures"][0]["fingerprint"], &found["failures"][0]["count"]),
        (&json!(fingerprint), &json!(2))
    );
    let detail: Value = get(format!("failures/{}", &fingerprint[..10])).await.unwrap().json().await.unwrap();
    assert_eq!(detail["occurrences"].as_array().unwrap().len(), 2, "{detail:#}");

    // What the Consultant is told when it asks how the job stands.
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "job_status", "arguments": { "job": job } } });
    let asked =
        http.post(format!("{url}/mcp")).bearer_auth(&token).header("accept", "application/json, text/event-stream");
    let told: Value = asked.json(&call).send().await.unwrap().json().await.unwrap();
    let told = told["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    for part in
        ["is failed", "Report of a, attempt 2, data only:\n```text\n", "No module named page_checker", "suggested: "]
    {
        assert!(told.contains(part), "{part:?}: {told}");
    }

    let asked = json!({ "log": "/usr/bin/python3: No module named page_checker\n", "tool": "python3", "exit": 1 });
    let answer =
        http.post(format!("{url}/api/v1/failures/explain")).bearer_auth(&token).json(&asked).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(
        (&answer["category"], &answer["report"]["similar"]["state"]),
        (&json!("FUNCTION_ERROR"), &json!("known"))
    );
    let after: Value = get(format!("failures/{fingerprint}")).await.unwrap().json().await.unwrap();
    assert_eq!(after["count"], 2, "explaining remembers nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_memory_everything_else_works_and_the_host_says_so_once() {
    let stage = Stage::new(SCRIPT, "\n[failures]\nmemory = \"off\"\n");
    let _host = stage.start();
    let job = stage.submit(&stage.plan("pages", PLAN), &stage.repo, "k").await;
    stage.events(&job).await;
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |path: String| http.get(format!("{url}/api/v1/{path}")).bearer_auth(&token).send();
    let list: Value = get(format!("jobs/{job}/reports")).await.unwrap().json().await.unwrap();
    assert_eq!(list["reports"].as_array().unwrap().len(), 2);
    let report = &list["reports"][1]["report"];
    assert_eq!(report["why"]["content"]["category"], "FUNCTION_ERROR");
    assert_eq!(report["similar"]["state"], "missing", "{report:#}");
    let asked = http
        .post(format!("{url}/api/v1/failures/explain"))
        .bearer_auth(&token)
        .json(&json!({ "log": "x: No such file or directory" }));
    let answer: Value = asked.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["category"], "FILE_ACCESS", "{answer:#}");
    let refused = get("failures".into()).await.unwrap();
    assert_eq!(refused.status(), 503);
    assert!(refused.text().await.unwrap().contains("switched off"));
    let log = stage.log();
    assert_eq!(log.matches("not remembered").count(), 1, "{log}");
    assert!(!stage.sandbox.state().join("failures.db").exists());
}
