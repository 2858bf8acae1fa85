//! What Helix is compared with: a loop that starts an agent for each chat and sends each line of it as an event. It keeps no record and
//! holds nothing back, and what it does ends with it. `naive_loop AGENT [ARGUMENT...]` says where it listens and serves until it is ended.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "a tool for measurements, which says where it listens")]

use std::convert::Infallible;
use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::routing::{get, post};
use futures::TryStreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let agent: Arc<Vec<String>> = Arc::new(std::env::args().skip(1).collect());
    let chats = post(chat).with_state(agent);
    let router = Router::new().route("/healthz", get(async || "ok")).route("/v1/chat/completions", chats);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", json!({ "url": format!("http://{}", listener.local_addr()?) }));
    Ok(axum::serve(listener, router).await?)
}

async fn chat(State(agent): State<Arc<Vec<String>>>, request: Bytes) -> Body {
    let request: Value = serde_json::from_slice(&request).expect("a chat request");
    let message = request.pointer("/messages/0/content").and_then(Value::as_str).expect("a message").to_owned();
    let mut command = Command::new(&agent[0]);
    command.args(&agent[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("an agent");
    child.stdin.take().expect("a stdin").write_all(message.as_bytes()).await.expect("a prompt");
    let lines = BufReader::new(child.stdout.take().expect("a stdout")).lines();
    // Reaped by the runtime.
    drop(child);
    let events = futures::stream::try_unfold(lines, async |mut lines| {
        let line = lines.next_line().await.expect("lines");
        Ok::<_, Infallible>(line.map(|line| (format!("data: {line}\n\n"), lines)))
    });
    Body::from_stream(events.map_ok(Bytes::from))
}
