//! The top of an older plan: `project`, and values that now stand in `defaults` or in the phases.
//!
//! Must not know what stands in a phase beyond what decides about others: its id, and whether it generates phases.

use std::ops::Range;

use helix_core::document::{Entry, Node, Value};

use super::super::codes;
use super::super::print::{entry_text, node_text};
use super::draft::Draft;
use super::phase::{self, Shared, Surroundings};
use super::table::{Meaning, OldKey, OldPlace, Shape, keys_of, old_key};
use super::{Modern, Old, Pen, as_text, id_node, items, list_node};

/// The top of a plan while it is written anew.
struct Top<'n> {
    draft: Draft<'n>,
    around: Surroundings,
    /// `defaults.max_attempts` from an old key, with the place of the key.
    attempts: Option<(Range<usize>, Node)>,
}

/// Writes a plan anew.
pub(super) fn plan(node: &Node, pen: &mut Pen<'_, '_>) -> Node {
    let Value::Mapping(entries) = &node.value else { return node.clone() };
    let draft = Draft::new(entries);
    let around = Surroundings { generating: generating(&draft), ..Surroundings::default() };
    let mut top = Top { draft, around, attempts: None };
    for entry in entries.iter() {
        let Some(row) = old_key(OldPlace::Plan, &entry.key) else {
            top.draft.entries.push(entry.clone());
            continue;
        };
        if !top.draft.is_first(entry, "a plan", pen) {
            continue;
        }
        let old = Old { name: row.key.into(), text: entry_text(entry), entry };
        if entry.value.is_null() {
            pen.note(&entry.key_range, old.text.trim_end().to_owned(), Modern::LeftOut);
        } else if row.meaning == Meaning::Parts(OldPlace::Project) {
            project(entry, &mut top, pen);
        } else {
            apply(row, old, &mut top, pen);
        }
    }
    let Top { mut draft, mut around, attempts } = top;
    if let Some((key_range, value)) = attempts {
        put_default(&mut draft, "max_attempts", &key_range, value);
    }
    around.adr = draft
        .entries
        .iter()
        .find(|entry| &*entry.key == "adr")
        .and_then(|entry| as_text(&entry.value))
        .map(str::to_owned);
    for entry in draft.entries.iter_mut().filter(|entry| &*entry.key == "phases") {
        if let Value::Sequence(list) = &entry.value.value {
            let phases =
                list.iter().enumerate().map(|(number, one)| phase::phase(number, one, &mut around, pen)).collect();
            entry.value = list_node(phases, &entry.value.range);
        }
    }
    for (shared, why) in [
        (around.max, "no phase generates phases without saying how many"),
        (around.template, "no phase generates phases without naming a template"),
        (around.skills, "the plan has no phases of its own"),
    ] {
        let Some(shared) = shared else { continue };
        if shared.used == 0 {
            pen.ignored(&shared.key_range, shared.old, why);
        } else {
            pen.written(&shared.key_range, shared.old, shared.new);
        }
    }
    draft.finish(&node.range)
}

