//! Makes an agent's Markdown harmless while it comes in pieces, and finds where its links lead. Outside of code, HTML, pictures and addresses that act in a client become
//! words: a word joiner, which nobody sees, parts the marks that make them. Code is left alone.
//!
//! Must not know what a link leads to. What decides waits for its end, on its line at the latest.

use std::borrow::Cow;

use super::blocks::{Blocks, Kind, LINE, is_blank};
use super::link_forms::{ADDRESSES, Form, LONGEST, acts, closing, is_harmless, target};

/// Parts marks that would act. Those of the agent are doubled outside of code, so that [`restored`] knows which are its own.
pub(super) const BREAK: char = '\u{2060}';
/// Longest word that is looked at, in bytes.
const WORD: usize = 300;
/// What may begin something, or decides what does.
const SPECIAL: [char; 14] = ['\n', '\r', '\\', '`', '<', '!', '[', ']', '~', '$', '*', '_', BREAK, '◁'];
/// Line breaks in tables, where Markdown has none; the only tags that stay.
const LINE_BREAKS: [&str; 3] = ["<br>", "<br/>", "<br />"];

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Target(Target),
    /// What may be a picture, if it leads to a file of the session: its text in brackets, and where it leads.
    Picture(String, Target),
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// What stands between the closed bracket and it.
    before: String,
    pub(super) written: String,
}

impl Target {
    /// That of a link that leads to this address.
    pub(super) fn resolved(&self, address: &str) -> String {
        format!("{}{address}", self.before)
    }

    /// That of a link that leads to no file: it stays one if it is a page or within this one, and is words otherwise.
    pub(super) fn unresolved(&self) -> String {
        let Self { before, written } = self;
        let is_page = ADDRESSES.iter().any(|address| written.starts_with(address));
        match before.ends_with('<') {
            _ if is_page => format!("{before}{written}"),
            // Where no link begins before it, it may be a tag.
            true => format!("{BREAK}{before}{BREAK}{written}"),
            false if written.starts_with('#') => format!("{before}{written}"),
            false => format!("{BREAK}{before}{written}"),
        }
    }
}

/// Text that is read piece by piece.
#[derive(Debug, Default)]
pub(super) struct LinkScan {
    blocks: Blocks,
    /// What is not decided yet.
    buffer: String,
    /// What the line is; `None` where it is not known yet.
    kind: Option<Kind>,
    /// The line so far.
    line: String,
    /// The word so far.
    word: String,
    paragraph: Paragraph,
    /// Whether the line before, or this one, is code.
    has_code: bool,
    /// What ends where a link leads that follows, and whether it may be one; `None` where none begins.
    leads: Option<(char, bool)>,
    /// Text that needs to wait no longer.
    plain: String,
}

/// What has been seen since the last blank line.
#[derive(Debug, Default)]
struct Paragraph {
    /// Whether renderers may disagree on its code: nothing more of it counts as such.
    is_odd: bool,
    /// Marks outside of code that may end within it.
    marks: String,
    /// Brackets that are open.
    brackets: usize,
    is_table: bool,
    /// Whether the line, or the one before, has a bar in code: below it no table may begin, whose cells end there.
    bar: bool,
    bar_above: bool,
}

impl LinkScan {
    /// A text of which nothing counts as code, since other text comes in between.
    pub(super) fn without_code() -> Self {
        let mut scan = Self::default();
        scan.blocks.lose();
        scan
    }

    /// A text that goes on below what only Helix has written.
    pub(super) fn anew(&self) -> Self {
        if self.blocks.is_lost() { Self::without_code() } else { Self::default() }
    }

