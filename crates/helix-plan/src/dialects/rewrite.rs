//! A plan of an older dialect, its phases and their gates, written anew by the table of old forms.
//!
//! Must not know which old keys there are beyond what the table says of each, nor whether the result is a valid plan.

use helix_core::document::{Entry, Node, Value};

use super::super::model::PhaseType;
use super::super::print::{entry_text, node_text};
use super::draft::Draft;
use super::files::{Direction, Owner};
use super::table::{ADR_GATE, EVERY_ADR, Meaning, OldKey, OldPlace, Shape, WORDS, keys_of, old_key};
use super::{Modern, Rewriter, SharedValue, id_node, modern_id, references};

/// The number of phases that a plan of the older system added at most.
const MOST_ADDED: &str = "5";
/// Why the template of added phases is left out.
const NO_TEMPLATE: &str = "unknown phase type; added phases have the type development";

/// An old key as it was found.
struct Old<'n> {
    /// What messages call it.
    name: String,
    /// The whole entry, in one line.
    text: String,
    entry: &'n Entry,
}

/// The dialect of the key under which a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Under {
    /// `quality_gate`, `quality_gates` or `gate`: the paths in it follow the old conventions too.
    OldKey,
    /// `gates`: only what no modern gate has is taken for an old form.
    ModernKey,
}

impl Rewriter<'_, '_> {
    /// Writes a plan anew.
    pub(super) fn plan(&mut self, node: &Node) -> Node {
        let Value::Mapping(entries) = &node.value else { return node.clone() };
        let mut draft = Draft::new(entries);
        let phases = draft.written("phases").map(|entry| &entry.value);
        self.generating = phases.into_iter().flat_map(Node::items).filter_map(generating_id).collect();
        self.entries(OldPlace::Plan, "a plan", &mut draft);
        let adr = draft.entries.iter().find(|entry| &*entry.key == "adr");
        self.adr = adr.and_then(|entry| entry.value.as_text()).map(str::to_owned);
        for entry in draft.entries.iter_mut().filter(|entry| &*entry.key == "phases") {
            if let Value::Sequence(list) = &entry.value.value {
                let rewritten = list.iter().enumerate().map(|(number, one)| self.phase(number, one));
                let mut phases: Vec<Node> = rewritten.collect();
                if !self.normalised.is_empty() {
                    self.left_out_of_phases(list, &mut phases);
                }
                entry.value = Node::list(phases, &entry.value.range);
            }
        }
        if !self.normalised.is_empty() {
            self.left_out_name(&mut draft.entries);
        }
        draft.finish(&node.range)
    }

    fn phase(&mut self, number: usize, node: &Node) -> Node {
        let Value::Mapping(entries) = &node.value else { return node.clone() };
        let mut draft = Draft::new(entries);
        let id = draft.written("id").map(|entry| id_node(&entry.value));
        self.owner = Owner { number, id: id.as_ref().and_then(Node::as_text).and_then(modern_id) };
        self.entries(OldPlace::Phase, "a phase", &mut draft);
        self.generates(&mut draft);
        if let Some(skills) = self.shared_value("skills") {
            draft.add("skills", &skills.key_range, &skills.value);
        }
        for (key_range, more) in std::mem::take(&mut draft.dependencies) {
            draft.add("depends_on", &key_range, &more);
        }
        draft.finish(&node.range)
    }

    /// Writes every entry of a plan or a phase.
    fn entries(&mut self, place: OldPlace, what: &str, draft: &mut Draft<'_>) {
        for entry in draft.source {
            match old_key(place, &entry.key) {
                None => self.modern(place, entry, draft),
                Some(row) if draft.is_first(entry, what, self.reader) => {
                    self.old(row, Old { name: row.key.into(), text: entry_text(entry), entry }, draft);
                }
                Some(_) => {}
            }
        }
    }

