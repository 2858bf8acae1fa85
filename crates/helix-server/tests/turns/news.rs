//! What a chat of Open WebUI is told of its jobs after an answer has ended.

use std::time::Duration;

use helix_server::ServerConfig;
use serde_json::{Value, json};

use super::jobs::{Stage, second};
use crate::host::Host;

/// The events that an Open WebUI is sent, and their paths and keys.
async fn open_web_ui() -> (String, tokio::sync::mpsc::UnboundedReceiver<(String, String, Value)>) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let kept = move |uri: axum::http::Uri, headers: axum::http::HeaderMap, event: axum::Json<Value>| {
        let key = headers["authorization"].to_str().unwrap().to_owned();
        sender.send((uri.path().to_owned(), key, event.0)).unwrap();
        async { axum::Json(true) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, axum::Router::new().fallback(axum::routing::post(kept))).await });
    (page, receiver)
}

#[tokio::test]
async fn a_chat_with_a_key_is_told_of_its_job_after_the_answer() {
    for limit in [Duration::from_millis(50), Duration::ZERO] {
        let key = tempfile::NamedTempFile::new().unwrap();
        let config = ServerConfig { news_key: Some(key.path().to_owned()), ..ServerConfig::default() };
        let host = Host::with_engine(config, |engine| engine.consultant.follow_jobs = limit).await;
        let stage = Stage::new(host, "").await;
        stage.start().await;
        let (page, mut told) = open_web_ui().await;
        // Whoever connects Open WebUI need not start Helix again.
        std::fs::write(key.path(), json!({ "page": page, "token": "sk-1" }).to_string()).unwrap();
        let request = stage.host.post("/v1/chat/completions").header("x-chat", "c").header("x-message", "m/2");
        let request = request.header("x-parent", "").header("x-helix-client", "openwebui");
        let body = json!({ "model": "helix", "stream": true, "messages": second("go [[fake: say It runs.]]") });
        let answer = request.json(&body).send().await.unwrap().text().await.unwrap();
        assert!(answer.ends_with("data: [DONE]\n\n"), "the answer does not wait for the job: {answer}");
        let (path, key, first) = told.recv().await.unwrap();
        assert_eq!((path.as_str(), key.as_str()), ("/api/v1/chats/c/messages/m%2F2/event", "Bearer sk-1"));
        assert!(first["data"]["description"].as_str().unwrap().starts_with("pages is running"), "{first}");
        std::fs::write(&stage.gate, "").unwrap();
        let mut events = Vec::new();
        while events.last().is_none_or(|event: &Value| event["type"] != "notification") {
            events.push(told.recv().await.unwrap().2);
        }
        let [.., line, toast] = &events[..] else { panic!("{events:?}") };
        let end = line["data"]["description"].as_str().unwrap();
        assert!(end.starts_with("pages succeeded, merged into"), "{events:?}");
        assert_eq!(toast["data"], json!({ "type": "success", "content": end }));
        stage.host.stop().await;
    }
}
