//! Where in a session a request stands, and what becomes of that: with a real engine and a fake agent under a real keeper.

mod links;
mod responses;
mod whose;
mod words;

use crate::host::{Host, signals};
use futures::StreamExt;
use helix_server::{Disconnect, ServerConfig};
use serde_json::{Value, json};

/// A turn as its client got it.
struct Answered {
    session: String,
    turn: String,
    text: String,
}

impl Answered {
    fn run(&self) -> String {
        format!("{}.1", self.turn)
    }
}

/// Messages by turns: user, assistant, user, …
fn messages(texts: &[&str]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    roles.zip(texts).map(|(role, text)| json!({ "role": role, "content": text })).collect()
}

async fn send(host: &Host, headers: &[(&str, &str)], messages: Value, stream: bool) -> reqwest::Response {
    let mut request = host.post("/v1/chat/completions");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.json(&json!({ "model": "helix", "stream": stream, "messages": messages })).send().await.unwrap()
}

async fn ask(host: &Host, headers: &[(&str, &str)], messages: Value) -> Answered {
    let answer = send(host, headers, messages, false).await;
    let (status, body): (_, Value) = (answer.status(), answer.json().await.unwrap());
    assert_eq!(status, 200, "{body}");
    Answered {
        session: body["helix"]["session"].as_str().unwrap().into(),
        turn: body["helix"]["turn"].as_str().unwrap().into(),
        text: body["choices"][0]["message"]["content"].as_str().unwrap().into(),
    }
}

async fn session(host: &Host, id: &str) -> Value {
    host.get(&format!("/api/v1/sessions/{id}")).send().await.unwrap().json().await.unwrap()
}

/// The value of an option in a command line.
fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).map(String::as_str)
}

/// Headers of Open WebUI's recommended connection: chat, answer, answer before.
fn ids<'a>(chat: &'a str, message: &'a str, parent: &'a str) -> [(&'static str, &'a str); 3] {
    [("x-chat", chat), ("x-message", message), ("x-parent", parent)]
}

#[tokio::test]
async fn regenerating_editing_deleting_and_continuing_branch_the_agents_session_at_the_right_point() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let one = ask(&host, &ids("c", "m1", ""), messages(&["[[fake: say A]]"])).await;
    let (args, _) = host.asked(&one.run());
    let first = option(&args, "--session-id").unwrap().to_owned();

    let two = ask(&host, &ids("c", "m2", "m1"), messages(&["x", "A", "[[fake: say B]]"])).await;
    let (args, _) = host.asked(&two.run());
    assert_eq!(option(&args, "--resume"), Some(first.as_str()), "a line goes on in place");
    assert!(!args.iter().any(|arg| arg == "--fork-session"));

    let again = ask(&host, &ids("c", "m3", "m1"), messages(&["x", "A", "[[fake: say B]]"])).await;
    assert_ne!(again.turn, two.turn, "another answer, not the old one");
    let (args, _) = host.asked(&again.run());
    assert_eq!(option(&args, "--resume"), Some(first.as_str()));
    assert!(args.iter().any(|arg| arg == "--fork-session"), "{args:?}");
    assert!(option(&args, "--resume-session-at").is_some(), "cut where the parent ended: {args:?}");
    let second = option(&args, "--session-id").unwrap().to_owned();

    let edited = ask(&host, &ids("c", "m4", "m3"), messages(&["x", "A", "y", "B", "[[fake: say C]]"])).await;
    assert_eq!(option(&host.asked(&edited.run()).0, "--resume"), Some(second.as_str()), "on the regenerated branch");

    // "More Concise": a message that nobody typed, after an answer that stands beyond the named parent.
    let concise = ask(
        &host,
        &ids("c", "m7", "m1"),
        messages(&["[[fake: say A]]", "A", "[[fake: say B]]", "B", "[[fake: say S]]"]),
    )
    .await;
    assert_eq!(option(&host.asked(&concise.run()).0, "--resume"), Some(second.as_str()), "after the answer it varies");

    // The newer branch is deleted in the client, which goes on with the older one.
    let back = ask(&host, &ids("c", "m5", "m2"), messages(&["x", "A", "y", "B", "[[fake: say D]]"])).await;
    let (args, _) = host.asked(&back.run());
    assert_eq!((option(&args, "--resume"), option(&args, "--session-id")), (Some(first.as_str()), None));

    let more = ask(&host, &ids("c", "m4", "m3"), messages(&["x", "A", "y", "B", "z", "C"])).await;
    let (args, stdin) = host.asked(&more.run());
    assert_eq!(option(&args, "--resume"), Some(second.as_str()));
    assert!(stdin.contains("Continue your last answer"), "{stdin}");
    let after =
        ask(&host, &ids("c", "m6", "m4"), messages(&["x", "A", "y", "B", "[[fake: say C]]", "CE", "[[fake: say F]]"]))
            .await;

    let view = session(&host, &one.session).await;
    let parents: Vec<&Value> = view["turns"].as_array().unwrap().iter().map(|turn| &turn["parent"]).collect();
    let id = |answered: &Answered| json!(answered.turn);
    let expected = [&one, &one, &again, &again, &two, &edited, &more].map(id);
    assert_eq!(parents[0], &Value::Null);
    assert_eq!(parents[1..], expected.iter().collect::<Vec<_>>());
    assert_eq!(view["branches"].as_array().unwrap().len(), 3, "{:#}", view["branches"]);
    assert_eq!(view["branches"][1]["leaves"], id(&one));
    assert_eq!(view["branches"][1]["tip"], id(&after));
    host.stop().await;
}

