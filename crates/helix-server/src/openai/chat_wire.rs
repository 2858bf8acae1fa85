//! The chat completions form: an answer as chunks with Open WebUI's additions, or in one piece.
//!
//! Must not know a turn's events or when a chunk is sent.

use helix_core::usage::Usage;
use serde_json::{Value, json};

use super::bad_request::BadRequest;
use super::chunk::{Chunk, ChunkChoice, Delta, Item, ItemFrame, OutputText, completion_usage};
use super::error::ApiError;
use super::items::Parts;
use super::presenter::{AnswerOptions, WholeAnswer, Wire};
use super::request::ChatRequest;
use super::tool_name;
use crate::profile::{Profile, ToolDisplay};
use crate::sse;

/// An answer in the chat completions form.
#[derive(Debug)]
pub(crate) struct ChatWire {
    options: AnswerOptions,
    parts: Parts,
    calls: Vec<OpenCall>,
    count: usize,
}

/// A call without its output.
#[derive(Debug)]
struct OpenCall {
    number: usize,
    /// Unique in the conversation.
    id: String,
    name: String,
    arguments: String,
    output_index: usize,
}

impl OpenCall {
    fn frame(&self, kind: &'static str, status: &'static str) -> ItemFrame<'_> {
        let Self { id, name, arguments, output_index, .. } = self;
        let item = Item::FunctionCall { id, call_id: id, name, arguments, status };
        ItemFrame { kind, output_index: *output_index, item }
    }
}

impl ChatWire {
    fn delta(&self, out: &mut Vec<u8>, delta: Delta<'_>) {
        let choice = ChunkChoice { index: 0, delta, finish_reason: None };
        self.chunk(out, &[choice], None);
    }

    fn chunk(&self, out: &mut Vec<u8>, choices: &[ChunkChoice<'_>], usage: Option<Value>) {
        let AnswerOptions { id, model, created, include_usage, .. } = &self.options;
        let (object, created) = ("chat.completion.chunk", created.as_second());
        sse::data(out, &Chunk { id, object, created, model, choices, usage: include_usage.then_some(usage) });
    }
}

impl Wire for ChatWire {
    const ID: &'static str = "chatcmpl-";
    const NAMES_TURNS: bool = false;
    type Whole = Value;

    fn parse(body: &[u8]) -> Result<ChatRequest, BadRequest> {
        ChatRequest::parse(body)
    }

    fn new(options: AnswerOptions) -> Self {
        Self { options, parts: Parts::default(), calls: Vec::new(), count: 0 }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.delta(out, Delta { role: Some("assistant"), content: Some(""), reasoning_content: None });
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &str) {
        self.parts.text();
        self.delta(out, Delta { content: Some(text), ..Delta::default() });
    }

    fn is_in_text(&self) -> bool {
        self.parts.has_text()
    }

    fn thinking(&mut self, out: &mut Vec<u8>, text: &str) {
        if let Some(inserted) = self.parts.reasoning() {
            for call in self.calls.iter_mut().filter(|call| call.output_index >= inserted) {
                call.output_index += 1;
            }
        }
        self.delta(out, Delta { reasoning_content: Some(text), ..Delta::default() });
    }

    fn has_calls(&self) -> bool {
        self.options.profile == Profile::OpenWebUi { tools: ToolDisplay::Items }
    }

    fn start_call(&mut self, out: &mut Vec<u8>, name: &str, arguments: &Value) -> usize {
        self.count += 1;
        let call = OpenCall {
            number: self.count,
            id: format!("{}-call-{}", self.options.id, self.count),
            name: tool_name::shown(name),
            arguments: arguments.to_string(),
            output_index: self.parts.item(),
        };
        sse::data(out, &call.frame("response.output_item.added", "in_progress"));
        self.calls.push(call);
        self.count
    }

    fn end_call(&mut self, out: &mut Vec<u8>, call: usize, output: &str, failed: bool) {
        let Some(at) = self.calls.iter().position(|open| open.number == call) else { return };
        let call = self.calls.remove(at);
        let status = if failed { "failed" } else { "completed" };
        sse::data(out, &call.frame("response.output_item.done", status));
        let (id, output_index) = (format!("{}-output", call.id), self.parts.item());
        for kind in ["response.output_item.added", "response.output_item.done"] {
            let output = [OutputText::new(output)];
            let item = Item::FunctionCallOutput { id: &id, call_id: &call.id, output, status };
            sse::data(out, &ItemFrame { kind, output_index, item });
        }
    }

    fn end(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>) {
        if error.is_none() {
            let choice = ChunkChoice { index: 0, delta: Delta::default(), finish_reason: Some("stop") };
            self.chunk(out, &[choice], None);
        }
        if let Some(usage) = usage.filter(|_| self.options.include_usage) {
            self.chunk(out, &[], Some(completion_usage(&usage)));
        }
        if let Some(error) = error {
            // Without `choices`: clients ignore an error in a chunk that has them.
            sse::data(out, &error.envelope);
        }
        out.extend_from_slice(sse::DONE);
    }

    fn whole(self, answer: WholeAnswer) -> Value {
        let AnswerOptions { id, model, created, .. } = self.options;
        let mut message = json!({ "role": "assistant", "content": answer.text });
        if !answer.thinking.is_empty() {
            message["reasoning_content"] = answer.thinking.into();
        }
        let mut completion = json!({
            "id": id,
            "object": "chat.completion",
            "created": created.as_second(),
            "model": model,
            "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
            "usage": completion_usage(&answer.usage),
        });
        // Absent for background tasks, which nobody keeps.
        if let Some((session, turn)) = answer.turn {
            completion["helix"] = json!({ "session": session, "turn": turn });
        }
        completion
    }
}
