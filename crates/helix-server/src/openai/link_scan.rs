//! Finds where the links of a Markdown text lead, while the text comes in pieces. What may be code is left alone.
//!
//! Must not know what a link leads to. Only what stands between a link's parentheses waits for the rest of it.

use super::open_text::Open;

/// Most bytes between a link's parentheses.
const LONGEST: usize = 1_000;
/// As much of a line as is looked at to tell fences and indented code, in bytes.
const LINE: usize = 1_000;

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// Where a link leads, as it is written.
    Target(String),
}

/// Text that is read letter by letter.
#[derive(Debug, Default)]
pub(super) struct LinkScan {
    open: Open,
    /// The line so far.
    line: String,
    /// Whether the line goes on with a paragraph: else indentation makes it code.
    in_paragraph: bool,
    /// Marks that the open code span began with; none that are open: 0.
    code: usize,
    /// Marks of code that stand here in a row.
    marks: usize,
    is_escaped: bool,
    /// Brackets that are open, and whether one of them was just closed.
    brackets: usize,
    has_closed: bool,
    /// What follows a link's opening parenthesis, and the parentheses that are open within.
    held: Option<(String, usize)>,
    /// Text that needs to wait no longer.
    plain: String,
}

impl LinkScan {
    /// Takes a piece of the text; what it decides.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        text.chars().for_each(|letter| self.read(letter, &mut pieces));
        self.flush(&mut pieces);
        pieces
    }

    /// What still waits: no link.
    pub(super) fn rest(&mut self) -> Option<String> {
        self.held.take().map(|(held, _)| held)
    }

    fn flush(&mut self, pieces: &mut Vec<Piece>) {
        if !self.plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut self.plain)));
        }
    }

    fn read(&mut self, letter: char, pieces: &mut Vec<Piece>) {
        if self.line.len() < LINE && letter != '\n' {
            self.line.push(letter);
        }
        match self.held.take() {
            None => {
                self.plain.push(letter);
                self.read_plain(letter);
            }
            Some((mut held, depth)) => {
                held.push(letter);
                match letter {
                    ')' if depth == 0 => self.link(&held, pieces),
                    '\n' => {
                        self.plain.push_str(&held);
                        self.end_line();
                    }
                    _ if held.len() > LONGEST => self.plain.push_str(&held),
                    _ => self.held = Some((held, depth + usize::from(letter == '(') - usize::from(letter == ')'))),
                }
            }
        }
    }

    /// A link whose parentheses are closed.
    fn link(&mut self, held: &str, pieces: &mut Vec<Piece>) {
        let inner = held.trim_start();
        let start = held.len() - inner.len();
        let (start, end) = match inner.strip_prefix('<') {
            Some(target) => (start + 1, target.find('>').map(|at| start + 1 + at)),
            None => {
                (start, Some(start + inner[..inner.len() - 1].find(char::is_whitespace).unwrap_or(inner.len() - 1)))
            }
        };
        let Some(end) = end else { return self.plain.push_str(held) };
        self.plain.push_str(&held[..start]);
        self.flush(pieces);
        pieces.push(Piece::Target(held[start..end].to_owned()));
        self.plain.push_str(&held[end..]);
    }

    fn read_plain(&mut self, letter: char) {
        if letter == '\n' {
            return self.end_line();
        }
        if letter == '`' && (self.code > 0 || !self.is_escaped) {
            self.marks += 1;
            (self.is_escaped, self.has_closed) = (false, false);
            return;
        }
        self.end_marks();
        let (is_escaped, has_closed) = (std::mem::take(&mut self.is_escaped), std::mem::take(&mut self.has_closed));
        if self.code > 0 || is_escaped {
            return;
        }
        match letter {
            '\\' => self.is_escaped = true,
            '[' => self.brackets += 1,
            ']' if self.brackets > 0 => {
                self.brackets -= 1;
                self.has_closed = true;
            }
            '(' if has_closed && !self.is_code_line() => self.held = Some((String::new(), 0)),
            _ => {}
        }
    }

    /// Marks of code in a row begin a span, or end the one that as many began.
    fn end_marks(&mut self) {
        let marks = std::mem::take(&mut self.marks);
        if self.code == 0 {
            self.code = marks;
        } else if self.code == marks {
            self.code = 0;
        }
    }

    fn end_line(&mut self) {
        self.end_marks();
        let was_code = self.open.is_code();
        self.in_paragraph = !self.line.trim().is_empty() && !self.is_indented();
        self.open.line(&self.line);
        if was_code || self.open.is_code() || !self.in_paragraph {
            // A span of code ends with its paragraph.
            (self.code, self.brackets) = (0, 0);
        }
        self.line.clear();
        (self.is_escaped, self.has_closed) = (false, false);
    }

    fn is_code_line(&self) -> bool {
        self.open.is_code() || self.is_indented() || self.line.trim_start_matches([' ', '>']).starts_with("~~~")
    }

    fn is_indented(&self) -> bool {
        let inner = self.line.trim_start_matches([' ', '\t']);
        let is_deep = self.line.len() - inner.len() >= 4 || self.line.starts_with('\t');
        is_deep
            && !self.in_paragraph
            && !inner.starts_with(['-', '*', '+'])
            && !inner.starts_with(|one: char| one.is_ascii_digit())
    }
}

#[cfg(test)]
#[path = "link_scan_test.rs"]
mod tests;
