//! The gates of older plans: bare names, single gates, other names for gates and for their parameters.
//!
//! Must not know which gates exist; a name that is in no table of old words is left to the reader of modern plans.

use std::ops::Range;

use helix_core::document::{Entry, Node, Value};

use super::super::print::node_text;
use super::draft::Draft;
use super::files::{self, Direction, Owner};
use super::table::{Meaning, OldPlace, Shape, WORDS, WordOf, old_key};
use super::{Pen, as_text, items, list_node, text_node};

/// Where the ADRs lie that a gate without files means, when the plan names none.
const EVERY_ADR: &str = "adr/*.md";

/// The dialect of the key under which a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Under {
    /// `quality_gate`, `quality_gates` or `gate`: the paths in it follow the old conventions too.
    OldKey,
    /// `gates`: only what no modern gate has is taken for an old form.
    ModernKey,
}

/// What a gate stands in.
pub(super) struct GateScope<'a> {
    pub(super) under: Under,
    pub(super) owner: &'a Owner,
    pub(super) adr: Option<&'a str>,
}

/// One gate or several under an old key, as a modern list.
pub(super) fn gates(value: &Node, scope: &GateScope<'_>, pen: &mut Pen<'_, '_>) -> Node {
    let gates = items(value).iter().map(|item| gate(item, scope, pen)).collect();
    list_node(gates, &value.range)
}

/// The gates of a modern list, each old form in it noted by itself.
pub(super) fn modern_gates(value: &Node, scope: &GateScope<'_>, pen: &mut Pen<'_, '_>) -> Node {
    let Value::Sequence(list) = &value.value else { return value.clone() };
    let mut all = Vec::with_capacity(list.len());
    for item in list.iter() {
        let Value::Mapping(_) = &item.value else {
            all.push(item.clone());
            continue;
        };
        let new = gate(item, scope, pen);
        let (old_text, new_text) = (node_text(item), node_text(&new));
        if old_text != new_text {
            pen.written(&item.range, old_text, new_text);
        }
        all.push(new);
    }
    list_node(all, &value.range)
}

fn gate(node: &Node, scope: &GateScope<'_>, pen: &mut Pen<'_, '_>) -> Node {
    let key_range = node.range.start..node.range.start;
    let bare;
    let entries: &[Entry] = match &node.value {
        Value::Mapping(entries) => entries,
        Value::Scalar(_) => {
            bare = [Entry { key: "type".into(), key_range: node.range.clone(), value: node.clone() }];
            &bare
        }
        Value::Sequence(_) => return node.clone(),
    };
    let mut draft = Draft::new(entries);
    let mut about_adrs = false;
    for entry in entries {
        match (&*entry.key, old_key(OldPlace::Gate, &entry.key).map(|row| row.meaning)) {
            ("type", _) => {
                let row = WORDS.iter().find(|row| row.of != WordOf::Phase && as_text(&entry.value) == Some(row.word));
                about_adrs |= row.is_some_and(|row| row.of == WordOf::AdrGate);
                let value = row.map_or_else(|| entry.value.clone(), |row| text_node(row.modern, &entry.value.range));
                draft.put("type", &entry.key_range, value);
            }
            ("files", _) if scope.under == Under::OldKey => {
                let value = file_list(&entry.value, scope, pen);
                draft.put("files", &entry.key_range, value);
            }
            (key, Some(Meaning::Key(modern, shape))) => {
                if draft.is_first(entry, "a gate", pen) && draft.take(modern, key, &entry.key_range, pen) {
                    let value =
                        if shape == Shape::List { file_list(&entry.value, scope, pen) } else { entry.value.clone() };
                    draft.put(modern, &entry.key_range, value);
                }
            }
            (key, _) => draft.put(key, &entry.key_range, entry.value.clone()),
        }
    }
    if about_adrs && !draft.entries.iter().any(|entry| &*entry.key == "files" && !entry.value.is_null()) {
        let files = vec![text_node(scope.adr.unwrap_or(EVERY_ADR), &node.range)];
        if pen.may_copy(&files, &node.range) {
            put_files(&mut draft, &key_range, list_node(files, &node.range));
        }
    }
    draft.finish(&node.range)
}

fn put_files(draft: &mut Draft<'_>, key_range: &Range<usize>, files: Node) {
    draft.entries.retain(|entry| &*entry.key != "files");
    draft.put("files", key_range, files);
}

fn file_list(value: &Node, scope: &GateScope<'_>, pen: &mut Pen<'_, '_>) -> Node {
    list_node(files::paths(items(value), Direction::Read, scope.owner, pen), &value.range)
}
