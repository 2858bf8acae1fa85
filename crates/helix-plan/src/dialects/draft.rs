//! A mapping while it is written anew: which modern keys it has, and which written key each of them came from.
//!
//! Must not know what any key means; two keys for one thing are refused here, whatever their order in the file.

use std::ops::Range;

use helix_core::document::{Entry, FieldReader, Node, Value};

use super::super::codes;

/// A mapping in the making.
pub(super) struct Draft<'n> {
    pub(super) source: &'n [Entry],
    pub(super) entries: Vec<Entry>,
    /// Paths that an old key has become, with the old key's name.
    taken: Vec<(&'static str, String)>,
    /// What is still to be put into an inner mapping, by the key of that.
    inner: Vec<(&'static str, Entry)>,
    /// Dependencies that come from other keys, with the place of the key.
    pub(super) dependencies: Vec<(Range<usize>, Node)>,
}

impl<'n> Draft<'n> {
    pub(super) fn new(source: &'n [Entry]) -> Self {
        let entries = Vec::with_capacity(source.len());
        Self { source, entries, taken: Vec::new(), inner: Vec::new(), dependencies: Vec::new() }
    }

    /// The first entry of a key that is not empty.
    pub(super) fn written(&self, key: &str) -> Option<&'n Entry> {
        self.source.iter().find(|entry| &*entry.key == key && is_filled(entry))
    }

    /// Whether an entry is the first of its key; a later one is reported.
    pub(super) fn is_first(&self, entry: &Entry, what: &str, reader: &mut FieldReader<'_>) -> bool {
        let first = self.source.iter().find(|other| other.key == entry.key);
        let Some(first) = first.filter(|first| first.key_range != entry.key_range) else { return true };
        reader.duplicate(first, entry, what);
        false
    }

    /// Takes the path of a modern key (`defaults.timeout`) for an old one; reports when the same thing was written with
    /// another key too.
    pub(super) fn take(
        &mut self,
        path: &'static str,
        old: &str,
        range: &Range<usize>,
        reader: &mut FieldReader<'_>,
    ) -> bool {
        let is_written = match path.split_once('.') {
            Some((outer, key)) => self.written(outer).and_then(|entry| entry.value.get(key)).is_some_and(is_filled),
            None => self.written(path).is_some(),
        };
        let taken = self.taken.iter().find(|(known, _)| *known == path).map(|(_, other)| other.as_str());
        let Some(other) = taken.or(is_written.then_some(path)) else {
            self.taken.push((path, old.to_owned()));
            return true;
        };
        let message = format!("`{old}` and `{other}` set the same thing");
        reader.error(codes::TWO_KEYS, range, message, format!("keep only `{path}`"));
        false
    }

    /// Writes a key.
    pub(super) fn put(&mut self, key: &str, key_range: &Range<usize>, value: Node) {
        self.entries.push(Entry { key: key.into(), key_range: key_range.clone(), value });
    }

    /// Writes a modern key by its path.
    pub(super) fn put_at(&mut self, path: &'static str, key_range: &Range<usize>, value: Node) {
        match path.split_once('.') {
            Some((outer, key)) => {
                self.inner.push((outer, Entry { key: key.into(), key_range: key_range.clone(), value }));
            }
            None => self.put(path, key_range, value),
        }
    }

    /// Adds items to a list, which is made if it is not there; items that it has already are not added again.
    pub(super) fn add(&mut self, key: &str, key_range: &Range<usize>, more: &Node) {
        let Some(entry) = self.entries.iter_mut().find(|entry| &*entry.key == key && is_filled(entry)) else {
            self.entries.retain(|entry| &*entry.key != key);
            return self.put(key, key_range, more.clone());
        };
        // A value that is not a list is reported by the reader of modern plans.
        let Value::Sequence(present) = &entry.value.value else { return };
        let mut all = present.to_vec();
        for item in more.items() {
            let is_same = |other: &Node| match item.as_text() {
                Some(text) => other.as_text() == Some(text),
                None => other.value == item.value,
            };
            if !all.iter().any(is_same) {
                all.push(item.clone());
            }
        }
        entry.value.value = Value::Sequence(all.into());
    }

    pub(super) fn finish(mut self, range: &Range<usize>) -> Node {
        for (outer, new) in std::mem::take(&mut self.inner) {
            let present = self.entries.iter_mut().find(|entry| &*entry.key == outer && !entry.value.is_null());
            match present.map(|entry| &mut entry.value.value) {
                Some(Value::Mapping(entries)) => {
                    let mut all: Vec<Entry> = entries.iter().filter(|entry| entry.key != new.key).cloned().collect();
                    all.push(new);
                    *entries = all.into();
                }
                // A value that is not a mapping is reported by the reader of modern plans.
                Some(Value::Scalar(_) | Value::Sequence(_)) => {}
                None => {
                    let (key_range, range) = (new.key_range.clone(), new.value.range.clone());
                    self.entries.retain(|entry| &*entry.key != outer);
                    self.put(outer, &key_range, Node { range, value: Value::Mapping([new].into()) });
                }
            }
        }
        // An empty modern key says nothing; beside an old one for the same thing it would count as written twice.
        self.entries.retain(|entry| !entry.value.is_null() || self.taken.iter().all(|(path, _)| *path != &*entry.key));
        Node { range: range.clone(), value: Value::Mapping(self.entries.into()) }
    }
}

fn is_filled(entry: &Entry) -> bool {
    !entry.value.is_null()
}
