//! The scripted endpoint over plain sockets: what is on the wire, byte for byte.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use helix_testkit::model::{Fault, FaultKind, Reply, Script, ScriptedModel};
use serde_json::{Value, json};

struct Answer {
    status: u16,
    head: String,
    body: String,
    error: Option<std::io::ErrorKind>,
}

fn send(model: &ScriptedModel, method: &str, path: &str, body: &str) -> Answer {
    let address = model.base_url().replace("http://", "");
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(400))).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: s3cret\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(body.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let error = socket.read_to_end(&mut bytes).err().map(|error| error.kind());
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or(("", ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned(), error }
}

fn ask(model: &ScriptedModel, body: &Value) -> Answer {
    send(model, "POST", "/v1/messages?beta=true", &body.to_string())
}

fn request(prompt: &str, stream: bool) -> Value {
    json!({"model": "m-1", "stream": stream, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "<system-reminder>Phase: other</system-reminder>"}, {"type": "text", "text": prompt}]},
        {"role": "system", "content": "Working directory: /somewhere"},
    ]})
}

fn events(answer: &Answer) -> Vec<String> {
    answer.body.lines().filter_map(|line| line.strip_prefix("event: ")).map(str::to_owned).collect()
}

#[test]
fn streams_in_the_order_of_the_api() {
    let reply = Reply { thinking: Some("hm".into()), ..Reply::tool("Bash", json!({"command": "ls {{cwd}}"})) };
    let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
    let answer = ask(&model, &request("go", true));
    assert!(answer.head.contains("text/event-stream"), "{}", answer.head);
    let events = events(&answer);
    assert_eq!(events.first().map(String::as_str), Some("message_start"));
    assert_eq!(events[events.len() - 2..], ["message_delta", "message_stop"]);
    assert_eq!(events.iter().filter(|event| *event == "content_block_start").count(), 2);
    assert!(answer.body.contains("tool_use") && answer.body.contains("signature_delta"));
    let whole: Value = serde_json::from_str(&ask(&model, &request("go", false)).body).unwrap();
    assert_eq!(whole["content"][1]["input"], json!({"command": "ls /somewhere"}));
    assert_eq!(whole["stop_reason"], "tool_use");
    assert_eq!(model.requests()[0].headers["x-api-key"], "[redacted]");
}

#[test]
fn every_http_error_has_its_status_and_shape() {
    let table = [
        (FaultKind::InvalidRequest, 400, "invalid_request_error"),
        (FaultKind::CreditBalance, 400, "credit balance"),
        (FaultKind::PromptTooLong, 400, "prompt is too long"),
        (FaultKind::Unauthorized, 401, "authentication_error"),
        (FaultKind::Forbidden, 403, "permission_error"),
        (FaultKind::NotFound, 404, "not_found_error"),
        (FaultKind::TooLarge, 413, "request_too_large"),
        (FaultKind::ServerError, 500, "api_error"),
        (FaultKind::BadGateway, 502, "<html>"),
        (FaultKind::Overloaded, 529, "overloaded_error"),
    ];
    for (kind, status, part) in table {
        let reply = Reply::text("ok").with_fault(Fault::times(kind, 1));
        let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
        let answer = ask(&model, &request("go", true));
        assert_eq!(answer.status, status, "{kind:?}");
        assert!(answer.body.contains(part), "{kind:?}: {}", answer.body);
        assert_eq!(ask(&model, &request("go", true)).status, 200, "{kind:?} once");
    }
    let fault = Fault { retry_after: Some(7), resets_in: Some(60), ..Fault::always(FaultKind::RateLimited) };
    let model = ScriptedModel::start_blocking(Script::always(Reply::text("ok").with_fault(fault))).unwrap();
    let answer = ask(&model, &request("go", true));
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("retry-after: 7") && answer.head.contains("anthropic-ratelimit-unified-reset: "));
}

