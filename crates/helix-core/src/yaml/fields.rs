//! Reads the fields of a mapping one by one and notes every problem instead of stopping at the first.
//!
//! Must not know any key: a key is allowed when the caller asked for it, which keeps parser and message in step.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::source_text::SourceText;

use super::tree::{Entry, Node, Value};

/// Codes of the diagnostics that every reader of fields gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldCodes {
    /// A key that nobody asked for.
    pub unknown_key: &'static str,
    /// A key written twice.
    pub duplicate_key: &'static str,
    /// A required key that is not there.
    pub missing_key: &'static str,
    /// A value of another type.
    pub wrong_type: &'static str,
    /// A word that is not in the list.
    pub unknown_word: &'static str,
}

/// A value with the bytes at which it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub range: Range<usize>,
}

impl<T> Placed<T> {
    /// Puts a value at a place.
    pub fn new(value: T, range: Range<usize>) -> Self {
        Self { value, range }
    }
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A type that can be read from a node; problems go to the reader.
pub trait FromYaml: Sized {
    /// Reads the value; `None` when it was not one, which has been reported then. `what` names the field for messages.
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self>;
}

/// The source and what was found wrong with it so far.
#[derive(Debug)]
pub struct FieldReader<'s> {
    /// The source, for places.
    pub source: &'s SourceText<'s>,
    /// What was found.
    pub problems: Vec<Diagnostic>,
    codes: FieldCodes,
}

impl<'s> FieldReader<'s> {
    /// Starts reading a source.
    pub fn new(source: &'s SourceText<'s>, codes: FieldCodes) -> Self {
        Self { source, codes, problems: Vec::new() }
    }

    /// Notes an error with a remedy.
    pub fn error(&mut self, code: &str, range: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.source.error(code, range.clone(), message).help(help));
    }

    /// Notes a warning with a remedy.
    pub fn warning(&mut self, code: &str, range: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.source.warning(code, range.clone(), message).help(help));
    }

    /// Notes that a value has the wrong type.
    pub fn wrong_type(&mut self, node: &Node, what: &str, expected: &str, help: Option<String>) {
        let message = format!("{what} must be {expected}, but this is {}", node.describe());
        let help = help.unwrap_or_else(|| format!("write {expected} here"));
        self.error(self.codes.wrong_type, &node.range, message, help);
    }

    /// Looks a word up in a list; unknown words are reported with the nearest one.
    pub fn word<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let written = String::from_yaml(node, what, self)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == written) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = match did_you_mean(&written, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? Known are: {}", known.join(", ")),
            None => format!("use one of: {}", known.join(", ")),
        };
        self.error(self.codes.unknown_word, &node.range, format!("`{}` is not {what}", shorten(&written)), help);
        None
    }

    /// Opens a mapping; reports duplicate keys, and anything that is no mapping.
    pub fn open<'n>(&mut self, node: &'n Node, what: &str) -> Option<Fields<'n>> {
        let Value::Mapping(entries) = &node.value else {
            self.wrong_type(node, what, "a mapping of keys to values", None);
            return None;
        };
        let mut by_key: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
        for entry in entries.iter() {
            match by_key.get(&*entry.key) {
                None => {
                    by_key.insert(&entry.key, entry);
                }
                Some(first) => {
                    let line = self.source.line_of(first.key_range.start);
                    let message = format!("the key `{}` of {what} is there twice", shorten(&entry.key));
                    let help = format!("keep one of them; the first is in line {line}");
                    self.error(self.codes.duplicate_key, &entry.key_range, message, help);
                }
            }
        }
        Some(Fields { what: what.to_owned(), range: node.range.clone(), entries, by_key, asked: Vec::new() })
    }
}

