//! A turn's events as the bytes of a streamed answer. Pure: knows no clock, no socket and no engine.
//!
//! Whatever happens to the turn, the stream ends in order: every tool call closed, the status done, `[DONE]` last.

use helix_engine::consultant::{JobNews, TurnEnded, TurnEvent};
use jiff::Timestamp;

use super::chunk::{Chunk, ChunkChoice, Delta, Identity, Item, ItemFrame, OutputText};
use super::error::ApiError;
use super::items::Parts;
use super::marks;
use super::profile::{Profile, ToolDisplay};
use super::status_line::{StatusLine, one_line};
use super::streaming::Watch;
use super::tool_name;
use crate::sse;

/// What a client asked of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOptions {
    /// Id of the answer.
    pub id: String,
    /// The model's name as the client gave it.
    pub model: String,
    /// When the answer began.
    pub created: Timestamp,
    /// What the client can show.
    pub profile: Profile,
    /// Whether the stream ends with the usage.
    pub include_usage: bool,
}

/// Turns events into frames.
#[derive(Debug)]
pub struct Encoder {
    identity: Identity,
    profile: Profile,
    include_usage: bool,
    parts: Parts,
    open: Vec<OpenCall>,
    calls: usize,
    progress: Progress,
    text: TextSoFar,
    line: StatusLine,
    /// The turn's end, while what happens after it is shown.
    answered: Option<Box<TurnEnded>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Going,
    Over,
}

/// What the user has read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextSoFar {
    Nothing,
    Some,
}

/// A tool call that has no answer yet.
#[derive(Debug)]
struct OpenCall {
    /// The agent's id; never sent.
    agent_id: String,
    /// Helix's id, unique in the conversation.
    id: String,
    name: String,
    arguments: String,
    place: usize,
}

impl Encoder {
    /// A stream that has not begun.
    pub fn new(options: StreamOptions) -> Self {
        let StreamOptions { id, model, created, profile, include_usage } = options;
        Self {
            identity: Identity { id, created: created.as_second(), model },
            profile,
            include_usage,
            parts: Parts::default(),
            open: Vec::new(),
            calls: 0,
            progress: Progress::Going,
            text: TextSoFar::Nothing,
            line: StatusLine::default(),
            answered: None,
        }
    }

    /// Whether the client shows events as such.
    pub(super) fn shows_events(&self) -> bool {
        match self.profile {
            Profile::OpenWebUi { .. } => true,
            Profile::Plain => false,
        }
    }

    /// Whether everything is said.
    pub fn is_over(&self) -> bool {
        self.progress == Progress::Over
    }

    /// Says who speaks. Sent at once, so that the client knows that somebody is there.
    pub fn begin(&self, out: &mut Vec<u8>) {
        self.delta(out, Delta { role: Some("assistant"), content: Some(""), reasoning_content: None });
    }

