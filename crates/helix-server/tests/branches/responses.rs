//! The responses form with OpenAI's own clients: one response after the other, over a restart of the host.

use std::path::PathBuf;
use std::process::Stdio;

use helix_server::ServerConfig;
use helix_testkit::locate::workspace_root;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{option, session};
use crate::host::{Host, TOKEN};

/// A process with an official client.
struct Client {
    _process: Child,
    orders: ChildStdin,
    reports: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(host: &Host, name: &str) -> Self {
        let tools =
            std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| workspace_root().join(".test-tools"), PathBuf::from);
        let program = if name == "client.py" { tools.join("python/bin/python") } else { "node".into() };
        assert!(tools.join("javascript/complete").is_file(), "run `cargo xtask setup` first");
        let mut command = Command::new(program);
        command
            .arg(workspace_root().join("crates/helix/tests/e2e").join(name))
            .env("PACKAGES", tools.join("javascript"));
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", host.url))
            .env("OPENAI_API_KEY", TOKEN)
            .env("NO_PROXY", "127.0.0.1");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let (orders, reports) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { _process: process, orders, reports: BufReader::new(reports).lines() }
    }

    async fn order(&mut self, order: Value) -> Value {
        self.orders.write_all(format!("{order}\n").as_bytes()).await.unwrap();
        let line = self.reports.next_line().await.unwrap().unwrap_or_else(|| panic!("the client ended after {order}"));
        serde_json::from_str(&line).unwrap()
    }
}

#[tokio::test]
async fn official_clients_go_on_from_a_response_also_after_a_restart() {
    let mut host = Host::with_agent(ServerConfig::default()).await;
    for name in ["client.py", "client.mjs"] {
        let mut client = Client::start(&host, name);
        let first = client.order(json!({ "respond": "hi [[fake: say A]]" })).await;
        assert_eq!((&first["text"], &first["previous"]), (&json!("A"), &Value::Null), "{name}: {first:#}");
        let second = client.order(json!({ "respond": "and? [[fake: say B]]" })).await;
        assert_eq!((&second["text"], &second["previous"]), (&json!("B"), &first["id"]), "{name}: {second:#}");
        drop(client);
        host = host.restart(ServerConfig::default()).await;
        let mut client = Client::start(&host, name);
        client.order(json!({ "follow": second["id"] })).await;
        let third = client.order(json!({ "respond": "so? [[fake: say C]]" })).await;
        assert_eq!((&third["text"], &third["previous"]), (&json!("C"), &second["id"]), "{name}: {third:#}");
        // Only the new message is sent: what was before is the agent's own session.
        let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        let view = session(&host, list["sessions"][0]["id"].as_str().unwrap()).await;
        assert_eq!(view["turns"].as_array().unwrap().len(), 3, "{name}: {view:#}");
        let asked = |turn: usize| host.asked(view["turns"][turn]["run"].as_str().unwrap());
        assert_eq!(option(&asked(2).0, "--resume"), option(&asked(0).0, "--session-id"), "{name}");
        assert!(!asked(2).1.contains("The record of this session"), "{name}: {}", asked(2).1);

        client.order(json!({ "follow": "resp_nobody" })).await;
        let refused = client.order(json!({ "respond": "x" })).await["error"].clone();
        // As OpenAI answers it.
        let expected = (&json!(400), &json!("previous_response_not_found"));
        assert_eq!((&refused["status"], &refused["code"]), expected, "{name}: {refused:#}");
        assert!(
            refused["message"].as_str().unwrap().contains("Previous response with id 'resp_nobody' not found."),
            "{refused}"
        );
    }
    host.stop().await;
}

/// A client that names its request gets one response however often it sends it, and can go on from it.
#[tokio::test]
async fn a_response_to_a_request_with_an_id_of_its_own_can_be_followed() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let post = async |key: Option<&str>, body: Value| -> Value {
        let request = host.post("/v1/responses").json(&body);
        let request = key.map_or(request.try_clone().unwrap(), |key| request.header("idempotency-key", key));
        request.send().await.unwrap().json().await.unwrap()
    };
    let body = json!({ "input": "hi [[fake: say A]]" });
    let (one, again) = (post(Some("a/b c"), body.clone()).await, post(Some("a/b c"), body).await);
    assert_eq!((&one["id"], &one["status"]), (&again["id"], &json!("completed")), "{one:#} {again:#}");
    let next = post(None, json!({ "input": "and? [[fake: say B]]", "previous_response_id": again["id"] })).await;
    assert_eq!((&next["status"], &next["previous_response_id"]), (&json!("completed"), &one["id"]), "{next:#}");
    for (id, previous) in [(&one["id"], &Value::Null), (&next["id"], &one["id"])] {
        let stored = host.get(&format!("/v1/responses/{}", id.as_str().unwrap())).send().await.unwrap();
        assert_eq!(stored.status(), 200, "{id}");
        assert_eq!(&stored.json::<Value>().await.unwrap()["previous_response_id"], previous);
    }
    let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["sessions"][0]["turn_count"], 2, "{list:#}");
    host.stop().await;
}

/// A client that lost its connection gets what the other one would have read.
#[tokio::test]
async fn a_stored_response_says_what_stands_below_the_answer() {
    use helix_engine::consultant::{Enforcement, Validator};
    let config = ServerConfig { allowed_hosts: vec!["host.docker.internal".into()], ..ServerConfig::default() };
    let host = Host::with_engine(config, |engine| {
        let validators = vec![Validator::StepMarker];
        engine.consultant.enforcement = Enforcement { validators, own: Vec::new(), retries: 0 };
    })
    .await;
    let input = "Bitte zeig mir, was das ist [[fake: run echo kept > note.md]] [[fake: say See [note](note.md).]]";
    let read = async |request: reqwest::RequestBuilder| -> (String, String) {
        let response = request.header("host", "host.docker.internal:8787").send().await.unwrap();
        let response: Value = response.json().await.unwrap();
        let items = response["output"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
        let text = items.map(|item| item["content"][0]["text"].as_str().unwrap()).collect();
        (response["id"].as_str().unwrap().to_owned(), text)
    };
    let (id, said) = read(host.post("/v1/responses").json(&json!({ "input": input }))).await;
    let (_, stored) = read(host.get(&format!("/v1/responses/{id}"))).await;
    assert_eq!(stored, said);
    for part in
        ["See [note]\u{2060}(note.md).\n\n> [!CAUTION]", "Prüfungen nicht bestanden", "<summary>note.md</summary>"]
    {
        assert!(stored.contains(part), "{part:?} is not in {stored}");
    }
    host.stop().await;
}
