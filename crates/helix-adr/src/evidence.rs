//! The evidence that an acceptance criterion names: a test, a file or a command, in the words in which people write it.
//!
//! Must not run or look up anything: it reads what stands behind a checkbox, with places; gates see whether it holds.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::diagnostic::Span;
use helix_core::source_text::SourceText;
use helix_core::text::clip;
use helix_plan::{normal_path, split_words};

use super::code_spans::{Segment, segments};

/// A piece of evidence with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What proves the criterion.
    pub proof: Proof,
    /// Where it stands.
    pub span: Span,
}

/// What proves a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A test by its name, such as `tests/test_cart.py::test_total`; it has to run and to pass.
    Test {
        /// The name as the runner knows it.
        name: String,
    },
    /// A command that runs tests; it has to exit 0, and tests have to run.
    TestCommand {
        /// The command line.
        line: String,
    },
    /// A file that has to be there and not empty.
    File {
        /// Relative to the repository's root; may be a glob.
        path: String,
    },
    /// A command that has to end as said.
    Command {
        /// The command line.
        line: String,
        /// The exit code that it must have.
        exit: i32,
        /// Texts that its output must have.
        shows: Vec<String>,
    },
}

impl Proof {
    /// The command line that it names, if it names one.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::TestCommand { line } | Self::Command { line, .. } => Some(line),
            Self::Test { .. } | Self::File { .. } => None,
        }
    }
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Test { name } => write!(f, "the test {name}"),
            Self::TestCommand { line } | Self::Command { line, .. } => write!(f, "`{line}`"),
            Self::File { path } => write!(f, "the file {path}"),
        }
    }
}

/// Something that is meant as evidence and cannot be used as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableEvidence {
    pub message: String,
    /// What would fix it.
    pub help: String,
    pub span: Span,
}

/// How evidence is written, for messages.
const EVIDENCE_FORM: &str = "end the criterion with its evidence: `— test: tests/test_x.py::test_y`, `(file: docs/x.md)` or `(command: x --check)`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Test,
    File,
    Command,
    /// "evidence:": the value itself says what it is.
    Any,
}

/// What labels say, in English and in German.
const LABELS: [(Label, &str); 4] = [
    (Label::Test, "test|tests|tested by|getestet durch"),
    (Label::File, "file|files|datei|dateien"),
    (Label::Command, "command|commands|cmd|run|check|befehl|befehle|kommando|aufruf|prüfung"),
    (Label::Any, "evidence|proof|verified by|checked by|nachweis|beleg|belegt durch|geprüft durch|nachgewiesen durch"),
];

/// A label opens a clause: nothing, a bracket, a dash or a full stop stands before it, so that "a failing test: …" is prose.
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = LABELS.map(|(_, words)| words).join("|");
    Regex::new(&format!(
        r"(?i)(?P<before>^|\n|<!--|[(\[;,.|→—–]|(?:^|\s)-{{1,2}})\s*[*_]{{0,3}}(?P<word>{words})[*_]{{0,3}}\s?:[*_]{{0,3}}"
    ))
    .ok()
});

/// What follows a command and says how it must end.
static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\s*(?:
            (?:exits?|ends?|endet|beendet\ sich)\s+(?:(?:with|mit)\s+)?(?:(?:exit[\ -]?)?code\s+|status\s+)?(?P<code>\d{1,3})\b
          | (?:passes|pass|succeeds|succeed|gelingt|gelingen)\s*(?:$|[.,;)]|and\b|with\b|in\b|on\b|und\b|mit\b)
          | (?:is|are)\s+green\b | (?:ist|sind)\s+grün\b
          | (?:läuft|laufen)\s+(?:fehlerfrei|erfolgreich|ohne\ fehler|durch)\b
          | (?:besteht|bestehen)\s*(?:$|[.,;)]|und\b)
        )",
    )
    .ok()
});

/// What follows a command and says what it shows; the shown text is the next code span.
static SHOWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|\s)(?:shows?|prints?|outputs?|says?|contains|zeigt|meldet|gibt|enthält|druckt)\s+(?:(?:the|den|die|das)\s+)?(?:(?:text|line|message|zeile|meldung)\s+)?$").ok()
});

