//! `/v1`: what chat clients ask, as far as no agent is needed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod host;

use helix_server::ServerConfig;
use host::Host;
use serde_json::{Value, json};

#[tokio::test]
async fn models_carry_what_open_webui_shows() {
    let host = Host::start().await;
    let list: Value = host.get("/v1/models").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["object"], "list");
    let ids: Vec<&str> = list["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["helix", "helix:opus"]);
    let meta = &list["data"][0]["info"]["meta"];
    assert_eq!(meta["capabilities"]["builtin_tools"], false);
    assert_eq!(meta["capabilities"]["usage"], true);
    assert_eq!(meta["capabilities"]["status_updates"], true);
    assert!(meta["suggestion_prompts"][0]["content"].is_string());
    let one: Value = host.get("/v1/models/helix:opus").send().await.unwrap().json().await.unwrap();
    assert_eq!(one, list["data"][1]);
    assert_eq!(host.get("/v1/models/gpt-4o").send().await.unwrap().status(), 404);
    host.stop().await;
}

#[tokio::test]
async fn requests_that_cannot_be_answered_are_refused_with_the_field_at_fault() {
    let host = Host::start_with(ServerConfig { body_limit: 2_000, ..ServerConfig::default() }).await;
    let user = json!([{ "role": "user", "content": "hi" }]);
    for (body, status, param, code) in [
        ("{".to_owned(), 400, Value::Null, "invalid_request"),
        (json!({ "model": "helix" }).to_string(), 400, json!("messages"), "invalid_request"),
        (json!({ "messages": [{ "role": "x" }] }).to_string(), 400, json!("messages[0].role"), "invalid_request"),
        (
            json!({ "messages": [{ "role": "tool", "content": "x" }] }).to_string(),
            400,
            json!("messages"),
            "invalid_request",
        ),
        (json!({ "model": "gpt-4o", "messages": user }).to_string(), 404, json!("model"), "model_not_found"),
        (json!({ "messages": user, "x": "y".repeat(2_000) }).to_string(), 413, Value::Null, "body_too_large"),
    ] {
        let answer = host.post("/v1/chat/completions").body(body.clone()).send().await.unwrap();
        assert_eq!(answer.status(), status, "{body}");
        assert_eq!(answer.headers()["content-type"], "application/json");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["param"], param, "{error}");
        assert_eq!(error["error"]["code"], code, "{error}");
    }
    host.stop().await;
}

#[tokio::test]
async fn background_tasks_never_open_a_session() {
    // [14]: every recorded task of the real client, in its own words; nothing is left of them.
    let host = Host::start().await;
    let mut answered = 0;
    for line in include_str!("fixtures/openwebui-requests.jsonl").lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        if recorded["kind"] == "chat" {
            continue;
        }
        let mut request = host.post("/v1/chat/completions").json(&recorded["body"]);
        for pair in recorded["headers"].as_array().unwrap() {
            request = request.header(pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        }
        let answer = request.send().await.unwrap();
        if recorded["kind"] == "task:moa" {
            assert_eq!(answer.status(), 501);
            assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "task_not_supported");
            continue;
        }
        assert_eq!(answer.status(), 200);
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
        assert!(!answer["choices"][0]["message"]["content"].as_str().unwrap().is_empty());
        answered += 1;
    }
    assert!(answered > 10, "{answered}");
    let sessions: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(sessions, json!({ "sessions": [] }));
    host.stop().await;
}

#[tokio::test]
async fn a_task_is_streamed_if_asked_for() {
    let host = Host::start().await;
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": "x" }] });
    let answer =
        host.post("/v1/chat/completions").header("x-task", "tags_generation").json(&body).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    assert!(text.contains(r#""content":"{\"tags\":[\"general\"]}""#), "{text}");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    host.stop().await;
}
