//! A mapping while it is written anew: which modern keys it has, and which written key each of them came from.
//!
//! Must not know what any key means; two keys for one thing are refused here, whatever their order in the file.

use std::ops::Range;

use helix_core::document::{Entry, Node, Value};

use super::super::codes;
use super::{Pen, list_node};

/// A mapping in the making.
pub(super) struct Draft<'n> {
    source: &'n [Entry],
    pub(super) entries: Vec<Entry>,
    /// Modern keys that an old key has become, with the old key's name.
    taken: Vec<(&'static str, String)>,
}

impl<'n> Draft<'n> {
    pub(super) fn new(source: &'n [Entry]) -> Self {
        Self { source, entries: Vec::with_capacity(source.len()), taken: Vec::new() }
    }

    /// The first entry of a key that is not empty.
    pub(super) fn written(&self, key: &str) -> Option<&'n Entry> {
        self.source.iter().find(|entry| &*entry.key == key && !entry.value.is_null())
    }

    /// Whether an entry is the first of its key; a later one is reported.
    pub(super) fn is_first(&self, entry: &Entry, what: &str, pen: &mut Pen<'_, '_>) -> bool {
        let first = self.source.iter().find(|other| other.key == entry.key);
        let Some(first) = first.filter(|first| first.key_range != entry.key_range) else { return true };
        let line = pen.reader.source.line_of(first.key_range.start);
        let message = format!("the key `{}` of {what} is duplicate", entry.key);
        let help = format!("remove one of them; the first is in line {line}");
        pen.reader.error(codes::DUPLICATE_KEY, &entry.key_range, message, help);
        false
    }

    /// Takes a modern key for an old one; reports when the same thing was written with another key too.
    pub(super) fn take(
        &mut self,
        modern: &'static str,
        old: &str,
        range: &Range<usize>,
        pen: &mut Pen<'_, '_>,
    ) -> bool {
        let other = match self.taken.iter().find(|(key, _)| *key == modern) {
            Some((_, other)) => Some(other.clone()),
            None => self.written(modern).map(|entry| entry.key.to_string()),
        };
        let Some(other) = other else {
            self.taken.push((modern, old.to_owned()));
            return true;
        };
        let message = format!("`{old}` and `{other}` set the same thing");
        let help = format!("keep only `{modern}`");
        pen.reader.error(codes::TWO_KEYS, range, message, help);
        false
    }

    /// Writes a modern key.
    pub(super) fn put(&mut self, key: &str, key_range: &Range<usize>, value: Node) {
        self.entries.push(Entry { key: key.into(), key_range: key_range.clone(), value });
    }

    /// Adds items to a list, which is made if it is not there; items that it has already are not added again.
    pub(super) fn add(&mut self, key: &str, key_range: &Range<usize>, more: &[Node]) {
        let Some(entry) = self.entries.iter_mut().find(|entry| &*entry.key == key && !entry.value.is_null()) else {
            if let (Some(first), false) = (more.first(), more.is_empty()) {
                let list = list_node(more.to_vec(), &first.range);
                self.entries.retain(|entry| &*entry.key != key);
                self.put(key, key_range, list);
            }
            return;
        };
        // A value that is no list is reported by the reader of modern plans.
        let Value::Sequence(present) = &entry.value.value else { return };
        let mut all = present.to_vec();
        for item in more {
            if !all.iter().any(|other| other.value == item.value || same_text(other, item)) {
                all.push(item.clone());
            }
        }
        entry.value.value = Value::Sequence(all.into());
    }

    pub(super) fn finish(mut self, range: &Range<usize>) -> Node {
        // An empty modern key says nothing; beside an old one for the same thing it would count as written twice.
        let taken: Vec<&str> = self.taken.iter().map(|(modern, _)| *modern).collect();
        self.entries.retain(|entry| !entry.value.is_null() || !taken.contains(&&*entry.key));
        Node { range: range.clone(), value: Value::Mapping(self.entries.into()) }
    }
}

fn same_text(left: &Node, right: &Node) -> bool {
    match (super::as_text(left), super::as_text(right)) {
        (Some(left), Some(right)) => left == right,
        (Some(_) | None, _) => false,
    }
}
