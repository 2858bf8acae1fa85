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
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::MAX_INPUT;
use crate::context::Context;
use crate::error::{Ended, Exit};

/// Longest time until the question is on record.
const LIMIT: Duration = Duration::from_secs(30);
/// After how long a host that is away is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// Longest call that is shown in full, in characters.
const SHOWN: usize = 2_000;
/// The first option of the question, which is yes.
const YES: &str = "1";

#[derive(Deserialize)]
struct Event {
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
    /// Where the agent works: another place each time that it is started.
    #[serde(default)]
    cwd: String,
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
    let question = say!(language, "hook-question", tool = &event.tool_name, call = call(&event));
    let options = [say!(language, "hook-yes"), say!(language, "hook-no")];
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "ask_user", "arguments": { "question": question, "options": options } },
    });
    let client = reqwest::Client::builder().no_proxy().build().map_err(|error| failed(&error))?;
    let request = client
        .post(url)
        .header("authorization", authorization)
        .header("accept", "application/json, text/event-stream")
        .header("x-helix-directory", "/")
        .json(&body);
    // An agent that waits for longer takes the hook for none at all.
    let answer = tokio::time::timeout(LIMIT, async { sent(request).await?.json().await });
    let answer: Value =
        answer.await.map_err(|error| failed(&error))?.map_err(|error: reqwest::Error| failed(&error))?;
    let result = &answer["result"];
    let Ok(asked) = serde_json::from_value::<QuestionView>(result["structuredContent"].clone()) else {
        let why = result["content"][0]["text"].as_str().or(answer["error"]["message"].as_str()).unwrap_or_default();
        return Ok(Said::Denied(say!(language, "hook-not-asked", why = why)));
    };
    let answer = match asked.status {
        QuestionStatus::Answered { answer, .. } => answer,
        QuestionStatus::Expired { .. } => {
            return Ok(Said::Denied(say!(language, "hook-unanswered", id = asked.id.to_string())));
        }
        QuestionStatus::Open | QuestionStatus::Closed => {
            return Ok(Said::Denied(say!(language, "hook-asked", id = asked.id.to_string())));
        }
    };
    Ok(match answer.choice.as_deref() {
        Some(YES) => Said::Allowed,
        _ => {
            let (by, words) = (answer.by.to_string(), answer.text.unwrap_or_default());
            Said::Denied(say!(language, "hook-refused", by = by, words = words))
        }
    })
}

/// Sends a request, also to a host that is only about to start again: an agent outlives it.
async fn sent(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    loop {
        let Some(again) = request.try_clone() else { return request.send().await };
        match again.send().await {
            Err(error) if error.is_connect() => tokio::time::sleep(AGAIN).await,
            sent => return sent,
        }
    }
}

/// The call in the words of its arguments. The whole of it is asked about, also where it is too long to be shown.
fn call(event: &Event) -> String {
    let text = match (event.tool_input["command"].as_str(), event.tool_input["cwd"].as_str()) {
        (Some(command), Some(cwd)) => format!("{command} ({cwd})"),
        (Some(command), None) => command.to_owned(),
        (None, _) => event.tool_input.to_string(),
    };
    let text = from_there(&text, event.cwd.trim_end_matches('/'));
    if text.chars().count() <= SHOWN {
        return text;
    }
    format!("{} (SHA-256 {:x})", clip(&text, SHOWN), Sha256::digest(&text))
}

/// Where the agent works, as a question names it: no command does.
const WORK_PLACE: &str = "{work place}";

/// The same call as seen from where the agent works.
fn from_there(text: &str, place: &str) -> String {
    if place.is_empty() {
        return text.to_owned();
    }
    let is_in_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let (mut seen, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices(place) {
        let (before, after) = (&text[from..at], &text[at + place.len()..]);
        let is_whole = after.chars().next().is_none_or(|letter| " \t\n/\\\"'`;&|)".contains(letter));
        if !before.ends_with(|letter| is_in_name(letter) || letter == '/') && is_whole {
            seen.push_str(before);
            seen.push_str(WORK_PLACE);
            from = at + place.len();
        }
    }
    seen + &text[from..]
}

#[cfg(test)]
#[path = "ask_person_test.rs"]
mod tests;
