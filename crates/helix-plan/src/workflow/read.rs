//! From the text of a workflow's file to a [`Workflow`], and, with values for its inputs, to its phases.
//!
//! Must not know the plan that uses it beyond what [`Use`] says.

use schemars::JsonSchema;

use helix_core::diagnostic::Diagnostic;
use helix_core::ids::PhaseId;
use helix_core::source_text::{SourceText, sort_by_place};
use helix_core::yaml::{FieldReader, Fields, Node, Placed, Value};

use super::super::checked::{self, CheckedPhase};
use super::super::codes;
use super::super::parse::{Scope, distinct, read_tree, resolve_phase};
use super::super::source::{self, DefaultsSource, PhaseSource, required_text};
use super::inputs::{InputKind, InputOrigin, Values, declared};
use super::{Input, InputValue, Workflow};

/// A workflow: phases that many plans share.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Helix workflow (workflows/NAME.yaml)")]
#[expect(dead_code, reason = "only its schema is used: the reader goes through its keys one by one")]
struct WorkflowSource {
    /// What plans call it; the name of its file.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    name: String,
    /// What it is for.
    description: String,
    /// What it is given; `${{ NAME }}` in a text of its phases is replaced by the value.
    inputs: Option<std::collections::BTreeMap<String, InputSource>>,
    /// Its phases in order, with at most one slot for those of the plan.
    phases: Vec<ItemSource>,
}

/// An input.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct InputSource {
    /// What values it takes.
    #[schemars(rename = "type")]
    kind: InputKind,
    /// What it is for.
    description: String,
    /// What of the plan it is taken from where the plan gives no value.
    from: Option<InputOrigin>,
    /// The value where there is no other; without one, the plan must give it.
    default: Option<InputValue>,
}

/// A phase, or the slot for the plan's own.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
enum ItemSource {
    /// A phase as in plans.
    Phase(PhaseSource),
    /// The slot. With `type` and the other keys of a phase it is the phase that runs where the plan has none of its own.
    Slot {
        /// Its name, by which other phases of the workflow depend on it.
        slot: String,
        /// Ids of the phases whose results the plan's phases start from.
        depends_on: Option<Vec<String>>,
    },
}

/// The JSON Schema of workflows, as editors want it.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(WorkflowSource).to_value();
    source::write_gates_as_in_plans(&mut schema);
    // A slot may have every key of a phase, whose own rules the reader checks.
    if let Some(serde_json::Value::Object(slot)) = schema.pointer_mut("/$defs/ItemSource/anyOf/1") {
        slot.remove("additionalProperties");
    }
    schema
}

/// What a plan says about the phases of its workflow.
pub(super) struct Use<'v> {
    pub(super) values: &'v Values,
    /// For phases of the workflow that do not say otherwise.
    pub(super) defaults: DefaultsSource,
    pub(super) has_adr: bool,
}

/// A workflow's phases.
pub(super) struct Read {
    /// In the order of the file; the slot is among them, without a phase where it has no stand-in.
    pub(super) phases: Vec<CheckedPhase>,
    /// Where among them the slot is.
    pub(super) slot: Option<usize>,
}

impl Workflow {
    /// Reads a workflow and checks it with samples in the place of its inputs. `file_name` is what messages call it.
    ///
    /// # Errors
    /// Every problem that was found, in the order of the file; at least one is an error.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let source = SourceText::new(file_name, text);
        let mut reader = source::reader(&source);
        let Some(node) = read_tree("workflow", &source, &mut reader) else { return Err(reader.problems) };
        let head = head(&node, &mut reader);
        if let Some((_, _, inputs, phases)) = &head {
            let samples = Values::samples(inputs);
            let using = Use { values: &samples, defaults: DefaultsSource::default(), has_adr: true };
            let read = phases.as_ref().map(|phases| read_phases(phases, using, &mut reader));
            if let Some(read) = read {
                checked::report(&read.phases, None, &mut reader);
            }
        }
        let mut problems = reader.problems;
        sort_by_place(&mut problems);
        match head {
            Some((Some(name), Some(description), inputs, Some(_))) if !problems.iter().any(Diagnostic::is_error) => {
                Ok(Self { name, description, inputs, file: file_name.into(), source: text.into() })
            }
            Some(_) | None => Err(problems),
        }
    }

    /// The workflow's phases for a plan.
    pub(super) fn phases(&self, using: Use<'_>, reader: &mut FieldReader<'_>) -> Option<Read> {
        let node = read_tree("workflow", reader.source, reader)?;
        let (_, _, _, phases) = head(&node, reader)?;
        Some(read_phases(&phases?, using, reader))
    }
}

type Head = (Option<String>, Option<String>, Vec<Input>, Option<Node>);