/// Files whose names say that they hold tests, by the conventions of the common runners.
static TEST_FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
            (?:^|/)(?:test_[^/]*|[^/]*(?:[_.]test|[_.]spec|_tests))\.(?:py|[mc]?js|jsx|[mc]?ts|tsx|go|rs|rb|java)$
          | (?:^|/)tests/.*\.rs$",
    )
    .ok()
});

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Reads the evidence of one criterion from its paragraphs, given as byte ranges of the source.
pub(super) fn read<'s>(source: &'s SourceText<'s>, parts: &[Range<usize>]) -> (Vec<Evidence>, Vec<UnusableEvidence>) {
    let mut reader = Reader {
        source,
        found: Vec::new(),
        known: HashSet::new(),
        unusable: Vec::new(),
        text: "",
        start: 0,
        segments: Vec::new(),
        used: HashSet::new(),
    };
    for part in parts {
        let text = source.slice(part.clone());
        // Most criteria of older files name no evidence: seen without a regular expression.
        if text.contains([':', '`']) {
            reader = Reader { text, start: part.start, segments: segments(text), used: HashSet::new(), ..reader };
            reader.labelled();
            reader.code_alone();
        }
    }
    (reader.found, reader.unusable)
}

/// How a command must end, and what it must show.
#[derive(Debug, Clone, Default)]
struct Expected {
    exit: i32,
    shows: Vec<String>,
}

/// What was found so far, and the paragraph that is being read.
struct Reader<'s> {
    source: &'s SourceText<'s>,
    found: Vec<Evidence>,
    known: HashSet<Proof>,
    unusable: Vec<UnusableEvidence>,
    text: &'s str,
    /// Where the paragraph begins in the source.
    start: usize,
    segments: Vec<Segment>,
    /// Code spans that belong to evidence already, by their number.
    used: HashSet<usize>,
}

impl<'s> Reader<'s> {
    /// Takes a value, at a place of the paragraph, for evidence.
    fn take(&mut self, label: Label, value: &str, place: &Range<usize>, expected: Expected) {
        let span = self.source.span(self.start + place.start..self.start + place.end);
        match proof(label, value, expected) {
            Ok(proof) => {
                if self.known.insert(proof.clone()) {
                    self.found.push(Evidence { proof, span });
                }
            }
            Err((message, help)) => self.unusable.push(UnusableEvidence { message, help, span }),
        }
    }

    /// Takes a code span, with what the text behind it says.
    fn take_code(&mut self, label: Label, number: usize) {
        self.used.insert(number);
        let expected = self.expected(number);
        if let Some((code, place)) = self.code(number) {
            self.take(label, code, &place, expected);
        }
    }

    fn code(&self, number: usize) -> Option<(&'s str, Range<usize>)> {
        match self.segments.get(number)? {
            Segment::Code { inner, .. } => Some((self.text.get(inner.clone())?, inner.clone())),
            Segment::Text(_) => None,
        }
    }

