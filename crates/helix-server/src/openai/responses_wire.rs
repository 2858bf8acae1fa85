//! The responses form: an answer as numbered frames of items, or in one piece.
//!
//! Must not know a turn's events or when a frame is sent. Every item that is added is closed before the end, and text of agents only ever
//! becomes a JSON string here, never an object.

use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_engine::consultant::phrases;
use helix_job::session::TurnView;
use helix_language::Language;
use serde_json::{Value, json};

use super::error::ApiError;
use super::items::{function_call, function_call_output, item_name};
use super::presenter::{AnswerOptions, WholeAnswer, Wire};
use super::request::Form;
use super::tool_name;
use crate::profile::Profile;
use crate::sse;

/// An answer in the responses form.
#[derive(Debug)]
pub(crate) struct ResponsesWire {
    id: String,
    /// The response without its output.
    response: Value,
    output: Vec<Value>,
    profile: Profile,
    sequence: u64,
    open: Option<OpenText>,
}

/// The item that text is appended to.
#[derive(Debug)]
struct OpenText {
    kind: TextKind,
    index: usize,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Message,
    Reasoning,
}

impl TextKind {
    fn part(self, text: &str) -> Value {
        match self {
            Self::Message => json!({ "type": "output_text", "text": text, "annotations": [] }),
            Self::Reasoning => json!({ "type": "summary_text", "text": text }),
        }
    }

    fn item(self, id: &str, parts: &[Value], status: &str) -> Value {
        match self {
            Self::Message => {
                json!({ "type": "message", "id": id, "role": "assistant", "content": parts, "status": status })
            }
            Self::Reasoning => json!({ "type": "reasoning", "id": id, "summary": parts, "status": status }),
        }
    }
}

/// What a frame about the one part of a text's item carries.
#[derive(Debug, Clone, Copy)]
enum TextFrame {
    PartAdded,
    Delta,
    TextDone,
    PartDone,
}

impl ResponsesWire {
    /// A frame: its type is also the event's name.
    fn send(&mut self, out: &mut Vec<u8>, kind: &str, mut body: Value) {
        body["type"] = kind.into();
        body["sequence_number"] = self.sequence.into();
        sse::named(out, kind, &body);
        self.sequence += 1;
    }

    fn send_response(&mut self, out: &mut Vec<u8>, kind: &str) {
        let response = self.whole_response();
        self.send(out, kind, json!({ "response": response }));
    }

    fn send_item(&mut self, out: &mut Vec<u8>, kind: &str, index: usize) {
        let body = json!({ "output_index": index, "item": self.output.get(index) });
        self.send(out, kind, body);
    }

    fn send_text(&mut self, out: &mut Vec<u8>, of: (TextKind, usize), frame: TextFrame, text: &str) {
        let (kind, index) = of;
        let (part, words, part_index) = match kind {
            TextKind::Message => ("content_part", "output_text", "content_index"),
            TextKind::Reasoning => ("reasoning_summary_part", "reasoning_summary_text", "summary_index"),
        };
        let (event, field, content) = match frame {
            TextFrame::PartAdded => (format!("response.{part}.added"), "part", kind.part(text)),
            TextFrame::Delta => (format!("response.{words}.delta"), "delta", text.into()),
            TextFrame::TextDone => (format!("response.{words}.done"), "text", text.into()),
            TextFrame::PartDone => (format!("response.{part}.done"), "part", kind.part(text)),
        };
        let id = self.item_id(index);
        let mut body = json!({ "item_id": id, "output_index": index, part_index: 0, field: content });
        if kind == TextKind::Message && field != "part" {
            body["logprobs"] = json!([]);
        }
        self.send(out, &event, body);
    }

    fn item_id(&self, index: usize) -> String {
        format!("{}-{index}", self.id)
    }

    /// Adds an item and returns its index.
    fn add(&mut self, out: &mut Vec<u8>, item: impl FnOnce(&str) -> Value) -> usize {
        self.close_text(out);
        let index = self.output.len();
        self.output.push(item(&self.item_id(index)));
        self.send_item(out, "response.output_item.added", index);
        index
    }

    fn append(&mut self, out: &mut Vec<u8>, kind: TextKind, piece: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            let index = self.add(out, |id| kind.item(id, &[], "in_progress"));
            self.send_text(out, (kind, index), TextFrame::PartAdded, "");
            self.open = Some(OpenText { kind, index, text: String::new() });
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(piece);
            let index = open.index;
            self.send_text(out, (kind, index), TextFrame::Delta, piece);
        }
    }

    fn close_text(&mut self, out: &mut Vec<u8>) {
        let Some(OpenText { kind, index, text }) = self.open.take() else { return };
        self.send_text(out, (kind, index), TextFrame::TextDone, &text);
        self.send_text(out, (kind, index), TextFrame::PartDone, &text);
        self.output[index] = kind.item(&self.item_id(index), &[kind.part(&text)], "completed");
        self.send_item(out, "response.output_item.done", index);
    }

    fn whole_response(&self) -> Value {
        let mut response = self.response.clone();
        response["output"] = self.output.as_slice().into();
        response
    }
}

impl Wire for ResponsesWire {
    const FORM: Form = Form::Responses;
    const ID: &'static str = "resp_";

