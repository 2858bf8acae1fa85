//! What an older plan leaves out and a modern one must say: its name, a phase's type and name, and that phases run in order.
//!
//! Must not know old keys: it is given phases in the modern form, beside what was written.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use helix_core::document::{Entry, Node, Value};

use super::super::codes;
use super::super::print::node_text;
use super::{Modern, Normalised, Rewriter};

/// The type of a phase without one in older plans.
const TYPE: &str = "development";

impl Rewriter<'_, '_> {
    /// The plan's name, after the directory of its file, if the plan has none.
    pub(super) fn left_out_name(&mut self, entries: &mut Vec<Entry>) {
        let Some(first) = entries.first().map(|entry| entry.key_range.clone()) else { return };
        if has(entries, "name") {
            return;
        }
        let file = Path::new(self.reader.source.file());
        let directory = file.parent().and_then(Path::file_name).or_else(|| file.file_stem());
        let Some(name) = directory.and_then(|name| name.to_str()) else { return };
        let value = Node::text(name, &first);
        self.fill(&first, "name:", &format!("name: {}", node_text(&value)), "the plan has no `name`");
        set(entries, "name", &first, value);
    }

    /// What the phases leave out: `written` as they stand in the file, `phases` in the modern form.
    pub(super) fn left_out_of_phases(&mut self, written: &[Node], phases: &mut [Node]) {
        let goes_backwards = goes_backwards(phases);
        let mut before: Option<String> = None;
        for (written, phase) in written.iter().zip(phases) {
            let (Value::Mapping(written), Value::Mapping(entries)) = (&written.value, &phase.value) else { continue };
            let mut entries = entries.to_vec();
            let id = entries.iter().find(|entry| &*entry.key == "id" && entry.value.as_text().is_some()).cloned();
            let Some(id) = id else { continue };
            let at = &id.key_range;
            let name = node_text(&id.value);
            let said = format!("id: {name}");
            if !has(&entries, "type") {
                self.fill(at, &said, &format!("type: {TYPE}"), &format!("phase `{name}` has no `type`"));
                set(&mut entries, "type", at, Node::text(TYPE, at));
            }
            if !has(&entries, "name") && !has(&entries, "description") {
                let what = format!("phase `{name}` has neither `name` nor `description`");
                self.fill(at, &said, &format!("name: {name}"), &what);
                set(&mut entries, "name", at, id.value.clone());
            }
            let says_order = ["depends_on", "dependencies"].iter().any(|key| has(written, key));
            if let Some(before) = before.filter(|_| goes_backwards && !says_order) {
                self.follows(&mut entries, at, &name, &before);
            }
            before = id.value.as_text().map(str::to_owned);
            phase.value = Value::Mapping(entries.into());
        }
    }

    /// Has a phase come after the one above it, as it did.
    fn follows(&mut self, entries: &mut Vec<Entry>, at: &Range<usize>, name: &str, before: &str) {
        let known = entries.iter().find(|entry| &*entry.key == "depends_on" && !entry.value.is_null());
        let mut all = known.map(|entry| entry.value.items().to_vec()).unwrap_or_default();
        if all.iter().any(|id| id.as_text() == Some(before)) {
            return;
        }
        all.push(Node::text(before, at));
        let all = Node::list(all, at);
        let what = format!("phase `{name}` runs after `{before}`: phases of older plans run in order");
        self.fill(at, &format!("id: {name}"), &format!("depends_on: {}", node_text(&all)), &what);
        set(entries, "depends_on", at, all);
    }

    /// Warns of something that the plan leaves out and that was filled in.
    fn fill(&mut self, range: &Range<usize>, old: &str, new: &str, what: &str) {
        self.reader.warning(codes::OLD_FORM, range, what.to_owned(), format!("write `{new}`"));
        let span = self.reader.source.span(range.clone());
        self.normalised.push(Normalised { span, old: old.to_owned(), new: Modern::Written(new.to_owned()) });
    }
}

/// Whether each phase depends only on phases above it, so that running them in order contradicts nothing.
fn goes_backwards(phases: &[Node]) -> bool {
    let texts = |phase: &Node, key: &str| -> Vec<String> {
        let items = phase.get(key).map(|entry| entry.value.items()).unwrap_or_default();
        items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
    };
    let mut below: HashSet<String> = phases.iter().flat_map(|phase| texts(phase, "id")).collect();
    phases.iter().all(|phase| {
        let goes = texts(phase, "depends_on").iter().all(|id| !below.contains(id));
        for id in texts(phase, "id") {
            below.remove(&id);
        }
        goes
    })
}

fn has(entries: &[Entry], key: &str) -> bool {
    entries.iter().any(|entry| &*entry.key == key && !entry.value.is_null())
}

/// Writes a key instead of an empty one.
fn set(entries: &mut Vec<Entry>, key: &str, range: &Range<usize>, value: Node) {
    entries.retain(|entry| &*entry.key != key);
    entries.push(Entry { key: key.into(), key_range: range.clone(), value });
}
