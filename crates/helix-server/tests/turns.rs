//! `POST /v1/chat/completions` with a real engine and a fake agent under a real keeper.

mod clients;
mod jobs;
mod language;
mod news;
mod owners;
mod retention;
mod robust;

use std::time::Duration;

use crate::host::{Host, signals};
use futures::StreamExt;
use helix_server::{Disconnect, ServerConfig};
use serde_json::{Value, json};

fn ask(text: &str, stream: bool) -> Value {
    json!({
        "model": "helix", "stream": stream, "stream_options": { "include_usage": stream },
        "messages": [{ "role": "user", "content": text }]
    })
}

fn frames(text: &str) -> Vec<Value> {
    text.split_terminator("\n\n")
        .filter_map(|frame| frame.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data)))
        .collect()
}

fn content(frames: &[Value]) -> String {
    frames.iter().filter_map(|one| one.pointer("/choices/0/delta/content")?.as_str()).collect()
}

#[tokio::test]
async fn an_answer_streams_in_order_with_its_usage() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let answer = host.post("/v1/chat/completions").json(&ask("[[fake: say Forty-two.]]", true)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let frames = frames(&answer.text().await.unwrap());
    assert_eq!(frames[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(content(&frames), "Forty-two.", "{frames:?}");
    let [finish, usage, done] = &frames[frames.len() - 3..] else { panic!("{frames:?}") };
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert!(usage["usage"]["completion_tokens"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(done, "[DONE]");
    host.stop().await;
}

#[tokio::test]
async fn an_answer_in_one_piece_says_where_it_is_kept() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let request = host.post("/v1/chat/completions").header("x-chat", "a_b");
    let answer = request.json(&ask("[[fake: say Yes.]]", false)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "Yes.");
    let session = answer["helix"]["session"].as_str().unwrap();
    let view: Value = host.get(&format!("/api/v1/sessions/{session}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(view["key"], "chat:a_b");
    assert_eq!(view["turns"][0]["end"]["answer"], "Yes.");
    host.stop().await;
}

#[tokio::test]
async fn sessions_are_told_apart_and_found_again() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let mut sessions = Vec::new();
    for chat in ["a_b", "a-b", "a_b"] {
        let request = host.post("/v1/chat/completions").header("x-chat", chat);
        let answer: Value = request.json(&ask("[[fake: say Yes.]]", false)).send().await.unwrap().json().await.unwrap();
        sessions.push(answer["helix"]["session"].as_str().unwrap().to_owned());
    }
    assert_eq!(sessions[0], sessions[2]);
    assert_ne!(sessions[0], sessions[1]);
    host.stop().await;
}

#[tokio::test]
async fn sessions_come_in_pages() {
    let host = Host::with_agent(ServerConfig::default()).await;
    for chat in ["a", "b", "c"] {
        let request = host.post("/v1/chat/completions").header("x-chat", chat);
        assert_eq!(request.json(&ask("[[fake: say Yes.]]", false)).send().await.unwrap().status(), 200);
    }
    let list = async |query: &str| -> Value {
        host.get(&format!("/api/v1/sessions{query}")).send().await.unwrap().json().await.unwrap()
    };
    let keys = |page: &Value| -> Vec<String> {
        page["sessions"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect()
    };
    let all = list("").await;
    assert_eq!((keys(&all).len(), &all["next"]), (3, &Value::Null));
    let first = list("?limit=2").await;
    let next = first["next"].as_str().unwrap();
    let second = list(&format!("?limit=2&after={next}")).await;
    assert_eq!((keys(&first).len(), keys(&second).len(), &second["next"]), (2, 1, &Value::Null));
    assert_eq!([keys(&first), keys(&second)].concat(), keys(&all));
    for wrong in ["?limit=0", "?limit=501", "?after=a%2Fb"] {
        let answer = host.get(&format!("/api/v1/sessions{wrong}")).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{wrong}");
    }
    host.stop().await;
}

/// `helix serve` closes its engine first.
#[tokio::test]
async fn a_turn_under_way_when_helix_shuts_down_is_told_that_its_agent_goes_on() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let gate = signals();
    let wait = format!("[[fake: run while [ ! -e {} ]; do sleep 0.02; done]]", gate.path().join("go").display());
    let body = ask(&format!("[[fake: text Hm.]] {wait} [[fake: say Done.]]"), true);
    let request = host.post("/v1/chat/completions").header("x-helix-client", "openwebui").json(&body);
    let mut bytes = request.send().await.unwrap().bytes_stream();
    let mut seen = String::new();
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let rest = async {
        while let Some(more) = bytes.next().await {
            seen.push_str(std::str::from_utf8(&more.unwrap()).unwrap());
        }
    };
    tokio::join!(host.close_engine(), rest);
    let frames = frames(&seen);
    assert!(content(&frames).contains("Helix is shutting down. The agent goes on"), "{frames:?}");
    // The same message alone would begin another session.
    let session = host.get("/api/v1/sessions").send().await.unwrap().json::<Value>().await.unwrap();
    let shows = format!("`helix chat --session {} --show`", session["sessions"][0]["id"].as_str().unwrap());
    assert!(content(&frames).contains(&shows) && !content(&frames).contains("the same message again"), "{frames:?}");
    assert!(
        seen.contains("Helix is shutting down; the agent goes on") && !seen.contains("Stopped with an error"),
        "{seen}"
    );
    std::fs::write(gate.path().join("go"), "").unwrap();
    host.stop().await;
}

#[tokio::test]
async fn a_turn_that_comes_while_helix_shuts_down_is_told_so() {
    let host = Host::with_agent(ServerConfig::default()).await;
    host.close_engine().await;
    for stream in [false, true] {
        let answer = host.post("/v1/chat/completions").json(&ask("hi", stream)).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["x-should-retry"].as_bytes()),
            (503, b"false".as_slice())
        );
        assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "shutting_down");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_log_without_a_last_newline_reads_the_same_in_both_ways() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let answer = host.post("/v1/chat/completions").json(&ask("[[fake: say Yes.]]", false)).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let (session, turn) = (answer["helix"]["session"].as_str().unwrap(), answer["helix"]["turn"].as_str().unwrap());
    let last = json!({
        "type": "assistant", "session_id": "x",
        "message": { "id": "m", "role": "assistant", "content": [{ "type": "text", "text": "the last line" }] }
    });
    let path = host.state_directory().join(format!("runs/{turn}.1/stdout.jsonl"));
    let mut record = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut record, last.to_string().as_bytes()).unwrap();
    let log = async |follow: u8| {
        let path = format!("/api/v1/sessions/{session}/log/{turn}.1?follow={follow}");
        host.get(&path).send().await.unwrap().text().await.unwrap()
    };
    let (now, followed) = (log(0).await, log(1).await);
    assert!(now.contains("the last line"), "{now}");
    assert_eq!(now, followed);
    host.stop().await;
}

#[tokio::test]
async fn a_failed_turn_is_an_error_in_both_forms() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let whole = host.post("/v1/chat/completions").json(&ask("[[fake: crash]]", false)).send().await.unwrap();
    assert!(whole.status().is_server_error(), "{}", whole.status());
    assert_eq!(whole.headers()["x-should-retry"], "false");
    let error: Value = whole.json().await.unwrap();
    assert!(!error["error"]["message"].as_str().unwrap().is_empty(), "{error}");
    let streamed = host.post("/v1/chat/completions").json(&ask("[[fake: crash]]", true)).send().await.unwrap();
    assert_eq!(streamed.status(), 200);
    let frames = frames(&streamed.text().await.unwrap());
    assert!(content(&frames).contains("> [!CAUTION]\n> **Helix:** "), "{frames:?}");
    let [error, done] = &frames[frames.len() - 2..] else { panic!("{frames:?}") };
    assert!(error["error"]["message"].is_string() && error["choices"].is_null(), "{error}");
    assert_eq!(done, "[DONE]");
    host.stop().await;
}