    fn new(options: AnswerOptions) -> Self {
        let AnswerOptions { id, model, created, profile, previous, language: _, include_usage: _ } = options;
        let response = response(&id, &model, created.as_second(), previous);
        Self { id, response, output: Vec::new(), profile, sequence: 0, open: None }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.send_response(out, "response.created");
        self.send_response(out, "response.in_progress");
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &str) {
        self.append(out, TextKind::Message, text);
    }

    fn is_in_text(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.kind == TextKind::Message)
    }

    fn thinking(&mut self, out: &mut Vec<u8>, text: &str) {
        self.append(out, TextKind::Reasoning, text);
    }

    fn has_calls(&self) -> bool {
        true
    }

    fn start_call(&mut self, out: &mut Vec<u8>, name: &str, shown: &str, arguments: &Value) -> usize {
        if self.profile.is_open_webui() {
            return self.add(out, |id| function_call(id, shown, arguments));
        }
        // A tool on Helix's side, with nothing for the client to do. The agent's built-in ones have no server of their own.
        let (server, name) = tool_name::split(name).unwrap_or(("helix", name));
        let arguments = arguments.to_string();
        self.add(out, |id| {
            json!({
                "type": "mcp_call", "id": id, "server_label": server, "name": name, "arguments": arguments, "output": null,
                "error": null, "status": "in_progress",
            })
        })
    }

    fn end_call(&mut self, out: &mut Vec<u8>, call: usize, shown: &str, output: &str, failed: bool) {
        let status = if failed { "failed" } else { "completed" };
        let Some(item) = self.output.get_mut(call) else { return };
        item["status"] = status.into();
        let call_id = item["call_id"].as_str().map(str::to_owned);
        match (&call_id, failed) {
            (Some(_), _) => item["name"] = item_name(shown).into(),
            (None, true) => {
                let content = json!([{ "type": "text", "text": output }]);
                item["error"] = json!({ "type": "mcp_tool_execution_error", "content": content });
            }
            (None, false) => item["output"] = output.into(),
        }
        self.send_item(out, "response.output_item.done", call);
        if let Some(call_id) = call_id {
            let index = self.add(out, |id| function_call_output(id, &call_id, output, status));
            self.send_item(out, "response.output_item.done", index);
        }
    }

    fn call_of_client(&mut self, out: &mut Vec<u8>, name: &str, arguments: &str) {
        let item = |id: &str, arguments: &str, status: &str| {
            json!({
                "type": "function_call", "id": id, "call_id": id, "name": name, "arguments": arguments, "status": status,
            })
        };
        let index = self.add(out, |id| item(id, "", "in_progress"));
        let id = self.item_id(index);
        for (event, field) in [("delta", "delta"), ("done", "arguments")] {
            let body = json!({ "item_id": id, "output_index": index, field: arguments });
            self.send(out, &format!("response.function_call_arguments.{event}"), body);
        }
        self.output[index] = item(&id, arguments, "completed");
        self.send_item(out, "response.output_item.done", index);
    }

    fn end(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>) {
        self.close_text(out);
        self.response["usage"] = usage.as_ref().map(response_usage).into();
        if let Some(error) = error {
            let body = &error.envelope.error;
            self.response["error"] = json!({ "code": body.code, "message": body.message });
        }
        let status = if error.is_some() { "failed" } else { "completed" };
        self.response["status"] = status.into();
        self.send_response(out, &format!("response.{status}"));
    }

    fn whole(self, _: WholeAnswer) -> Value {
        self.whole_response()
    }
}

/// A response without output.
fn response(id: &str, model: &str, created_at: i64, previous: Option<String>) -> Value {
    json!({
        "id": id, "object": "response", "created_at": created_at, "status": "in_progress", "error": null,
        // A truncated answer is a failure.
        "incomplete_details": null,
        "model": model, "output": [], "previous_response_id": previous, "usage": null,
        // Agents run their own tools.
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "metadata": {},
    })
}

/// A response from the record of its turn; `text` is the answer as the client is to see it, `language` that of what Helix says.
pub(super) fn stored_response(
    id: &str,
    turn: &TurnView,
    text: &str,
    previous: Option<String>,
    language: Language,
) -> Value {
    let model = turn.begin.model.as_ref().map_or_else(|| "helix".into(), |model| format!("helix:{model}"));
    let mut response = response(id, &model, turn.started_at.as_second(), previous);
    let Some(end) = &turn.end else { return response };
    let parts = [TextKind::Message.part(text)];
    response["output"] = json!([TextKind::Message.item(&format!("{id}-message"), &parts, "completed")]);
    response["usage"] = response_usage(&end.usage);
    response["status"] = if end.is_answer() { "completed" } else { "failed" }.into();
    if !end.is_answer() {
        let message =
            phrases::of_outcome(language, &Outcome::from_facts(&end.facts)).map(|error| phrases::in_sentences(&error));
        response["error"] = json!({ "code": "server_error", "message": message });
    }
    response
}

/// Token usage in the responses form, with the cost by the agent's own account. Agents do not tell reasoning from other output.
fn response_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.total_input(),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.total_input() + usage.output_tokens,
        "cost": usage.cost_usd,
    })
}

#[cfg(test)]
#[path = "responses_wire_test.rs"]
mod tests;
