//! The responses form: an answer as numbered frames of items, or in one piece.
//!
//! Must not know a turn's events or when a frame is sent. Every item that is added is closed before the end.

use helix_core::usage::Usage;
use serde::Serialize;
use serde_json::Value;

use super::items::{OutputItem, Part, ResponseObject, response_error, response_usage};
use crate::openai::bad_request::BadRequest;
use crate::openai::error::ApiError;
use crate::openai::presenter::{AnswerOptions, WholeAnswer, Wire};
use crate::openai::request::ChatRequest;
use crate::openai::tool_name;
use crate::profile::Profile;
use crate::sse;

/// An answer in the responses form.
#[derive(Debug)]
pub(crate) struct ResponsesWire {
    response: ResponseObject,
    profile: Profile,
    sequence: u64,
    open: Option<OpenText>,
}

/// The item that text is appended to.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The names of a text's frames: part added, delta, text done, part done.
impl TextKind {
    fn frames(self) -> [&'static str; 4] {
        match self {
            Self::Message => [
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
            ],
            Self::Reasoning => [
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
            ],
        }
    }

    fn part(self, text: &str) -> Part {
        match self {
            Self::Message => Part::OutputText { text: text.to_owned(), annotations: Vec::new() },
            Self::Reasoning => Part::SummaryText { text: text.to_owned() },
        }
    }

    fn item(self, id: String, parts: Vec<Part>, status: &str) -> OutputItem {
        let status = status.to_owned();
        match self {
            Self::Message => OutputItem::Message { id, role: "assistant".into(), content: parts, status },
            Self::Reasoning => OutputItem::Reasoning { id, summary: parts, status },
        }
    }
}

