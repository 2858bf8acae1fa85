//! A phase of an older plan.
//!
//! Must not know the other phases beyond what the plan tells it about them.

use std::ops::Range;

use helix_core::document::{Entry, Node, Value};

use super::super::model::PhaseType;
use super::super::print::{entry_text, node_text};
use super::draft::Draft;
use super::files::{self, Direction, Files, Owner};
use super::gate::{self, GateScope, Under};
use super::table::{Meaning, OldKey, OldPlace, Shape, WORDS, WordOf, keys_of, old_key};
use super::{Modern, Old, Pen, as_text, id_node, items, list_node, modern_id, plain_node, text_node};

/// The number of phases that a plan of the older system added at most.
const MOST_ADDED: &str = "5";

/// What the phases of a plan are read with.
#[derive(Default)]
pub(super) struct Surroundings {
    pub(super) adr: Option<String>,
    /// Ids of the phases that generate phases, in the modern form.
    pub(super) generating: Vec<Node>,
    /// `max` for generating phases that name none.
    pub(super) max: Option<Shared>,
    /// `template` for generating phases that name none.
    pub(super) template: Option<Shared>,
    /// Skills of every phase.
    pub(super) skills: Option<Shared>,
}

/// A value of the plan that its phases share.
pub(super) struct Shared {
    pub(super) value: Node,
    pub(super) key_range: Range<usize>,
    pub(super) old: String,
    /// The modern form, as messages show it.
    pub(super) new: String,
    /// How many phases took it.
    pub(super) used: usize,
}

/// Writes a phase anew.
pub(super) fn phase(number: usize, node: &Node, around: &mut Surroundings, pen: &mut Pen<'_, '_>) -> Node {
    let Value::Mapping(entries) = &node.value else { return node.clone() };
    let draft = Draft::new(entries);
    let id = draft.written("id").map(|entry| id_node(&entry.value));
    let owner = Owner { number, id: id.as_ref().and_then(as_text).and_then(modern_id) };
    let mut writing = Writing { draft, owner, id, after: Vec::new(), around, pen };
    for entry in entries.iter() {
        writing.entry(entry);
    }
    writing.generates();
    writing.shared_skills();
    for (key_range, more) in std::mem::take(&mut writing.after) {
        writing.draft.add("depends_on", &key_range, &more);
    }
    writing.draft.finish(&node.range)
}

/// One more attempt than retries; reported when it is no number.
pub(super) fn attempts(value: &Node, name: &str, pen: &mut Pen<'_, '_>) -> Option<Node> {
    let retries: Option<u32> = value.as_number().and_then(|text| text.parse().ok());
    match retries.and_then(|retries| retries.checked_add(1)) {
        Some(attempts) => Some(plain_node(attempts.to_string(), &value.range)),
        None => {
            pen.reader.wrong_type(value, &format!("`{name}`"), "a whole number from 0", None);
            None
        }
    }
}

struct Writing<'w, 'n, 'r, 's> {
    draft: Draft<'n>,
    owner: Owner,
    id: Option<Node>,
    /// Dependencies that come from other keys, with the place of the key.
    after: Vec<(Range<usize>, Vec<Node>)>,
    around: &'w mut Surroundings,
    pen: &'w mut Pen<'r, 's>,
}