#[tokio::test]
async fn two_models_are_branches_and_a_forked_chat_is_a_session_of_its_own() {
    let host = Host::with_agent(ServerConfig { models: vec!["opus".into()], ..ServerConfig::default() }).await;
    let order = "[[fake: write draft.md kept]] [[fake: say A]]";
    let one = ask(&host, &ids("c", "m1", ""), messages(&[order])).await;
    let other = ask(&host, &ids("c", "m2", ""), messages(&["[[fake: say B]]"])).await;
    assert_eq!(other.session, one.session);
    let next = ask(&host, &ids("c", "m3", "m2"), messages(&["x", "B", "[[fake: say C]]"])).await;
    let (of_other, of_next) = (host.asked(&other.run()).0, host.asked(&next.run()).0);
    assert_eq!(option(&of_next, "--resume"), option(&of_other, "--session-id"));

    let forked = ask(&host, &ids("d", "m4", "m1"), messages(&["x", "A", "[[fake: say D]]"])).await;
    assert_ne!(forked.session, one.session);
    let view = session(&host, &forked.session).await;
    assert_eq!(view["copied_from"], json!(one.session));
    let (args, stdin) = host.asked(&forked.run());
    assert!(args.iter().any(|arg| arg == "--fork-session"), "{args:?}");
    assert!(stdin.contains("this session is a copy of another one"), "{stdin}");
    let directory = view["directory"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(format!("{directory}/draft.md")).unwrap().trim(), "kept");

    // Another user's answer is nobody's parent.
    let mut foreign = ids("e", "m5", "m1").to_vec();
    foreign.push(("x-openwebui-user-id", "somebody else"));
    let stranger = ask(&host, &foreign, messages(&["x", "A", "[[fake: say E]]"])).await;
    assert_eq!(session(&host, &stranger.session).await["copied_from"], Value::Null);
    host.stop().await;
}

