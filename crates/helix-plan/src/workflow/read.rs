//! From the text of a workflow's file to a [`Workflow`], and, with values for its inputs, to its phases.
//!
//! Must not know the plan that uses it beyond what [`Use`] says.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use helix_core::diagnostic::Diagnostic;
use helix_core::document::{Entry, FieldReader, FromNode, Node, Placed, TableOf, Text, Value};
use helix_core::ids::PhaseId;
use helix_core::mapping;
use helix_core::source_text::{SourceText, sort_by_place};

use super::super::checked::{self, CheckedPhase};
use super::super::codes;
use super::super::model::Verify;
use super::super::parse::{Criteria, Scope, read_tree, resolve_phase};
use super::super::source::{self, IdText, PhaseSource, VerifySource, schema_of};
use super::inputs::{InputSource, Values, declared};
use super::{Input, Workflow};

mapping! { schema
    /// A workflow: phases that many plans share.
    pub(super) struct WorkflowSource {
        /// What plans call it; the name of its file.
        name: IdText, required = "add the file's name, such as `name: release`";
        /// What it is for.
        description: Text, required = "add a description";
        /// What it is given; `${{ NAME }}` in a text of its phases is replaced by the value.
        inputs: TableOf<InputSource>;
        /// Its phases in order, with at most one slot for those of the plan.
        phases: Items, required = "add `phases:` with at least one phase";
    }
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
        /// Independent verification of the plan's own development phases that do not say otherwise.
        verify: Option<VerifySource>,
    },
}

/// The phases as a tree, since they are read when the inputs' values stand in it.
#[derive(Debug)]
pub(super) struct Items;

impl FromNode for Items {
    type Value = Node;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Node> {
        match &node.value {
            Value::Sequence(items) if items.is_empty() => {
                reader.error(codes::EMPTY_PLAN, &node.range, "`phases` is empty", "add at least one phase");
                None
            }
            Value::Sequence(_) => Some(node.clone()),
            Value::Scalar(_) | Value::Mapping(_) => {
                let help = Some("write each phase as an item: `- id: …`".into());
                reader.wrong_type(node, what, "a list of phases", help);
                None
            }
        }
    }
}

impl JsonSchema for Items {
    fn schema_name() -> Cow<'static, str> {
        "Items".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<ItemSource>::json_schema(generator)
    }
}

/// The JSON Schema of workflows, as editors want it.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schema_of::<WorkflowSource>("Helix workflow (workflows/NAME.yaml)");
    schema["$defs"]["PhaseSource"]["properties"][WHEN] = serde_json::json!({
        "description": "Leaves the phase out where this is false or an empty list, such as an input that the plan does not give.",
    });
    schema
}

/// What leaves a phase of a workflow out.
const WHEN: &str = "when";

