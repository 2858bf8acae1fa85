//! `/mcp`: Helix's tools as an MCP client calls them.

use std::time::Duration;

use crate::host::Host;
use helix_core::ids::RunId;
use helix_engine::tools::{Caller, Tools};
use helix_server::ServerConfig;
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

async fn call(host: &Host, body: Value) -> reqwest::Response {
    host.post("/mcp").header("accept", "application/json, text/event-stream").json(&body).send().await.unwrap()
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[tokio::test]
async fn a_client_shakes_hands_and_finds_the_tools() {
    let host = Host::start().await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    let answer = call(&host, request("initialize", hello)).await;
    assert_eq!(answer.status(), 200);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "helix", "{answer}");
    assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(call(&host, ready).await.status(), 202);
    let answer: Value = call(&host, request("tools/list", json!({}))).await.json().await.unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let mut expected = helix_engine::TOOL_NAMES;
    expected.sort_unstable();
    assert_eq!(names, expected);
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_tool_answers_and_wrong_arguments_are_named() {
    let host = Host::start().await;
    let status = json!({ "name": "plan_check", "arguments": { "path": "/nonexistent/phases.yaml" } });
    let answer: Value = call(&host, request("tools/call", status)).await.json().await.unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(!text.is_empty(), "{answer}");
    assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
    let wrong = json!({ "name": "plan_check", "arguments": {} });
    let answer: Value = call(&host, request("tools/call", wrong)).await.json().await.unwrap();
    assert!(answer.to_string().contains("path"), "{answer}");
    host.stop().await;
}

/// What a tool answers, and whether it is a refusal.
async fn told(host: &Host, header: Option<(&str, &str)>, name: &str, arguments: Value) -> (String, bool) {
    let body = request("tools/call", json!({ "name": name, "arguments": arguments }));
    let mut request = host.post("/mcp").header("accept", "application/json, text/event-stream").json(&body);
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (text.to_owned(), answer["result"]["isError"] == true)
}

#[tokio::test]
async fn the_agent_of_a_phase_may_not_decide() {
    let host = Host::start().await;
    let run = Caller::Run(RunId::new("j1m80cxsf2e74jy7s.implement.1").unwrap());
    let tools = Tools::new(host.engine().clone(), run);
    let mut permitted = Vec::new();
    for tool in helix_engine::TOOL_NAMES {
        match tools.permit(tool).await {
            Ok(()) => permitted.push(tool),
            Err(refusal) => {
                assert!(refusal.text.contains("is not for the agent of a phase"), "{tool}: {}", refusal.text);
            }
        }
    }
    assert_eq!(permitted, ["adr_check", "plan_check", "ask_user", "similar_failures", "skill_read"]);
    // Who calls is in the token: what a header says is nobody's.
    let forged = Some(("x-helix-run", "j1m80cxsf2e74jy7s.implement.1"));
    let (text, failed) = told(&host, forged, "plan_check", json!({ "path": "phases.yaml" })).await;
    assert!(failed && text.contains("give the full path"), "{text}");
    host.stop().await;
}

#[tokio::test]
async fn paths_begin_where_the_caller_is() {
    let host = Host::start().await;
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("p.yaml"), "name: x\n").unwrap();
    let (text, failed) = told(&host, None, "plan_check", json!({ "path": "p.yaml" })).await;
    assert!(failed && text.contains("give the full path"), "{text}");
    let here = directory.path().to_str().unwrap();
    let (text, failed) =
        told(&host, Some(("x-helix-directory", here)), "plan_check", json!({ "path": "p.yaml" })).await;
    assert!(failed && text.contains("HX0"), "{text}");
    host.stop().await;
}

#[tokio::test]
async fn skills_are_listed_and_read_and_nothing_else_is() {
    let host = Host::start().await;
    let project = tempfile::tempdir().unwrap();
    let skill = project.path().join("skills/python");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\nname: python\ndescription: Our Python\n---\nUse types.\n").unwrap();
    std::fs::write(project.path().join("secret.txt"), "key").unwrap();
    let root = project.path().to_str().unwrap();
    let (text, failed) = told(&host, None, "skills_list", json!({ "project": root })).await;
    assert!(!failed && text.lines().any(|line| line == "- python: Our Python"), "{text}");
    let (text, failed) = told(&host, None, "skill_read", json!({ "project": root, "name": "python" })).await;
    assert!(!failed && text.contains("Use types."), "{text}");
    let escape = json!({ "project": root, "name": "python", "file": "../../secret.txt" });
    let (text, failed) = told(&host, None, "skill_read", escape).await;
    assert!(failed && text.contains("does not lie in the directory of the skill"), "{text}");
    host.stop().await;
}

#[tokio::test]
async fn nobody_is_asked_where_there_is_nobody() {
    let host = Host::start().await;
    let (text, failed) = told(&host, None, "ask_user", json!({ "question": "Which?" })).await;
    assert!(failed && text.contains("no user is connected"), "{text}");
    let (text, failed) = told(&host, None, "answer", json!({ "choice": "approve" })).await;
    assert!(failed && text.contains("pass the question's id"), "{text}");
    let (text, failed) = told(&host, None, "similar_failures", json!({ "text": "ModuleNotFoundError: x" })).await;
    assert!(!failed && text.contains("No similar failure"), "{text}");
    host.stop().await;
}

