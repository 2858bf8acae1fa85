//! Clients that say little of themselves: Open WebUI without headers, clients that ask for no usage, and probes.

use helix_server::{BackgroundTasks, ServerConfig};
use serde_json::{Value, json};

use super::{content, frames};
use crate::host::Host;

const AIOHTTP: &str = "Python/3.11 aiohttp/3.14.5";
/// As recorded: Open WebUI asks for a title before it sends the first message.
const TITLE: &str = "### Task:\nGenerate a concise title summarizing the chat history.\n### Output:\nJSON format: { \"title\": \"x\" }\n\
    ### Chat History:\n<chat_history>\nUSER: I want to sell ties.\nASSISTANT: \n</chat_history>";

async fn send(host: &Host, agent: &str, body: Value) -> String {
    let request = host.post("/v1/chat/completions").header("user-agent", agent).json(&body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.text().await.unwrap()
}

fn turn(messages: Value) -> Value {
    json!({ "model": "helix", "stream": true, "messages": messages })
}

#[tokio::test]
async fn open_webui_without_headers_is_recognised_and_told_once_what_to_set() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let hello = "hello [[fake: say Hi.]]";
    let first = turn(json!([{ "role": "user", "content": hello }]));
    let before = send(&host, AIOHTTP, first.clone()).await;
    assert!(!before.contains("\"event\""), "anybody could use this library: {before}");
    let title = send(
        &host,
        AIOHTTP,
        json!({ "model": "helix", "stream": false, "messages": [{ "role": "user", "content": TITLE }] }),
    )
    .await;
    assert!(title.contains("Sell ties"), "{title}");
    let answer = frames(&send(&host, AIOHTTP, first.clone()).await);
    let text = content(&answer);
    assert!(
        text.starts_with("> [!NOTE]") && text.contains("`helix openwebui connect URL`") && text.ends_with("Hi."),
        "{text}"
    );
    assert!(answer.iter().any(|frame| frame["event"]["type"] == "status"), "{answer:?}");
    let second = turn(json!([
        { "role": "user", "content": hello }, { "role": "assistant", "content": text },
        { "role": "user", "content": "and? [[fake: say Yes.]]" },
    ]));
    assert_eq!(content(&frames(&send(&host, AIOHTTP, second).await)), "Yes.", "told once");
    let mut plain = first.clone();
    plain["model"] = "helix@plain".into();
    assert_eq!(content(&frames(&send(&host, AIOHTTP, plain).await)), "Hi.", "it is declared to be none");
    let other = send(&host, "OpenAI/Python 1.2", first).await;
    assert!(!other.contains("\"event\"") && !other.contains("openwebui"), "{other}");
    host.stop().await;
}

#[tokio::test]
async fn usage_comes_unasked_beside_the_finish_reason() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let body = turn(json!([{ "role": "user", "content": "[[fake: say Hi.]]" }]));
    let frames = frames(&send(&host, "OpenAI/Python 1.2", body).await);
    let [finish, done] = &frames[frames.len() - 2..] else { panic!("{frames:?}") };
    assert_eq!((&finish["choices"][0]["finish_reason"], done), (&json!("stop"), &json!("[DONE]")));
    assert!(finish["usage"]["completion_tokens"].as_u64().unwrap() > 0, "{finish}");
    let rest = &frames[..frames.len() - 2];
    assert!(rest.iter().all(|one| one.get("usage").is_none() && one["choices"][0].is_object()), "{rest:?}");
    host.stop().await;
}

#[tokio::test]
async fn a_probe_says_what_has_arrived_and_never_runs_an_agent() {
    for background_tasks in [BackgroundTasks::Answer, BackgroundTasks::Refuse] {
        // A host without agents: a turn would fail.
        let host = Host::start_with(ServerConfig { background_tasks, ..ServerConfig::default() }).await;
        let probe = json!({ "messages": [{ "role": "user", "content": "### Helix probe: which headers arrive?" }] });
        let request = host
            .post("/v1/chat/completions")
            .header("x-task", "{{TASK}}")
            .header("x-chat", "c 1")
            .header("x-parent", "");
        let answer: Value = request.json(&probe).send().await.unwrap().json().await.unwrap();
        let arrived: Value =
            serde_json::from_str(answer["choices"][0]["message"]["content"].as_str().unwrap()).unwrap();
        let nothing = Value::Null;
        assert_eq!((&arrived["x-chat"], &arrived["x-task"], &arrived["x-parent"]), (&json!("c 1"), &nothing, &nothing));
        let sessions: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        assert_eq!(sessions["sessions"], json!([]));
        host.stop().await;
    }
}
