//! The text of an answer, and what is open at its end: a code fence, a formula. Must not know who wrote it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::blocks::{Blocks, Kind, LINE};

/// Text that grows.
#[derive(Debug, Default)]
pub(super) struct OpenText {
    text: String,
    /// Where the first line begins that is not read yet.
    read: usize,
    open: Open,
}

/// What is open after some lines.
#[derive(Debug, Clone, Default)]
struct Open {
    blocks: Blocks,
    formula: bool,
}

impl OpenText {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Appends text, and reads the lines that it ends.
    pub(super) fn push(&mut self, text: &str) {
        let end = text.rfind('\n').map(|at| self.text.len() + at + 1);
        self.text.push_str(text);
        let Some(end) = end else { return };
        self.text[self.read..end].lines().for_each(|line| self.open.line(line));
        self.read = end;
    }

    /// Begins an item of its own, in which nothing is open.
    pub(super) fn begin_item(&mut self) {
        (self.read, self.open) = (self.text.len(), Open::default());
    }

    /// What closes all that is open, on lines of its own; empty where nothing is.
    pub(super) fn closing(&self) -> String {
        let mut open = self.open.clone();
        open.line(&self.text[self.read..]);
        let formula = open.formula.then(|| "$$".to_owned());
        open.blocks.closing().into_iter().chain(formula).map(|mark| format!("\n{mark}")).collect()
    }
}

impl Open {
    /// Takes a line.
    fn line(&mut self, line: &str) {
        let is_code = self.blocks.begins(line, true) == Kind::Code;
        self.blocks.end(&line[..line.floor_char_boundary(LINE)]);
        // Formulas in the middle of a line end on it.
        self.formula ^= !is_code && without_code(line).matches("$$").count() % 2 == 1;
    }
}

/// A line without its code spans, in which nothing is a mark. What is not closed on the line is none.
fn without_code(line: &str) -> Cow<'_, str> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match marks.last_mut().filter(|(start, length)| start + *length == at) {
            Some((_, length)) => *length += 1,
            None => marks.push((at, 1)),
        }
    }
    let last: HashMap<usize, usize> = marks.iter().enumerate().map(|(index, (_, length))| (*length, index)).collect();
    let (mut plain, mut from, mut index) = (String::new(), 0, 0);
    while let Some((start, length)) = marks.get(index).copied() {
        index += 1;
        if last.get(&length).is_some_and(|last| *last >= index) {
            while marks[index].1 != length {
                index += 1;
            }
            plain.push_str(&line[from..start]);
            from = marks[index].0 + length;
            index += 1;
        }
    }
    if from == 0 { Cow::Borrowed(line) } else { Cow::Owned(plain + &line[from..]) }
}

#[cfg(test)]
#[path = "open_text_test.rs"]
mod tests;
