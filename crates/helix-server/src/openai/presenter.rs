//! What a client sees of a turn, in either form: text, thinking, tool calls, status lines, and the jobs after an answer.
//!
//! Must not know any wire format, clock, socket or engine. A stream always ends in order: all calls closed, then the end.

use helix_core::ids::{SessionId, TurnId};
use helix_core::usage::Usage;
use helix_engine::consultant::{TurnEnded, TurnEvent, phrases};
use helix_engine::sessions::{JobNews, PhaseNews};
use helix_language::{Language, say};
use jiff::Timestamp;
use serde_json::Value;

use super::error::ApiError;
use super::link_scan::{LinkScan, harmless, plain};
use super::open_text::OpenText;
use super::request::Form;
use super::status_line::{StatusLine, one_line, show, show_call, show_checklist};
use super::tool_name::{CallState, CallWords};
use crate::job_links::JobLinks;
use crate::profile::Profile;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerOptions {
    pub(crate) id: String,
    /// The model's name as the client gave it.
    pub(crate) model: String,
    /// When the answer began.
    pub(crate) created: Timestamp,
    /// What the client can show.
    pub(crate) profile: Profile,
    /// Whether the stream ends with the usage.
    pub(crate) include_usage: bool,
    /// The response that this one follows (responses form).
    pub(crate) previous: Option<String>,
    /// What Helix itself says is in this language.
    pub(crate) language: Language,
}

/// A finished answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WholeAnswer {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) usage: Usage,
    /// Where Helix keeps it; `None` for a background task.
    pub(crate) turn: Option<(SessionId, TurnId)>,
}

/// The encoder of one of OpenAI's forms, for the parts of an answer.
pub(crate) trait Wire: Send + Sized + 'static {
    const FORM: Form;
    /// How the ids of its answers begin.
    const ID: &'static str;

    /// An answer without any part.
    fn new(options: AnswerOptions) -> Self;
    /// Appends what is sent at once.
    fn begin(&mut self, out: &mut Vec<u8>);
    /// Appends a piece of the answer's text.
    fn text(&mut self, out: &mut Vec<u8>, text: &str);
    /// Whether text was the last part, so that more text joins it.
    fn is_in_text(&self) -> bool;
    /// Appends a piece of thinking.
    fn thinking(&mut self, out: &mut Vec<u8>, text: &str);
    /// Whether tool calls are parts of the answer; else they are shown as status.
    fn has_calls(&self) -> bool;
    /// Appends the start of a tool call, by its name and what people see, and returns its handle.
    fn start_call(&mut self, out: &mut Vec<u8>, name: &str, shown: &str, arguments: &Value) -> usize;
    /// Appends the end of a tool call; `shown` is what people see of it now.
    fn end_call(&mut self, out: &mut Vec<u8>, call: usize, shown: &str, output: &str, failed: bool);
    /// Appends a call of one of the client's own tools, which is all of the answer.
    fn call_of_client(&mut self, out: &mut Vec<u8>, name: &str, arguments: &str);
    /// Appends the end of the answer.
    fn end(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>);
    /// The answer in one piece, after its end.
    fn whole(self, answer: WholeAnswer) -> Value;
}

/// Turns events into parts of an answer.
#[derive(Debug)]
pub(crate) struct Presenter<W> {
    wire: W,
    profile: Profile,
    language: Language,
    created: Timestamp,
    line: StatusLine,
    calls: Vec<OpenCall>,
    /// Tool calls so far.
    tools: usize,
    /// Whether a block of Helix's own was the last text.
    is_block: bool,
    /// All text so far, behind that on which it goes on.
    text: OpenText,
    /// Bytes of the text on which it goes on, which the client shows already.
    shown: usize,
    is_over: bool,
    /// Whether the last piece of thinking ended within a line.
    is_in_thought: bool,
    /// Whether the client shows a list of phases.
    has_checklist: bool,
    /// The turn's usage, while its jobs are shown.
    usage: Option<Usage>,
}

/// A tool call without a result.
#[derive(Debug)]
struct OpenCall {
    /// The agent's id; never sent.
    agent_id: String,
    words: CallWords,
    /// The wire's handle, or the number in the answer; `None` where calls are shown as status.
    handle: Option<usize>,
}

impl<W: Wire> Presenter<W> {
    /// An answer without any part.
    pub(crate) fn new(options: AnswerOptions) -> Self {
        Self {
            profile: options.profile,
            language: options.language,
            created: options.created,
            line: StatusLine::new(options.language),
            wire: W::new(options),
            calls: Vec::new(),
            tools: 0,
            is_block: false,
            text: OpenText::default(),
            shown: 0,
            is_over: false,
            is_in_thought: false,
            has_checklist: false,
            usage: None,
        }
    }

