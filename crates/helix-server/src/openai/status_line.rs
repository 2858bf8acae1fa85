//! The status line above an answer in Open WebUI, which shows the newest one, and the list of phases above its composer. Must not know what else a stream holds.

use helix_engine::sessions::PhaseNews;
use helix_job::PhaseStatus;
use helix_language::{Language, say};
use serde_json::{Value, json};

use super::error::ApiError;
use super::tool_name::{CALL_EVENT, CallFrame};
use crate::sse;

/// Longest line, in characters.
const LINE: usize = 200;

#[derive(Debug, Default)]
pub(super) struct StatusLine {
    /// Whether the line that is shown is true only until something else is.
    is_transient: bool,
    /// The text of the last line, if it has one of its own.
    last: Option<String>,
    language: Language,
}

impl StatusLine {
    /// A line without any text.
    pub(super) fn new(language: Language) -> Self {
        Self { language, ..Self::default() }
    }

    /// Shows a line that is true until something else is shown. No line ever shimmers: Stop closes the connection, and a
    /// shimmering line would shimmer forever.
    pub(super) fn set_transient(&mut self, out: &mut Vec<u8>, line: String) {
        show(out, &line);
        self.is_transient = true;
    }

    /// Shows a line that stays true whatever else is shown.
    pub(super) fn stand(&mut self, out: &mut Vec<u8>, text: &str) {
        self.is_transient = false;
        show(out, &one_line(text));
    }

    /// Sets the last line, to be shown at the end.
    pub(super) fn set_last(&mut self, text: &str) {
        self.last = Some(one_line(text));
    }

    /// Replaces a transient line. A hidden one would stand as an empty bullet in the list of all lines.
    pub(super) fn clear(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_transient) {
            show(out, &say!(self.language, "chat-answering"));
        }
    }

    /// Shows the last line.
    pub(super) fn end(&self, out: &mut Vec<u8>, error: Option<&ApiError>) {
        let last = match error {
            None => self.last.clone(),
            Some(error) if error.is_shutdown() => Some(say!(self.language, "chat-restarts")),
            Some(_) => Some(say!(self.language, "chat-stopped")),
        };
        last.iter().for_each(|line| show(out, line));
    }
}

/// Shows how phases stand above the composer, until there are none. Open WebUI shows their text as text.
pub(super) fn show_checklist(out: &mut Vec<u8>, phases: &[PhaseNews]) {
    let task = |(number, phase): (usize, &PhaseNews)| {
        let status = match phase.status {
            PhaseStatus::Pending => "pending",
            PhaseStatus::Running | PhaseStatus::Waiting => "in_progress",
            PhaseStatus::Passed => "completed",
            PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled => "cancelled",
        };
        json!({ "id": number.to_string(), "content": one_line(&phase.text), "status": status })
    };
    let tasks: Vec<Value> = phases.iter().enumerate().map(task).collect();
    sse::data(out, &json!({ "event": { "type": "chat:message:tasks", "data": { "tasks": tasks } } }));
}

/// Sends an event of Open WebUI. This kind and the checklist are all: others run code or change the page.
pub(super) fn show(out: &mut Vec<u8>, line: &str) {
    sse::data(out, &json!({ "event": status_event(line) }));
}

/// Tells an editor of a tool call.
pub(super) fn show_call(out: &mut Vec<u8>, call: &CallFrame) {
    sse::data(out, &json!({ "event": { "type": CALL_EVENT, "data": call } }));
}

pub(super) fn status_event(line: &str) -> Value {
    json!({ "type": "status", "data": { "description": line, "done": true } })
}

/// Text clipped to one line.
pub(super) fn one_line(text: &str) -> String {
    helix_core::text::one_line(text, LINE)
}
