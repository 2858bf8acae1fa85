//! Front matter of files that people and agents write for Helix (skills, prompts): small, bounded, with places.
//!
//! Must not know which keys there are; ADRs have a reader of their own in `helix_adr`.

use std::collections::HashSet;
use std::ops::Range;

use helix_core::document::{Entry, Limits, Node, Value, front_matter, read_part};

/// How much front matter may ask for: a page of text, no alias bombs.
const LIMITS: Limits = Limits { bytes: 16 << 10, nodes: 500, text_bytes: 32 << 10 };

/// A file split at its front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    keys: Option<Node>,
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
        let first = || 0..text.lines().next().unwrap_or_default().trim_end().len();
        let found = front_matter(text)
            .map_err(|opening| wrong("the front matter is not closed with a line of `---`".into(), opening))?
            .ok_or_else(|| wrong("no front matter".into(), first()))?;
        let keys = read_part(&text[found.inner.clone()], found.inner.start, LIMITS)
            .map_err(|error| wrong(error.to_string(), error.range.unwrap_or(found.inner.clone())))?;
        let front = Self { keys, body: found.whole.end };
        if front.keys.is_some() && front.entries().is_empty() {
            return Err(wrong("the front matter must hold keys and values".into(), found.inner));
        }
        let mut seen = HashSet::new();
        match front.entries().iter().find(|entry| !seen.insert(&entry.key)) {
            Some(again) => Err(wrong(format!("`{}` is written twice", again.key), again.key_range.clone())),
            None => Ok(front),
        }
    }

    fn entries(&self) -> &[Entry] {
        match self.keys.as_ref().map(|keys| &keys.value) {
            Some(Value::Mapping(entries)) => entries,
            Some(Value::Scalar(_) | Value::Sequence(_)) | None => &[],
        }
    }

    /// The text of a key with its place.
    pub fn text(&self, key: &str) -> Option<(&str, Range<usize>)> {
        let value = &self.entries().iter().find(|entry| &*entry.key == key)?.value;
        Some((value.scalar()?, value.range.clone()))
    }

    /// The texts of a key: each of a list, or those between commas.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        let Some(entry) = self.entries().iter().find(|entry| &*entry.key == key) else { return Vec::new() };
        let texts = match &entry.value.value {
            Value::Sequence(items) => items.iter().filter_map(Node::scalar).collect(),
            Value::Scalar(_) => entry.value.scalar().into_iter().flat_map(|text| text.split(',')).collect(),
            Value::Mapping(_) => Vec::new(),
        };
        let texts: Vec<&str> = texts;
        texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect()
    }

    /// All keys that hold a text.
    pub fn keys(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let texts = self.entries().iter().filter(|entry| entry.value.scalar().is_some());
        texts.map(|entry| (&*entry.key, entry.value.range.clone()))
    }
}
