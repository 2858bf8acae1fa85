//! The line above an answer in Open WebUI, the newest of which is seen. Must not know what else a stream holds.

use super::chunk::{Shown, StatusFrame};
use crate::sse;

/// Longest line, in characters.
const LINE: usize = 200;

/// The line as it stands.
#[derive(Debug, Default)]
pub(super) struct StatusLine {
    /// What goes when something else is seen, if that is so.
    passing: Option<String>,
    /// What the last line says, if it is more than that all is done.
    last_word: Option<String>,
}

impl StatusLine {
    /// Shows what is true until something else is seen. It never shimmers: whoever presses Stop meanwhile closes the connection,
    /// and could not be told that nothing goes on any more.
    pub(super) fn show(&mut self, out: &mut Vec<u8>, text: &str) {
        let line = one_line(text);
        if !line.is_empty() {
            sse::data(out, &StatusFrame::new(&line, Shown::Still));
            self.passing = Some(line);
        }
    }

    /// Shows what is still true at the end, and then says more than that all is done.
    pub(super) fn stand(&mut self, out: &mut Vec<u8>, text: &str) {
        let line = one_line(text);
        sse::data(out, &StatusFrame::new(&line, Shown::Still));
        self.passing = None;
        self.last_word = Some(line);
    }

    /// Keeps for the end what is not shown before.
    pub(super) fn last_word(&mut self, text: &str) {
        self.last_word = Some(one_line(text));
    }

    /// Takes the line away that is not true any more, since something is seen that moves by itself.
    pub(super) fn pass(&mut self, out: &mut Vec<u8>) {
        if let Some(line) = self.passing.take() {
            sse::data(out, &StatusFrame::new(&line, Shown::Hidden));
        }
    }

    /// Shows the last line of a good end.
    pub(super) fn done(&self, out: &mut Vec<u8>) {
        sse::data(out, &StatusFrame::new(self.last_word.as_deref().unwrap_or("Done"), Shown::Still));
    }

    /// Shows the last line of a bad end.
    pub(super) fn failed(&self, out: &mut Vec<u8>) {
        sse::data(out, &StatusFrame::new("Stopped with an error", Shown::Still));
    }
}

/// Text cut to what one line can show.
pub(super) fn one_line(text: &str) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > LINE {
        line = line.chars().take(LINE - 1).collect();
        line.push('…');
    }
    line
}
