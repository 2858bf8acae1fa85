//! From YAML events to a tree of nodes with byte ranges.
//!
//! Must not know about types beyond YAML's own; aliases are shared, merge keys are resolved, both within the limits.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::text::clip;
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

/// How much a file may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Most nodes after aliases are resolved. 20,000 stops a nine-level alias bomb in milliseconds.
    pub nodes: usize,
    /// Most text after aliases are resolved.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 20, nodes: 20_000, text_bytes: 4 << 20 }
    }
}

/// A value with its place. Cloning is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Bytes of the source; for an alias, those of the alias.
    pub range: Range<usize>,
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Scalar(Rc<Scalar>),
    Sequence(Rc<[Node]>),
    /// Keys and values in the order of the source, duplicates included.
    Mapping(Rc<[Entry]>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: Rc<str>,
    pub key_range: Range<usize>,
    pub value: Node,
}

/// A single value as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Its text, escapes resolved.
    pub text: String,
    /// Whether it may be anything but text.
    pub form: ScalarForm,
}

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarForm {
    /// Without quotes: may be null, a truth value or a number.
    Plain,
    /// With quotes, as a block or tagged `!!str`: always text.
    Text,
}

impl Node {
    /// A text at the place of what it was made from.
    pub fn text(text: impl Into<String>, range: &Range<usize>) -> Self {
        let scalar = Scalar { text: text.into(), form: ScalarForm::Text };
        Self { range: range.clone(), value: Value::Scalar(Rc::new(scalar)) }
    }

    /// A number, a truth value or nothing, at the place of what it was made from.
    pub fn plain(text: impl Into<String>, range: &Range<usize>) -> Self {
        let scalar = Scalar { text: text.into(), form: ScalarForm::Plain };
        Self { range: range.clone(), value: Value::Scalar(Rc::new(scalar)) }
    }

    /// A list at the place of what it was made from.
    pub fn list(items: Vec<Self>, range: &Range<usize>) -> Self {
        Self { range: range.clone(), value: Value::Sequence(items.into()) }
    }

    /// The items of a list; any other value is a list of one.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::Sequence(items) => items,
            Value::Scalar(_) | Value::Mapping(_) => std::slice::from_ref(self),
        }
    }

    /// The first entry of a mapping with this key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Mapping(entries) => entries.iter().find(|entry| &*entry.key == key),
            Value::Scalar(_) | Value::Sequence(_) => None,
        }
    }

    /// True for an empty value, `null` and `~`.
    pub fn is_null(&self) -> bool {
        matches!(self.unquoted(), Some("" | "~" | "null" | "Null" | "NULL"))
    }

    /// True for a text of nothing but space.
    pub fn is_blank(&self) -> bool {
        self.scalar().is_some_and(|text| text.trim().is_empty())
    }

    /// The text of a scalar as it was written, whatever it means.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The text of a scalar that is text.
    pub fn as_text(&self) -> Option<&str> {
        let is_text = self.as_bool().is_none() && self.as_number().is_none() && !self.is_null();
        self.scalar().filter(|_| is_text)
    }

    /// The truth value, if it is one (YAML 1.2: only `true` and `false`).
    pub fn as_bool(&self) -> Option<bool> {
        match self.unquoted()? {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    /// The text of a plain scalar that reads as a number.
    pub fn as_number(&self) -> Option<&str> {
        let text = self.unquoted()?;
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let special = matches!(digits, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN");
        let prefixed = digits
            .strip_prefix("0x")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
            || digits
                .strip_prefix("0o")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| (b'0'..=b'7').contains(&byte)));
        let decimal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && digits.parse::<f64>().is_ok();
        (special || prefixed || decimal).then_some(text)
    }

    /// What the node is, in a reader's words: `the number 3`, `a list`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Sequence(_) => "a list".into(),
            Value::Mapping(_) => "a mapping".into(),
            Value::Scalar(_) if self.is_null() => "nothing".into(),
            Value::Scalar(scalar) => {
                let text = clip(&scalar.text, 41);
                if self.as_bool().is_some() {
                    format!("the truth value {text}")
                } else if self.as_number().is_some() {
                    format!("the number {text}")
                } else {
                    format!("the text {text:?}")
                }
            }
        }
    }

    fn unquoted(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if scalar.form == ScalarForm::Plain => Some(&scalar.text),
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }
}