    /// Appends what one event amounts to; nothing once the stream is over.
    pub fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent) {
        if self.is_over() {
            return;
        }
        match event {
            // Until something is said the client shows by itself that it waits.
            TurnEvent::Began { .. } => self.line.pass(out),
            TurnEvent::Queued { ahead } => self.status(out, &marks::queued(ahead)),
            TurnEvent::Waits { wait } => self.status(out, &marks::waits(&wait)),
            TurnEvent::Status { text } => self.status(out, &text),
            TurnEvent::JobNews { text } => self.job_news(out, &text),
            TurnEvent::Thinking { text } => self.reasoning(out, &text),
            TurnEvent::Text { text } => self.content(out, &text),
            TurnEvent::ToolStarted { id, name, input } => self.tool_started(out, id, name, &input),
            TurnEvent::ToolFinished { id, output, failed } => self.tool_finished(out, &id, &output, failed),
            TurnEvent::Ended(ended) => self.ended(out, &ended),
        }
    }

    /// Sends an answer that is there already and that nothing was consumed for.
    pub(crate) fn whole(&mut self, out: &mut Vec<u8>, answer: &str) {
        self.begin(out);
        self.content(out, answer);
        self.finish(out, None, None);
    }

    /// Ends a stream whose turn gave no end of its own.
    pub(crate) fn abort(&mut self, out: &mut Vec<u8>, error: &ApiError) {
        if self.is_over() {
            return;
        }
        self.close_calls(out);
        self.status(out, &format!("✗ {}", error.envelope.error.message));
        self.caution(out, &error.envelope.error.message, None);
        self.finish(out, None, Some(error));
    }

    fn ended(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        self.rest_of_answer(out, ended);
        // The chunk's time is good enough a clock for a pause in a field that no stream carries.
        let now = Timestamp::from_second(self.identity.created).unwrap_or_default();
        let error = ApiError::of_turn(ended, now);
        if let Some(view) = &ended.error {
            // Where thinking and tool calls are shown, too.
            self.status(out, &format!("✗ {}", view.message));
            self.caution(out, &view.message, view.hint.as_deref());
        }
        self.finish(out, Some(ended), error.as_ref());
    }

    fn rest_of_answer(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        self.close_calls(out);
        if self.text == TextSoFar::Nothing {
            // An agent that does not stream gives its answer only here. [9]
            self.content(out, &ended.answer);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>, ended: Option<&TurnEnded>, error: Option<&ApiError>) {
        self.progress = Progress::Over;
        if self.shows_events() {
            match error {
                Some(_) => self.line.failed(out),
                None => self.line.done(out),
            }
        }
        if error.is_none() {
            let choice = ChunkChoice { index: 0, delta: Delta::default(), finish_reason: Some("stop") };
            self.chunk(out, &[choice], self.include_usage.then_some(None));
        }
        if let (true, Some(ended)) = (self.include_usage, ended) {
            self.chunk(out, &[], Some(Some(ended.usage.into())));
        }
        if let Some(error) = error {
            // Without `choices`: clients overlook an error in a chunk that has them.
            sse::data(out, &error.envelope);
        }
        out.extend_from_slice(sse::DONE);
    }

    fn caution(&mut self, out: &mut Vec<u8>, message: &str, hint: Option<&str>) {
        self.block(out, &marks::caution(message, hint));
    }

    /// A block of Helix's own, below what was said.
    fn block(&mut self, out: &mut Vec<u8>, block: &str) {
        let gap = if self.text == TextSoFar::Nothing { "" } else { "\n\n" };
        self.content(out, &format!("{gap}{block}"));
    }

    fn tool_started(&mut self, out: &mut Vec<u8>, agent_id: String, name: String, input: &serde_json::Value) {
        if self.open.iter().any(|call| call.agent_id == agent_id) {
            return;
        }
        self.calls += 1;
        let mut call = OpenCall {
            agent_id,
            id: format!("{}-call-{}", self.identity.id, self.calls),
            name: tool_name::shown(&name),
            arguments: input.to_string(),
            place: 0,
        };
        match self.profile {
            Profile::OpenWebUi { tools: ToolDisplay::Items } => {
                self.line.pass(out);
                call.place = self.parts.item();
                sse::data(out, &call.frame("response.output_item.added", "in_progress"));
            }
            Profile::OpenWebUi { tools: ToolDisplay::StatusLines } | Profile::Plain => {
                self.status(out, &format!("→ {} {}", call.name, call.arguments));
            }
        }
        self.open.push(call);
    }

    fn tool_finished(&mut self, out: &mut Vec<u8>, agent_id: &str, output: &str, failed: bool) {
        let Some(at) = self.open.iter().position(|call| call.agent_id == agent_id) else {
            // An answer without a call has nothing that it could be shown with; the run's record has it.
            tracing::debug!(agent_id, "a tool answered that was not called");
            return;
        };
        let call = self.open.remove(at);
        match self.profile {
            Profile::OpenWebUi { tools: ToolDisplay::Items } => {
                let status = if failed { "failed" } else { "completed" };
                sse::data(out, &call.frame("response.output_item.done", status));
                let id = format!("{}-output", call.id);
                let place = self.parts.item();
                for kind in ["response.output_item.added", "response.output_item.done"] {
                    let output = [OutputText::new(output)];
                    let item = Item::FunctionCallOutput { id: &id, call_id: &call.id, output, status };
                    sse::data(out, &ItemFrame { kind, output_index: place, item });
                }
            }
            Profile::OpenWebUi { tools: ToolDisplay::StatusLines } | Profile::Plain => {
                let sign = if failed { '✗' } else { '✓' };
                let first = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                self.status(out, &format!("{sign} {} {first}", call.name));
            }
        }
    }

    /// A call without its answer makes Open WebUI run the tool itself.
    fn close_calls(&mut self, out: &mut Vec<u8>) {
        while let Some(call) = self.open.first() {
            let agent_id = call.agent_id.clone();
            self.tool_finished(out, &agent_id, "the turn ended before this call did", true);
        }
    }

    /// A line that is true until something else is seen.
    fn status(&mut self, out: &mut Vec<u8>, text: &str) {
        match self.profile {
            Profile::OpenWebUi { .. } => self.line.show(out, text),
            Profile::Plain => {
                let line = one_line(text);
                if !line.is_empty() {
                    self.reasoning(out, &format!("{line}\n"));
                }
            }
        }
    }

    fn job_news(&mut self, out: &mut Vec<u8>, text: &str) {
        match self.profile {
            Profile::OpenWebUi { .. } => self.line.stand(out, text),
            Profile::Plain => self.status(out, text),
        }
    }

    fn reasoning(&mut self, out: &mut Vec<u8>, text: &str) {
        if text.is_empty() {
            return;
        }
        self.line.pass(out);
        if let Some(place) = self.parts.reasoning() {
            for call in self.open.iter_mut().filter(|call| call.place >= place) {
                call.place += 1;
            }
        }
        self.delta(out, Delta { reasoning_content: Some(text), ..Delta::default() });
    }

    fn content(&mut self, out: &mut Vec<u8>, text: &str) {
        if text.is_empty() {
            return;
        }
        self.line.pass(out);
        self.text = TextSoFar::Some;
        self.parts.text();
        self.delta(out, Delta { content: Some(text), ..Delta::default() });
    }

    fn delta(&self, out: &mut Vec<u8>, delta: Delta<'_>) {
        let choice = ChunkChoice { index: 0, delta, finish_reason: None };
        self.chunk(out, &[choice], self.include_usage.then_some(None));
    }

    fn chunk(
        &self,
        out: &mut Vec<u8>,
        choices: &[ChunkChoice<'_>],
        usage: Option<Option<super::chunk::CompletionUsage>>,
    ) {
        let Identity { id, created, model } = &self.identity;
        sse::data(out, &Chunk { id, object: "chat.completion.chunk", created: *created, model, choices, usage });
    }
}

impl Watch for Encoder {
    fn answered(&mut self, out: &mut Vec<u8>, ended: TurnEnded) {
        self.rest_of_answer(out, &ended);
        self.answered = Some(Box::new(ended));
    }

    fn news(&mut self, out: &mut Vec<u8>, news: &JobNews) {
        match news {
            JobNews::Progress { .. } => self.line.stand(out, &news.line()),
            JobNews::GoesOn { .. } => self.line.last_word(&news.line()),
            JobNews::Asks(question) => {
                self.block(out, &marks::job_asks(question));
                self.line.last_word(&news.line());
            }
            JobNews::Over(job) => {
                self.block(out, &marks::job_over(job));
                self.line.last_word(&news.line());
            }
        }
    }

    fn rest(&mut self, out: &mut Vec<u8>) {
        let ended = self.answered.take();
        self.finish(out, ended.as_deref(), None);
    }
}

impl OpenCall {
    fn frame(&self, kind: &'static str, status: &'static str) -> ItemFrame<'_> {
        let Self { id, name, arguments, place, .. } = self;
        ItemFrame { kind, output_index: *place, item: Item::FunctionCall { id, call_id: id, name, arguments, status } }
    }
}

#[cfg(test)]
#[path = "encoder_test.rs"]
mod tests;