    fn text_at(&self, number: usize) -> &'s str {
        match self.segments.get(number) {
            Some(Segment::Text(range)) => &self.text[range.clone()],
            Some(Segment::Code { .. }) | None => "",
        }
    }

    fn labelled(&mut self) {
        let Some(pattern) = LABEL.as_ref() else { return };
        let mut labels: Vec<(Label, Range<usize>, Option<char>)> = Vec::new();
        for segment in &self.segments {
            let Segment::Text(range) = segment else { continue };
            for found in pattern.captures_iter(&self.text[range.clone()]) {
                let (before, word) = (&found["before"], found["word"].to_lowercase());
                let known = LABELS.iter().find(|(_, words)| words.split('|').any(|known| known == word));
                let (Some(whole), Some((label, _))) = (found.get(0), known) else { continue };
                // Behind a code span, a clause does not begin anew.
                if before.is_empty() && range.start > 0 {
                    continue;
                }
                let closing = match before.chars().next_back() {
                    Some('(') => Some(')'),
                    Some('[') => Some(']'),
                    Some(_) | None => None,
                };
                labels.push((*label, range.start + whole.start()..range.start + whole.end(), closing));
            }
        }
        for (number, (label, place, closing)) in labels.iter().enumerate() {
            let limit = labels.get(number + 1).map_or(self.text.len(), |(_, next, _)| next.start);
            self.value(*label, place.end..limit, *closing);
        }
    }

    /// The value behind a label: code spans in a row, or plain text up to the end of the clause.
    fn value(&mut self, label: Label, range: Range<usize>, closing: Option<char>) {
        let first = range.start + leading_space(&self.text[range.clone()]);
        let ends_before = |segment: &Segment| match segment {
            Segment::Text(range) | Segment::Code { whole: range, .. } => range.end <= first,
        };
        let mut number = self.segments.partition_point(ends_before);
        if matches!(self.segments.get(number), Some(Segment::Code { whole, .. }) if whole.start == first) {
            loop {
                self.take_code(label, number);
                let between = match self.segments.get(number + 1) {
                    Some(Segment::Text(text)) if text.end <= range.end => self.text[text.clone()].trim(),
                    _ => return,
                };
                let goes_on = matches!(between, "," | "&" | "+" | "and" | "und" | ", and" | "or" | "oder");
                if !goes_on || self.code(number + 2).is_none() {
                    return;
                }
                number += 2;
            }
        }
        let end = range.start + plain_end(&self.text[range.clone()], closing);
        let values = match label {
            Label::Command => std::iter::once(range.start..end).collect(),
            Label::Test | Label::File | Label::Any => listed(self.text, range.start..end),
        };
        for value in values {
            let place = trimmed(self.text, value);
            let text = link_text(&self.text[place.clone()]);
            if text.is_empty() {
                let span = self.source.span(self.start + place.start..self.start + place.end);
                let (message, help) = ("the evidence is empty".to_owned(), EVIDENCE_FORM.to_owned());
                self.unusable.push(UnusableEvidence { message, help, span });
            } else {
                self.take(label, text, &place, Expected::default());
            }
        }
    }

    /// Code without a label is evidence when the text says how it ends, or when it stands alone at the end of the criterion.
    fn code_alone(&mut self) {
        for number in 0..self.segments.len() {
            let Some((code, _)) = self.code(number).filter(|_| !self.used.contains(&number)) else { continue };
            if !is_command_line(code) && !is_path(code) {
                continue;
            }
            let after = self.text_at(number + 1);
            if is_program(code) && (matches(&ENDS, after) || !self.shown(number).is_empty()) {
                self.take_code(Label::Command, number);
                continue;
            }
            let before = number.checked_sub(1).map_or("", |before| self.text_at(before)).trim_end();
            let alone_after =
                self.segments.len() <= number + 2 && matches!(after.trim(), "" | "." | ")" | ")." | "]" | "]." | "-->");
            let opened =
                before.ends_with(['(', '[', '—', '–', '→']) || before.ends_with(" -") || before.ends_with("--");
            // A single word such as `false` may be a value; a command has arguments or a path, or a text that says how it ends.
            if opened && alone_after && (code.trim().contains(char::is_whitespace) || is_path(code)) {
                self.take_code(Label::Any, number);
            }
        }
    }

    fn expected(&mut self, number: usize) -> Expected {
        let captures = ENDS.as_ref().and_then(|ends| ends.captures(self.text_at(number + 1)));
        let exit = captures.and_then(|found| found.name("code")?.as_str().parse().ok()).unwrap_or_default();
        let shown = self.shown(number);
        let shows = shown.iter().filter_map(|number| Some(self.code(*number)?.0.to_owned())).collect();
        self.used.extend(shown);
        Expected { exit, shows }
    }

    /// The code spans that the text behind a command says it shows.
    fn shown(&self, number: usize) -> Vec<usize> {
        let mut shown = Vec::new();
        let mut at = number;
        loop {
            let text = self.text_at(at + 1);
            let goes_on = !shown.is_empty() && matches!(text.trim(), "and" | "," | "und");
            // A full stop in between begins another sentence, which may be about something else.
            if !(goes_on || matches(&SHOWS, text)) || text.contains(". ") || self.code(at + 2).is_none() {
                return shown;
            }
            at += 2;
            shown.push(at);
        }
    }
}

fn proof(label: Label, value: &str, expected: Expected) -> Result<Proof, (String, String)> {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match label {
        Label::File => file(&value),
        Label::Test => test(&value),
        Label::Command => command(&value, expected),
        Label::Any if names_test(&value) => test(&value),
        Label::Any if is_path(&value) => file(&value),
        Label::Any => command(&value, expected),
    }
}

fn file(value: &str) -> Result<Proof, (String, String)> {
    // A line or an anchor behind a path is for people.
    let path = value.split_once('#').map_or(value, |(path, _)| path);
    if path.contains(' ') && !is_path(path) {
        let help = "write only the file's path, relative to the repository's root";
        return Err((format!("`{}` is not a file", clip(value, 81)), help.into()));
    }
    repository_path(value, path).map(|path| Proof::File { path })
}

