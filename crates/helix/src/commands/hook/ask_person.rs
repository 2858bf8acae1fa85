//! `helix hook ask`: a tool call of an agent that needs a person's yes becomes a question of its job. Nothing waits: the agent ends its
//! turn, and when it is resumed the same call is allowed or not as the person has said.
//!
//! Must deny whenever it does not know: an agent takes a hook that fails for none at all.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use helix_core::error_chain;
use helix_core::text::clip;
use helix_engine::TOOL_SERVER;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_language::say;
use helix_process::bounded::read_bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::MAX_INPUT;
use crate::context::Context;
use crate::error::{Ended, Exit};

/// Longest time until the question is on record.
const LIMIT: Duration = Duration::from_secs(30);
/// Longest call that is shown in full, in characters.
const SHOWN: usize = 2_000;
/// The first option of the question, which is yes.
const YES: &str = "1";

#[derive(Deserialize)]
struct Event {
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
}

/// What is said to the call, and why.
enum Said {
    Allowed,
    Denied(String),
}

pub(super) fn run(context: &Context, servers: &Path) -> Ended {
    let said = context.block_on(async { Ok(ask(context, servers).await.unwrap_or_else(Said::Denied)) });
    let (decision, reason) = match said {
        Ok(Said::Allowed) => ("allow", say!(context.terminal.language, "hook-allowed")),
        Ok(Said::Denied(why)) => ("deny", why),
        Err(error) => ("deny", error.in_one_line()),
    };
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
    }});
    context.terminal.data(&answer.to_string())?;
    Ok(Exit::Success)
}

async fn ask(context: &Context, servers: &Path) -> Result<Said, String> {
    let language = context.terminal.language;
    let failed = |error: &dyn std::error::Error| say!(language, "hook-not-asked", why = error_chain(error));
    let mut input = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input).map_err(|error| failed(&error))?;
    let event: Event = serde_json::from_slice(&input).map_err(|error| failed(&error))?;
    let file = read_bytes(servers, MAX_INPUT).map_err(|error| failed(&error))?;
    let file: Value = serde_json::from_slice(&file).map_err(|error| failed(&error))?;
    let server = &file["mcpServers"][TOOL_SERVER];
    let (Some(url), Some(authorization)) = (server["url"].as_str(), server["headers"]["Authorization"].as_str()) else {
        return Ok(Said::Denied(say!(language, "hook-not-asked", why = "no tool server of Helix")));
    };
    let question = say!(language, "hook-question", tool = &event.tool_name, call = call(&event.tool_input));
    let options = [say!(language, "hook-yes"), say!(language, "hook-no")];
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "ask_user", "arguments": { "question": question, "options": options } },
    });
    let client = reqwest::Client::builder().no_proxy().timeout(LIMIT).build().map_err(|error| failed(&error))?;
    let request = client
        .post(url)
        .header("authorization", authorization)
        .header("accept", "application/json, text/event-stream")
        .header("x-helix-directory", "/")
        .json(&body);
    let answer = request.send().await.map_err(|error| failed(&error))?;
    let answer: Value = answer.json().await.map_err(|error| failed(&error))?;
    let result = &answer["result"];
    let Ok(asked) = serde_json::from_value::<QuestionView>(result["structuredContent"].clone()) else {
        let why = result["content"][0]["text"].as_str().or(answer["error"]["message"].as_str()).unwrap_or_default();
        return Ok(Said::Denied(say!(language, "hook-not-asked", why = why)));
    };
    let QuestionStatus::Answered { answer, .. } = asked.status else {
        return Ok(Said::Denied(say!(language, "hook-asked", id = asked.id.to_string())));
    };
    Ok(match answer.choice.as_deref() {
        Some(YES) => Said::Allowed,
        _ => {
            let (by, words) = (answer.by.to_string(), answer.text.unwrap_or_default());
            Said::Denied(say!(language, "hook-refused", by = by, words = words))
        }
    })
}

/// The call in the words of its arguments. The whole of it is asked about, also where it is too long to be shown.
fn call(input: &Value) -> String {
    let text = match input["command"].as_str() {
        Some(command) => command.to_owned(),
        None => input.to_string(),
    };
    if text.chars().count() <= SHOWN {
        return text;
    }
    format!("{} (SHA-256 {:x})", clip(&text, SHOWN), Sha256::digest(&text))
}