#[tokio::test]
async fn without_headers_the_history_decides_where_we_are() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let hi = "hi [[fake: say A]]";
    let one = ask(&host, &[], messages(&[hi])).await;
    let two = ask(&host, &[], messages(&[hi, "A", "and? [[fake: say B]]"])).await;
    assert_eq!(two.session, one.session);
    let first = option(&host.asked(&one.run()).0, "--session-id").unwrap().to_owned();
    assert_eq!(option(&host.asked(&two.run()).0, "--resume"), Some(first.as_str()));

    // The same words again are a regeneration; an edited message is a branch.
    let again = ask(&host, &[], messages(&[hi, "A", "and? [[fake: say B]]"])).await;
    assert_ne!(again.turn, two.turn);
    let edited = ask(&host, &[], messages(&[hi, "A", "or? [[fake: say C]]"])).await;
    for branch in [&again, &edited] {
        assert!(option(&host.asked(&branch.run()).0, "--resume-session-at").is_some());
    }
    // The answer was lost on its way: two user messages in a row, and the turn is known all the same.
    let system = json!({ "role": "system", "content": "another prompt" });
    let mut lost = vec![system];
    for text in [hi, "A", "or? [[fake: say C]]", "go on [[fake: say D]]"] {
        let role = if text == "A" { "assistant" } else { "user" };
        lost.push(json!({ "role": role, "content": text }));
    }
    let after = ask(&host, &[], Value::Array(lost)).await;
    assert_eq!(session(&host, &one.session).await["turns"][4]["parent"], json!(edited.turn));
    assert!(option(&host.asked(&after.run()).0, "--resume").is_some());
    // What the user changed in the client is what counts.
    let changed = ask(&host, &[], messages(&[hi, "changed", "so? [[fake: say E]]"])).await;
    let (args, stdin) = host.asked(&changed.run());
    assert_eq!(option(&args, "--resume"), None);
    assert!(stdin.contains("[consultant]\\nchanged"), "{stdin}");
    host.stop().await;
}

#[tokio::test]
async fn the_same_request_is_carried_out_once_also_over_a_restart() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let gate = signals();
    let path = gate.path().join("go");
    let wait = format!("run while [ ! -e {} ]; do sleep 0.02; done", path.display());
    let order = format!("[[fake: text Hm.]] [[fake: {wait}]] [[fake: say Done.]]");
    let headers = [("x-helix-client", "openwebui"), ("x-chat", "c"), ("x-message", "m1"), ("x-parent", "")];
    let mut bytes = send(&host, &headers, messages(&[&order]), true).await.bytes_stream();
    let mut seen = String::new();
    // The agent speaks: its run has begun.
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let host = host.restart(ServerConfig::default()).await;
    let mut rest = String::new();
    while let Some(Ok(piece)) = bytes.next().await {
        rest.push_str(std::str::from_utf8(&piece).unwrap());
    }
    assert!(rest.contains("shutting down") && rest.ends_with("data: [DONE]\n\n"), "{rest}");
    std::fs::write(&path, "").unwrap();
    let answer = ask(&host, &headers, messages(&[&order])).await;
    assert!(answer.text.contains("Done."), "{}", answer.text);
    let again = ask(&host, &headers, messages(&[&order])).await;
    assert_eq!((again.turn, again.text), (answer.turn, answer.text));
    let view = session(&host, &answer.session).await;
    assert_eq!(view["turn_count"], 1, "{view:#}");
    host.stop().await;
}