/// Why a text could not be read as one YAML document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ReadError {
    pub kind: ReadErrorKind,
    /// The place, if the problem has one.
    pub range: Option<Range<usize>>,
}

/// What kept a text from being read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// Longer than the limit.
    #[error("the file has {bytes} bytes, more than the {limit} that are read")]
    TooLong { bytes: usize, limit: usize },
    /// More nodes or text than the limit, usually by aliases of aliases.
    #[error("the file holds more than {limit} values once its aliases are resolved")]
    TooMuch { limit: usize },
    /// What the parser says.
    #[error("{0}")]
    Syntax(String),
    #[error("a second YAML document begins here")]
    SeveralDocuments,
    /// A list or mapping as key.
    #[error("a key must be text")]
    KeyNotText,
    /// A tag that is not one of YAML's own.
    #[error("the tag {0} is not known")]
    UnknownTag(String),
    /// An alias inside the value that it names, or a merge of something that is not a mapping.
    #[error("{0}")]
    BadAlias(&'static str),
}

impl ReadErrorKind {
    fn at(self, range: Range<usize>) -> ReadError {
        ReadError { kind: self, range: Some(range) }
    }
}

/// Reads a text as one YAML document; `None` when there is no document or it is empty.
///
/// # Errors
/// [`ReadError`] with the first place at which the text stops being one readable document.
pub fn read(text: &str, limits: Limits) -> Result<Option<Node>, ReadError> {
    read_part(text, 0, limits)
}

/// Reads a part of a longer text, such as front matter; places count from the start of that text.
///
/// # Errors
/// As [`read`].
pub fn read_part(text: &str, start: usize, limits: Limits) -> Result<Option<Node>, ReadError> {
    if text.len() > limits.bytes {
        let kind = ReadErrorKind::TooLong { bytes: text.len(), limit: limits.bytes };
        return Err(ReadError { kind, range: None });
    }
    let mut builder = Builder { limits, start, length: text.len(), ..Builder::default() };
    for item in Parser::new_from_str(text) {
        let (event, span) = item.map_err(|error| builder.syntax(&error))?;
        builder.take(event, &span)?;
    }
    Ok(builder.root.filter(|node| !node.is_null()))
}

#[derive(Default)]
struct Builder {
    limits: Limits,
    start: usize,
    length: usize,
    documents: usize,
    size: Size,
    anchors: HashMap<usize, (Value, Size)>,
    open: Vec<Frame>,
    root: Option<Node>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    text: usize,
}

struct Frame {
    anchor: usize,
    start: usize,
    before: Size,
    kind: FrameKind,
}

