//! The status line above an answer in Open WebUI, which shows the newest one. Must not know what else a stream holds.

use helix_engine::consultant::phrases;
use serde_json::{Value, json};

use super::error::ApiError;
use crate::sse;

/// Longest line, in characters.
const LINE: usize = 200;

/// The line's state.
#[derive(Debug, Default)]
pub(super) struct StatusLine {
    /// The line that is hidden when something else is shown.
    transient: Option<String>,
    /// The text of the last line, if it has one of its own.
    last: Option<String>,
}

impl StatusLine {
    /// Shows a line that is true until something else is shown. No line ever shimmers: Stop closes the connection, and a
    /// shimmering line would shimmer forever.
    pub(super) fn set_transient(&mut self, out: &mut Vec<u8>, line: String) {
        show(out, &line);
        self.transient = Some(line);
    }

    /// Shows a line that is still true at the end, and is the last line then.
    pub(super) fn set_sticky(&mut self, out: &mut Vec<u8>, text: &str) {
        self.set_last(text);
        self.transient = None;
        show(out, self.last.as_deref().unwrap_or_default());
    }

    /// Sets the last line, to be shown at the end.
    pub(super) fn set_last(&mut self, text: &str) {
        self.last = Some(one_line(text));
    }

    /// Hides a transient line.
    pub(super) fn clear(&mut self, out: &mut Vec<u8>) {
        if let Some(line) = self.transient.take() {
            send(out, json!({ "description": line, "done": true, "hidden": true }));
        }
    }

    /// Shows the last line.
    pub(super) fn end(&self, out: &mut Vec<u8>, error: Option<&ApiError>) {
        let last = match error {
            None => self.last.as_deref().unwrap_or(phrases::DONE),
            Some(error) if error.is_shutdown() => phrases::RESTARTS,
            Some(_) => phrases::STOPPED,
        };
        show(out, last);
    }
}

fn show(out: &mut Vec<u8>, line: &str) {
    send(out, json!({ "description": line, "done": true }));
}

/// Sends an event of Open WebUI. There is one kind only: others run code or change the page.
fn send(out: &mut Vec<u8>, line: Value) {
    sse::data(out, &json!({ "event": { "type": "status", "data": line } }));
}

/// Text clipped to one line.
pub(super) fn one_line(text: &str) -> String {
    helix_core::text::one_line(text, LINE)
}