fn head(node: &Node, reader: &mut FieldReader<'_>) -> Option<Head> {
    let mut fields = reader.open(node, "a workflow")?;
    let name = required_text(&mut fields, "name", "name it like its file, such as `name: release`", reader);
    let description = required_text(&mut fields, "description", "say what it is for", reader);
    let inputs = declared(&mut fields, reader);
    let phases = phases_of(&mut fields, reader);
    fields.finish(reader);
    let name = name.and_then(|name| match PhaseId::new(&name.value) {
        Ok(_) => Some(name.value),
        Err(_) => {
            let message = format!("{:?} cannot be the name of a workflow", name.value);
            let help = "use lower-case letters, digits and '-', such as release-train";
            reader.error(codes::BAD_WORKFLOW, &name.range, message, help);
            None
        }
    });
    Some((name, description.map(|text| text.value), inputs, phases))
}

fn phases_of(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<Node> {
    let Some(entry) = fields.entry("phases") else {
        let help = "add `phases:` with at least one phase";
        reader.error(codes::EMPTY_PLAN, &fields.head(), "the workflow has no phases", help);
        return None;
    };
    match &entry.value.value {
        Value::Sequence(items) if items.is_empty() => {
            reader.error(codes::EMPTY_PLAN, &entry.key_range, "`phases` is empty", "add at least one phase");
            None
        }
        Value::Sequence(_) => Some(entry.value.clone()),
        Value::Scalar(_) | Value::Mapping(_) => {
            let help = Some("write each phase as an item: `- id: …`".into());
            reader.wrong_type(&entry.value, "`phases`", "a list of phases", help);
            None
        }
    }
}

fn read_phases(phases: &Node, using: Use<'_>, reader: &mut FieldReader<'_>) -> Read {
    let phases = using.values.put_into(phases, reader);
    let scope = Scope { defaults: &using.defaults, has_adr: using.has_adr };
    let mut read = Read { phases: Vec::new(), slot: None };
    let Value::Sequence(items) = &phases.value else { return read };
    for item in items.iter() {
        let Some((as_phase, slot)) = item_of(item) else {
            read.phases.extend(source::read_phase(item, reader).map(|phase| resolve_phase(phase, &scope, reader)));
            continue;
        };
        if read.slot.is_some() {
            let message = "the workflow has two slots";
            reader.error(codes::BAD_SLOT, &slot.key_range, message, "keep one: the plan's phases stand together");
            continue;
        }
        let phase = match slot.has_stand_in {
            true => source::read_phase(&as_phase, reader).map(|phase| resolve_phase(phase, &scope, reader)),
            false => bare_slot(item, reader),
        };
        if let Some(phase) = phase {
            read.slot = Some(read.phases.len());
            read.phases.push(phase);
        }
    }
    read
}

/// What was found where a slot is written.
struct SlotItem {
    key_range: std::ops::Range<usize>,
    has_stand_in: bool,
}

/// The item as a phase whose id is the slot's name, if the item is a slot.
fn item_of(item: &Node) -> Option<(Node, SlotItem)> {
    let Value::Mapping(entries) = &item.value else { return None };
    let slot = entries.iter().find(|entry| &*entry.key == "slot")?;
    let has_stand_in = entries.iter().any(|entry| &*entry.key == "type");
    let renamed = entries.iter().map(|entry| {
        let mut entry = entry.clone();
        if &*entry.key == "slot" {
            entry.key = "id".into();
        }
        entry
    });
    let node = Node { range: item.range.clone(), value: Value::Mapping(renamed.collect()) };
    Some((node, SlotItem { key_range: slot.key_range.clone(), has_stand_in }))
}

fn bare_slot(item: &Node, reader: &mut FieldReader<'_>) -> Option<CheckedPhase> {
    let mut fields = reader.open(item, "a slot without a stand-in")?;
    let name = required_text(&mut fields, "slot", "name the slot, such as `slot: work`", reader);
    let depends_on = fields.take::<Vec<Placed<String>>>("depends_on", reader);
    let head = fields.head();
    fields.finish(reader);
    let name = name?;
    let id = match PhaseId::new(&name.value) {
        Ok(id) => Placed::new(id, name.range),
        Err(error) => {
            let help = super::super::parse::suggest_id(&name.value);
            reader.error(codes::BAD_PHASE_ID, &name.range, error.to_string(), help);
            return None;
        }
    };
    let depends_on = distinct(depends_on.map(|list| list.value).unwrap_or_default(), "depends_on", reader);
    Some(CheckedPhase {
        phase: None,
        id: Some(id),
        head,
        depends_on,
        skills: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        agent: None,
        model: None,
    })
}