enum FrameKind {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, merges: Vec<Node>, key: Option<(Rc<str>, Range<usize>, ScalarForm)> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), ReadError> {
        let range = self.range(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(ReadErrorKind::SeveralDocuments.at(range));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tagged_text = check_tag(tag.as_deref(), &range)?;
                let form = match style {
                    ScalarStyle::Plain if !tagged_text => ScalarForm::Plain,
                    ScalarStyle::Plain
                    | ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => ScalarForm::Text,
                };
                let size = Size { nodes: 1, text: text.len() };
                self.grow(size, &range)?;
                let value = Value::Scalar(Rc::new(Scalar { text: text.into_owned(), form }));
                if anchor != 0 {
                    self.anchors.insert(anchor, (value.clone(), size));
                }
                self.place(Node { range, value })?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), &range)?;
                self.open(anchor, range, FrameKind::Sequence(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), &range)?;
                let kind = FrameKind::Mapping { entries: Vec::new(), merges: Vec::new(), key: None };
                self.open(anchor, range, kind)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range)?,
            Event::Alias(id) => {
                let Some((value, size)) = self.anchors.get(&id).cloned() else {
                    return Err(ReadErrorKind::BadAlias("the alias stands inside the value that it names").at(range));
                };
                self.grow(size, &range)?;
                self.place(Node { range, value })?;
            }
            Event::UnresolvedAlias(_) => return Err(ReadErrorKind::BadAlias("the alias names nothing").at(range)),
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Anchor(..) | Event::Comment(..) => {}
            // The parser's enum may grow; an event of a kind not known here must not vanish.
            _ => return Err(ReadErrorKind::Syntax("a construct that Helix does not know".into()).at(range)),
        }
        Ok(())
    }

    fn open(&mut self, anchor: usize, range: Range<usize>, kind: FrameKind) -> Result<(), ReadError> {
        let before = self.size;
        self.grow(Size { nodes: 1, text: 0 }, &range)?;
        self.open.push(Frame { anchor, start: range.start, before, kind });
        Ok(())
    }

    fn close(&mut self, end: Range<usize>) -> Result<(), ReadError> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        let (value, last) = match frame.kind {
            FrameKind::Sequence(items) => {
                let last = items.last().map(|node| node.range.end);
                (Value::Sequence(items.into()), last)
            }
            FrameKind::Mapping { mut entries, merges, .. } => {
                merge(&mut entries, &merges)?;
                let last = entries.last().map(|entry| entry.value.range.end);
                (Value::Mapping(entries.into()), last)
            }
        };
        // A block collection's end event lies where the next thing begins; its last child ends it better.
        let end = if end.is_empty() { last.unwrap_or(end.end) } else { end.end };
        let range = frame.start..end.max(frame.start);
        if frame.anchor != 0 {
            let nodes = self.size.nodes - frame.before.nodes;
            let size = Size { nodes, text: self.size.text - frame.before.text };
            self.anchors.insert(frame.anchor, (value.clone(), size));
        }
        self.place(Node { range, value })
    }

    fn place(&mut self, node: Node) -> Result<(), ReadError> {
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut frame.kind {
            FrameKind::Sequence(items) => items.push(node),
            FrameKind::Mapping { entries, merges, key } => match key.take() {
                None => match &node.value {
                    Value::Scalar(scalar) => *key = Some((scalar.text.as_str().into(), node.range, scalar.form)),
                    Value::Sequence(_) | Value::Mapping(_) => return Err(ReadErrorKind::KeyNotText.at(node.range)),
                },
                Some((text, _, ScalarForm::Plain)) if &*text == "<<" => merges.push(node),
                Some((key, key_range, _)) => entries.push(Entry { key, key_range, value: node }),
            },
        }
        Ok(())
    }

    fn grow(&mut self, by: Size, range: &Range<usize>) -> Result<(), ReadError> {
        self.size.nodes += by.nodes;
        self.size.text += by.text;
        if self.size.nodes > self.limits.nodes || self.size.text > self.limits.text_bytes {
            return Err(ReadErrorKind::TooMuch { limit: self.limits.nodes }.at(range.clone()));
        }
        Ok(())
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or(self.length..self.length);
        self.start + range.start..self.start + range.end.max(range.start)
    }

    fn syntax(&self, error: &ScanError) -> ReadError {
        let at = error.marker().byte_offset().unwrap_or(self.length).min(self.length) + self.start;
        ReadErrorKind::Syntax(error.info()).at(at..at)
    }
}

/// Tells whether the tag makes a scalar text.
fn check_tag(tag: Option<&Tag>, range: &Range<usize>) -> Result<bool, ReadError> {
    let Some(tag) = tag else { return Ok(false) };
    let written = tag.to_string();
    let name = written.strip_prefix("!!").or_else(|| written.strip_prefix("tag:yaml.org,2002:"));
    match name {
        Some("str") => Ok(true),
        Some("int" | "float" | "bool" | "null" | "seq" | "map") => Ok(false),
        Some(_) | None if written == "!" => Ok(true),
        Some(_) | None => Err(ReadErrorKind::UnknownTag(written).at(range.clone())),
    }
}

fn merge(entries: &mut Vec<Entry>, merges: &[Node]) -> Result<(), ReadError> {
    if merges.is_empty() {
        return Ok(());
    }
    let mut known: HashSet<Rc<str>> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merges {
        let bad =
            |node: &Node| ReadErrorKind::BadAlias("only a mapping can be merged with `<<`").at(node.range.clone());
        if node.items().is_empty() {
            return Err(bad(node));
        }
        for source in node.items() {
            let Value::Mapping(merged) = &source.value else { return Err(bad(source)) };
            entries.extend(merged.iter().filter(|entry| known.insert(entry.key.clone())).cloned());
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tree_test.rs"]
mod tests;
