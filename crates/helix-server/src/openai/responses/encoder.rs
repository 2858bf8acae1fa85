//! A turn's events as the frames of a streamed response. Pure: knows no clock, no socket and no engine.
//!
//! Whatever happens to the turn, the stream ends in order: every item closed, then `response.completed` or
//! `response.failed`.

use helix_engine::consultant::{JobNews, TurnEnded, TurnEvent};
use jiff::Timestamp;
use serde::Serialize;

use super::items::{OutputItem, Part, ResponseObject};
use crate::openai::error::ApiError;
use crate::openai::marks;
use crate::openai::profile::Profile;
use crate::openai::status_line::StatusLine;
use crate::openai::streaming::{Encode, Watch};
use crate::openai::tool_name;
use crate::sse;

/// What a client asked of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Id of the response.
    pub(super) id: String,
    /// The model's name as the client gave it.
    pub(super) model: String,
    /// When it began.
    pub(super) created: Timestamp,
    /// What the client can show.
    pub(super) profile: Profile,
    /// The response that it goes on from.
    pub(super) previous: Option<String>,
}

/// Turns events into frames.
#[derive(Debug)]
pub(super) struct Encoder {
    response: ResponseObject,
    profile: Profile,
    sequence: u64,
    open: Open,
    calls: Vec<OpenCall>,
    progress: Progress,
    line: StatusLine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Silent,
    Going,
    Over,
}

/// The item that text goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Nothing,
    Reasoning { place: usize, text: String },
    Message { place: usize, text: String },
}

/// A tool call that has no answer yet.
#[derive(Debug)]
struct OpenCall {
    agent_id: String,
    place: usize,
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
    Part { item_id: &'a str, output_index: usize, content_index: usize, part: &'a Part },
    SummaryPart { item_id: &'a str, output_index: usize, summary_index: usize, part: &'a Part },
    Delta { item_id: &'a str, output_index: usize, content_index: usize, delta: &'a str, logprobs: [u8; 0] },
    Text { item_id: &'a str, output_index: usize, content_index: usize, text: &'a str, logprobs: [u8; 0] },
    SummaryDelta { item_id: &'a str, output_index: usize, summary_index: usize, delta: &'a str },
    SummaryText { item_id: &'a str, output_index: usize, summary_index: usize, text: &'a str },
}

impl Encoder {
    pub(super) fn new(options: Options) -> Self {
        let Options { id, model, created, profile, previous } = options;
        Self {
            response: ResponseObject::new(id, model, created.as_second(), previous),
            profile,
            sequence: 0,
            open: Open::Nothing,
            calls: Vec::new(),
            progress: Progress::Silent,
            line: StatusLine::default(),
        }
    }

    /// The response so far.
    pub(super) fn response(self) -> ResponseObject {
        self.response
    }

    /// Sends an answer that is there already and that nothing was consumed for.
    pub(super) fn whole(&mut self, out: &mut Vec<u8>, answer: &str) {
        self.begin(out);
        self.text(out, answer);
        self.finish(out, None);
    }

    fn send(&mut self, out: &mut Vec<u8>, kind: &'static str, body: Body<'_>) {
        let frame = Frame { kind, sequence_number: self.sequence, body };
        self.sequence += 1;
        sse::named(out, kind, &frame);
    }

    fn send_response(&mut self, out: &mut Vec<u8>, kind: &'static str) {
        let response = self.response.clone();
        self.send(out, kind, Body::Response { response: &response });
    }

    fn item_id(&self, place: usize) -> String {
        format!("{}-{place}", self.response.id)
    }

    /// Adds an item and says so; returns its place.
    fn add(&mut self, out: &mut Vec<u8>, item: impl FnOnce(String) -> OutputItem) -> usize {
        let place = self.response.output.len();
        let item = item(self.item_id(place));
        self.response.output.push(item.clone());
        self.send(out, "response.output_item.added", Body::Item { output_index: place, item: &item });
        place
    }

    /// Puts an item into its final form and says so.
    fn close(&mut self, out: &mut Vec<u8>, place: usize, item: OutputItem) {
        self.send(out, "response.output_item.done", Body::Item { output_index: place, item: &item });
        if let Some(slot) = self.response.output.get_mut(place) {
            *slot = item;
        }
    }

    /// Whether the client shows events of Open WebUI, which its connections of this kind pass on, too (0.12.4, tried).
    fn shows_events(&self) -> bool {
        match self.profile {
            Profile::OpenWebUi { .. } => true,
            Profile::Plain => false,
        }
    }

    /// A line that is true until something else is seen.
    fn status(&mut self, out: &mut Vec<u8>, text: &str) {
        match self.profile {
            Profile::OpenWebUi { .. } => self.line.show(out, text),
            Profile::Plain => self.reasoning(out, &format!("{text}\n")),
        }
    }