    /// The whole answer to a background task.
    /// With a tool, it is a call of this one by the client: `answer` has its arguments.
    pub(crate) fn task(options: AnswerOptions, answer: &str, tool: Option<&str>) -> (Vec<u8>, Value) {
        let (mut presenter, mut out) = (Self::new(AnswerOptions { profile: Profile::Plain, ..options }), Vec::new());
        presenter.begin(&mut out);
        let text = match tool {
            None => {
                presenter.text(&mut out, answer);
                answer.to_owned()
            }
            Some(tool) => {
                presenter.wire.call_of_client(&mut out, tool, answer);
                String::new()
            }
        };
        presenter.close(&mut out, None, None);
        (out, presenter.into_whole(WholeAnswer { text, ..WholeAnswer::default() }))
    }

    /// Whether the client shows status lines, and so the jobs after an answer.
    pub(crate) fn shows_status(&self) -> bool {
        self.profile.is_open_webui()
    }

    /// The answer goes on from this text, which the client shows already.
    pub(crate) fn goes_on_from(&mut self, shown: &str) {
        self.text.push(shown);
        self.shown = shown.len();
    }

    /// All text of the answer so far.
    pub(crate) fn text_so_far(&self) -> &str {
        &self.text.as_str()[self.shown..]
    }

    /// The language of what Helix itself says.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// Whether the answer has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The answer in one piece, after its end.
    pub(crate) fn into_whole(self, answer: WholeAnswer) -> Value {
        self.wire.whole(answer)
    }