/// Its agent goes on, and can be stopped as before; who asks meanwhile is told that it waits.
#[tokio::test]
async fn a_turn_of_a_former_host_can_be_stopped() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let order = "[[fake: text Hm.]] [[fake: run sleep 600]] [[fake: say Done.]]";
    let headers = [("x-helix-client", "openwebui"), ("x-chat", "c"), ("x-message", "m1"), ("x-parent", "")];
    let mut bytes = send(&host, &headers, messages(&[order]), true).await.bytes_stream();
    let mut seen = String::new();
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let host = host.restart(ServerConfig::default()).await;
    let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    let id = list["sessions"][0]["id"].as_str().unwrap();
    let next = [("x-helix-client", "openwebui"), ("x-chat", "c"), ("x-message", "m2"), ("x-parent", "m1")];
    let mut bytes = send(&host, &next, messages(&[order, "Hm.", "so? [[fake: say E]]"]), true).await.bytes_stream();
    let mut seen = String::new();
    while !seen.contains("Waiting for 1 earlier message") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let stopped: Value = host.post(&format!("/api/v1/sessions/{id}/stop")).send().await.unwrap().json().await.unwrap();
    assert_eq!(stopped["stopped"], true, "{stopped}");
    while let Some(Ok(piece)) = bytes.next().await {
        seen.push_str(std::str::from_utf8(&piece).unwrap());
    }
    assert!(seen.ends_with("data: [DONE]\n\n"), "{seen}");
    let view = session(&host, id).await;
    assert_eq!(view["turns"][0]["end"]["facts"]["stopped"], "cancelled", "{view:#}");
    host.stop().await;
}

#[tokio::test]
async fn a_client_that_vanishes_finds_its_answer() {
    let config = ServerConfig { disconnect: Disconnect::Detach, ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let gate = signals();
    let path = gate.path().join("go");
    let order = format!("[[fake: run while [ ! -e {} ]; do sleep 0.02; done]] [[fake: say Kept.]]", path.display());
    // A client without any other id, which says that it repeats its request.
    let id = [("idempotency-key", "k")];
    let mut bytes = send(&host, &id, messages(&[&order]), true).await.bytes_stream();
    bytes.next().await.unwrap().unwrap();
    drop(bytes);
    // The same again waits for the turn under way and is given its answer.
    let (answer, ()) = tokio::join!(ask(&host, &id, messages(&[&order])), async {
        std::fs::write(&path, "").unwrap();
    });
    assert_eq!(answer.text, "Kept.");
    assert_eq!(session(&host, &answer.session).await["turn_count"], 1, "no second run");
    host.stop().await;
}

#[tokio::test]
async fn stop_ends_a_turn_within_two_seconds_and_the_next_one_knows() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let headers = [("x-helix-client", "openwebui"), ("x-chat", "c"), ("x-message", "m1"), ("x-parent", "")];
    let mut bytes =
        send(&host, &headers, messages(&["[[fake: text Hm.]] [[fake: run sleep 60]]"]), true).await.bytes_stream();
    let mut seen = String::new();
    // The agent speaks: its run has begun.
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    // Open WebUI's Stop closes the connection; its user asks the next thing at once.
    let pressed = jiff::Timestamp::now();
    drop(bytes);
    let next = ask(
        &host,
        &ids("c", "m2", "m1"),
        messages(&["[[fake: text Hm.]] [[fake: run sleep 60]]", "Hm.", "so? [[fake: say Yes.]]"]),
    )
    .await;
    let view = session(&host, &next.session).await;
    assert_eq!(view["turns"][0]["end"]["facts"]["stopped"], "cancelled", "{view:#}");
    assert!(host.asked(&next.run()).1.contains("stopped your last answer"), "{:?}", host.asked(&next.run()));
    // By the record of its end, so that nothing counts that comes after: looking, and the next agent's start.
    let ended: jiff::Timestamp = view["turns"][0]["ended_at"].as_str().unwrap().parse().unwrap();
    let took = ended.duration_since(pressed);
    assert!(took < jiff::SignedDuration::from_secs(2), "the turn went on for {took:#}");
    host.stop().await;
}