    fn text(&mut self, out: &mut Vec<u8>, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.line.pass(out);
        if !matches!(self.open, Open::Message { .. }) {
            self.close_text(out);
            let message = |id| OutputItem::Message {
                id,
                role: "assistant".into(),
                content: Vec::new(),
                status: "in_progress".into(),
            };
            let place = self.add(out, message);
            let (id, part) = (self.item_id(place), Part::output(""));
            let body = Body::Part { item_id: &id, output_index: place, content_index: 0, part: &part };
            self.send(out, "response.content_part.added", body);
            self.open = Open::Message { place, text: String::new() };
        }
        if let Open::Message { place, text } = &mut self.open {
            text.push_str(piece);
            let place = *place;
            let id = self.item_id(place);
            let body = Body::Delta { item_id: &id, output_index: place, content_index: 0, delta: piece, logprobs: [] };
            self.send(out, "response.output_text.delta", body);
        }
    }

    fn reasoning(&mut self, out: &mut Vec<u8>, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.line.pass(out);
        if !matches!(self.open, Open::Reasoning { .. }) {
            self.close_text(out);
            let item = |id| OutputItem::Reasoning { id, summary: Vec::new(), status: "in_progress".into() };
            let place = self.add(out, item);
            let (id, part) = (self.item_id(place), Part::summary(""));
            let body = Body::SummaryPart { item_id: &id, output_index: place, summary_index: 0, part: &part };
            self.send(out, "response.reasoning_summary_part.added", body);
            self.open = Open::Reasoning { place, text: String::new() };
        }
        if let Open::Reasoning { place, text } = &mut self.open {
            text.push_str(piece);
            let place = *place;
            let id = self.item_id(place);
            let body = Body::SummaryDelta { item_id: &id, output_index: place, summary_index: 0, delta: piece };
            self.send(out, "response.reasoning_summary_text.delta", body);
        }
    }

    /// Closes the item that text went to.
    fn close_text(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Message { place, text } => {
                let (id, part) = (self.item_id(place), Part::output(text.as_str()));
                let body =
                    Body::Text { item_id: &id, output_index: place, content_index: 0, text: &text, logprobs: [] };
                self.send(out, "response.output_text.done", body);
                let body = Body::Part { item_id: &id, output_index: place, content_index: 0, part: &part };
                self.send(out, "response.content_part.done", body);
                let (role, status) = ("assistant".into(), "completed".into());
                self.close(out, place, OutputItem::Message { id, role, content: vec![part], status });
            }
            Open::Reasoning { place, text } => {
                let (id, part) = (self.item_id(place), Part::summary(text.as_str()));
                let body = Body::SummaryText { item_id: &id, output_index: place, summary_index: 0, text: &text };
                self.send(out, "response.reasoning_summary_text.done", body);
                let body = Body::SummaryPart { item_id: &id, output_index: place, summary_index: 0, part: &part };
                self.send(out, "response.reasoning_summary_part.done", body);
                self.close(out, place, OutputItem::Reasoning { id, summary: vec![part], status: "completed".into() });
            }
        }
    }

    fn tool_started(&mut self, out: &mut Vec<u8>, agent_id: String, name: String, input: &serde_json::Value) {
        if self.calls.iter().any(|call| call.agent_id == agent_id) {
            return;
        }
        self.line.pass(out);
        self.close_text(out);
        let (arguments, status) = (input.to_string(), "in_progress".to_owned());
        let place = match self.profile {
            Profile::OpenWebUi { .. } => {
                let name = tool_name::shown(&name);
                self.add(out, |id| OutputItem::FunctionCall { call_id: id.clone(), id, name, arguments, status })
            }
            Profile::Plain => self.add(out, |id| OutputItem::McpCall {
                id,
                // The agent's built-in tools have no server of their own: they are Helix's to the client.
                server_label: tool_name::split(&name).map_or("helix", |(server, _)| server).into(),
                name: tool_name::split(&name).map_or(name.as_str(), |(_, tool)| tool).to_owned(),
                arguments,
                output: None,
                error: None,
                status,
            }),
        };
        self.calls.push(OpenCall { agent_id, place });
    }

    fn tool_finished(&mut self, out: &mut Vec<u8>, agent_id: &str, said: &str, failed: bool) {
        let Some(at) = self.calls.iter().position(|call| call.agent_id == agent_id) else { return };
        let place = self.calls.remove(at).place;
        let state = if failed { "failed" } else { "completed" };
        match self.response.output.get(place).cloned() {
            Some(OutputItem::McpCall { id, server_label, name, arguments, .. }) => {
                let (output, error) = if failed { (None, Some(said.into())) } else { (Some(said.into()), None) };
                let status = state.into();
                self.close(
                    out,
                    place,
                    OutputItem::McpCall { id, server_label, name, arguments, output, error, status },
                );
            }
            Some(OutputItem::FunctionCall { id, call_id, name, arguments, .. }) => {
                let status = state.to_owned();
                let item = OutputItem::FunctionCall { id, call_id: call_id.clone(), name, arguments, status };
                self.close(out, place, item);
                self.close_text(out);
                let (output, status) = (vec![Part::InputText { text: said.into() }], state.to_owned());
                let item = |id| OutputItem::FunctionCallOutput { id, call_id, output, status };
                let answer = self.add(out, item);
                if let Some(item) = self.response.output.get(answer).cloned() {
                    self.close(out, answer, item);
                }
            }
            Some(OutputItem::Reasoning { .. } | OutputItem::Message { .. } | OutputItem::FunctionCallOutput { .. })
            | None => {}
        }
    }

    fn rest_of_answer(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        let said = self.response.output.iter().any(|item| matches!(item, OutputItem::Message { .. }));
        if !said {
            self.text(out, &ended.answer);
        }
        self.response.usage = Some(ended.usage.into());
    }

    fn ended(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        self.rest_of_answer(out, ended);
        let now = Timestamp::from_second(self.response.created_at).unwrap_or_default();
        let error = ApiError::of_turn(ended, now);
        if let Some(view) = &ended.error {
            self.fail(out, &view.message, view.hint.as_deref());
        }
        self.finish(out, error.as_ref());
    }

    /// Shows a failure where thinking and the answer are shown.
    fn fail(&mut self, out: &mut Vec<u8>, message: &str, hint: Option<&str>) {
        self.close_calls(out);
        self.status(out, &format!("✗ {message}"));
        self.block(out, &marks::caution(message, hint));
    }

    /// A block of Helix's own, below what was said.
    fn block(&mut self, out: &mut Vec<u8>, block: &str) {
        let gap = if matches!(self.open, Open::Message { .. }) { "\n\n" } else { "" };
        self.text(out, &format!("{gap}{block}"));
    }

    fn close_calls(&mut self, out: &mut Vec<u8>) {
        while let Some(call) = self.calls.first() {
            let agent_id = call.agent_id.clone();
            self.tool_finished(out, &agent_id, "the turn ended before this call did", true);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>, error: Option<&ApiError>) {
        self.close_calls(out);
        self.close_text(out);
        self.progress = Progress::Over;
        if self.shows_events() {
            match error {
                Some(_) => self.line.failed(out),
                None => self.line.done(out),
            }
        }
        match error {
            None => {
                self.response.status = "completed".into();
                self.send_response(out, "response.completed");
            }
            Some(error) => {
                self.response.status = "failed".into();
                self.response.error = Some((&error.envelope.error).into());
                self.send_response(out, "response.failed");
            }
        }
    }
}