impl<'n> Writing<'_, 'n, '_, '_> {
    fn entry(&mut self, entry: &'n Entry) {
        if let Some(row) = old_key(OldPlace::Phase, &entry.key) {
            if self.draft.is_first(entry, "a phase", self.pen) {
                self.old(row, entry);
            }
            return;
        }
        let value = match &*entry.key {
            "id" => id_node(&entry.value),
            "type" => word(&entry.value),
            "depends_on" => match &entry.value.value {
                Value::Sequence(_) => list_node(files::references(&entry.value), &entry.value.range),
                Value::Scalar(_) | Value::Mapping(_) => entry.value.clone(),
            },
            "gates" => {
                let scope = GateScope { under: Under::ModernKey, owner: &self.owner, adr: self.around.adr.as_deref() };
                let value = gate::modern_gates(&entry.value, &scope, self.pen);
                self.draft.put(&entry.key, &entry.key_range, value);
                return;
            }
            // Written at the end, when `phase_config` is known too.
            "generates_phases" if entry.value.as_bool().is_some() => return,
            "outputs" => {
                files::note_modern(&entry.value, &self.owner, self.pen);
                entry.value.clone()
            }
            _ => entry.value.clone(),
        };
        let (old_text, new_text) = (node_text(&entry.value), node_text(&value));
        if old_text != new_text {
            self.pen.written(&entry.value.range, entry_text(entry), format!("{}: {new_text}", entry.key));
        }
        self.draft.put(&entry.key, &entry.key_range, value);
    }

    fn old(&mut self, row: &OldKey, entry: &'n Entry) {
        let text = entry_text(entry);
        if entry.value.is_null() {
            self.pen.note(&entry.key_range, text.trim_end().to_owned(), Modern::LeftOut);
            return;
        }
        match row.meaning {
            // Written at the end, together with `generates_phases`.
            Meaning::Parts(OldPlace::PhaseConfig) => {}
            Meaning::Parts(place) => self.parts(place, entry),
            Meaning::Ignored(why) => self.pen.ignored(&entry.key_range, text, why),
            Meaning::Key(modern, shape) => self.key(modern, shape, Old { name: row.key.into(), text, entry }),
            // Keys of the plan only.
            Meaning::Default(..) | Meaning::EachPhase(_) | Meaning::Generates(_) => {}
        }
    }

    fn parts(&mut self, place: OldPlace, entry: &'n Entry) {
        let Some(mut fields) = self.pen.reader.open(&entry.value, &format!("`{}`", entry.key)) else { return };
        for row in keys_of(place) {
            let Some(part) = fields.entry(row.key) else { continue };
            let name = format!("{}.{}", entry.key, row.key);
            let text = format!("{}: {{ {} }}", entry.key, entry_text(part));
            match row.meaning {
                Meaning::Ignored(why) => self.pen.ignored(&part.key_range, text, why),
                Meaning::Key(modern, shape) => self.key(modern, shape, Old { name, text, entry: part }),
                // Parts have no parts, and no values of the plan.
                Meaning::Parts(_) | Meaning::Default(..) | Meaning::EachPhase(_) | Meaning::Generates(_) => {}
            }
        }
        fields.finish(self.pen.reader);
    }

    /// Writes the value of an old key under its modern key.
    fn key(&mut self, modern: &'static str, shape: Shape, old: Old<'n>) {
        let (range, value) = (&old.entry.key_range, &old.entry.value);
        let new = match shape {
            Shape::From => {
                let found = match &value.value {
                    Value::Mapping(_) => self.files(value, &old.name, Direction::Read),
                    Value::Scalar(_) | Value::Sequence(_) => Files { paths: None, from: files::references(value) },
                };
                self.found(found, &old);
                return;
            }
            Shape::AfterDynamic => {
                self.after_dynamic(&old);
                return;
            }
            Shape::Inputs => {
                if let Value::Mapping(_) = &value.value {
                    let found = self.files(value, &old.name, Direction::Read);
                    self.found(found, &old);
                    return;
                }
                if !self.draft.take(modern, &old.name, range, self.pen) {
                    return;
                }
                self.files(value, &old.name, Direction::Read).paths
            }
            Shape::Same
            | Shape::List
            | Shape::Retries
            | Shape::Outputs
            | Shape::Dependencies
            | Shape::Gates
            | Shape::Verify
            | Shape::Approval => {
                if !self.draft.take(modern, &old.name, range, self.pen) {
                    return;
                }
                self.convert(shape, &old)
            }
        };
        if let Some(new) = new {
            self.pen.written(range, old.text, format!("{modern}: {}", node_text(&new)));
            self.draft.put(modern, range, new);
        }
    }

    /// A value in the modern form; `None` when it has been reported, or noted as left out.
    fn convert(&mut self, shape: Shape, old: &Old<'n>) -> Option<Node> {
        let (range, value) = (&old.entry.key_range, &old.entry.value);
        match shape {
            Shape::Same => Some(value.clone()),
            Shape::List => Some(list_node(items(value), &value.range)),
            Shape::Retries => attempts(value, &old.name, self.pen),
            Shape::Outputs => self.files(value, &old.name, Direction::Written).paths,
            Shape::Dependencies => Some(list_node(files::references(value), &value.range)),
            Shape::Gates => {
                let scope = GateScope { under: Under::OldKey, owner: &self.owner, adr: self.around.adr.as_deref() };
                Some(gate::gates(value, &scope, self.pen))
            }
            Shape::Verify if as_text(value).is_some() => {
                let why = "verifiers have no names; choose a model with `verify: { model: … }`";
                self.pen.ignored(&value.range, node_text(value), why);
                Some(plain_node("true", &value.range))
            }
            Shape::Verify => Some(value.clone()),
            Shape::Approval => match value.as_bool() {
                Some(true) => Some(text_node("before", &value.range)),
                Some(false) => {
                    self.pen.note(range, old.text.clone(), Modern::LeftOut);
                    None
                }
                None => {
                    self.pen.reader.wrong_type(value, &format!("`{}`", old.name), "true or false", None);
                    None
                }
            },
            // Shapes that may write more than one key.
            Shape::Inputs | Shape::From | Shape::AfterDynamic => None,
        }
    }

    fn files(&mut self, value: &Node, name: &str, direction: Direction) -> Files {
        files::files(value, &format!("`{name}`"), direction, &self.owner, self.pen)
    }

    /// Writes what a mapping of files says: files that are read, and phases that come before.
    fn found(&mut self, found: Files, old: &Old<'n>) {
        let range = &old.entry.key_range;
        if let Some(paths) = found.paths
            && self.draft.take("inputs", &old.name, range, self.pen)
        {
            self.pen.written(range, old.text.clone(), format!("inputs: {}", node_text(&paths)));
            self.draft.put("inputs", range, paths);
        }
        if !found.from.is_empty() {
            let list = list_node(found.from.clone(), range);
            self.pen.written(range, old.text.clone(), format!("depends_on: {}", node_text(&list)));
            self.after.push((range.clone(), found.from));
        }
    }

    fn after_dynamic(&mut self, old: &Old<'n>) {
        let (range, value) = (&old.entry.key_range, &old.entry.value);
        match value.as_bool() {
            None => self.pen.reader.wrong_type(value, &format!("`{}`", old.name), "true or false", None),
            Some(false) => self.pen.note(range, old.text.clone(), Modern::LeftOut),
            Some(true) => {
                let own = self.id.as_ref().map(|id| &id.value);
                let others = self.around.generating.iter().filter(|id| Some(&id.value) != own);
                if !self.pen.may_copy(&self.around.generating, range) {
                    return;
                }
                let before: Vec<Node> = others.map(|id| Node { range: value.range.clone(), ..id.clone() }).collect();
                if before.is_empty() {
                    self.pen.ignored(range, old.text.clone(), "no other phase generates phases");
                    return;
                }
                let list = node_text(&list_node(before.clone(), range));
                let which = if before.len() == 1 { "the phase that generates" } else { "the phases that generate" };
                self.pen.written(range, old.text.clone(), format!("depends_on: {list} # {which} phases"));
                self.after.push((range.clone(), before));
            }
        }
    }

    /// Writes `generates_phases` from its old switch, from `phase_config` and from the plan's own values.
    fn generates(&mut self) {
        let switch = self.draft.written("generates_phases");
        let config = self.draft.written("phase_config");
        let switch_on = match switch {
            Some(entry) if entry.value.as_bool().is_none() => {
                // In the modern form already.
                if let Some(config) = config {
                    self.draft.take("generates_phases", "phase_config", &config.key_range, self.pen);
                }
                return;
            }
            Some(entry) => entry.value.as_bool() == Some(true),
            None => config.is_some(),
        };
        if !switch_on {
            if let Some(entry) = switch {
                self.pen.note(&entry.key_range, entry_text(entry), Modern::LeftOut);
            }
            if let Some(config) = config {
                self.pen.ignored(&config.key_range, entry_text(config), "the phase generates no phases");
            }
            return;
        }
        let Some(first) = switch.or(config) else { return };
        let mut parts: Vec<Entry> = Vec::new();
        if let Some(config) = config {
            let Some(mut fields) = self.pen.reader.open(&config.value, "`phase_config`") else { return };
            for row in keys_of(OldPlace::PhaseConfig) {
                if let (Some(part), Meaning::Key(modern, _)) = (fields.entry(row.key), row.meaning) {
                    parts.push(Entry { key: modern.into(), ..part.clone() });
                }
            }
            fields.finish(self.pen.reader);
        }
        if let Some(at) = parts.iter().position(|part| &*part.key == "template") {
            match template(&parts[at].value) {
                Some(known) => parts[at].value = known,
                None => {
                    let part = parts.remove(at);
                    self.pen.ignored(&part.key_range, entry_text(&part), NO_TEMPLATE);
                }
            }
        }
        let has = |parts: &[Entry], key: &str| parts.iter().any(|part| &*part.key == key);
        if !has(&parts, "max") {
            let part = match &mut self.around.max {
                Some(shared) => {
                    shared.used += 1;
                    if !self.pen.may_copy(std::slice::from_ref(&shared.value), &shared.key_range) {
                        return;
                    }
                    (shared.key_range.clone(), shared.value.clone())
                }
                None => (first.key_range.clone(), plain_node(MOST_ADDED, &first.key_range)),
            };
            let after_min = parts.iter().position(|part| &*part.key == "min").map_or(0, |at| at + 1);
            parts.insert(after_min, Entry { key: "max".into(), key_range: part.0, value: part.1 });
        }
        if !has(&parts, "template")
            && let Some(shared) = &mut self.around.template
            && self.pen.may_copy(std::slice::from_ref(&shared.value), &shared.key_range)
        {
            shared.used += 1;
            parts.push(Entry {
                key: "template".into(),
                key_range: shared.key_range.clone(),
                value: shared.value.clone(),
            });
        }
        let new = Node { range: first.value.range.clone(), value: Value::Mapping(parts.into()) };
        for entry in [switch, config].into_iter().flatten() {
            let text = format!("generates_phases: {}", node_text(&new));
            self.pen.written(&entry.key_range, entry_text(entry), text);
        }
        self.draft.put("generates_phases", &first.key_range, new);
    }

    /// Adds the skills that the plan names for all of its phases.
    fn shared_skills(&mut self) {
        let Some(shared) = &mut self.around.skills else { return };
        shared.used += 1;
        let Value::Sequence(skills) = &shared.value.value else { return };
        if !self.pen.may_copy(skills, &shared.key_range) {
            return;
        }
        self.draft.add("skills", &shared.key_range, skills);
    }
}

/// A phase type in the modern form.
fn word(value: &Node) -> Node {
    let row = WORDS.iter().find(|row| row.of == WordOf::Phase && as_text(value) == Some(row.word));
    row.map_or_else(|| value.clone(), |row| text_node(row.modern, &value.range))
}

/// Why the template of added phases is left out.
pub(super) const NO_TEMPLATE: &str = "unknown phase type; added phases have the type development";

/// The phase type that a template of added phases is named after (`development-python`); what is no text stays as it is,
/// for the reader to report.
pub(super) fn template(value: &Node) -> Option<Node> {
    let Some(written) = as_text(value) else { return Some(value.clone()) };
    let modern = |name: &str| {
        let row = WORDS.iter().find(|row| row.of == WordOf::Phase && row.word == name);
        let name = row.map_or(name, |row| row.modern);
        PhaseType::ALL.into_iter().find(|kind| kind.word() == name)
    };
    let kind = modern(written).or_else(|| modern(written.split(['-', '_', '.']).next()?))?;
    Some(text_node(kind.word(), &value.range))
}