#[tokio::test]
async fn files_are_where_the_agent_can_read_them() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let picture = json!([
        { "type": "text", "text": "look [[fake: say Seen.]]" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } },
        { "type": "file", "file": { "filename": "../a b.txt", "file_data": "data:text/plain;base64,YWJj" } }
    ]);
    let answer = ask(&host, &[("x-chat", "c")], json!([{ "role": "user", "content": picture }])).await;
    let view = session(&host, &answer.session).await;
    let (directory, kept) = (view["directory"].as_str().unwrap(), &view["turns"][0]["attachments"]);
    let read = |at: usize| std::fs::read(format!("{directory}/{}", kept[at]["path"].as_str().unwrap())).unwrap();
    assert_eq!((read(0), read(1)), (b"\x89PNG\r\n\x1a\n".to_vec(), b"abc".to_vec()));
    let (_, stdin) = host.asked(&answer.run());
    assert!(stdin.contains(kept[0]["path"].as_str().unwrap()) && stdin.contains("Read tool"), "{stdin}");
    host.stop().await;
}

#[tokio::test]
async fn responses_go_on_from_one_another() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let post = async |body: Value| host.post("/v1/responses").json(&body).send().await.unwrap();
    let one: Value = post(json!({ "model": "helix", "input": "hi [[fake: say A]]" })).await.json().await.unwrap();
    assert_eq!((&one["status"], &one["object"]), (&json!("completed"), &json!("response")), "{one:#}");
    let text = |response: &Value| {
        let output = response["output"].as_array().unwrap().clone();
        let message = output.into_iter().find(|item| item["type"] == "message").unwrap();
        message["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text(&one), "A");
    assert!(one["usage"]["output_tokens"].as_u64().unwrap() > 0);
    let body = json!({ "input": "and? [[fake: say B]]", "previous_response_id": one["id"], "stream": true });
    let streamed = post(body).await;
    assert_eq!(streamed.headers()["content-type"], "text/event-stream");
    let streamed = streamed.text().await.unwrap();
    let last = streamed.trim_end().rsplit("data: ").next().unwrap();
    let two: Value = serde_json::from_str(last).unwrap();
    assert_eq!(two["type"], "response.completed", "{streamed}");
    assert_eq!((text(&two["response"]).as_str(), &two["response"]["previous_response_id"]), ("B", &one["id"]));
    let body = json!({ "input": "or? [[fake: say C]]", "previous_response_id": one["id"] });
    let branch: Value = post(body).await.json().await.unwrap();
    assert_eq!(text(&branch), "C");

    let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    let view = session(&host, sessions[0]["id"].as_str().unwrap()).await;
    assert_eq!(view["branches"].as_array().unwrap().len(), 2);
    let kept: Value =
        host.get(&format!("/v1/responses/{}", one["id"].as_str().unwrap())).send().await.unwrap().json().await.unwrap();
    assert_eq!((text(&kept).as_str(), &kept["previous_response_id"]), ("A", &Value::Null));
    let later = format!("/v1/responses/{}", two["response"]["id"].as_str().unwrap());
    let kept: Value = host.get(&later).send().await.unwrap().json().await.unwrap();
    assert_eq!((text(&kept).as_str(), &kept["previous_response_id"]), ("B", &one["id"]));
    let unknown = post(json!({ "input": "x", "previous_response_id": "resp_nobody" })).await;
    assert_eq!(unknown.status(), 400);
    assert_eq!(unknown.json::<Value>().await.unwrap()["error"]["param"], "previous_response_id");
    let failed = post(json!({ "input": "[[fake: crash]]" })).await;
    assert!(failed.status().is_server_error());
    host.stop().await;
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let host = Host::start_with(ServerConfig { rate_limit: Some(2), ..ServerConfig::default() }).await;
    let task = async || {
        let body = json!({ "messages": [{ "role": "user", "content": "x" }] });
        host.post("/v1/chat/completions").header("x-task", "tags_generation").json(&body).send().await.unwrap()
    };
    assert_eq!((task().await.status(), task().await.status()), (reqwest::StatusCode::OK, reqwest::StatusCode::OK));
    let other_form = format!("bearer   {}", crate::host::TOKEN);
    let body = json!({ "messages": [{ "role": "user", "content": "x" }] });
    let same = host.http.post(format!("{}/v1/chat/completions", host.url)).header("authorization", other_form);
    assert_eq!(same.header("x-task", "tags_generation").json(&body).send().await.unwrap().status(), 429);
    let refused = task().await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["content-type"], "application/json");
    assert!(refused.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() <= 30);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "too_many_requests");
    assert_eq!(host.get("/v1/models").send().await.unwrap().status(), 200, "reading is free");
    host.stop().await;
}