/// An open mapping.
#[derive(Debug)]
pub struct Fields<'n> {
    what: String,
    range: Range<usize>,
    entries: &'n [Entry],
    by_key: HashMap<&'n str, &'n Entry>,
    asked: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The bytes of the whole mapping.
    pub fn range(&self) -> &Range<usize> {
        &self.range
    }

    /// Changes what messages call the mapping, once its fields have told.
    pub fn name(&mut self, what: String) {
        self.what = what;
    }

    /// The entry of a key, which is allowed from now on; an empty value counts as absent.
    pub fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.asked.push(key);
        self.by_key.get(key).copied().filter(|entry| !entry.value.is_null())
    }

    /// Reads an optional field.
    pub fn take<T: FromYaml>(&mut self, key: &'static str, reader: &mut FieldReader<'_>) -> Option<Placed<T>> {
        let entry = self.entry(key)?;
        let what = format!("`{key}`");
        T::from_yaml(&entry.value, &what, reader).map(|value| Placed::new(value, entry.value.range.clone()))
    }

    /// Reads a required field; reports when it is not there.
    pub fn require<T: FromYaml>(
        &mut self,
        key: &'static str,
        help: &str,
        reader: &mut FieldReader<'_>,
    ) -> Option<Placed<T>> {
        self.asked.push(key);
        match self.by_key.get(key) {
            Some(entry) if !entry.value.is_null() => {
                let what = format!("`{key}`");
                T::from_yaml(&entry.value, &what, reader).map(|value| Placed::new(value, entry.value.range.clone()))
            }
            Some(entry) => {
                let range = entry.key_range.clone();
                reader.error(reader.codes.missing_key, &range, format!("`{key}` of {} is empty", self.what), help);
                None
            }
            None => {
                let range = self.head();
                reader.error(reader.codes.missing_key, &range, format!("{} has no `{key}`", self.what), help);
                None
            }
        }
    }

    /// Reports every key that was not asked for.
    pub fn finish(self, reader: &mut FieldReader<'_>) {
        for entry in self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key)) {
            let message = format!("{} has no key `{}`", self.what, shorten(&entry.key));
            let allowed = self.asked.join(", ");
            let help = match did_you_mean(&entry.key, self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? Allowed are: {allowed}"),
                None => format!("allowed are: {allowed}"),
            };
            reader.error(reader.codes.unknown_key, &entry.key_range, message, help);
        }
    }

    /// Where to point when something is missing: the first key.
    pub fn head(&self) -> Range<usize> {
        self.entries.first().map_or_else(|| self.range.clone(), |entry| entry.key_range.clone())
    }
}

/// A written word, cut to a length that fits into a message.
fn shorten(text: &str) -> String {
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}

impl FromYaml for String {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        match &node.value {
            Value::Scalar(scalar) if node.as_bool().is_none() && node.as_number().is_none() && !node.is_null() => {
                Some(scalar.text.clone())
            }
            Value::Scalar(scalar) => {
                let help = format!("write it in quotes: \"{}\"", shorten(&scalar.text));
                reader.wrong_type(node, what, "text", Some(help));
                None
            }
            Value::Sequence(_) | Value::Mapping(_) => {
                reader.wrong_type(node, what, "text", None);
                None
            }
        }
    }
}

impl FromYaml for bool {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if node.as_bool().is_none() {
            reader.wrong_type(node, what, "true or false", None);
        }
        node.as_bool()
    }
}

impl FromYaml for u32 {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let value = node.as_number().and_then(|text| text.strip_prefix('+').unwrap_or(text).parse().ok());
        if value.is_none() {
            reader.wrong_type(node, what, "a whole number from 0", None);
        }
        value
    }
}

impl FromYaml for f64 {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let value = node.as_number().and_then(|text| match text.trim_start_matches(['+', '-']) {
            ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
            ".inf" | ".Inf" | ".INF" if text.starts_with('-') => Some(f64::NEG_INFINITY),
            ".inf" | ".Inf" | ".INF" => Some(f64::INFINITY),
            _ => text.parse().ok(),
        });
        if value.is_none() {
            reader.wrong_type(node, what, "a number", None);
        }
        value
    }
}

impl<T: FromYaml> FromYaml for Vec<Placed<T>> {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let Value::Sequence(items) = &node.value else {
            let help = match &node.value {
                Value::Scalar(scalar) => Some(format!("write a list: [{}]", shorten(&scalar.text))),
                Value::Sequence(_) | Value::Mapping(_) => None,
            };
            reader.wrong_type(node, what, "a list", help);
            return None;
        };
        let what = format!("an item of {what}");
        let read = |item: &Node| T::from_yaml(item, &what, reader).map(|value| Placed::new(value, item.range.clone()));
        Some(items.iter().filter_map(read).collect())
    }
}