fn apply(row: &OldKey, old: Old<'_>, top: &mut Top<'_>, pen: &mut Pen<'_, '_>) {
    let (range, value) = (&old.entry.key_range, &old.entry.value);
    match row.meaning {
        Meaning::Ignored(why) => pen.ignored(range, old.text, why),
        Meaning::Key(modern, _) => {
            if top.draft.take(modern, &old.name, range, pen) {
                top.draft.put(modern, range, value.clone());
                pen.written(range, old.text, format!("{modern}: {}", node_text(value)));
            }
        }
        Meaning::Default(modern, Shape::Retries) => {
            let own = top.draft.written("defaults").filter(|defaults| has_key(&defaults.value, modern));
            if own.is_some() {
                let message = format!("`{}` and `defaults.{modern}` set the same thing", old.name);
                pen.reader.error(codes::TWO_KEYS, range, message, format!("keep `defaults.{modern}`"));
            } else if top.draft.take("defaults.max_attempts", &old.name, range, pen)
                && let Some(value) = phase::attempts(value, &old.name, pen)
            {
                pen.written(range, old.text, format!("defaults: {{ {modern}: {} }}", node_text(&value)));
                top.attempts = Some((range.clone(), value));
            }
        }
        Meaning::Generates(modern) => {
            let template = (modern == "template").then(|| phase::template(value));
            let value = match &template {
                None => value,
                Some(Some(known)) => known,
                Some(None) => return pen.ignored(range, old.text, phase::NO_TEMPLATE),
            };
            let new =
                format!("generates_phases: {{ {modern}: {} }} # in each phase that generates phases", node_text(value));
            let shared = Shared { value: value.clone(), key_range: range.clone(), old: old.text, new, used: 0 };
            if modern == "max" {
                top.around.max = Some(shared);
            } else {
                top.around.template = Some(shared);
            }
        }
        Meaning::EachPhase(modern) => {
            let list = items(value);
            if list.iter().any(|item| as_text(item).is_none()) {
                pen.reader.wrong_type(value, &format!("`{}`", old.name), "a list of texts", None);
                return;
            }
            let value = list_node(list, &value.range);
            let new = format!("{modern}: {} # in each phase", node_text(&value));
            top.around.skills = Some(Shared { value, key_range: range.clone(), old: old.text, new, used: 0 });
        }
        // Only `project` has parts here, and its parts have none; no other value here changes its shape.
        Meaning::Parts(_) | Meaning::Default(..) => {}
    }
}

fn project(entry: &Entry, top: &mut Top<'_>, pen: &mut Pen<'_, '_>) {
    let Some(mut fields) = pen.reader.open(&entry.value, "`project`") else { return };
    for row in keys_of(OldPlace::Project) {
        let Some(part) = fields.entry(row.key) else { continue };
        let old = Old {
            name: format!("project.{}", row.key),
            text: format!("project: {{ {} }}", entry_text(part)),
            entry: part,
        };
        apply(row, old, top, pen);
    }
    fields.finish(pen.reader);
}

fn has_key(node: &Node, key: &str) -> bool {
    match &node.value {
        Value::Mapping(entries) => entries.iter().any(|entry| &*entry.key == key && !entry.value.is_null()),
        Value::Scalar(_) | Value::Sequence(_) => false,
    }
}

fn put_default(draft: &mut Draft<'_>, key: &str, key_range: &Range<usize>, value: Node) {
    let new = Entry { key: key.into(), key_range: key_range.clone(), value };
    let present = draft.entries.iter_mut().find(|entry| &*entry.key == "defaults" && !entry.value.is_null());
    match present {
        Some(defaults) => {
            // A value that is no mapping is reported by the reader of modern plans.
            let Value::Mapping(entries) = &defaults.value.value else { return };
            let kept = entries.iter().filter(|entry| &*entry.key != key).cloned();
            defaults.value.value = Value::Mapping(kept.chain([new]).collect());
        }
        None => {
            let value = Node { range: new.value.range.clone(), value: Value::Mapping([new].into()) };
            draft.entries.retain(|entry| &*entry.key != "defaults");
            draft.put("defaults", key_range, value);
        }
    }
}

/// The ids of the phases that generate phases.
fn generating(draft: &Draft<'_>) -> Vec<Node> {
    let Some(Value::Sequence(phases)) = draft.written("phases").map(|entry| &entry.value.value) else {
        return Vec::new();
    };
    let id = |node: &Node| match &node.value {
        Value::Mapping(entries) => {
            let draft = Draft::new(entries);
            let generates = match draft.written("generates_phases") {
                Some(entry) => entry.value.as_bool() != Some(false),
                None => draft.written("phase_config").is_some(),
            };
            draft.written("id").filter(|_| generates).map(|entry| id_node(&entry.value))
        }
        Value::Scalar(_) | Value::Sequence(_) => None,
    };
    phases.iter().filter_map(id).collect()
}