/// What the client's settings say is told with the message, and known to every later run of the session, whichever host starts it.
#[tokio::test]
async fn a_correction_after_a_restart_goes_on_in_the_session_that_was_told() {
    let strict = |engine: &mut helix_engine::EngineConfig| {
        engine.consultant.enforcement = helix_engine::consultant::Enforcement::default();
    };
    let host = Host::with_engine(ServerConfig::default(), strict).await;
    let gate = signals();
    let path = gate.path().join("go");
    let wait = format!("run while [ ! -e {} ]; do sleep 0.02; done", path.display());
    let order = format!("[[fake: text Hm.]] [[fake: {wait}]] [[fake: say No marker.]]");
    let asked = json!([{ "role": "system", "content": "Speak like a pirate." }, { "role": "user", "content": order }]);
    let mut bytes = send(&host, &ids("c", "m1", ""), asked, true).await.bytes_stream();
    let mut seen = String::new();
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let host = host.restart_with(ServerConfig::default(), strict).await;
    std::fs::write(&path, "").unwrap();
    // Sessions have no stream of events: looking is the only way to learn of the turn's end.
    let turn = loop {
        let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        let view = session(&host, list["sessions"][0]["id"].as_str().unwrap()).await;
        if view["turns"][0]["end"].is_object() {
            break view["turns"][0].clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert!(turn["end"]["runs"].as_u64() > Some(1), "it was corrected: {turn:#}");
    let asked = |run: u32| host.asked(&format!("{}.{run}", turn["id"].as_str().unwrap()));
    let ((first, told), (second, _)) = (asked(1), asked(2));
    assert!(told.contains("Speak like a pirate."), "{told}");
    assert_eq!(option(&second, "--resume"), option(&first, "--session-id"));
    host.stop().await;
}

/// A session that the agent has lost is rebuilt once from Helix's own record, and the turn is answered all the same.
#[tokio::test]
async fn a_session_that_the_agent_has_lost_is_rebuilt_from_the_record() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let one = ask(&host, &ids("c", "m1", ""), messages(&["[[fake: say Blue.]]"])).await;
    // The agent that resumes counts its second attempt, the one that starts anew its first.
    let order = "and now? [[fake: attempt 2: unknown-session]] [[fake: say Green.]]";
    let two = ask(&host, &ids("c", "m2", "m1"), messages(&["x", "Blue.", order])).await;
    assert_eq!(two.text, "Green.");
    let first = option(&host.asked(&one.run()).0, "--session-id").unwrap().to_owned();
    assert_eq!(option(&host.asked(&two.run()).0, "--resume"), Some(first.as_str()), "it was tried");
    let (args, stdin) = host.asked(&format!("{}.2", two.turn));
    assert_eq!(option(&args, "--resume"), None, "{args:?}");
    let second = option(&args, "--session-id").unwrap().to_owned();
    for part in ["The record of this session so far", "Blue.", "The user's message, to its end"] {
        assert!(stdin.contains(part), "{part:?} is not told: {stdin}");
    }
    let view = session(&host, &one.session).await;
    assert_eq!(view["turns"][1]["end"]["runs"], 2, "{view:#}");
    // What follows goes on from the new session.
    let next = ask(&host, &ids("c", "m3", "m2"), messages(&["x", "Blue.", order, "Green.", "[[fake: say C]]"])).await;
    assert_eq!(option(&host.asked(&next.run()).0, "--resume"), Some(second.as_str()));
    host.stop().await;
}

/// A session that has outgrown the model goes on in a session of its own, with its record.
#[tokio::test]
async fn a_session_that_is_full_is_not_resumed() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let one = ask(&host, &ids("c", "m1", ""), messages(&["[[fake: say Blue.]]"])).await;
    let full = "more [[fake: attempt 2: context-overflow]]";
    let answer = send(&host, &ids("c", "m2", "m1"), messages(&["x", "Blue.", full]), false).await;
    assert!(!answer.status().is_success(), "{}", answer.status());
    let next = ask(&host, &ids("c", "m3", "m2"), messages(&["x", "Blue.", full, "", "[[fake: say C]]"])).await;
    assert_eq!((next.session.as_str(), next.text.as_str()), (one.session.as_str(), "C"));
    let (args, stdin) = host.asked(&next.run());
    assert_eq!(option(&args, "--resume"), None, "{args:?}");
    assert!(stdin.contains("The record of this session so far") && stdin.contains("Blue."), "{stdin}");
    host.stop().await;
}