impl Encode for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.progress == Progress::Silent {
            self.progress = Progress::Going;
            self.send_response(out, "response.created");
            self.send_response(out, "response.in_progress");
        }
    }

    fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent) {
        if self.is_over() {
            return;
        }
        match event {
            TurnEvent::Began { .. } => {}
            TurnEvent::Queued { ahead } => self.status(out, &marks::queued(ahead)),
            TurnEvent::Waits { wait } => self.status(out, &marks::waits(&wait)),
            TurnEvent::Status { text } => self.status(out, &text),
            TurnEvent::JobNews { text } if self.shows_events() => self.line.stand(out, &text),
            TurnEvent::JobNews { text } => self.status(out, &text),
            TurnEvent::Thinking { text } => self.reasoning(out, &text),
            TurnEvent::Text { text } => self.text(out, &text),
            TurnEvent::ToolStarted { id, name, input } => self.tool_started(out, id, name, &input),
            TurnEvent::ToolFinished { id, output, failed } => self.tool_finished(out, &id, &output, failed),
            TurnEvent::Ended(ended) => self.ended(out, &ended),
        }
    }

    fn abort(&mut self, out: &mut Vec<u8>, error: &ApiError) {
        if !self.is_over() {
            self.fail(out, &error.envelope.error.message, None);
            self.finish(out, Some(error));
        }
    }

    fn is_over(&self) -> bool {
        self.progress == Progress::Over
    }

    fn watching(&mut self) -> Option<&mut dyn Watch> {
        self.shows_events().then_some(self)
    }
}

impl Watch for Encoder {
    fn answered(&mut self, out: &mut Vec<u8>, ended: TurnEnded) {
        self.close_calls(out);
        self.rest_of_answer(out, &ended);
    }

    fn news(&mut self, out: &mut Vec<u8>, news: &JobNews) {
        match news {
            JobNews::Progress { .. } => return self.line.stand(out, &news.line()),
            JobNews::GoesOn { .. } => {}
            JobNews::Asks(question) => self.block(out, &marks::job_asks(question)),
            JobNews::Over(job) => self.block(out, &marks::job_over(job)),
        }
        self.line.last_word(&news.line());
    }

    fn rest(&mut self, out: &mut Vec<u8>) {
        if !self.is_over() {
            self.finish(out, None);
        }
    }
}

#[cfg(test)]
#[path = "encoder_test.rs"]
mod tests;
