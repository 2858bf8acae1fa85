//! Front matter of files that people and agents write for Helix (skills, prompts): small, bounded, with places.
//!
//! Must not know which keys there are; ADRs have a reader of their own in `helix_adr`.

use std::ops::Range;

use helix_core::document::{Limits, Node, Value, read_part};

/// How much front matter may ask for: a page of text, no alias bombs.
const LIMITS: Limits = Limits { bytes: 16 << 10, nodes: 500, text_bytes: 32 << 10 };

/// A file split at its front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// Texts by key, in the order of the file; lists and mappings are left out.
    texts: Vec<(String, String, Range<usize>)>,
    /// Where the text below begins.
    pub body: usize,
}

/// Why no front matter to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoFront {
    pub message: String,
    pub range: Range<usize>,
}

impl Front {
    /// Reads the front matter that a text begins with.
    ///
    /// # Errors
    /// [`NoFront`] when there is none, it is not closed, or it is no mapping.
    pub fn read(text: &str) -> Result<Self, NoFront> {
        let wrong = |message: String, range: Range<usize>| NoFront { message, range };
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut lines = text[mark..].split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        if first.trim_end() != "---" {
            return Err(wrong("no front matter".into(), mark..mark + first.trim_end().len()));
        }
        let inner = mark + first.len();
        let mut at = inner;
        for line in lines {
            if matches!(line.trim_end(), "---" | "...") {
                let node = read_part(&text[inner..at], inner, LIMITS)
                    .map_err(|error| wrong(error.to_string(), error.range().unwrap_or(inner..at)))?;
                return Ok(Self { texts: texts_of(node.as_ref(), inner..at)?, body: at + line.len() });
            }
            at += line.len();
        }
        Err(wrong("the front matter is not closed with a line of `---`".into(), mark..inner))
    }

    /// The text of a key with its place.
    pub fn text(&self, key: &str) -> Option<(&str, Range<usize>)> {
        let found = self.texts.iter().find(|(own, _, _)| own == key)?;
        Some((found.1.as_str(), found.2.clone()))
    }

    /// All keys that hold a text.
    pub fn keys(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.texts.iter().map(|(key, _, range)| (key.as_str(), range.clone()))
    }
}

fn texts_of(node: Option<&Node>, range: Range<usize>) -> Result<Vec<(String, String, Range<usize>)>, NoFront> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let Value::Mapping(entries) = &node.value else {
        return Err(NoFront { message: "the front matter must hold keys and values".into(), range });
    };
    let text = |value: &Value| match value {
        Value::Scalar(scalar) => Some(scalar.text.clone()),
        Value::Sequence(_) | Value::Mapping(_) => None,
    };
    let mut texts: Vec<(String, String, Range<usize>)> = Vec::new();
    for entry in entries.iter() {
        if texts.iter().any(|(key, _, _)| **key == *entry.key) {
            let message = format!("`{}` is written twice", entry.key);
            return Err(NoFront { message, range: entry.key_range.clone() });
        }
        texts.extend(text(&entry.value.value).map(|text| (entry.key.to_string(), text, entry.value.range.clone())));
    }
    Ok(texts)
}