/// A workflow's phases.
pub(super) struct Read {
    /// In the order of the file; the slot is among them, without a phase where it has no stand-in.
    pub(super) phases: Vec<CheckedPhase>,
    /// Where among them the slot is.
    pub(super) slot: Option<usize>,
    /// How the plan's own development phases are verified that do not say otherwise.
    pub(super) verify: Option<Verify>,
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
            let scope = Scope { criteria: Criteria::OfAdr, ..Scope::default() };
            if let Some(phases) = phases {
                let read = read_phases(phases, &samples, &scope, &mut reader);
                reader.problems.extend(checked::problems(file_name, &read.phases, None));
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
    pub(super) fn phases(&self, values: &Values, scope: &Scope, reader: &mut FieldReader<'_>) -> Option<Read> {
        let node = read_tree("workflow", reader.source, reader)?;
        let (_, _, _, phases) = head(&node, reader)?;
        Some(read_phases(&phases?, values, scope, reader))
    }
}

type Head = (Option<String>, Option<String>, Vec<Input>, Option<Node>);

fn head(node: &Node, reader: &mut FieldReader<'_>) -> Option<Head> {
    let written = WorkflowSource::from_node(node, "a workflow", reader)?;
    let inputs = declared(written.inputs.map(|inputs| inputs.value).unwrap_or_default(), reader);
    let name = written.name.filter(|name| {
        let good = PhaseId::new(&name.value).is_ok();
        if !good {
            let message = format!("{:?} cannot be the name of a workflow", name.value);
            let help = "use lower-case letters, digits and '-', such as release-train";
            reader.error(codes::BAD_WORKFLOW, &name.range, message, help);
        }
        good
    });
    let text = |written: Option<Placed<String>>| written.map(|text| text.value);
    Some((text(name), text(written.description), inputs, written.phases.map(|phases| phases.value)))
}

fn read_phases(phases: &Node, values: &Values, scope: &Scope, reader: &mut FieldReader<'_>) -> Read {
    let phases = values.put_into(phases, reader);
    let mut read = Read { phases: Vec::new(), slot: None, verify: None };
    let Value::Sequence(items) = &phases.value else { return read };
    for item in items.iter() {
        let Some(slot) = item.get("slot") else {
            read.phases.extend(wanted(item).and_then(|item| read_phase(&item, scope, reader)));
            continue;
        };
        if read.slot.is_some() {
            let message = "the workflow has two slots";
            reader.error(codes::BAD_SLOT, &slot.key_range, message, "remove one");
            continue;
        }
        let slot = match item.get("type") {
            Some(_) => read_phase(&as_phase(item), scope, reader).map(|phase| {
                let verify = phase.phase.as_ref().and_then(|phase| phase.verify.clone());
                (phase, verify)
            }),
            None => bare_slot(item, scope, reader),
        };
        if let Some((phase, verify)) = slot {
            (read.slot, read.verify) = (Some(read.phases.len()), verify);
            read.phases.push(phase);
        }
    }
    read
}

/// The phase without its condition; `None` where that leaves it out.
fn wanted(item: &Node) -> Option<Node> {
    let mut item = item.clone();
    if let Some(when) = item.get(WHEN) {
        if when.value.as_bool() == Some(false) || when.value.items().is_empty() {
            return None;
        }
        let Value::Mapping(entries) = item.value else { return None };
        item.value = Value::Mapping(entries.iter().filter(|entry| &*entry.key != WHEN).cloned().collect());
    }
    Some(item)
}

fn read_phase(node: &Node, scope: &Scope, reader: &mut FieldReader<'_>) -> Option<CheckedPhase> {
    PhaseSource::from_node(node, "a phase", reader).map(|phase| resolve_phase(phase, scope, reader))
}

/// A slot with a stand-in as a phase whose id is the slot's name.
fn as_phase(item: &Node) -> Node {
    let Value::Mapping(entries) = &item.value else { return item.clone() };
    let renamed = entries.iter().cloned().map(|entry| match &*entry.key {
        "slot" => Entry { key: "id".into(), ..entry },
        _ => entry,
    });
    Node { range: item.range.clone(), value: Value::Mapping(renamed.collect()) }
}

fn bare_slot(item: &Node, scope: &Scope, reader: &mut FieldReader<'_>) -> Option<(CheckedPhase, Option<Verify>)> {
    let mut fields = reader.open(item, "a slot without a default")?;
    let id = fields.require::<Text>("slot", "add its name, such as `slot: work`", reader);
    let depends_on = fields.take::<Vec<String>>("depends_on", reader);
    let verify = fields.take::<VerifySource>("verify", reader).and_then(|verify| verify.value);
    let head = fields.head();
    fields.finish(reader);
    // Nothing is done in a bare slot, so that nothing has to be described or proven.
    let unreadable = vec!["description", "gates"];
    let slot = PhaseSource { id: Some(id?), depends_on, head, unreadable, ..PhaseSource::default() };
    Some((resolve_phase(slot, scope, reader), verify))
}