/// A history that only the client has is told as far as it fits, the newest first.
#[tokio::test]
async fn a_long_history_is_bounded_and_keeps_its_newest_part() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let said: Vec<String> = (0..200).map(|number| format!("message {number:03} {}", "ä".repeat(990))).collect();
    let mut texts: Vec<&str> = said.iter().map(String::as_str).collect();
    texts.push("so? [[fake: say Yes.]]");
    let answer = ask(&host, &[], messages(&texts)).await;
    assert_eq!(answer.text, "Yes.");
    let (args, stdin) = host.asked(&answer.run());
    assert_eq!(option(&args, "--resume"), None);
    assert!(stdin.chars().count() < 70_000, "{} characters", stdin.chars().count());
    assert!(stdin.contains("(earlier parts are omitted)") && stdin.contains("so? [[fake"), "{stdin:.300}");
    assert!(stdin.contains("message 199 ä") && stdin.contains("message 150 ä"), "{stdin:.300}");
    assert!(!stdin.contains("message 100 ") && !stdin.contains("message 000 "), "{stdin:.300}");
    host.stop().await;
}

/// Two messages at once in one chat are two turns, one after the other, of one session.
#[tokio::test]
async fn two_messages_at_once_are_answered_one_after_the_other() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let scratch = signals();
    let (busy, overlap) = (scratch.path().join("busy"), scratch.path().join("overlap"));
    let alone = format!(
        "[[fake: run mkdir {busy} || touch {overlap}; sleep 0.5; rmdir {busy}]]",
        busy = busy.display(),
        overlap = overlap.display()
    );
    let one = ask(&host, &ids("c", "m1", ""), messages(&["[[fake: say A]]"])).await;
    let order = |say: &str| format!("{alone} [[fake: say {say}]]");
    let (b, c) = (order("B"), order("C"));
    let (left, right) = (ids("c", "m2", "m1"), ids("c", "m3", "m1"));
    let (two, three) =
        tokio::join!(ask(&host, &left, messages(&["x", "A", &b])), ask(&host, &right, messages(&["x", "A", &c])),);
    assert_eq!((two.text.as_str(), three.text.as_str()), ("B", "C"));
    assert_eq!((&two.session, &three.session), (&one.session, &one.session));
    assert!(!overlap.exists(), "two agents worked in one directory at once");
    // Neither lost the other's record: one goes on in place, the other on a branch that is cut where both began.
    let first = option(&host.asked(&one.run()).0, "--session-id").unwrap().to_owned();
    for turn in [&two, &three] {
        assert_eq!(option(&host.asked(&turn.run()).0, "--resume"), Some(first.as_str()));
    }
    let forks = [&two, &three].map(|turn| host.asked(&turn.run()).0.iter().any(|arg| arg == "--fork-session"));
    assert!(forks[0] != forks[1], "{forks:?}");
    let view = session(&host, &one.session).await;
    assert_eq!(view["turn_count"], 3, "{view:#}");
    host.stop().await;
}