#[test]
fn streams_break_where_the_fault_says() {
    let ended = |kind: FaultKind| {
        let reply = Reply { text: Some("some text".into()), ..Reply::tool("Bash", json!({"command": "ls"})) };
        let model = ScriptedModel::start_blocking(Script::always(reply.with_fault(Fault::always(kind)))).unwrap();
        let answer = ask(&model, &request("go", true));
        let whole_body = answer.body.ends_with("0\r\n\r\n");
        (events(&answer).last().cloned().unwrap_or_default(), whole_body, answer.error)
    };
    let reset = Some(std::io::ErrorKind::ConnectionReset);
    let silent = Some(std::io::ErrorKind::WouldBlock);
    assert_eq!(ended(FaultKind::EofMidStream), ("content_block_delta".into(), true, None));
    assert_eq!(ended(FaultKind::EofAfterBlock), ("content_block_stop".into(), true, None));
    assert_eq!(ended(FaultKind::EofMidToolUse), ("content_block_delta".into(), true, None));
    assert_eq!(ended(FaultKind::EofAfterMessageDelta), ("message_delta".into(), true, None));
    assert_eq!(ended(FaultKind::ResetMidStream), ("content_block_delta".into(), false, reset));
    assert_eq!(ended(FaultKind::ResetAfterBlock), ("content_block_stop".into(), false, reset));
    assert_eq!(ended(FaultKind::SseError), ("error".into(), true, None));
    assert_eq!(ended(FaultKind::GarbageSse), ("content_block_delta".into(), true, None));
    assert_eq!(ended(FaultKind::HangMidStream), ("content_block_delta".into(), false, silent));
    assert_eq!(ended(FaultKind::HangBeforeHeaders), (String::new(), false, silent));
    assert_eq!(ended(FaultKind::ResetBeforeHeaders), (String::new(), false, reset));
    assert_eq!(ended(FaultKind::SlowStream), (String::new(), false, silent));
}

#[test]
fn stop_reasons_and_empty_content() {
    for (kind, reason) in
        [(FaultKind::Refusal, "refusal"), (FaultKind::MaxTokens, "max_tokens"), (FaultKind::PauseTurn, "pause_turn")]
    {
        let reply = Reply::text("x").with_fault(Fault::always(kind));
        let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
        assert!(ask(&model, &request("go", true)).body.contains(&format!("\"stop_reason\":\"{reason}\"")));
    }
    let reply = Reply::text("x").with_fault(Fault::always(FaultKind::EmptyContent));
    let model = ScriptedModel::start_blocking(Script::always(reply)).unwrap();
    assert!(!ask(&model, &request("go", true)).body.contains("content_block"));
}

fn conversation(prompts: &[(&str, usize)]) -> Value {
    let mut messages = Vec::new();
    for (prompt, rounds) in prompts {
        messages.push(json!({"role": "user", "content": prompt}));
        for round in 0..*rounds {
            let id = format!("t{}", messages.len() + round);
            messages.push(
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]}),
            );
            messages.push(
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "out"}]}),
            );
        }
    }
    json!({"model": "m", "messages": messages})
}

