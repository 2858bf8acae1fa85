//! Finds where the links of a Markdown text lead, its definitions of references and its HTML included, while the text comes in pieces.
//! What may be code is left alone.
//!
//! Must not know what a link leads to. Only where a link leads waits for the rest of it.

use super::open_text::Open;

/// Most bytes of where a link leads, with its title.
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

/// How it is written where a link leads.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// In parentheses; so many are open within.
    Inline(usize),
    /// `[label]: target`, to the end of the line.
    Definition,
    /// An attribute in HTML, to this quote.
    Attribute(char),
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
    /// What says where a link leads, as far as it has come.
    held: Option<(String, Form)>,
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

    /// What still waits when the text is over.
    pub(super) fn rest(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match self.held.take() {
            Some((held, form @ Form::Definition)) => self.link(&held, form, &mut pieces),
            Some((held, Form::Inline(_) | Form::Attribute(_))) => self.plain.push_str(&held),
            None => {}
        }
        self.flush(&mut pieces);
        pieces
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
            Some((mut held, form)) => {
                held.push(letter);
                match (form, letter) {
                    (Form::Inline(0), ')') => self.link(&held, form, pieces),
                    (Form::Attribute(quote), _) if letter == quote => self.link(&held, form, pieces),
                    (Form::Definition, '\n') => {
                        self.link(&held, form, pieces);
                        self.end_line();
                    }
                    (_, '\n') => {
                        self.plain.push_str(&held);
                        self.end_line();
                    }
                    _ if held.len() > LONGEST => self.plain.push_str(&held),
                    (Form::Inline(depth), _) => {
                        let depth = depth + usize::from(letter == '(') - usize::from(letter == ')');
                        self.held = Some((held, Form::Inline(depth)));
                    }
                    (Form::Definition | Form::Attribute(_), _) => self.held = Some((held, form)),
                }
            }
        }
    }

    /// Where a link leads, up to what ends it: a parenthesis, a quote, or the line.
    fn link(&mut self, held: &str, form: Form, pieces: &mut Vec<Piece>) {
        let body = match form {
            Form::Inline(_) | Form::Attribute(_) => &held[..held.len() - 1],
            Form::Definition => held,
        };
        let inner = body.trim_start();
        let start = body.len() - inner.len();
        let (start, end) = match (inner.strip_prefix('<'), form) {
            (_, Form::Attribute(_)) => (start, Some(start + inner.trim_end().len())),
            (Some(target), _) => (start + 1, target.find('>').map(|at| start + 1 + at)),
            (None, _) => (start, Some(start + inner.find(char::is_whitespace).unwrap_or(inner.len()))),
        };
        let Some(end) = end.filter(|end| *end > start) else { return self.plain.push_str(held) };
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
            '(' if has_closed && !self.is_code_line() => self.held = Some((String::new(), Form::Inline(0))),
            ':' if has_closed && self.is_definition() && !self.is_code_line() => {
                self.held = Some((String::new(), Form::Definition));
            }
            '"' | '\'' if self.is_attribute() && !self.is_code_line() => {
                self.held = Some((String::new(), Form::Attribute(letter)));
            }
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

    /// Whether the line so far is the label of a reference, and no footnote.
    fn is_definition(&self) -> bool {
        let label = self.line.trim_start_matches([' ', '>']).strip_prefix('[').and_then(|rest| rest.strip_suffix("]:"));
        label.is_some_and(|label| !label.is_empty() && !label.starts_with('^') && !label.contains(['[', ']']))
    }

    /// Whether the quote at the end of the line begins the value of a link's or an image's attribute.
    fn is_attribute(&self) -> bool {
        let Some((_, tag)) = self.line.rsplit_once('<').filter(|(_, tag)| !tag.contains('>')) else { return false };
        let tag = tag.to_ascii_lowercase();
        let (name, rest) = tag.split_once(char::is_whitespace).unwrap_or_default();
        let attribute = rest.get(..rest.len().saturating_sub(1)).and_then(|rest| rest.trim_end().strip_suffix('='));
        let attribute = attribute.and_then(|rest| rest.split_whitespace().next_back());
        matches!((name, attribute), ("a", Some("href")) | ("img", Some("src")))
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
