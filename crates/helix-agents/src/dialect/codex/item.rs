//! The items of a thread as events: texts, reasoning, and everything that the agent does.
//!
//! Must not judge: what an item means for the run is gathered as evidence.

use std::collections::HashSet;

use helix_core::agent_event::AgentEvent;
use serde_json::{Map, Value, json};

use super::super::TOOL_OUTPUT_LIMIT;
use super::super::fragments::Channel;
use super::super::reader::Gathered;

/// How far an item has come, by the record that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// `item.started` and `item.updated`.
    UnderWay,
    /// `item.completed`.
    Over,
}

/// The tool calls of a run.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Those that were reported to have begun and not to be over, a few at a time.
    open: HashSet<String>,
    /// How many were not allowed.
    pub(super) denied: u32,
}

/// Translates one item.
pub(super) fn read(item: &Map<String, Value>, stage: Stage, calls: &mut Calls, run: &mut Gathered) {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = text("type");
    // Warnings are no work: the CLI also prints them before a turn and after it.
    run.active |= kind != "error";
    match (kind, stage) {
        ("agent_message", Stage::Over) => {
            run.said_at_once(Channel::Text, text("text"));
            // By the CLI's contract the last message is the answer.
            text("text").clone_into(&mut run.answer);
        }
        ("reasoning", Stage::Over) => run.said_at_once(Channel::Thinking, text("text")),
        // Their text comes with the completed item.
        ("agent_message" | "reasoning", Stage::UnderWay) => {}
        ("command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search", _) => {
            tool(item, kind, stage, calls, run);
        }
        (other, _) => run.unrecognised(&format!("item/{other}")),
    }
}

fn tool(item: &Map<String, Value>, kind: &str, stage: Stage, calls: &mut Calls, run: &mut Gathered) {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let of = |name: &str| item.get(name).cloned().unwrap_or_default();
    let id = text("id").to_owned();
    let (name, input) = match kind {
        "command_execution" => ("command_execution".to_owned(), json!({"command": of("command")})),
        "file_change" => ("file_change".to_owned(), json!({"changes": of("changes")})),
        "mcp_tool_call" => (format!("mcp__{}__{}", text("server"), text("tool")), of("arguments")),
        "collab_tool_call" => (format!("collab__{}", text("tool")), json!({"prompt": of("prompt")})),
        _ => (kind.to_owned(), json!({"query": of("query")})),
    };
    // Some items are only reported once they are over; counting calls needs their beginning too.
    let is_new = match stage {
        Stage::UnderWay => calls.open.insert(id.clone()),
        Stage::Over => !calls.open.remove(&id),
    };
    if is_new {
        run.events.push(AgentEvent::ToolStarted { id: id.clone(), name, input, parent: None });
    }
    if stage == Stage::UnderWay {
        // It is lost if it is not reported to have ended.
        return run.tasks.began(&id);
    }
    let status = text("status");
    let failed = match item.get("exit_code").and_then(Value::as_i64) {
        Some(code) => code != 0,
        None => matches!(status, "failed" | "declined") || item.get("error").is_some_and(|error| !error.is_null()),
    };
    let output = match kind {
        "command_execution" => text("aggregated_output").to_owned(),
        "mcp_tool_call" => result_text(item),
        _ => String::new(),
    };
    let end = output.floor_char_boundary(TOOL_OUTPUT_LIMIT);
    match status {
        // Reported as over although it is not: nobody saw it end.
        "in_progress" => run.tasks.began(&id),
        _ => run.tasks.ended(&id),
    }
    calls.denied += u32::from(status == "declined");
    run.events.push(AgentEvent::ToolFinished { id, output: output[..end].to_owned(), failed });
}

/// What a tool server answered: its texts, else its error.
fn result_text(item: &Map<String, Value>) -> String {
    let content = item.get("result").and_then(|result| result.get("content")).and_then(Value::as_array);
    let texts = content.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
    let said = texts.collect::<Vec<_>>().join("\n");
    let error = item.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    if said.is_empty() { error.unwrap_or_default().to_owned() } else { said }
}