    /// Writes a modern key, whose value may have an old form.
    fn modern(&mut self, place: OldPlace, entry: &Entry, draft: &mut Draft<'_>) {
        let value = &entry.value;
        let new = match (place, &*entry.key, &value.value) {
            (OldPlace::Phase, "id", _) => id_node(value),
            (OldPlace::Phase, "type", _) => word(place, value),
            (OldPlace::Phase, "depends_on", Value::Sequence(_)) => Node::list(references(value), &value.range),
            (OldPlace::Phase, "gates", Value::Sequence(list)) => {
                let gates = list.iter().map(|item| self.modern_gate(item)).collect();
                return draft.put(&entry.key, &entry.key_range, Node::list(gates, &value.range));
            }
            // Written at the end, when `phase_config` is known too.
            (OldPlace::Phase, "generates_phases", _) if value.as_bool().is_some() => return,
            (OldPlace::Phase, "outputs", Value::Sequence(list)) => {
                for (item, written) in list.iter().filter_map(|item| Some((item, item.as_text()?))) {
                    self.claim(written, None, written, &item.range);
                }
                value.clone()
            }
            _ => value.clone(),
        };
        if new.value != value.value {
            let modern = Modern::Written(format!("{}: {}", entry.key, node_text(&new)));
            self.report(&value.range, entry_text(entry), modern);
        }
        draft.put(&entry.key, &entry.key_range, new);
    }

    fn old(&mut self, row: &OldKey, old: Old<'_>, draft: &mut Draft<'_>) {
        let (range, value) = (&old.entry.key_range, &old.entry.value);
        if value.is_null() {
            return self.report(range, old.text.trim_end().to_owned(), Modern::LeftOut);
        }
        match row.meaning {
            Meaning::Ignored(why) => self.report(range, old.text, Modern::Ignored(why.into())),
            // Written at the end, together with `generates_phases`.
            Meaning::Parts(OldPlace::PhaseConfig) => {}
            Meaning::Parts(place) => {
                let Some(mut fields) = self.reader.open(value, &format!("`{}`", old.name)) else { return };
                for row in keys_of(place) {
                    let Some(entry) = fields.entry(row.key) else { continue };
                    let name = format!("{}.{}", old.name, row.key);
                    let text = format!("{}: {{ {} }}", old.name, entry_text(entry));
                    self.old(row, Old { name, text, entry }, draft);
                }
                fields.finish(self.reader);
            }
            Meaning::SharedValue(path, shape) => {
                for (_, value) in self.converted(path, shape, &old) {
                    self.report(range, old.text.clone(), Modern::Written(row.written(path, &value)));
                    self.shared.push(SharedValue { path, key_range: range.clone(), value });
                }
            }
            Meaning::Key(path, shape) => {
                for (path, value) in self.converted(path, shape, &old) {
                    let is_added = path == "depends_on" && shape != Shape::Dependencies;
                    if !is_added && !draft.take(path, &old.name, range, self.reader) {
                        continue;
                    }
                    self.report(range, old.text.clone(), Modern::Written(row.written(path, &value)));
                    if is_added {
                        draft.dependencies.push((range.clone(), value));
                    } else {
                        draft.put_at(path, range, value);
                    }
                }
            }
        }
    }