#[tokio::test]
async fn an_answer_without_a_word_says_so() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let body = ask("[[fake: say <!-- STEP: Done -->]]", false);
    let answer: Value = host.post("/v1/chat/completions").json(&body).send().await.unwrap().json().await.unwrap();
    let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains("**Helix:** The agent ended without an answer."), "{answer}");
    host.stop().await;
}

#[tokio::test]
async fn a_turn_whose_client_goes_away_is_stopped_after_its_grace() {
    let config =
        ServerConfig { disconnect: Disconnect::StopAfter(Duration::from_millis(20)), ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let request = host.post("/v1/chat/completions").header("x-chat", "c").header("x-helix-client", "openwebui");
    let answer = request.json(&ask("[[fake: hang]]", true)).send().await.unwrap();
    let mut bytes = answer.bytes_stream();
    let mut seen = String::new();
    while seen.is_empty() {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    drop(bytes);
    // Sessions have no stream of events: looking is the only way to learn of the turn's end.
    let end = loop {
        let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        let Some(id) = list["sessions"][0]["id"].as_str() else { continue };
        let one: Value = host.get(&format!("/api/v1/sessions/{id}")).send().await.unwrap().json().await.unwrap();
        let end = &one["turns"][0]["end"];
        if end.is_object() {
            break end.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(end["facts"]["stopped"], "cancelled", "{end}");
    host.stop().await;
}

/// A model that hangs is told of, again and again, but a tool may take its time.
#[tokio::test]
async fn a_silent_model_is_told_of() {
    let host = Host::with_engine(ServerConfig::default(), |engine| {
        engine.timeouts.quiet = Duration::from_millis(400);
    })
    .await;
    let send = async |text: &str| {
        let request = host.post("/v1/chat/completions").header("x-chat", text).header("x-helix-client", "openwebui");
        request.json(&ask(text, true)).send().await.unwrap()
    };
    let told = "No word from the model for ";
    let busy = send("[[fake: run sleep 2]] [[fake: say Done.]]").await.text().await.unwrap();
    assert!(busy.contains("Done.") && !busy.contains(told), "{busy}");
    let mut bytes = send("[[fake: text Hm.]] [[fake: hang]]").await.bytes_stream();
    let mut seen = String::new();
    while seen.matches(told).count() < 2 {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    assert!(seen.contains("after 6 min of silence Helix stops the agent"), "{seen}");
    drop(bytes);
    host.stop().await;
}

#[tokio::test]
async fn the_next_message_stops_a_turn_whose_client_is_gone() {
    let config =
        ServerConfig { disconnect: Disconnect::StopAfter(Duration::from_secs(3600)), ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let chat = |text: &str| host.post("/v1/chat/completions").header("x-chat", "c").json(&ask(text, true));
    let mut bytes = chat("[[fake: hang]]").send().await.unwrap().bytes_stream();
    bytes.next().await.unwrap().unwrap();
    drop(bytes);
    let other = host.post("/v1/chat/completions").header("x-chat", "d").json(&ask("[[fake: say Other.]]", true));
    let other = other.send().await.unwrap().text().await.unwrap();
    assert_eq!(content(&frames(&other)), "Other.", "{other}");
    // Without a stop it would wait until the test's client gives up.
    let next = chat("[[fake: say Next.]]").send().await.unwrap().text().await.unwrap();
    assert_eq!(content(&frames(&next)), "Next.", "{next}");
    host.stop().await;
}

/// A server may see that a client has gone only after its next message has come.
#[tokio::test]
async fn a_message_that_came_before_the_client_was_gone_stops_the_turn_too() {
    let config =
        ServerConfig { disconnect: Disconnect::StopAfter(Duration::from_secs(3600)), ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let chat = |text: &str| host.post("/v1/chat/completions").header("x-chat", "c").json(&ask(text, true));
    let mut first = chat("[[fake: text Hm.]] [[fake: hang]]").send().await.unwrap().bytes_stream();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("Hm.") {
        seen.extend(first.next().await.unwrap().unwrap());
    }
    let mut next = chat("[[fake: say Next.]]").send().await.unwrap().bytes_stream();
    let mut seen = next.next().await.unwrap().unwrap().to_vec();
    drop(first);
    // Without a stop it would wait until the test's client gives up.
    while let Some(bytes) = next.next().await {
        seen.extend(bytes.unwrap());
    }
    let seen = String::from_utf8(seen).unwrap();
    assert_eq!(content(&frames(&seen)), "Next.", "{seen}");
    host.stop().await;
}

/// A failed turn is remembered like any failure; a later one shows only that gone which it really looked at.
#[tokio::test]
async fn a_failed_turn_is_remembered() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let say = async |text: &str| {
        let request = host.post("/v1/chat/completions").header("x-chat", "c").json(&ask(text, true));
        content(&frames(&request.send().await.unwrap().text().await.unwrap()))
    };
    // No turn waits for the memory.
    let failures = async |there: fn(&Value) -> bool| -> Vec<Value> {
        loop {
            let list: Value = host.get("/api/v1/failures").send().await.unwrap().json().await.unwrap();
            let list = list["failures"].as_array().unwrap().clone();
            if list.iter().any(there) {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let first = say("[[fake: overloaded]] One").await;
    assert!(first.contains("> [!CAUTION]"), "{first}");
    say("[[fake: overloaded]] Two").await;
    say("[[fake: crash]] Three").await;
    let known = failures(|one| one["cause"] != "overloaded").await;
    let of = |known: &[Value], cause: &str| {
        known.iter().find(|one| one["cause"] == cause).unwrap_or_else(|| panic!("{cause}: {known:?}")).clone()
    };
    let overloaded = of(&known, "overloaded");
    assert_eq!((&overloaded["count"], &overloaded["end"]["ended"]), (&json!(2), &json!("open")), "{overloaded}");
    let id = overloaded["fingerprint"].as_str().unwrap();
    let detail: Value = host.get(&format!("/api/v1/failures/{id}")).send().await.unwrap().json().await.unwrap();
    let place = &detail["occurrences"][1];
    let session = place["session"].as_str().unwrap();
    assert_eq!((&place["attempt"], &place["check"], place.get("job")), (&json!(1), &json!("run"), None), "{detail}");
    let report = host.state_directory().join(format!("reports/{session}/turn.1.run.json"));
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    let what = &report["what_failed"]["place"];
    assert_eq!((what["turn"].as_str(), what.get("attempt")), (Some(format!("{session}.t1").as_str()), None), "{what}");
    assert!((2..=4).contains(&report["actions"].as_array().unwrap().len()), "{report}");

    assert_eq!(say("[[fake: say Fine.]]").await, "Fine.");
    let known = failures(|one| one["end"]["ended"] == "went_away").await;
    assert_eq!(of(&known, "overloaded")["end"]["ended"], "went_away");
    let others: Vec<&Value> = known.iter().filter(|one| one["cause"] != "overloaded").collect();
    assert_eq!(others.len(), 1, "{known:?}");
    assert_eq!(others[0]["end"]["ended"], "open", "another message proves nothing about one that crashed the agent");
    host.stop().await;
}
