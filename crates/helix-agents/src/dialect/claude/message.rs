//! The content blocks of messages as events.
//!
//! Must not know records: it is given a message's content and who wrote it.

use helix_core::agent_event::{AgentEvent, SaidAnew};
use serde_json::{Map, Value};

use super::super::TOOL_OUTPUT_LIMIT;
use super::super::fragments::{Channel, Fragments, Part, text_event};
use super::super::reader::Gathered;

/// The tool that asks the user something.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// Translates the blocks of a message that a model wrote. `whole_text` is given every whole text of the run itself.
pub(super) fn of_model(
    content: Value,
    parent: Option<&str>,
    fragments: &mut Fragments,
    run: &mut Gathered,
    whole_text: &mut dyn FnMut(&str),
) {
    for block in blocks(content) {
        let Value::Object(mut block) = block else {
            run.unrecognised("assistant block");
            continue;
        };
        let kind = taken_text(&mut block, "type").unwrap_or_default();
        match kind.as_str() {
            "text" | "thinking" => {
                let channel = if kind == "text" { Channel::Text } else { Channel::Thinking };
                let text = taken_text(&mut block, &kind).unwrap_or_default();
                whole(channel, text, parent, fragments, run, whole_text);
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let id = taken_text(&mut block, "id").unwrap_or_default();
                let name = taken_text(&mut block, "name").unwrap_or_default();
                let input = block.remove("input").unwrap_or_default();
                if name == QUESTION_TOOL {
                    run.events.extend(questions(&input));
                }
                run.events.push(AgentEvent::ToolStarted { id, name, input, parent: parent.map(str::to_owned) });
            }
            other if other.ends_with("_tool_result") => tool_finished(block, run),
            other => run.unrecognised(&format!("assistant/{other}")),
        }
    }
}

/// Translates the blocks of a message that the CLI wrote in the user's name: tools' results, and texts without meaning here.
pub(super) fn of_user(content: Value, run: &mut Gathered) {
    for block in blocks(content) {
        let Value::Object(mut block) = block else {
            run.unrecognised("user block");
            continue;
        };
        let kind = taken_text(&mut block, "type").unwrap_or_default();
        if kind == "tool_result" || kind.ends_with("_tool_result") {
            tool_finished(block, run);
        } else {
            run.unrecognised(&format!("user/{kind}"));
        }
    }
}

/// Takes a text out of an object without copying it.
pub(super) fn taken_text(object: &mut Map<String, Value>, name: &str) -> Option<String> {
    match object.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn whole(
    channel: Channel,
    text: String,
    parent: Option<&str>,
    fragments: &mut Fragments,
    run: &mut Gathered,
    whole_text: &mut dyn FnMut(&str),
) {
    if text.is_empty() {
        return;
    }
    if let Some(fragments) = fragments.taken_back(channel, parent, &text)
        && channel == Channel::Text
    {
        run.took_back(fragments, SaidAnew::Disconnected, parent);
    }
    let missing = fragments.missing_of(channel, parent, &text);
    if !missing.is_empty() {
        run.events.push(text_event(channel, missing.to_owned(), Part::Fragment, parent));
    }
    if channel == Channel::Text && parent.is_none() {
        whole_text(&text);
    }
    run.events.push(text_event(channel, text, Part::Whole, parent));
}

/// Content is a list of blocks, or a bare text that stands for one.
fn blocks(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Null => Vec::new(),
        other => vec![other],
    }
}

fn tool_finished(mut block: Map<String, Value>, run: &mut Gathered) {
    let id = taken_text(&mut block, "tool_use_id").unwrap_or_default();
    let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
    let output = output_text(block.remove("content").unwrap_or_default());
    run.events.push(AgentEvent::ToolFinished { id, output, failed });
}

/// What a tool said, as text within the limit.
fn output_text(content: Value) -> String {
    let part = |part: &Value| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part.get("type").and_then(Value::as_str).unwrap_or("unknown")),
    };
    let mut said = match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    said.truncate(said.floor_char_boundary(TOOL_OUTPUT_LIMIT));
    said.shrink_to_fit();
    said
}

fn questions(input: &Value) -> Vec<AgentEvent> {
    let asked = input.get("questions").and_then(Value::as_array).into_iter().flatten();
    let text = |question: &Value| question.get("question").and_then(Value::as_str).map(str::to_owned);
    asked.filter_map(text).map(|text| AgentEvent::Question { text }).collect()
}