    /// Takes a piece of the text; what it decides.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        self.buffer.push_str(text);
        self.read(false)
    }

    /// What still waits when the text is over.
    pub(super) fn rest(&mut self) -> Vec<Piece> {
        self.read(true)
    }

    /// Reads a text that is shown already, and on which the next goes on: what is open at its end is parted from that.
    pub(super) fn goes_on_from(&mut self, shown: &str) {
        self.push(shown);
        let is_open = !self.buffer.is_empty();
        self.rest();
        self.plain.extend(is_open.then_some(BREAK));
    }

    pub(super) fn whole(mut self, text: &str) -> Vec<Piece> {
        let mut pieces = self.push(text);
        pieces.extend(self.rest());
        pieces
    }

    fn read(&mut self, is_end: bool) -> Vec<Piece> {
        let (buffer, mut at, mut pieces) = (std::mem::take(&mut self.buffer), 0, Vec::new());
        while at < buffer.len() {
            let rest = &buffer[at..];
            let taken = match self.kind {
                None => self.begin_line(rest, is_end),
                Some(_) if rest.starts_with(['\n', '\r']) => self.end_line(rest, is_end),
                Some(Kind::Code) => self.code(rest, is_end),
                Some(_) => self.words(rest, is_end, &mut pieces),
            };
            match taken {
                Some(taken) => at += taken,
                None => break,
            }
        }
        self.buffer = buffer[at..].to_owned();
        self.flush(&mut pieces);
        pieces
    }

    fn flush(&mut self, pieces: &mut Vec<Piece>) {
        if !self.plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut self.plain)));
        }
    }

    /// Text as it is; its length.
    fn say(&mut self, text: &str) -> Option<usize> {
        self.plain.push_str(text);
        self.note(text);
        Some(text.len())
    }

    /// A mark, so that it makes nothing of what follows; its length.
    fn part(&mut self, mark: &str) -> Option<usize> {
        let length = self.say(mark);
        self.plain.push(BREAK);
        length
    }

    fn note(&mut self, text: &str) {
        let room = LINE.saturating_sub(self.line.len());
        self.line.push_str(&text[..text.floor_char_boundary(room)]);
        let word = text.rfind([' ', '\t']).map_or(text, |at| {
            self.word.clear();
            &text[at + 1..]
        });
        let room = (WORD + 4).saturating_sub(self.word.len());
        self.word.push_str(&word[..word.floor_char_boundary(room)]);
    }

    fn mark(&mut self, mark: char) {
        if !self.paragraph.marks.contains(mark) {
            self.paragraph.marks.push(mark);
        }
    }

    fn begin_line(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let near = &rest[..rest.floor_char_boundary(LINE)];
        let end = near.find(['\n', '\r']);
        let is_whole = end.is_some() || is_end && near.len() == rest.len();
        let (line, is_long) = (&near[..end.unwrap_or(near.len())], end.is_none() && near.len() < rest.len());
        let kind = match self.blocks.begins(line, is_whole) {
            Kind::Undecided if is_long => Kind::Lost,
            Kind::Undecided => return None,
            kind => kind,
        };
        if kind != Kind::Code && self.paragraph.bar_above && line.chars().all(is_of_row) {
            match is_whole {
                false if !is_long => return None,
                _ if line.contains('-') => self.plain.push(BREAK),
                _ => {}
            }
        }
        if kind == Kind::Lost {
            if std::mem::take(&mut self.has_code) {
                // Nothing becomes of the code above either.
                self.plain.push(BREAK);
            }
            self.blocks.lose();
        }
        self.has_code = kind == Kind::Code;
        self.kind = Some(kind);
        Some(0)
    }

    fn end_line(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let length = match rest.as_bytes() {
            [b'\r'] if !is_end => return None,
            [b'\r', b'\n', ..] => 2,
            _ => 1,
        };
        self.plain.push_str(&rest[..length]);
        self.blocks.end(&self.line);
        if is_blank(&self.line) || self.kind == Some(Kind::Code) {
            self.paragraph = Paragraph::default();
        }
        self.paragraph.is_table |= self.line.contains('-') && self.line.chars().all(|one| is_of_row(one) || one == '>');
        self.paragraph.bar_above = std::mem::take(&mut self.paragraph.bar);
        self.kind = None;
        self.line.clear();
        self.word.clear();
        Some(length)
    }

    fn code(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let end = rest.find(['\n', '\r', '<', '◁']).unwrap_or(rest.len());
        if end > 0 {
            return self.say(&rest[..end]);
        }
        let mark = &rest[..rest.chars().next().map_or(0, char::len_utf8)];
        match acts(rest, is_end)? {
            true => self.part(mark),
            false => self.say(mark),
        }
    }

    fn words(&mut self, rest: &str, is_end: bool, pieces: &mut Vec<Piece>) -> Option<usize> {
        if self.leads.is_some() {
            return self.lead(rest, is_end, pieces);
        }
        let at = rest.find(SPECIAL).unwrap_or(rest.len());
        if at > 0 {
            return self.say(&rest[..at]);
        }
        let letter = rest.chars().next()?;
        let one = &rest[..letter.len_utf8()];
        let next = rest[one.len()..].chars().next();
        match letter {
            '`' => self.span(rest, is_end),
            '\\' | '<' | '!' | ']' if next.is_none() && !is_end => None,
            '\\' => {
                self.mark('\\');
                let is_pair = next.is_some_and(|next| ['`', '[', ']', '\\'].contains(&next));
                self.say(&rest[..if is_pair { 2 } else { 1 }])
            }
            '<' => self.angle(rest, is_end),
            '!' if next == Some('[') => self.picture(rest, is_end, pieces),
            '[' => {
                self.paragraph.brackets += 1;
                self.say(one)
            }
            ']' => self.end_bracket(rest),
            '~' => {
                let marks = rest.len() - rest.trim_start_matches('~').len();
                if marks < 3 && marks == rest.len() && !is_end {
                    return None;
                }
                self.mark('~');
                if marks >= 3 {
                    // For some renderers it may begin code here.
                    self.blocks.lose();
                }
                self.say(&rest[..marks])
            }
            BREAK => self.part(one),
            '◁' => match acts(rest, is_end)? {
                true => self.part(one),
                false => self.say(one),
            },
            '$' | '*' | '_' => {
                self.mark(letter);
                self.say(one)
            }
            _ => self.say(one),
        }
    }

    /// A code span, if every renderer sees it.
    fn span(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let marks = rest.len() - rest.trim_start_matches('`').len();
        if marks == rest.len() && marks < LINE && !is_end {
            return None;
        }
        if self.paragraph.is_odd || self.blocks.is_lost() {
            if marks >= 3 {
                self.blocks.lose();
            }
            return self.say(&rest[..marks]);
        }
        let near = &rest[marks..rest.floor_char_boundary(marks + LONGEST)];
        let end = near.find(['\n', '\r']);
        let body = &near[..end.unwrap_or(near.len())];
        let is_whole = end.is_some() || is_end || marks + near.len() < rest.len();
        if !is_whole && body.ends_with('`') {
            return None;
        }
        match closing(body, marks) {
            None if !is_whole => None,
            Some(at) if self.is_span(&body[..at], marks) => {
                self.paragraph.bar |= body[..at].contains('|');
                self.say(&rest[..at + 2 * marks])
            }
            closed => {
                self.paragraph.is_odd = true;
                if closed.is_none() && marks >= 3 {
                    self.blocks.lose();
                }
                self.say(&rest[..marks])
            }
        }
    }

    /// Whether nothing before a code span may end within it, for no renderer.
    fn is_span(&self, code: &str, marks: usize) -> bool {
        let (before, is_address) =
            (&self.paragraph.marks, ["://", "www.", "@"].iter().any(|one| self.word.contains(one)));
        let ends = |mark: char| match mark {
            '\\' => code.contains(['\\', '}']),
            '*' | '_' => marks > 1 && code.contains(mark),
            _ => code.contains(mark),
        };
        let is_bracketed = self.paragraph.brackets > 0 && code.contains(']');
        let is_cell = self.paragraph.is_table && code.contains('|');
        // Some renderers take them for one mark.
        let is_mixed = self.word.ends_with('~');
        !is_address && !is_mixed && self.word.len() <= WORD && !is_bracketed && !is_cell && !before.chars().any(ends)
    }

    /// What begins with `<`.
    fn angle(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let next = rest[1..].chars().next();
        if !next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?@#$|%".contains(next)) {
            return self.say("<");
        }
        let has_words = |line: &str| {
            let inner = line.trim_start_matches(|one: char| one.is_ascii_digit() || " \t>*+-.)".contains(one));
            !inner.is_empty() && !inner.starts_with(['[', ':'])
        };
        for tag in LINE_BREAKS.iter().filter(|_| has_words(&self.line)) {
            let known = rest.len().min(tag.len());
            if rest.is_char_boundary(known) && rest[..known].eq_ignore_ascii_case(&tag[..known]) {
                return if known == tag.len() {
                    self.say(&rest[..known])
                } else if is_end {
                    self.part("<")
                } else {
                    None
                };
            }
        }
        for address in ADDRESSES {
            let Some(rest_of) = rest[1..].strip_prefix(address) else {
                if !is_end && address.starts_with(&rest[1..]) {
                    return None;
                }
                continue;
            };
            let is_of_address = |one: char| one.is_ascii_alphanumeric() || "-._:/?#@&=%+,;".contains(one);
            let after = rest_of.trim_start_matches(is_of_address);
            let length = rest.len() - after.len();
            match after.chars().next() {
                Some('>') if length < LONGEST => return self.say(&rest[..=length]),
                None if !is_end && length < LONGEST => return None,
                _ => {}
            }
        }
        self.part("<")
    }

    /// What begins with `![`.
    fn picture(&mut self, rest: &str, is_end: bool, pieces: &mut Vec<Piece>) -> Option<usize> {
        if self.paragraph.is_odd || self.blocks.is_lost() {
            return self.part("!");
        }
        let alt = rest[2..].find(['[', ']', '`', '<', '\\', '!', '|', '$', '\n', '\r', BREAK]).map(|at| at + 2);
        let begins = alt.filter(|alt| *alt < LONGEST && rest[*alt..].starts_with(']')).map(|alt| alt + 2);
        let form = match (alt, begins) {
            (None, _) if rest.len() < LONGEST => Form::Open,
            (Some(_), Some(begins)) => match rest[begins - 1..].chars().next() {
                None => Form::Open,
                Some('(') => target(&rest[begins..], ')', is_end),
                Some(_) => Form::No,
            },
            _ => Form::No,
        };
        match (form, begins) {
            (Form::Open, _) if !is_end => None,
            (Form::Of(from, to, end), Some(begins)) => {
                self.flush(pieces);
                let form = &rest[..begins + end];
                let before = rest[begins - 1..begins + from].to_owned();
                let target = Target { before, written: rest[begins + from..begins + to].to_owned() };
                pieces.push(Piece::Picture(rest[1..begins - 1].to_owned(), target));
                self.note(&form[..begins + to]);
                self.say(&form[begins + to..]);
                Some(form.len())
            }
            _ => self.part("!"),
        }
    }

    /// A closed bracket; where what it closed leads may follow.
    fn end_bracket(&mut self, rest: &str) -> Option<usize> {
        let was_open = self.paragraph.brackets > 0;
        self.paragraph.brackets -= usize::from(was_open);
        self.leads = match rest[1..].chars().next() {
            Some('(') => Some((')', was_open)),
            Some(':') => Some(('\n', was_open && self.is_definition())),
            _ => None,
        };
        self.say("]")
    }

    /// The mark behind a closed bracket and where the link leads, up to what ends it, if it may be one.
    fn lead(&mut self, rest: &str, is_end: bool, pieces: &mut Vec<Piece>) -> Option<usize> {
        let (end, may_be_link) = self.leads?;
        let inner = &rest[1..];
        let is_certain = may_be_link && !self.paragraph.is_odd && !self.blocks.is_lost();
        let form = if is_certain { target(inner, end, is_end) } else { Form::No };
        let taken = match form {
            Form::Open if !is_end => return None,
            Form::Of(from, to, length) => {
                self.flush(pieces);
                let target = Target { before: rest[..=from].to_owned(), written: inner[from..to].to_owned() };
                pieces.push(Piece::Target(target));
                self.note(&rest[..=to]);
                ['~', '$', '*', '_']
                    .into_iter()
                    .filter(|mark| inner[..length].contains(*mark))
                    .for_each(|one| self.mark(one));
                self.say(&inner[to..length]);
                length + 1
            }
            _ => {
                // Where it leads may stand on the next line, which is not read for it.
                let leads_on = inner.trim_start_matches([' ', '\t', '<']).starts_with(['\n', '\r']);
                let acts = leads_on || !is_harmless(inner, is_end)?;
                // A footnote stays one.
                let is_note = end == '\n' && !may_be_link;
                self.plain.extend((acts && !is_note).then_some(BREAK));
                self.paragraph.is_odd |= may_be_link && end == ')';
                self.say(&rest[..1]);
                self.plain.extend((acts && is_note).then_some(BREAK));
                1
            }
        };
        self.leads = None;
        Some(taken)
    }

    /// Whether the line so far is the label of a reference, and no footnote.
    fn is_definition(&self) -> bool {
        let label =
            self.line.trim_start_matches(|one: char| one.is_ascii_digit() || " >*+-.)".contains(one)).strip_prefix('[');
        label.is_some_and(|label| !label.is_empty() && !label.starts_with('^') && !label.contains(['[', ']', '`']))
    }
}

/// The agent's own text, from what was shown of it.
pub(super) fn restored(text: &str) -> Cow<'_, str> {
    if !text.contains(BREAK) {
        return Cow::Borrowed(text);
    }
    let mut letters = text.chars().peekable();
    let mut own = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        if letter != BREAK || letters.next_if_eq(&BREAK).is_some() {
            own.push(letter);
        }
    }
    Cow::Owned(own)
}

/// A whole text of which nothing acts in a client, and of whose links those to pages stay.
pub(super) fn harmless(text: &str) -> String {
    plain(LinkScan::default().whole(text))
}

/// The text of pieces that lead to no file.
pub(super) fn plain(pieces: Vec<Piece>) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(more) => text.push_str(&more),
            Piece::Target(target) => text.push_str(&target.unresolved()),
            Piece::Picture(alt, target) => text.push_str(&format!("!{BREAK}{alt}{}", target.unresolved())),
        }
    }
    text
}

/// Whether the line below the head of a table may have it.
fn is_of_row(letter: char) -> bool {
    "|:- \t".contains(letter)
}

#[cfg(test)]
#[path = "link_scan_test.rs"]
mod tests;
