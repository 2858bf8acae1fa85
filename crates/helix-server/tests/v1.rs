//! `/v1`: what chat clients ask, as far as no agent is needed.

use crate::host::Host;
use helix_server::ServerConfig;
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
    assert!(meta["profile_image_url"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"), "{meta}");
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
        // What structured-output libraries send: no answer of an agent would be what they ask for.
        (
            json!({ "messages": user, "response_format": { "type": "json_schema", "json_schema": { "name": "x" } } })
                .to_string(),
            400,
            json!("response_format"),
            "invalid_request",
        ),
        (
            json!({ "messages": user, "tool_choice": "required" }).to_string(),
            400,
            json!("tool_choice"),
            "invalid_request",
        ),
        (json!({ "messages": user, "n": 2 }).to_string(), 400, json!("n"), "invalid_request"),
        (json!({ "messages": user, "x": "y".repeat(2_000) }).to_string(), 413, Value::Null, "body_too_large"),
    ] {
        let answer = host.post("/v1/chat/completions").body(body.clone()).send().await.unwrap();
        assert_eq!(answer.status(), status, "{body}");
        assert_eq!(answer.headers()["content-type"], "application/json");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["param"], param, "{error}");
        assert_eq!(error["error"]["code"], code, "{error}");
    }
    for (body, param) in [
        (json!({ "input": [] }), "input"),
        (json!({ "input": "hi", "conversation": "conv_1" }), "conversation"),
        (json!({ "input": "hi", "text": { "format": { "type": "json_object" } } }), "text.format"),
    ] {
        let answer = host.post("/v1/responses").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{body}");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["param"], param, "{error}");
    }
    host.stop().await;
}

#[tokio::test]
async fn background_tasks_never_open_a_session() {
    // Every recorded task of the real client, in its own words; nothing is left of them.
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
            // The page would wait for ever for a refusal.
            assert_eq!(answer.headers()["content-type"], "text/event-stream");
            let text = answer.text().await.unwrap();
            assert!(text.contains("does not merge") && text.ends_with("data: [DONE]\n\n"), "{text}");
            continue;
        }
        assert_eq!(answer.status(), 200);
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
        assert!(!answer["choices"][0]["message"]["content"].as_str().unwrap().is_empty());
        answered += 1;
    }
    assert!(answered > 10, "{answered}");
    // Zed asks for a title below the whole conversation.
    let title = json!({ "stream": true, "messages": [
        { "role": "user", "content": "fix the login page" },
        { "role": "assistant", "content": "I do." },
        { "role": "user", "content": "Generate a concise 3-7 word title for this conversation, omitting punctuation.\nBe descriptive." },
    ] });
    let answer = host.post("/v1/chat/completions").header("x-chat", "thread").json(&title).send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(text.contains(r#""content":"Fix the login page""#), "{text}");
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

#[tokio::test]
async fn hostile_bodies_are_refused_in_order_and_harm_nobody() {
    let host = Host::start().await;
    let user =
        |content: Value| json!({ "messages": [{ "role": "user", "content": content }] }).to_string().into_bytes();
    let wrapped = |text: &str| [br#"{"messages":[{"role":"user","content":"#, text.as_bytes(), b"}]}"].concat();
    let parts = |count: usize, part: Value| user(Value::Array(vec![part; count]));
    // No agent is configured: what is understood gets as far as that, and no further.
    let (refused, understood) = (400, 503);
    for (what, body, status) in [
        ("nesting", [b"[".repeat(200_000), b"]".repeat(200_000)].concat(), refused),
        ("nesting inside", wrapped(&format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000))), refused),
        ("half a surrogate pair", wrapped(r#""\ud83d""#), refused),
        ("no UTF-8", [wrapped("\"")[..39].to_vec(), vec![0xff, 0xfe], b"\"}]}".to_vec()].concat(), refused),
        ("a body cut off", user(json!("hi"))[..30].to_vec(), refused),
        ("only white space", user(json!(" \u{a0}\n")), refused),
        ("control characters", user(json!("a\u{0}b\u{1b}[31m\u{202e}")), understood),
        ("a thousand parts", parts(1_000, json!({ "type": "text", "text": "x" })), understood),
        ("unknown parts", parts(1_000, json!({ "type": "hologram", "x": [1, 2] })), understood),
        ("a part that is a number", parts(1, json!(7)), refused),
        ("a key given twice", br#"{"messages":[],"messages":[{"role":"user","content":"x"}]}"#.to_vec(), understood),
        (
            "megabytes of marks",
            user(json!("<details type=\"reasoning\">\n> [!NOTE]\n> **Helix:** x\n".repeat(60_000))),
            understood,
        ),
        (
            "the system last",
            br#"{"messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]}"#.to_vec(),
            understood,
        ),
        ("only answers", br#"{"messages":[{"role":"assistant","content":"x"}]}"#.to_vec(), refused),
    ] {
        let answer = host.post("/v1/chat/completions").body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{what}: {}", answer.text().await.unwrap());
        assert_eq!(answer.headers()["content-type"], "application/json", "{what}");
        let error: Value = answer.json().await.unwrap();
        assert!(error["error"]["message"].as_str().is_some_and(|message| message.len() < 2_000), "{what}: {error}");
    }
    let sessions: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(sessions, json!({ "sessions": [] }), "nothing of all that began a session");
    host.stop().await;
}

#[tokio::test]
async fn a_message_of_ten_megabytes_is_a_message() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let long = format!("{} [[fake: say Read.]]", "All work and no play. ".repeat(480_000));
    let history = json!([
        { "role": "user", "content": long }, { "role": "assistant", "content": "Read." },
        { "role": "user", "content": "and? [[fake: say Again.]]" },
    ]);
    for (count, said) in [(1, "Read."), (3, "Again.")] {
        let messages = &history.as_array().unwrap()[..count];
        let request = host.post("/v1/chat/completions").header("x-chat", "c");
        let answer: Value = request.json(&json!({ "messages": messages })).send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["choices"][0]["message"]["content"], said, "{answer}");
    }
    host.stop().await;
}
