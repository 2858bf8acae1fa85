//! Sessions when something fails beneath them: the journal, a stop that comes late, an agent without sessions, a shutdown.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use helix_engine::consultant::Enforcement;
use helix_engine::{AgentProfile, DialectName};
use helix_server::ServerConfig;
use serde_json::{Value, json};

use crate::host::{Host, signals};

/// Another program that keeps the journal from being written.
struct Lock(Child);

impl Lock {
    fn on(database: &Path) -> Self {
        let script = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('BEGIN IMMEDIATE')\nprint('locked', flush=True)\nsys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "locked");
        Self(child)
    }

    fn release(mut self) {
        self.0.stdin.take().unwrap().flush().unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

/// An agent's order to wait until a file is there.
fn until(path: &Path) -> String {
    format!("[[fake: run while [ ! -e {} ]; do sleep 0.02; done]]", path.display())
}

async fn send(host: &Host, words: &str) -> reqwest::Response {
    let body = json!({ "model": "helix", "stream": true, "messages": [{ "role": "user", "content": words }] });
    host.post("/v1/chat/completions").header("x-chat", "c").json(&body).send().await.unwrap()
}

async fn session(host: &Host) -> Value {
    let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    let Some(id) = list["sessions"][0]["id"].as_str() else { return Value::Null };
    host.get(&format!("/api/v1/sessions/{id}")).send().await.unwrap().json().await.unwrap()
}

/// Sessions have no stream of events: looking is the only way to learn of a change.
async fn session_with(host: &Host, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let view = session(host).await;
        if wanted(&view) {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_turn_whose_end_cannot_be_written_is_recorded_later_and_the_session_continues() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let gate = signals();
    let go = gate.path().join("go");
    let first = send(&host, &format!("{} [[fake: say One.]]", until(&go))).await;
    session_with(&host, |view| view["running"].is_object()).await;
    let lock = Lock::on(&host.state().join("helix.db"));
    std::fs::write(&go, "").unwrap();
    let blocked = session_with(&host, |view| view["blocked"].is_object()).await["blocked"].clone();
    assert!(blocked["message"].as_str().unwrap().contains("cannot be recorded"), "{blocked}");
    let hint = blocked["hint"].as_str().unwrap();
    assert!(hint.contains("stop the program that has") && !hint.contains("restart"), "{blocked}");
    lock.release();
    let answer = first.text().await.unwrap();
    assert!(answer.contains("One.") && answer.contains("cannot be recorded"), "{answer}");
    let second = send(&host, "[[fake: say Two.]]").await.text().await.unwrap();
    assert!(second.contains("Two.") && !second.contains("\"error\""), "{second}");
    let view = session(&host).await;
    assert_eq!(view["turns"][0]["end"]["answer"], "One.", "{view:#}");
    assert_eq!(view["turns"][1]["end"]["answer"], "Two.", "{view:#}");
    assert!(view["blocked"].is_null(), "{view:#}");
    host.stop().await;
}

#[tokio::test]
async fn a_stop_names_a_turn_and_does_not_reach_the_next_one() {
    let host = Host::with_agent(ServerConfig::default()).await;
    send(&host, "[[fake: say One.]]").await.text().await.unwrap();
    let gate = signals();
    let go = gate.path().join("go");
    let second = send(&host, &format!("{} [[fake: say Two.]]", until(&go))).await;
    let view = session_with(&host, |view| view["running"].is_object()).await;
    let stop = |turn: &str| {
        let path = format!("/api/v1/sessions/{}/stop?turn={turn}", view["id"].as_str().unwrap());
        let request = host.post(&path);
        async move { request.send().await.unwrap().json::<Value>().await.unwrap()["stopped"].clone() }
    };
    // The stop of the first turn arrives late.
    assert_eq!(stop(view["turns"][0]["id"].as_str().unwrap()).await, false);
    std::fs::write(&go, "").unwrap();
    let answer = second.text().await.unwrap();
    assert!(answer.contains("Two.") && !answer.contains("\"error\""), "{answer}");
    let third = send(&host, "[[fake: hang]]").await;
    let view = session_with(&host, |view| view["running"].is_object()).await;
    assert_eq!(stop(view["running"]["id"].as_str().unwrap()).await, true);
    drop(third.text().await);
    let view = session_with(&host, |view| view["turns"][2]["end"].is_object()).await;
    assert_eq!(view["turns"][2]["end"]["facts"]["stopped"], "cancelled", "{view:#}");
    host.stop().await;
}

#[tokio::test]
async fn an_agent_without_sessions_is_not_said_to_have_been_asked_for_a_correction() {
    let host = Host::with_engine(ServerConfig::default(), |engine| {
        let record = r#"{"helix":"result","status":"success","answer":"Good day. See [it](adr-draft.md)."}"#;
        let command = ["echo", record].map(str::to_owned).to_vec();
        engine.agents.push(AgentProfile::new("plain", DialectName::Command, command));
        engine.consultant.agent = "plain".into();
        engine.consultant.enforcement = Enforcement::default();
    })
    .await;
    let answer = send(&host, "Hello").await.text().await.unwrap();
    assert!(answer.contains("Good day.") && answer.contains("did not pass its checks"), "{answer}");
    assert!(answer.contains("the agent was not asked to fix it"), "{answer}");
    assert!(!answer.contains("asked once") && !answer.contains("1 of 2"), "{answer}");
    let view = session(&host).await;
    assert_eq!(view["turns"][0]["end"]["runs"], 1, "{view:#}");
    let german = send(&host, "Bitte sag mir, was du weißt").await.text().await.unwrap();
    assert!(
        german.contains("file_existence: die Antwort verweist auf die Datei ")
            && german.contains(", die es nicht gibt"),
        "{german}"
    );
    host.stop().await;
}

/// An agent that does not stream is cut off like any other, and what is kept is what was shown.
#[tokio::test]
async fn an_answer_that_comes_at_the_end_has_the_same_limit() {
    let scratch = tempfile::tempdir().unwrap();
    let record = scratch.path().join("record");
    let result = json!({ "helix": "result", "status": "success", "answer": "x".repeat(5 << 20) });
    std::fs::write(&record, format!("{result}\n")).unwrap();
    let host = Host::with_engine(ServerConfig::default(), |engine| {
        let command = vec!["cat".to_owned(), record.to_str().unwrap().to_owned()];
        engine.agents.push(AgentProfile::new("plain", DialectName::Command, command));
        engine.consultant.agent = "plain".into();
    })
    .await;
    let body = json!({ "model": "helix", "messages": [{ "role": "user", "content": "Hello" }] });
    let answer = host.post("/v1/chat/completions").json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    let (said, note) = text.split_once("\n\n").unwrap_or((text, ""));
    assert_eq!(said.len(), 4 << 20, "{said:.300}");
    assert!(note.contains("longer than 4 MiB"), "{note}");
    assert_eq!(session(&host).await["turns"][0]["end"]["shown"].as_str().unwrap().len(), 4 << 20);
    host.stop().await;
}

#[tokio::test]
async fn a_message_to_a_closing_engine_is_told_of_the_shutdown() {
    let host = Host::with_agent(ServerConfig::default()).await;
    host.engine().close().await;
    let answer = send(&host, "Hello").await;
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "shutting_down");
    host.stop().await;
}
