//! A long text on the screen: the log of a phase, its changes, what a gate printed.
//!
//! Must not know where it comes from.

use ratatui::text::Line;

use super::paint::{Paint, wrapped};
use crate::terminal::{Meaning, of_patch};

/// A text, and how far it was read.
pub(super) struct Pager {
    pub(super) title: String,
    text: Vec<String>,
    /// The first line that is shown, counted from the end: 0 stays at the end when more comes.
    from_end: usize,
    at_start: bool,
    is_patch: bool,
}

impl Pager {
    /// A text from its beginning.
    pub(super) fn new(title: String, text: Vec<String>) -> Self {
        Self { title, text, from_end: 0, at_start: true, is_patch: false }
    }

    /// A patch from its beginning.
    pub(super) fn patch(title: String, text: Vec<String>) -> Self {
        Self { is_patch: true, ..Self::new(title, text) }
    }

    /// A text that grows, from its end.
    pub(super) fn growing(title: String, text: Vec<String>) -> Self {
        Self { at_start: false, ..Self::new(title, text) }
    }

    pub(super) fn add(&mut self, lines: Vec<String>) {
        self.text.extend(lines);
    }

    /// Moves by so many lines; up are negative ones.
    pub(super) fn go(&mut self, lines: isize, room: usize) {
        let last = self.text.len().saturating_sub(room);
        if std::mem::take(&mut self.at_start) {
            self.from_end = last;
        }
        self.from_end = self.from_end.saturating_add_signed(lines.saturating_neg()).min(last);
    }

    /// Whether nobody has gone back from the end of a text that grows.
    pub(super) fn follows(&self) -> bool {
        !self.at_start && self.from_end == 0
    }

    pub(super) fn lines(&self, paint: Paint, width: usize, room: usize) -> Vec<Line<'static>> {
        let mut lines = vec![paint.line(Meaning::Strong, &self.title, width)];
        let room = room.saturating_sub(1);
        let last = self.text.len().saturating_sub(room);
        let from = if self.at_start { 0 } else { last.saturating_sub(self.from_end) };
        for line in self.text.iter().skip(from).take(room) {
            let meaning = of_patch(line).filter(|_| self.is_patch);
            let shown = wrapped(line, width);
            lines.extend(shown.iter().map(|line| paint.line_of(meaning, line, width)));
            lines.extend(shown.is_empty().then(Line::default));
        }
        // Long lines take more room than they are counted for: the end is what counts there.
        let most = room + 1;
        if !self.at_start && self.from_end == 0 && lines.len() > most {
            lines.drain(1..=lines.len() - most);
        }
        lines.truncate(most);
        lines
    }
}