/// A frame: its type is also the event's name.
#[derive(Serialize)]
struct Frame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    sequence_number: u64,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Response { response: &'a ResponseObject },
    Item { output_index: usize, item: &'a OutputItem },
    Text(TextFrame<'a>),
}

/// A frame about the one part of a text's item.
#[derive(Serialize)]
struct TextFrame<'a> {
    item_id: &'a str,
    output_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<u8>,
    #[serde(flatten)]
    content: TextContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[u8; 0]>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum TextContent<'a> {
    Part(&'a Part),
    Delta(&'a str),
    Text(&'a str),
}

impl ResponsesWire {
    fn send(&mut self, out: &mut Vec<u8>, kind: &'static str, body: Body<'_>) {
        sse::named(out, kind, &Frame { kind, sequence_number: self.sequence, body });
        self.sequence += 1;
    }

    fn send_response(&mut self, out: &mut Vec<u8>, kind: &'static str) {
        let response = self.response.clone();
        self.send(out, kind, Body::Response { response: &response });
    }

    fn send_text(&mut self, out: &mut Vec<u8>, of: TextKind, frame: usize, index: usize, content: TextContent<'_>) {
        let is_message = of == TextKind::Message;
        let is_text = !matches!(content, TextContent::Part(_));
        let item_id = self.item_id(index);
        let body = Body::Text(TextFrame {
            item_id: &item_id,
            output_index: index,
            content_index: is_message.then_some(0),
            summary_index: (!is_message).then_some(0),
            content,
            logprobs: (is_message && is_text).then_some([]),
        });
        self.send(out, of.frames()[frame], body);
    }

    fn item_id(&self, index: usize) -> String {
        format!("{}-{index}", self.response.id)
    }

    /// Adds an item and returns its index.
    fn add(&mut self, out: &mut Vec<u8>, item: impl FnOnce(String) -> OutputItem) -> usize {
        self.close_text(out);
        let index = self.response.output.len();
        let item = item(self.item_id(index));
        self.send(out, "response.output_item.added", Body::Item { output_index: index, item: &item });
        self.response.output.push(item);
        index
    }

    /// Replaces an item with its final form.
    fn close(&mut self, out: &mut Vec<u8>, index: usize, item: OutputItem) {
        self.send(out, "response.output_item.done", Body::Item { output_index: index, item: &item });
        if let Some(slot) = self.response.output.get_mut(index) {
            *slot = item;
        }
    }

    fn append(&mut self, out: &mut Vec<u8>, kind: TextKind, piece: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            let index = self.add(out, |id| kind.item(id, Vec::new(), "in_progress"));
            self.send_text(out, kind, 0, index, TextContent::Part(&kind.part("")));
            self.open = Some(OpenText { kind, index, text: String::new() });
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(piece);
            let index = open.index;
            self.send_text(out, kind, 1, index, TextContent::Delta(piece));
        }
    }

    fn close_text(&mut self, out: &mut Vec<u8>) {
        let Some(OpenText { kind, index, text }) = self.open.take() else { return };
        let part = kind.part(&text);
        self.send_text(out, kind, 2, index, TextContent::Text(&text));
        self.send_text(out, kind, 3, index, TextContent::Part(&part));
        let item = kind.item(self.item_id(index), vec![part], "completed");
        self.close(out, index, item);
    }
}

impl Wire for ResponsesWire {
    const ID: &'static str = "resp_";
    const NAMES_TURNS: bool = true;
    type Whole = ResponseObject;

    fn parse(body: &[u8]) -> Result<ChatRequest, BadRequest> {
        ChatRequest::parse_response(body)
    }

    fn new(options: AnswerOptions) -> Self {
        let AnswerOptions { id, model, created, profile, previous, include_usage: _ } = options;
        let response = ResponseObject::new(id, model, created.as_second(), previous);
        Self { response, profile, sequence: 0, open: None }
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

    fn start_call(&mut self, out: &mut Vec<u8>, name: &str, arguments: &Value) -> usize {
        let (arguments, status) = (arguments.to_string(), "in_progress".to_owned());
        match self.profile {
            Profile::OpenWebUi { .. } => {
                let name = tool_name::shown(name);
                self.add(out, |id| OutputItem::FunctionCall { call_id: id.clone(), id, name, arguments, status })
            }
            Profile::Plain => {
                // The agent's built-in tools have no server; for the client they are Helix's.
                let (server, name) = tool_name::split(name).unwrap_or(("helix", name));
                let (server_label, name) = (server.to_owned(), name.to_owned());
                let (output, error) = (None, None);
                self.add(out, |id| OutputItem::McpCall { id, server_label, name, arguments, output, error, status })
            }
        }
    }

    fn end_call(&mut self, out: &mut Vec<u8>, call: usize, said: &str, failed: bool) {
        let Some(mut item) = self.response.output.get(call).cloned() else { return };
        let state = if failed { "failed" } else { "completed" };
        let mut answered = None;
        match &mut item {
            OutputItem::McpCall { output, error, status, .. } => {
                *status = state.into();
                *(if failed { error } else { output }) = Some(said.into());
            }
            OutputItem::FunctionCall { call_id, status, .. } => {
                *status = state.into();
                answered = Some(call_id.clone());
            }
            OutputItem::Reasoning { .. } | OutputItem::Message { .. } | OutputItem::FunctionCallOutput { .. } => return,
        }
        self.close(out, call, item);
        let Some(call_id) = answered else { return };
        let (output, status) = (vec![Part::InputText { text: said.into() }], state.to_owned());
        let index = self.add(out, |id| OutputItem::FunctionCallOutput { id, call_id, output, status });
        if let Some(item) = self.response.output.get(index).cloned() {
            self.close(out, index, item);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>) {
        self.close_text(out);
        self.response.usage = usage.as_ref().map(response_usage);
        self.response.error = error.map(|error| response_error(&error.envelope.error));
        let (status, kind) = match error {
            None => ("completed", "response.completed"),
            Some(_) => ("failed", "response.failed"),
        };
        self.response.status = status;
        self.send_response(out, kind);
    }

    fn whole(self, _: WholeAnswer) -> ResponseObject {
        self.response
    }
}

#[cfg(test)]
#[path = "wire_test.rs"]
mod tests;
