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

/// A client that wants a title in a form, by a schema or as a call of a tool of its own, gets it in that form; what needs an agent is
/// refused as before.
#[tokio::test]
async fn a_title_is_answered_in_the_form_that_the_client_wants() {
    let host = Host::start().await;
    let schema = json!({
        "type": "object", "required": ["title", "language"], "additionalProperties": false,
        "properties": { "title": { "type": "string" }, "language": { "type": "string" } },
    });
    let messages = json!([
        { "role": "system", "content": "Detect the language of the conversation and write a title for it." },
        { "role": "user", "content": "Conversation:\nUser: Please fix the login page of the shop\nAI: I do." },
    ]);
    let expected = json!({ "title": "Fix the login page of the shop", "language": "en" });
    let parsed =
        |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap_or_else(|| panic!("{text}"))).unwrap();
    let format = json!({ "type": "json_schema", "json_schema": { "name": "title", "strict": true, "schema": schema } });
    let function = json!({ "name": "set_title", "description": "Sets the title", "parameters": schema });
    let named = json!({ "type": "function", "function": { "name": "set_title" } });
    let ask = async |path: &str, body: Value| {
        let answer = host.post(path).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let whole = async |path: &str, body: Value| {
        let (status, text) = ask(path, body).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let chat = "/v1/chat/completions";
    let answer = whole(chat, json!({ "messages": messages, "response_format": format })).await;
    assert_eq!(parsed(&answer["choices"][0]["message"]["content"]), expected, "{answer:#}");
    let tools = json!([{ "type": "function", "function": function }]);
    for choice in [named.clone(), json!("required")] {
        let body = json!({ "messages": messages, "tools": tools, "tool_choice": choice });
        let answer = whole(chat, body.clone()).await;
        let (message, reason) = (&answer["choices"][0]["message"], &answer["choices"][0]["finish_reason"]);
        let call = &message["tool_calls"][0];
        assert_eq!(
            (&call["type"], &call["function"]["name"], reason),
            (&json!("function"), &json!("set_title"), &json!("tool_calls"))
        );
        assert_eq!(
            (parsed(&call["function"]["arguments"]), &message["content"]),
            (expected.clone(), &Value::Null),
            "{answer:#}"
        );
        let mut streamed = body;
        streamed["stream"] = true.into();
        let (_, text) = ask(chat, streamed).await;
        let chunks: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
        let call = chunks
            .iter()
            .find_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0"))
            .unwrap_or_else(|| panic!("{text}"));
        assert_eq!((&call["index"], parsed(&call["function"]["arguments"])), (&json!(0), expected.clone()), "{text}");
        assert!(text.contains(r#""finish_reason":"tool_calls""#) && text.ends_with("data: [DONE]\n\n"), "{text}");
    }
    let input = json!({ "input": messages, "text": { "format": { "type": "json_schema", "name": "title", "schema": schema } } });
    let answer = whole("/v1/responses", input).await;
    assert_eq!(parsed(&answer["output"][0]["content"][0]["text"]), expected, "{answer:#}");
    let own = json!({ "type": "function", "name": "set_title", "parameters": schema });
    let input =
        json!({ "input": messages, "tools": [own], "tool_choice": { "type": "function", "name": "set_title" } });
    let answer = whole("/v1/responses", input).await;
    let item = &answer["output"][0];
    assert_eq!(
        (&item["type"], &item["name"], parsed(&item["arguments"])),
        (&json!("function_call"), &json!("set_title"), expected),
        "{answer:#}"
    );
    // A title that the client's words ask for, in a form.
    let words = json!([{ "role": "system", "content": "You are a title generator. You output ONLY a thread title." }, { "role": "user", "content": "fix the login page" }]);
    let only = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let answer = whole(
        chat,
        json!({ "messages": words, "response_format": { "type": "json_schema", "json_schema": { "schema": only } } }),
    )
    .await;
    assert_eq!(
        parsed(&answer["choices"][0]["message"]["content"]),
        json!({ "title": "Fix the login page" }),
        "{answer:#}"
    );

    let needs_an_agent =
        json!({ "type": "object", "properties": { "title": { "type": "string" }, "summary": { "type": "string" } } });
    for (body, param) in [
        (
            json!({ "response_format": { "type": "json_schema", "json_schema": { "schema": needs_an_agent } } }),
            "response_format",
        ),
        (json!({ "response_format": { "type": "json_object" } }), "response_format"),
        (
            json!({ "tools": tools, "tool_choice": { "type": "function", "function": { "name": "other" } } }),
            "tool_choice",
        ),
        (json!({ "tools": [tools[0], tools[0]], "tool_choice": "required" }), "tool_choice"),
    ] {
        let mut body = body;
        body["messages"] = messages.clone();
        let (status, text) = ask(chat, body).await;
        assert_eq!(status, 400, "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["error"]["param"], param, "{text}");
    }
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