    /// The modern keys that an old key becomes, with their values; none when that has been reported.
    fn converted(&mut self, path: &'static str, shape: Shape, old: &Old<'_>) -> Vec<(&'static str, Node)> {
        let value = &old.entry.value;
        let name = format!("`{}`", old.name);
        let new = match shape {
            Shape::Same => Some(value.clone()),
            Shape::List if value.items().iter().any(|item| item.as_text().is_none()) => {
                self.reader.wrong_type(value, &name, "a list of texts", None);
                None
            }
            Shape::List => Some(Node::list(value.items().to_vec(), &value.range)),
            Shape::Retries => {
                let attempts = value.as_number().and_then(|text| text.parse::<u32>().ok()?.checked_add(1));
                if attempts.is_none() {
                    self.reader.wrong_type(value, &name, "a whole number from 0", None);
                }
                attempts.map(|attempts| Node::plain(attempts.to_string(), &value.range))
            }
            Shape::Inputs | Shape::From if shape == Shape::Inputs || matches!(value.value, Value::Mapping(_)) => {
                let (paths, from) = self.files(value, &name, Direction::Read);
                let from = (!from.is_empty()).then(|| ("depends_on", Node::list(from, &old.entry.key_range)));
                return paths.map(|paths| ("inputs", paths)).into_iter().chain(from).collect();
            }
            Shape::Outputs => self.files(value, &name, Direction::Written).0,
            Shape::Inputs | Shape::From | Shape::Dependencies => Some(Node::list(references(value), &value.range)),
            Shape::Gates => {
                let gates = value.items().iter().map(|item| self.gate(item, Under::OldKey)).collect();
                Some(Node::list(gates, &value.range))
            }
            Shape::Verify if value.as_text().is_some() => {
                let why = "verifiers have no names; choose a model with `verify: { model: … }`";
                self.report(&value.range, node_text(value), Modern::Ignored(why.into()));
                Some(Node::plain("true", &value.range))
            }
            Shape::Verify => Some(value.clone()),
            Shape::Template => {
                let known = template(value);
                if known.is_none() {
                    self.report(&old.entry.key_range, old.text.clone(), Modern::Ignored(NO_TEMPLATE.into()));
                }
                known
            }
            Shape::Approval | Shape::AfterDynamic => match value.as_bool() {
                Some(true) if shape == Shape::Approval => Some(Node::text("before", &value.range)),
                Some(true) => self.generating_phases(old),
                Some(false) => {
                    self.report(&old.entry.key_range, old.text.clone(), Modern::LeftOut);
                    None
                }
                None => {
                    self.reader.wrong_type(value, &name, "true or false", None);
                    None
                }
            },
        };
        new.map(|new| (path, new)).into_iter().collect()
    }

    /// The other phases that generate phases.
    fn generating_phases(&mut self, old: &Old<'_>) -> Option<Node> {
        let range = &old.entry.key_range;
        let others = self.generating.iter().filter(|id| id.as_text() != self.owner.id.as_deref());
        let before: Vec<Node> = others.map(|id| Node { range: old.entry.value.range.clone(), ..id.clone() }).collect();
        if before.is_empty() {
            self.report(range, old.text.clone(), Modern::Ignored("no other phase generates phases".into()));
            return None;
        }
        self.may_copy(&before, range).then(|| Node::list(before, range))
    }

    /// A value of the plan for one more phase.
    fn shared_value(&mut self, path: &str) -> Option<SharedValue> {
        let shared = self.shared.iter().find(|shared| shared.path == path)?.clone();
        self.may_copy(shared.value.items(), &shared.key_range).then_some(shared)
    }

    /// Writes `generates_phases` from its old switch, from `phase_config` and from the plan's own values.
    fn generates(&mut self, draft: &mut Draft<'_>) {
        let (switch, config) = (draft.written("generates_phases"), draft.written("phase_config"));
        let Some(is_on) = switch.map_or(Some(config.is_some()), |entry| entry.value.as_bool()) else {
            // In the modern form already.
            if let Some(config) = config {
                draft.take("generates_phases", "phase_config", &config.key_range, self.reader);
            }
            return;
        };
        if !is_on {
            let off = config.map(|entry| (entry, Modern::Ignored("the phase generates no phases".into())));
            for (entry, modern) in switch.map(|entry| (entry, Modern::LeftOut)).into_iter().chain(off) {
                self.report(&entry.key_range, entry_text(entry), modern);
            }
            return;
        }
        let Some(first) = switch.or(config) else { return };
        let mut own: Vec<SharedValue> = Vec::new();
        if let Some(config) = config {
            let Some(mut fields) = self.reader.open(&config.value, "`phase_config`") else { return };
            for row in keys_of(OldPlace::PhaseConfig) {
                let (Some(entry), Meaning::Key(path, shape)) = (fields.entry(row.key), row.meaning) else { continue };
                let old = Old { name: row.key.into(), text: entry_text(entry), entry };
                let new = self.converted(path, shape, &old).pop();
                own.extend(new.map(|(_, value)| SharedValue { path, key_range: entry.key_range.clone(), value }));
            }
            fields.finish(self.reader);
        }
        let mut parts: Vec<Entry> = Vec::new();
        for key in ["min", "max", "template"] {
            let path = format!("generates_phases.{key}");
            let written = own.iter().find(|own| own.path == path).cloned().or_else(|| self.shared_value(&path));
            parts.extend(match written {
                Some(SharedValue { key_range, value, .. }) => Some(Entry { key: key.into(), key_range, value }),
                None if key == "max" => {
                    let (key_range, value) = (first.key_range.clone(), Node::plain(MOST_ADDED, &first.key_range));
                    Some(Entry { key: key.into(), key_range, value })
                }
                None => None,
            });
        }
        let new = Node { range: first.value.range.clone(), value: Value::Mapping(parts.into()) };
        for entry in [switch, config].into_iter().flatten() {
            let modern = Modern::Written(format!("generates_phases: {}", node_text(&new)));
            self.report(&entry.key_range, entry_text(entry), modern);
        }
        draft.put("generates_phases", &first.key_range, new);
    }