    /// Appends what is sent at once, so that the client knows that the server is there.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) {
        self.wire.begin(out);
    }

    /// Appends what an event shows; nothing after the end.
    pub(crate) fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent) {
        if self.is_over() {
            return;
        }
        match event {
            // Until something is shown, the client itself shows that it waits.
            TurnEvent::Began { .. } => self.line.clear(out),
            TurnEvent::Status { text } => self.status(out, &text),
            TurnEvent::JobNews { text, note, .. } if self.shows_status() => {
                // A list that Stop left behind is out of date.
                self.checklist(out, &[]);
                self.line.stand(out, &text);
                note.into_iter().for_each(|note| self.block(out, &note));
            }
            TurnEvent::JobNews { text, .. } => self.status(out, &text),
            TurnEvent::Thinking { text } => self.thinking(out, &text),
            TurnEvent::Text { text } => self.text(out, &text),
            TurnEvent::TakenBack { reason, .. } => self.block(out, &phrases::said_anew(self.language, reason)),
            TurnEvent::Note { text } => self.block(out, &text),
            TurnEvent::ToolStarted { id, name, input } => self.tool_started(out, id, name, &input),
            TurnEvent::ToolFinished { id, output, failed } => self.tool_finished(out, &id, &output, failed),
            TurnEvent::Ended(ended) => {
                self.close_answer(out, &ended);
                if let Some(view) = &ended.error {
                    self.failure(out, &view.message, view.hint.as_deref());
                }
                let error = ApiError::of_turn(&ended, self.created);
                self.close(out, Some(ended.usage), error.as_ref());
            }
        }
    }

    /// Ends the stream where nothing more comes: in order behind an answer, whose jobs go on elsewhere; else with this error.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>, error: &ApiError) {
        if self.is_over() {
            return;
        }
        let error = Some(error).filter(|_| self.usage.is_none());
        if let Some(error) = error {
            self.failure(out, &error.envelope.error.message, None);
        }
        self.close(out, self.usage, error);
    }

    /// Ends the answer; job news may follow, then [`Presenter::end`].
    pub(crate) fn on_answer(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        self.close_answer(out, ended);
        self.usage = Some(ended.usage);
    }

    /// Appends news of a job; `links` opens what its note leads to.
    pub(crate) fn on_news(&mut self, out: &mut Vec<u8>, news: &JobNews, links: &JobLinks) {
        match news {
            JobNews::Progress { phases, .. } => {
                self.checklist(out, phases);
                self.line.stand(out, &news.line(self.language));
            }
            JobNews::GoesOn { jobs, .. } => {
                jobs.iter().for_each(|job| self.block(out, &harmless(&phrases::job_goes_on(self.language, job))));
            }
            JobNews::Asks(question) => self.block(out, &harmless(&phrases::job_asks(self.language, question))),
            JobNews::Over(job) => {
                self.block(out, &links.open(&job.id, harmless(&phrases::job_over(self.language, job))));
            }
        }
        self.line.set_last(&news.line(self.language));
    }

    /// Shows how the phases of jobs stand above the composer, where the client can; no phases take the list away.
    fn checklist(&mut self, out: &mut Vec<u8>, phases: &[PhaseNews]) {
        if self.profile == Profile::OpenWebUi && W::FORM == Form::Chat {
            self.has_checklist = !phases.is_empty();
            show_checklist(out, phases);
        }
    }

    fn close(&mut self, out: &mut Vec<u8>, usage: Option<Usage>, error: Option<&ApiError>) {
        self.is_over = true;
        if self.has_checklist {
            self.checklist(out, &[]);
        }
        if self.shows_status() {
            self.line.end(out, error);
        }
        // Where the block in the text shows the error, the client would show it twice more.
        self.wire.end(out, usage, error.filter(|_| !self.shows_status()));
    }

    fn close_answer(&mut self, out: &mut Vec<u8>, ended: &TurnEnded) {
        self.close_calls(out);
        let cost = ended.usage.cost_usd;
        self.line.set_last(&phrases::answered(self.language, ended.is_in_order, self.tools, ended.took, cost));
    }

    /// Shows a failure in the text. A terminal says it as it does all errors.
    fn failure(&mut self, out: &mut Vec<u8>, message: &str, hint: Option<&str>) {
        self.close_calls(out);
        if !self.profile.is_own() {
            self.block(out, &harmless(&phrases::caution(message, hint)));
        }
    }

    /// A block of Helix's own, below the text so far. Within code or a folded part nobody would see it: what is open is closed.
    fn block(&mut self, out: &mut Vec<u8>, block: &str) {
        let above = match self.text.as_str() {
            "" => String::new(),
            _ if self.joins() => self.text.closing() + "\n\n",
            // Nothing is open in an item of its own. Libraries join the texts of all items.
            _ => "\n\n".to_owned(),
        };
        self.write(out, &format!("{above}{block}"));
        self.is_block = true;
    }

    /// A line that is true until something else is shown.
    fn status(&mut self, out: &mut Vec<u8>, text: &str) {
        let line = one_line(text);
        match self.profile {
            _ if line.is_empty() => {}
            Profile::OpenWebUi | Profile::OpenWebUiBasic => self.line.set_transient(out, line),
            Profile::Terminal | Profile::Editor => show(out, &line),
            Profile::Plain => {
                let above = if self.is_in_thought { "\n" } else { "" };
                self.thinking(out, &format!("{above}{}\n", plain(LinkScan::without_code().whole(&line))));
            }
        }
    }

    fn thinking(&mut self, out: &mut Vec<u8>, text: &str) {
        if !text.is_empty() {
            self.line.clear(out);
            self.is_in_thought = !text.ends_with('\n');
            self.wire.thinking(out, text);
        }
    }

    fn text(&mut self, out: &mut Vec<u8>, text: &str) {
        if !text.is_empty() {
            if std::mem::take(&mut self.is_block) {
                // A blank line ends a block.
                self.write(out, "\n");
            }
            self.write(out, text);
        }
    }

    /// Whether more text joins the last.
    fn joins(&self) -> bool {
        self.wire.is_in_text() || self.text_so_far().is_empty()
    }

    fn write(&mut self, out: &mut Vec<u8>, text: &str) {
        self.line.clear(out);
        if !self.joins() {
            self.text.begin_item();
        }
        self.text.push(text);
        self.wire.text(out, text);
    }

    fn tool_started(&mut self, out: &mut Vec<u8>, agent_id: String, name: String, input: &Value) {
        if self.calls.iter().any(|call| call.agent_id == agent_id) {
            return;
        }
        let words = CallWords::new(&name, input);
        let handle = if self.wire.has_calls() {
            self.line.clear(out);
            Some(self.wire.start_call(out, &name, &words.begun(self.language), input))
        } else if self.profile == Profile::Editor {
            show_call(out, &words.frame(self.tools, CallState::Begun, words.begun(self.language)));
            Some(self.tools)
        } else {
            let edited = words.edited().filter(|_| self.profile == Profile::Terminal);
            self.status(out, &edited.unwrap_or_else(|| format!("→ {}", words.begun(self.language))));
            None
        };
        self.tools += 1;
        self.calls.push(OpenCall { agent_id, words, handle });
    }

    fn tool_finished(&mut self, out: &mut Vec<u8>, agent_id: &str, output: &str, failed: bool) {
        let Some(at) = self.calls.iter().position(|call| call.agent_id == agent_id) else {
            // There is no call to show the result with; the run's record has it.
            tracing::debug!(agent_id, "a tool returned without a call");
            return;
        };
        let call = self.calls.remove(at);
        let shown = call.words.ended(self.language, output, failed);
        match call.handle {
            Some(number) if self.profile == Profile::Editor && !self.wire.has_calls() => {
                let state = if failed { CallState::Failed } else { CallState::Done };
                show_call(out, &call.words.frame(number, state, shown));
            }
            Some(handle) => self.wire.end_call(out, handle, &shown, output, failed),
            // A terminal keeps the line that said that it began.
            None if self.profile == Profile::Terminal && !failed => {}
            None => self.status(out, &format!("{} {shown}", if failed { '✗' } else { '✓' })),
        }
    }

    /// Closes calls without a result: Open WebUI would run those itself.
    fn close_calls(&mut self, out: &mut Vec<u8>) {
        while let Some(call) = self.calls.first() {
            let agent_id = call.agent_id.clone();
            self.tool_finished(out, &agent_id, &say!(self.language, "chat-call-cut-off"), true);
        }
    }
}

#[cfg(test)]
#[path = "presenter_test.rs"]
mod tests;
