//! From YAML events to a tree of nodes with byte ranges.
//!
//! Must not know about types beyond YAML's own; aliases are shared, merge keys are resolved, both within the limits.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

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
    /// True for an empty value, `null` and `~`.
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar(scalar) => {
                scalar.form == ScalarForm::Plain && matches!(scalar.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            Value::Sequence(_) | Value::Mapping(_) => false,
        }
    }

    /// True for a text of nothing but space.
    pub fn is_blank(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.text.trim().is_empty())
    }

    /// The text of a scalar that is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if self.as_bool().is_none() && self.as_number().is_none() && !self.is_null() => {
                Some(&scalar.text)
            }
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The truth value, if it is one (YAML 1.2: only `true` and `false`).
    pub fn as_bool(&self) -> Option<bool> {
        match self.plain()? {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    /// The text of a plain scalar that reads as a number.
    pub fn as_number(&self) -> Option<&str> {
        let text = self.plain()?;
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
                let mut text: String = scalar.text.chars().take(40).collect();
                if text.len() < scalar.text.len() {
                    text.push('…');
                }
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

    fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if scalar.form == ScalarForm::Plain => Some(&scalar.text),
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }
}

/// Why a text could not be read as one YAML document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Longer than the limit.
    #[error("the file has {bytes} bytes, more than the {limit} that are read")]
    TooLong { bytes: usize, limit: usize },
    /// More nodes or text than the limit, usually by aliases of aliases.
    #[error("the file holds more than {limit} values once its aliases are resolved")]
    TooMuch {
        /// The limit on nodes.
        limit: usize,
        /// Where the limit was crossed.
        range: Range<usize>,
    },
    #[error("{message}")]
    Syntax {
        /// What the parser says.
        message: String,
        range: Range<usize>,
    },
    /// A second document begins.
    #[error("a second YAML document begins here")]
    SeveralDocuments {
        /// The second `---`.
        range: Range<usize>,
    },
    /// A list or mapping as key.
    #[error("a key must be text")]
    KeyNotText { range: Range<usize> },
    /// A tag that is not one of YAML's own.
    #[error("the tag {tag} is not known")]
    UnknownTag { tag: String, range: Range<usize> },
    /// An alias inside the value that it names, or a merge of something that is no mapping.
    #[error("{what}")]
    BadAlias {
        /// What is wrong with it.
        what: &'static str,
        range: Range<usize>,
    },
}

impl ReadError {
    /// The place, if the problem has one.
    pub fn range(&self) -> Option<Range<usize>> {
        match self {
            Self::TooLong { .. } => None,
            Self::TooMuch { range, .. }
            | Self::Syntax { range, .. }
            | Self::SeveralDocuments { range }
            | Self::KeyNotText { range }
            | Self::UnknownTag { range, .. }
            | Self::BadAlias { range, .. } => Some(range.clone()),
        }
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
        return Err(ReadError::TooLong { bytes: text.len(), limit: limits.bytes });
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
                    return Err(ReadError::SeveralDocuments { range });
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
                    return Err(ReadError::BadAlias { what: "the alias stands inside the value that it names", range });
                };
                self.grow(size, &range)?;
                self.place(Node { range, value })?;
            }
            Event::UnresolvedAlias(_) => {
                return Err(ReadError::BadAlias { what: "the alias names nothing", range });
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Anchor(..) | Event::Comment(..) => {}
            // The parser's enum may grow; an event of a kind not known here must not vanish.
            _ => return Err(ReadError::Syntax { message: "a construct that Helix does not know".into(), range }),
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
                    Value::Sequence(_) | Value::Mapping(_) => return Err(ReadError::KeyNotText { range: node.range }),
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
            return Err(ReadError::TooMuch { limit: self.limits.nodes, range: range.clone() });
        }
        Ok(())
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or(self.length..self.length);
        self.start + range.start..self.start + range.end.max(range.start)
    }

    fn syntax(&self, error: &ScanError) -> ReadError {
        let at = error.marker().byte_offset().unwrap_or(self.length).min(self.length) + self.start;
        ReadError::Syntax { message: error.info(), range: at..at }
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
        Some(_) | None => Err(ReadError::UnknownTag { tag: written, range: range.clone() }),
    }
}

fn merge(entries: &mut Vec<Entry>, merges: &[Node]) -> Result<(), ReadError> {
    if merges.is_empty() {
        return Ok(());
    }
    let mut known: HashSet<Rc<str>> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merges {
        let sources = match &node.value {
            Value::Mapping(_) => std::slice::from_ref(node),
            Value::Sequence(items) => items,
            Value::Scalar(_) => &[],
        };
        if sources.is_empty() {
            return Err(ReadError::BadAlias {
                what: "only a mapping can be merged with `<<`",
                range: node.range.clone(),
            });
        }
        for source in sources {
            let Value::Mapping(merged) = &source.value else {
                let range = source.range.clone();
                return Err(ReadError::BadAlias { what: "only a mapping can be merged with `<<`", range });
            };
            for entry in merged.iter().filter(|entry| known.insert(entry.key.clone())) {
                entries.push(entry.clone());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        read(text, Limits::default()).unwrap().unwrap()
    }

    fn entry<'a>(node: &'a Node, key: &str) -> &'a Entry {
        let Value::Mapping(entries) = &node.value else { panic!("no mapping: {node:?}") };
        entries.iter().find(|entry| &*entry.key == key).unwrap()
    }

    #[test]
    fn ranges_are_those_of_the_source() {
        let text = "größe: 3\nlist:\n  - 'a b'\n  - {k: v}\nnext: x\n";
        let root = tree(text);
        assert_eq!(&text[entry(&root, "größe").key_range.clone()], "größe");
        assert_eq!(&text[entry(&root, "größe").value.range.clone()], "3");
        let Value::Sequence(items) = &entry(&root, "list").value.value else { panic!() };
        assert_eq!(&text[items[0].range.clone()], "'a b'");
        assert_eq!(&text[items[1].range.clone()], "{k: v}");
        assert_eq!(&text[entry(&root, "list").value.range.clone()], "- 'a b'\n  - {k: v}");
    }

    #[test]
    fn merge_keys_yield_to_what_is_written_out() {
        let root = tree("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
        let used = &entry(&root, "use").value;
        assert_eq!(entry(used, "x").value.as_number(), Some("1"));
        assert_eq!(entry(used, "y").value.as_number(), Some("3"));
    }

    #[test]
    fn bombs_stop_at_the_limit() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let previous = level - 1;
            let list = vec![format!("*a{previous}"); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{list}]\n"));
        }
        assert!(matches!(read(&text, Limits::default()), Err(ReadError::TooMuch { .. })));
        let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(500_000), vec!["*a"; 100].join(", "));
        assert!(matches!(read(&long, Limits::default()), Err(ReadError::TooMuch { .. })));
        assert!(matches!(read("a: &a [*a]\n", Limits::default()), Err(ReadError::BadAlias { .. })));
        assert!(matches!(read(&"[".repeat(100_000), Limits::default()), Err(ReadError::Syntax { .. })));
    }

    #[test]
    fn numbers_and_words_are_told_apart() {
        let cases = [("3", true), ("-1.5e3", true), (".inf", true), ("0x1f", true), ("010", true), ("1.2.3", false)];
        for (text, number) in cases.into_iter().chain([("90s", false), ("inf", false), ("nan", false), ("'3'", false)])
        {
            assert_eq!(tree(&format!("k: {text}")).value_of("k").as_number().is_some(), number, "{text}");
        }
    }

    impl Node {
        fn value_of(&self, key: &str) -> &Node {
            &entry(self, key).value
        }
    }
}
