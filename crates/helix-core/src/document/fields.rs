//! Reads the fields of a mapping one by one and notes every problem instead of stopping at the first.
//!
//! Must not know any key: a key is allowed when the caller asked for it, which keeps parser and message in step.

use std::collections::HashMap;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::source_text::SourceText;
use crate::text::clip;

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
    /// A number outside of its range.
    pub out_of_range: &'static str,
    /// A length of time of the wrong form.
    pub bad_duration: &'static str,
}

/// A key of a declared mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    doc: &'static str,
    /// What to write when it is missing; `None` for an optional key.
    pub required: Option<&'static str>,
    /// A value as in a file, for the documentation.
    pub example: &'static str,
}

impl Key {
    /// An optional key with what it means.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, required: None, example: "" }
    }

    /// Makes it required, with what to write when it is missing.
    #[must_use]
    pub const fn required(self, help: &'static str) -> Self {
        Self { required: Some(help), ..self }
    }

    /// Adds a value as in a file.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// What it means, in one line.
    pub fn doc(&self) -> String {
        one_line(self.doc)
    }
}

pub(super) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How messages name a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paths {
    /// Alone: the place shows in which mapping it stands.
    #[default]
    Short,
    /// With the sections that it stands in: `jobs.max_parallel`.
    Full,
}

/// A value with the bytes at which it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    pub value: T,
    pub range: Range<usize>,
}

impl<T> Placed<T> {
    /// Puts a value at a place.
    pub fn new(value: T, range: Range<usize>) -> Self {
        Self { value, range }
    }
}

/// A kind of values that can be read from a node; problems go to the reader.
pub trait FromNode {
    type Value;
    /// What messages call an item of a list; by the list where there is none.
    const ITEM: Option<&'static str> = None;
    /// Reads the value; `None` when it was not one, which has been reported then. `what` names the field for messages.
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self::Value>;
}

/// The source and what was found wrong with it so far.
#[derive(Debug)]
pub struct FieldReader<'s> {
    /// The source, for places.
    pub source: &'s SourceText<'s>,
    pub problems: Vec<Diagnostic>,
    pub(super) codes: FieldCodes,
    paths: Paths,
}

impl<'s> FieldReader<'s> {
    /// Starts reading a source.
    pub fn new(source: &'s SourceText<'s>, codes: FieldCodes) -> Self {
        Self { source, codes, problems: Vec::new(), paths: Paths::default() }
    }

    /// Chooses how messages name keys.
    #[must_use]
    pub fn with_paths(self, paths: Paths) -> Self {
        Self { paths, ..self }
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

    /// Notes that a key is written twice.
    pub fn duplicate(&mut self, first: &Entry, second: &Entry, what: &str) {
        let line = self.source.line_of(first.key_range.start);
        let message = format!("the key `{}` of {what} is duplicate", shorten(&second.key));
        let help = format!("remove one of them; the first is in line {line}");
        self.error(self.codes.duplicate_key, &second.key_range, message, help);
    }

    /// Opens a mapping; reports duplicate keys, and anything that is not a mapping.
    pub fn open<'n>(&mut self, node: &'n Node, what: &str) -> Option<Fields<'n>> {
        let Value::Mapping(entries) = &node.value else {
            self.wrong_type(node, what, "a mapping of keys to values", None);
            return None;
        };
        let mut by_key: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
        for entry in entries.iter() {
            let first = *by_key.entry(&entry.key).or_insert(entry);
            if !std::ptr::eq(first, entry) {
                self.duplicate(first, entry, what);
            }
        }
        let (what, range, paths) = (what.to_owned(), node.range.clone(), self.paths);
        Some(Fields { what, range, paths, entries, by_key, asked: Vec::new(), unreadable: Vec::new() })
    }
}

/// An open mapping.
#[derive(Debug)]
pub struct Fields<'n> {
    what: String,
    range: Range<usize>,
    paths: Paths,
    entries: &'n [Entry],
    by_key: HashMap<&'n str, &'n Entry>,
    asked: Vec<&'static str>,
    unreadable: Vec<&'static str>,
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

    /// The entries without those that repeat a key.
    pub fn first_entries(&self) -> impl Iterator<Item = &'n Entry> {
        let first = |entry: &&Entry| self.by_key.get(&*entry.key).is_some_and(|first| std::ptr::eq(*first, *entry));
        self.entries.iter().filter(first)
    }

    /// What messages call a key of this mapping.
    pub fn path(&self, key: &str) -> String {
        match self.what.strip_prefix('`').and_then(|what| what.strip_suffix('`')) {
            Some(what) if self.paths == Paths::Full => format!("`{what}.{key}`"),
            Some(_) | None => format!("`{key}`"),
        }
    }

    /// Reads an optional field.
    pub fn take<T: FromNode>(&mut self, key: &'static str, reader: &mut FieldReader<'_>) -> Option<Placed<T::Value>> {
        let entry = self.entry(key)?;
        let before = reader.problems.len();
        let value = T::from_node(&entry.value, &self.path(key), reader);
        if reader.problems.len() > before {
            self.unreadable.push(key);
        }
        value.map(|value| Placed::new(value, entry.value.range.clone()))
    }

    /// Reads a required field; reports when it is not there, or blank.
    pub fn require<T: FromNode>(
        &mut self,
        key: &'static str,
        help: &str,
        reader: &mut FieldReader<'_>,
    ) -> Option<Placed<T::Value>> {
        let (range, message) = match self.by_key.get(key) {
            Some(entry) if entry.value.is_null() => {
                (entry.key_range.clone(), format!("{} of {} is empty", self.path(key), self.what))
            }
            Some(entry) if entry.value.is_blank() => {
                (entry.value.range.clone(), format!("{} is empty", self.path(key)))
            }
            Some(_) => return self.take::<T>(key, reader),
            None => (self.head(), format!("{} has no `{key}`", self.what)),
        };
        self.asked.push(key);
        self.unreadable.push(key);
        reader.error(reader.codes.missing_key, &range, message, help);
        None
    }

    /// Reads a declared field.
    pub fn declared<T: FromNode>(
        &mut self,
        key: &'static Key,
        reader: &mut FieldReader<'_>,
    ) -> Option<Placed<T::Value>> {
        match key.required {
            Some(help) => self.require::<T>(key.name, help, reader),
            None => self.take::<T>(key.name, reader),
        }
    }

    /// Reports every key that was not asked for; gives the keys whose values were reported.
    pub fn finish(self, reader: &mut FieldReader<'_>) -> Vec<&'static str> {
        for entry in self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key)) {
            let message = format!("{} has no key `{}`", self.what, shorten(&entry.key));
            let allowed = self.asked.join(", ");
            let help = match did_you_mean(&entry.key, self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? Allowed are: {allowed}"),
                None => format!("allowed are: {allowed}"),
            };
            reader.error(reader.codes.unknown_key, &entry.key_range, message, help);
        }
        self.unreadable
    }

    /// Where to point when something is missing: the first key.
    pub fn head(&self) -> Range<usize> {
        self.entries.first().map_or_else(|| self.range.clone(), |entry| entry.key_range.clone())
    }
}

/// A written word, cut to a length that fits into a message.
pub(super) fn shorten(text: &str) -> String {
    clip(text, 61).escape_debug().to_string()
}
