//! Calls a tool of the MCP servers that the agent was given, over HTTP, as the real CLI does.
//!
//! Must not know what any tool does.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

/// How long a server that cannot be reached is tried again: a model calls its tool again after an error.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
struct Servers {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Server>,
}

#[derive(Deserialize)]
struct Server {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Why a call came to nothing.
enum CallError {
    /// The server is not there, or went away: it may come back.
    Away(String),
    /// It will not get better.
    Wrong(String),
}

/// The text that the first server's tool answers with.
///
/// # Errors
/// What the tool refuses, or why it cannot be reached, as the model would be told.
pub(crate) fn call(config: Option<&Path>, tool: &str, arguments: &Value) -> Result<String, String> {
    let path = config.ok_or("no --mcp-config was given")?;
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    let servers: Servers = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    let server = servers.servers.values().next().ok_or_else(|| failed(&"no server"))?;
    let start = Instant::now();
    loop {
        match once(server, tool, arguments) {
            Ok(text) => return Ok(text),
            Err(CallError::Wrong(message)) => return Err(message),
            Err(CallError::Away(message)) if start.elapsed() > PATIENCE => return Err(message),
            Err(CallError::Away(_)) => std::thread::sleep(PAUSE),
        }
    }
}

/// Name of the first server, as it stands in the names of its tools.
pub(crate) fn server_name(config: Option<&Path>) -> String {
    let servers = config.and_then(|path| std::fs::read(path).ok()).and_then(|text| {
        let servers: Servers = serde_json::from_slice(&text).ok()?;
        servers.servers.into_keys().next()
    });
    servers.unwrap_or_else(|| "none".to_owned())
}

fn once(server: &Server, tool: &str, arguments: &Value) -> Result<String, CallError> {
    let wrong = |message: &str| CallError::Wrong(format!("{}: {message}", server.url));
    let away = |error: std::io::Error| CallError::Away(format!("{}: {error}", server.url));
    let rest = server.url.strip_prefix("http://").ok_or_else(|| wrong("not http"))?;
    let (address, path) = rest.split_once('/').ok_or_else(|| wrong("no path"))?;
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
    })
    .to_string();
    let mut request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in &server.headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(&body);
    let mut stream = TcpStream::connect(address).map_err(away)?;
    stream.write_all(request.as_bytes()).map_err(away)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(away)?;
    let answer = String::from_utf8_lossy(&answer);
    let gone = || CallError::Away(format!("{}: the answer is cut off", server.url));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(gone)?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    match status {
        "200" => {}
        "503" => return Err(gone()),
        other => return Err(wrong(&format!("HTTP {other}: {body}"))),
    }
    let answer: Value = serde_json::from_str(body).map_err(|_| gone())?;
    let text = answer["result"]["content"][0]["text"].as_str();
    let text = text.ok_or_else(|| wrong(&answer["error"].to_string()))?;
    match answer["result"]["isError"].as_bool().unwrap_or(false) {
        true => Err(CallError::Wrong(text.to_owned())),
        false => Ok(text.to_owned()),
    }
}