fn repository_path(value: &str, path: &str) -> Result<String, (String, String)> {
    normal_path(path)
        .map_err(|error| (format!("`{}` is not usable as evidence: {error}", clip(value, 81)), error.remedy.to_owned()))
}

fn test(value: &str) -> Result<Proof, (String, String)> {
    // A verb such as "passes" may follow in plain text.
    let verb = value.match_indices(' ').find(|(at, _)| matches(&ENDS, &value[*at..]));
    let name = verb.map_or(value, |(at, _)| &value[..at]);
    let (first, is_word) = (name.split(' ').next().unwrap_or_default(), !name.contains(' '));
    if names_test(name) || is_word && is_path(first) {
        let path = first.split("::").next().unwrap_or(first);
        if is_path(path) {
            repository_path(value, path)?;
        }
        return Ok(Proof::Test { name: name.to_owned() });
    }
    if !is_word && is_command_line(name) {
        return Ok(Proof::TestCommand { line: name.to_owned() });
    }
    if is_word && name.contains(['_', '.', ':']) {
        return Ok(Proof::Test { name: name.to_owned() });
    }
    let help = "name the test as its runner prints it, such as tests/test_x.py::test_y, or the command that runs it";
    Err((format!("`{}` is not a test", clip(value, 81)), help.to_owned()))
}

fn command(value: &str, expected: Expected) -> Result<Proof, (String, String)> {
    match split_words(value) {
        Ok(_) => Ok(Proof::Command { line: value.to_owned(), exit: expected.exit, shows: expected.shows }),
        Err(error) => Err((format!("`{}` cannot be run: {error}", clip(value, 81)), error.remedy)),
    }
}

/// Whether the text names a single test: `file::test`, `file > test`, a test file, or a function behind `::`.
fn names_test(value: &str) -> bool {
    let first = value.split(' ').next().unwrap_or_default();
    first.contains("::") || is_path(first) && (value.contains(" > ") || value == first && matches(&TEST_FILE, first))
}

/// Whether a text looks like a path: one word with a slash or an ending.
fn is_path(value: &str) -> bool {
    let ending = value.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
    let has_ending = (1..=8).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
    let plain = !value.contains(|c: char| c.is_whitespace() || "()<>|;=\"'`$".contains(c));
    plain && !value.contains("://") && !value.starts_with(['-', '/', '.']) && (has_ending || value.contains('/'))
        || value.starts_with("./") && plain
}

/// Whether a text splits into the words of a command whose first one can be a program.
fn is_command_line(value: &str) -> bool {
    split_words(value).is_ok() && is_program(value)
}

fn is_program(value: &str) -> bool {
    let first = value.split_whitespace().next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '/' | '_'))
        && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/+-".contains(&byte))
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Where plain text behind a label ends: at the bracket that closes it, a semicolon, a dash, or the line's end.
fn plain_end(text: &str, closing: Option<char>) -> usize {
    let skipped = leading_space(text);
    let mut depth = 0_usize;
    let mut last = '\0';
    for (at, character) in text.char_indices().filter(|(at, _)| *at >= skipped) {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ if depth == 0 && (Some(character) == closing || character == ';') => return at,
            '\n' if last != ',' => return at,
            '—' | '–' if depth == 0 && text[..at].ends_with(' ') => return at,
            '-' if text[at..].starts_with("-->") => return at,
            _ => {}
        }
        if !character.is_whitespace() || character == '\n' {
            last = character;
        }
    }
    text.len()
}

/// Splits at commas outside of brackets.
fn listed(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_usize, range.start);
    for (at, character) in text[range.clone()].char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(from..range.start + at);
                from = range.start + at + 1;
            }
            _ => {}
        }
    }
    parts.push(from..range.end);
    let said: Vec<_> = parts.iter().filter(|part| !text[(*part).clone()].trim().is_empty()).cloned().collect();
    if said.is_empty() { vec![range] } else { said }
}

/// The range without space, emphasis and the sentence's full stop around it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let front = slice.len() - slice.trim_start_matches(|c: char| c.is_whitespace() || c == '*').len();
    let inner = slice[front..].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | ','));
    range.start + front..range.start + front + inner.len()
}

/// The text of a Markdown link, or the text itself.
fn link_text(text: &str) -> &str {
    let linked = text.strip_prefix('[').and_then(|rest| rest.split_once("]("));
    linked.map_or(text, |(shown, _)| shown).trim_matches('`')
}