    /// A gate of a modern list; an old form of it is reported by itself.
    fn modern_gate(&mut self, node: &Node) -> Node {
        let Value::Mapping(_) = &node.value else { return node.clone() };
        let new = self.gate(node, Under::ModernKey);
        if new.value != node.value {
            self.report(&node.range, node_text(node), Modern::Written(node_text(&new)));
        }
        new
    }

    /// A gate, as a mapping or a bare name.
    fn gate(&mut self, node: &Node, under: Under) -> Node {
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
        for entry in entries {
            let (value, range) = (&entry.value, &entry.key_range);
            let (key, new) = match (&*entry.key, old_key(OldPlace::Gate, &entry.key).map(|row| row.meaning)) {
                (old, Some(Meaning::Key(key, shape))) => {
                    if !draft.is_first(entry, "a gate", self.reader) || !draft.take(key, old, range, self.reader) {
                        continue;
                    }
                    let files = shape == Shape::List;
                    (key, if files { self.paths(value, Direction::Read) } else { value.clone() })
                }
                ("type", _) => ("type", word(OldPlace::Gate, value)),
                ("files", _) if under == Under::OldKey => ("files", self.paths(value, Direction::Read)),
                (key, _) => (key, value.clone()),
            };
            draft.put(key, range, new);
        }
        let is_about_adrs = draft.written("type").is_some_and(|entry| entry.value.as_text() == Some(ADR_GATE));
        if is_about_adrs && !draft.entries.iter().any(|entry| &*entry.key == "files" && !entry.value.is_null()) {
            let files = vec![Node::text(self.adr.as_deref().unwrap_or(EVERY_ADR), &node.range)];
            if self.may_copy(&files, &node.range) {
                let head = node.range.start..node.range.start;
                draft.add("files", &head, &Node::list(files, &node.range));
            }
        }
        draft.finish(&node.range)
    }
}

/// The id of a phase that generates phases.
fn generating_id(node: &Node) -> Option<Node> {
    let written = |key| node.get(key).filter(|entry| !entry.value.is_null());
    let generates = match written("generates_phases") {
        Some(entry) => entry.value.as_bool() != Some(false),
        None => written("phase_config").is_some(),
    };
    written("id").filter(|_| generates).map(|entry| id_node(&entry.value))
}

/// The modern word for an old one.
fn modern_word(place: OldPlace, written: &str) -> Option<&'static str> {
    WORDS.iter().find(|(of, old, _)| *of == place && *old == written).map(|(_, _, modern)| *modern)
}

/// A type of a phase or gate in the modern form.
fn word(place: OldPlace, value: &Node) -> Node {
    let modern = value.as_text().and_then(|written| modern_word(place, written));
    modern.map_or_else(|| value.clone(), |modern| Node::text(modern, &value.range))
}

/// The phase type that a template of added phases is named after (`development-python`); what is not text stays as it is,
/// for the reader to report.
fn template(value: &Node) -> Option<Node> {
    let Some(written) = value.as_text() else { return Some(value.clone()) };
    let kind = |name: &str| PhaseType::from_word(modern_word(OldPlace::Phase, name).unwrap_or(name));
    let kind = kind(written).or_else(|| kind(written.split(['-', '_', '.']).next()?))?;
    Some(Node::text(kind.word(), &value.range))
}