/// A plan that is refused is a failure of the tool `helix`; looked at ten times it was refused once, and what mended it helps others.
#[tokio::test]
async fn a_refused_plan_is_remembered_once_and_what_fixed_it_with_it() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let twice = "name: x\nphases:\n  - { id: a, type: documentation, description: d, outputs: [a.md] }\n  \
                 - { id: a, type: documentation, description: d, outputs: [b.md] }\n";
    let directory = tempfile::tempdir().unwrap();
    let draft = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // No tool waits for the memory.
    let known = async |there: fn(&Value) -> bool| -> Value {
        loop {
            let list: Value = host.get("/api/v1/failures?tool=helix").send().await.unwrap().json().await.unwrap();
            if list["failures"].as_array().unwrap().iter().any(there) {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let first = draft("one/phases.yaml", twice);
    for _ in 0..10 {
        let (text, failed) = told(&host, None, "plan_check", json!({ "path": first })).await;
        assert!(failed && text.contains("HX0112"), "{text}");
    }
    let failures = known(|_| true).await;
    let failure = &failures["failures"][0];
    assert_eq!((&failure["code"], &failure["count"]), (&json!("HX0112"), &json!(1)), "{failures}");
    assert_eq!((&failure["tool"], &failure["frame"]), (&json!("helix"), &json!("phases.yaml")), "{failures}");

    draft("one/phases.yaml", &twice.replacen("id: a", "id: first", 1));
    let (text, failed) = told(&host, None, "plan_check", json!({ "path": first })).await;
    assert!(!failed, "{text}");
    let failures = known(|one| one["end"]["ended"] == "fixed").await;
    assert_eq!(failures["failures"][0]["count"], 1, "{failures}");
    let end = &failures["failures"][0]["end"];
    assert_eq!((&end["ended"], &end["link"]["files"]), (&json!("fixed"), &json!(["phases.yaml"])), "{failures}");
    assert!(end["link"]["diff"].as_str().unwrap().contains("+  - { id: first,"), "{failures}");

    // Refused where a job is to be started from it, it is the same failure.
    let second = draft("two/phases.yaml", twice);
    let refused = host.post("/api/v1/jobs").json(&json!({ "plan": second })).send().await.unwrap();
    assert_eq!(refused.status(), 422);
    known(|one| one["count"] == 2).await;

    let adr = draft("adr/draft.md", "---\nadr_id: draft\ntitle: T\nstatus: Proposed\n---\n\n# T\n");
    let (text, failed) = told(&host, None, "adr_check", json!({ "path": adr })).await;
    assert!(failed, "{text}");
    known(|one| one["code"].as_str().unwrap().starts_with("HX02")).await;
    host.stop().await;
}

/// The codes that a text names, in order.
fn codes(text: &str) -> Vec<&str> {
    text.match_indices("HX").filter_map(|(at, _)| text.get(at..at + 6)).collect()
}

/// What passes `plan_check` is not refused by `job_start`, and what that refuses does not pass.
#[tokio::test]
async fn a_plan_is_checked_as_it_is_submitted() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let sandbox = Sandbox::new().unwrap();
    let repo = sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
    let bare = sandbox.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    git(&bare, sandbox.environment(), &["init", "-q"]).unwrap();
    let plan = |more: &str, phase: &str| {
        format!(
            "name: x\n{more}phases:\n  - {{ id: a, type: documentation, description: d, outputs: [a.md]{phase} }}\n"
        )
    };
    let cases = [
        (&repo, plan("", ", agent: fakr"), "HX04"),
        (&repo, plan("", ", inputs: [docs/none.md]"), "HX04"),
        (&repo, plan("adr: adr/009-none.md\n", ""), "HX04"),
        (&repo, plan("", ", depends_on: [b]"), "HX01"),
        (&bare, plan("", ""), "HX04"),
        (&repo, plan("", ""), ""),
    ];
    for (directory, text, expected) in cases {
        let path = directory.join("phases.yaml");
        std::fs::write(&path, &text).unwrap();
        let (checked, refused) = told(&host, None, "plan_check", json!({ "path": path })).await;
        let (started, not_started) = told(&host, None, "job_start", json!({ "project": path })).await;
        assert_eq!(refused, not_started, "{text}: {checked} / {started}");
        assert_eq!(refused, !expected.is_empty(), "{text}: {checked}");
        if refused {
            assert!(codes(&checked)[0].starts_with(expected), "{text}: {checked}");
            assert_eq!(codes(&checked), codes(&started), "{text}: {checked} / {started}");
        } else {
            assert!(!checked.contains("Checked as a draft"), "{checked}");
        }
    }
    // A draft lies in no repository: what one would say is not known, and the answer says so.
    let draft = tempfile::tempdir().unwrap();
    let path = draft.path().join("phases.yaml");
    std::fs::write(&path, plan("", ", inputs: [docs/none.md]")).unwrap();
    let (checked, refused) = told(&host, None, "plan_check", json!({ "path": path })).await;
    assert!(!refused && checked.contains("Checked as a draft"), "{checked}");
    let named = json!({ "path": path, "project": repo });
    let (checked, refused) = told(&host, None, "plan_check", named).await;
    assert!(refused && checked.contains("docs/none.md"), "{checked}");
    host.stop().await;
}
