//! `/mcp`: Helix's tools as an MCP client calls them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod host;

use host::Host;
use serde_json::{Value, json};

async fn call(host: &Host, session: Option<&str>, body: Value) -> reqwest::Response {
    let mut request = host.post("/mcp").header("accept", "application/json, text/event-stream").json(&body);
    if let Some(session) = session {
        request = request.header("x-helix-session", session);
    }
    request.send().await.unwrap()
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[tokio::test]
async fn a_client_shakes_hands_and_finds_the_tools() {
    let host = Host::start().await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    let answer = call(&host, None, request("initialize", hello)).await;
    assert_eq!(answer.status(), 200);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "helix", "{answer}");
    assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(call(&host, None, ready).await.status(), 202);
    let answer: Value = call(&host, None, request("tools/list", json!({}))).await.json().await.unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let expected = ["adr_check", "adr_finalize", "adr_list", "job_start", "job_status", "plan_check", "project_create"];
    assert_eq!(names, expected);
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_tool_answers_and_wrong_arguments_are_named() {
    let host = Host::start().await;
    let status = json!({ "name": "plan_check", "arguments": { "path": "/nonexistent/phases.yaml" } });
    let answer: Value = call(&host, None, request("tools/call", status.clone())).await.json().await.unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(!text.is_empty(), "{answer}");
    assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
    let agents: Value =
        call(&host, Some("s1m80cxsf2e74jy7s"), request("tools/call", status)).await.json().await.unwrap();
    assert!(agents["result"]["content"][0]["text"].is_string(), "{agents}");
    assert_eq!(agents["result"]["structuredContent"], Value::Null, "agents read the text, not the data: {agents}");
    let wrong = json!({ "name": "plan_check", "arguments": {} });
    let answer: Value = call(&host, None, request("tools/call", wrong)).await.json().await.unwrap();
    assert!(answer.to_string().contains("path"), "{answer}");
    let unusable = json!({ "name": "plan_check", "arguments": { "path": "/x" } });
    let answer: Value = call(&host, Some("../x"), request("tools/call", unusable)).await.json().await.unwrap();
    assert!(answer.to_string().contains("X-Helix-Session"), "{answer}");
    host.stop().await;
}