#[test]
fn scenes_advance_by_conversation_and_survive_repeats() {
    let script: Script = r#"
variables: { greeting: hi }
rules:
  - { name: aside, when: { prompt: { matches: "aside (?P<word>\\w+)" } }, reply: { text: "{{greeting}} {{word}}" } }
scenes:
  - name: fix
    prompt: "Findings for implement"
    steps: [{ text: fixed }]
  - name: implement
    prompt: "implement"
    takes:
      - [{ text: "first 1" }, { text: "first 2" }]
      - [{ text: "second 1" }]
"#
    .parse()
    .unwrap();
    let model = ScriptedModel::start_blocking(script).unwrap();
    let text = |body: &Value| {
        let answer: Value = serde_json::from_str(&ask(&model, body).body).unwrap();
        answer["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(text(&conversation(&[("please implement", 0)])), "first 1");
    assert_eq!(text(&conversation(&[("please implement", 0)])), "first 1", "a repeated request gets the same step");
    assert_eq!(text(&conversation(&[("please implement again", 0)])), "second 1", "another conversation");
    assert_eq!(text(&conversation(&[("please implement", 1)])), "first 2", "undisturbed by it");
    assert_eq!(text(&conversation(&[("please implement", 2), ("Findings for implement", 0)])), "fixed");
    assert_eq!(text(&conversation(&[("aside there", 0)])), "hi there");
    model.assert_no_failures();

    let answer = ask(&model, &conversation(&[("please implement", 2)]));
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("has 2 steps"), "{}", answer.body);
    let answer = ask(&model, &conversation(&[("something else", 0)]));
    assert!(answer.body.contains("something else"), "{}", answer.body);
    assert_eq!(model.failures().len(), 2);
}

#[test]
fn other_paths_are_answered_sensibly() {
    let model = ScriptedModel::start_blocking(Script::default()).unwrap();
    assert_eq!(send(&model, "HEAD", "/", "").status, 200);
    assert_eq!(send(&model, "HEAD", "/api/hello", "").status, 200);
    let counted = send(&model, "POST", "/v1/messages/count_tokens?beta=true", "{\"messages\":[]}");
    assert!(counted.body.contains("input_tokens"));
    assert_eq!(send(&model, "GET", "/nowhere", "").status, 404);
    let title = json!({"model": "m", "system": "Write a title for the session", "messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(ask(&model, &title).status, 200);
    model.assert_no_failures();
    assert_eq!(model.other_requests().len(), 4);
}

#[test]
fn errors_in_scripts_name_line_and_cause() {
    let error = "rules:\n  - when: { promt: x }\n    reply: { text: y }\n".parse::<Script>().unwrap_err().to_string();
    assert!(error.contains("promt") && error.contains("line 2"), "{error}");
    let error = "scenes:\n  - { name: a, prompt: x, steps: [] }\n".parse::<Script>().unwrap_err().to_string();
    assert!(error.contains("\"a\" needs either steps or takes"), "{error}");
    let error = "rules: [{ reply: { fault: overlaoded } }]".parse::<Script>().unwrap_err().to_string();
    assert!(error.contains("overlaoded"), "{error}");
}

#[tokio::test]
async fn waits_for_requests() {
    let model = ScriptedModel::start(Script::always(Reply::text("ok"))).await.unwrap();
    assert_eq!(model.wait_for(1, Duration::from_millis(20)).await.unwrap_err().got, 0);
    let model = std::sync::Arc::new(model);
    let asking = std::sync::Arc::clone(&model);
    let asked = tokio::task::spawn_blocking(move || {
        ask(&asking, &request("one", true));
        ask(&asking, &request("two", true));
    });
    let requests = model.wait_for(2, Duration::from_secs(10)).await.unwrap();
    assert_eq!(requests.len(), 2);
    asked.await.unwrap();
}

#[test]
fn executable_serves_records_and_reports_what_it_did_not_foresee() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.yaml");
    std::fs::write(&script, "rules: [{ when: { prompt: hello }, reply: { text: hi } }]").unwrap();
    let record = directory.path().join("requests.jsonl");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_helix-scripted-model"))
        .args(["--port", "0", "--script"])
        .arg(&script)
        .arg("--record")
        .arg(&record)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    let base_url = serde_json::from_str::<Value>(&line).unwrap()["base_url"].as_str().unwrap().to_owned();
    let ask = |prompt: &str| {
        let body = request(prompt, false).to_string();
        let mut socket = TcpStream::connect(base_url.replace("http://", "")).unwrap();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
        write!(socket, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        text
    };
    assert!(ask("hello").contains("\"text\":\"hi\""));
    assert!(ask("goodbye").starts_with("HTTP/1.1 400"));
    let killed = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("goodbye"));
    assert_eq!(std::fs::read_to_string(&record).unwrap().lines().count(), 2);
}
