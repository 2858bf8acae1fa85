//! `phases.yaml` as it is written: every field optional and placed, so that one reading finds all problems.
//!
//! Must not know what a valid plan is beyond keys and types; the JSON Schema is generated from these types.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use helix_core::source_text::SourceText;
use helix_core::yaml::{FieldCodes, FieldReader, Fields, FromYaml, Node, Placed, Value};

use super::codes;
use super::model::{Approval, GateSpec, OnFailure, PhaseType, Seconds};
use super::words::{APPROVALS, ON_FAILURE};
use super::workflow::{InputValue, given};

pub(super) const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::UNKNOWN_KEY,
    duplicate_key: codes::DUPLICATE_KEY,
    missing_key: codes::MISSING_KEY,
    wrong_type: codes::WRONG_TYPE,
    unknown_word: codes::UNKNOWN_WORD,
};

pub(super) type Texts = Placed<Vec<Placed<String>>>;

/// A plan: the phases that a job carries out.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Helix plan (phases.yaml)")]
pub(super) struct PlanSource {
    /// Name of the work, used in branch names and messages.
    #[schemars(required)]
    pub(super) name: Option<Placed<String>>,
    /// What it is for.
    pub(super) description: Option<Placed<String>>,
    /// The decision it carries out, relative to the repository's root; criteria and file claims come from it.
    pub(super) adr: Option<Placed<String>>,
    /// Workflow to whose phases these are added.
    pub(super) workflow: Option<Placed<WorkflowSource>>,
    /// Values for phases that do not say otherwise.
    pub(super) defaults: Option<DefaultsSource>,
    /// The phases; may be empty only with a workflow.
    pub(super) phases: Option<Vec<PhaseSource>>,
    #[schemars(skip)]
    pub(super) phases_place: Option<Range<usize>>,
    #[schemars(skip)]
    pub(super) head: Range<usize>,
}

/// A workflow: its name, or its name with values for its inputs.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(super) enum WorkflowSource {
    /// With what the plan gives anyway.
    Name(Placed<String>),
    /// With values of its own.
    Call(WorkflowDetail),
}

/// A workflow with values for its inputs.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WorkflowDetail {
    /// Its name.
    #[schemars(required)]
    pub(super) name: Option<Placed<String>>,
    /// Values by the names of its inputs.
    #[schemars(with = "Option<std::collections::BTreeMap<String, InputValue>>")]
    pub(super) inputs: Vec<(Placed<String>, Placed<InputValue>)>,
}

impl FromYaml for WorkflowSource {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let blank = "name a workflow; `helix workflow list` shows them";
        if !matches!(node.value, Value::Mapping(_)) {
            let name = String::from_yaml(node, what, reader)?;
            return not_blank(Placed::new(name, node.range.clone()), "workflow", blank, reader).map(Self::Name);
        }
        let mut fields = reader.open(node, what)?;
        let name = required_text(&mut fields, "name", blank, reader);
        let inputs = fields.entry("inputs").map(|entry| given(&entry.value, reader)).unwrap_or_default();
        fields.finish(reader);
        Some(Self::Call(WorkflowDetail { name, inputs }))
    }
}

/// Values for phases that do not say otherwise.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct DefaultsSource {
    /// Agent's name in `helix.toml`.
    pub(super) agent: Option<Placed<String>>,
    /// Model, in the agent's words.
    pub(super) model: Option<Placed<String>>,
    /// Tries at a phase, at least 1 (built in: 3).
    #[schemars(range(min = 1))]
    pub(super) max_attempts: Option<Placed<u32>>,
    /// Time limit of one run (built in: 30m).
    #[schemars(with = "Option<DurationText>")]
    pub(super) timeout: Option<Placed<Seconds>>,
    /// Money limit of one run in US dollars.
    #[schemars(range(min = 0.0))]
    pub(super) budget_usd: Option<Placed<f64>>,
    /// Turn limit of one run, at least 1.
    #[schemars(range(min = 1))]
    pub(super) max_turns: Option<Placed<u32>>,
}

/// One phase.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct PhaseSource {
    /// Unique in the plan.
    #[schemars(required, regex(pattern = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    pub(super) id: Option<Placed<String>>,
    /// For people; the id if absent.
    pub(super) name: Option<Placed<String>>,
    /// Decides prompt template and default gates.
    #[schemars(required, rename = "type")]
    pub(super) kind: Option<Placed<PhaseType>>,
    /// What the agent is asked to do.
    pub(super) description: Option<Placed<String>>,
    /// Ids of the phases whose results it starts from; independent phases run in parallel.
    pub(super) depends_on: Option<Texts>,
    /// Names of skills.
    pub(super) skills: Option<Texts>,
    /// Files that must exist before an attempt, relative to the root.
    pub(super) inputs: Option<Texts>,
    /// Claims: files or globs that must be in the diff.
    pub(super) outputs: Option<Texts>,
    /// Checks of the result; the type's default gates if absent.
    pub(super) gates: Option<Placed<Vec<Placed<GateSpec>>>>,
    /// Independent verification of the result.
    pub(super) verify: Option<Placed<VerifySource>>,
    /// When a person must say yes.
    pub(super) approval: Option<Placed<Approval>>,
    /// What happens after the attempts are used up (default: escalate).
    pub(super) on_failure: Option<Placed<OnFailure>>,
    /// Whether the job can succeed without it.
    pub(super) optional: Option<Placed<bool>>,
    /// Planning phases only: how many phases it may add.
    pub(super) generates_phases: Option<Placed<GeneratePhasesSource>>,
    /// Agent's name in `helix.toml`.
    pub(super) agent: Option<Placed<String>>,
    /// Model, in the agent's words.
    pub(super) model: Option<Placed<String>>,
    /// Tries, at least 1.
    #[schemars(range(min = 1))]
    pub(super) max_attempts: Option<Placed<u32>>,
    /// Time limit of one run.
    #[schemars(with = "Option<DurationText>")]
    pub(super) timeout: Option<Placed<Seconds>>,
    /// Money limit of one run in US dollars.
    #[schemars(range(min = 0.0))]
    pub(super) budget_usd: Option<Placed<f64>>,
    /// Turn limit of one run, at least 1.
    #[schemars(range(min = 1))]
    pub(super) max_turns: Option<Placed<u32>>,
    #[schemars(skip)]
    pub(super) head: Range<usize>,
    /// False when some field was reported as unreadable, so that its absence means nothing.
    #[schemars(skip)]
    pub(super) gates_readable: bool,
}

/// Independent verification: on, off, or with its own model and time limit.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(super) enum VerifySource {
    /// On with the configured model, or off.
    Switch(bool),
    /// On with details.
    Detail(VerifyDetail),
}

/// Model and time limit of the verifier.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct VerifyDetail {
    /// Model of the verifier.
    pub(super) model: Option<Placed<String>>,
    /// Its time limit (default: 2m).
    #[schemars(with = "Option<DurationText>")]
    pub(super) timeout: Option<Placed<Seconds>>,
}

/// How many phases a planning phase may add, and what each of them is.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GeneratePhasesSource {
    /// At least this many (default: 1).
    pub(super) min: Option<Placed<u32>>,
    /// At most this many.
    #[schemars(required, range(min = 1))]
    pub(super) max: Option<Placed<u32>>,
    /// Type of the added phases (default: development).
    pub(super) template: Option<Placed<PhaseType>>,
    /// Gates that every added phase has besides those it names itself; the type's default gates if absent.
    pub(super) gates: Option<Placed<Vec<Placed<GateSpec>>>>,
    /// Independent verification of every added phase.
    pub(super) verify: Option<Placed<VerifySource>>,
    /// Agent, model and limits of every added phase; those of the plan if absent.
    pub(super) defaults: Option<DefaultsSource>,
    /// False when the gates were reported as unreadable.
    #[schemars(skip)]
    pub(super) gates_readable: bool,
}

/// The schema of durations.
pub(super) struct DurationText;

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hours, minutes and seconds, such as 90s, 30m, 2h or 1h30m.",
            "type": "string",
            "pattern": "^(?=.)([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
        })
    }
}

/// The JSON Schema of `phases.yaml`, as editors want it.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(PlanSource).to_value();
    write_gates_as_in_plans(&mut schema);
    schema
}

/// Durations of gates and of probes, with what they mean in plans.
const GATE_DURATIONS: &[(&str, &str)] =
    &[("timeout", "Its time limit (default: 10m)."), ("delay", "Pause before that (default: 3s).")];
const PROBE_DURATIONS: &[(&str, &str)] = &[("timeout", "Time limit of one try (default: 10s).")];

/// Durations are texts in plans, and what has a default may be left out.
fn write_as_in_plans(variant: &mut serde_json::Value, durations: &[(&str, &str)]) {
    for (key, meaning) in durations {
        if let Some(duration) = variant.pointer_mut(&format!("/properties/{key}")) {
            *duration = serde_json::json!({"description": meaning, "$ref": "#/$defs/Duration"});
        }
    }
    if let Some(required) = variant.get_mut("required").and_then(serde_json::Value::as_array_mut) {
        required.retain(|key| !["timeout", "retries", "delay", "status"].iter().any(|other| key == other));
    }
}

/// Makes a schema's gates those of plans instead of those of the journal.
pub(super) fn write_gates_as_in_plans(schema: &mut serde_json::Value) {
    // The gates' schema is the journal's; in plans the time limit is a text and may be left out.
    let variants = schema.pointer_mut("/$defs/GateSpec/oneOf").and_then(serde_json::Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        write_as_in_plans(variant, GATE_DURATIONS);
        // One command line of several is written without a list.
        if let Some(command) = variant.pointer_mut("/properties/command")
            && command["type"] == "array"
        {
            let text = serde_json::json!({ "type": "string" });
            *command = serde_json::json!({
                "description": command["description"],
                "anyOf": [text, { "type": "array", "items": text }],
            });
        }
    }
    let probes = schema.pointer_mut("/$defs/Probe/anyOf").and_then(serde_json::Value::as_array_mut);
    for variant in probes.into_iter().flatten() {
        write_as_in_plans(variant, PROBE_DURATIONS);
    }
    // A schema whose own types have no duration does not define it yet, and an agent does not start with one that lacks it.
    let duration = DurationText::json_schema(&mut schemars::SchemaGenerator::default()).to_value();
    if let Some(definitions) = schema.get_mut("$defs").and_then(serde_json::Value::as_object_mut) {
        definitions.entry("Duration").or_insert(duration);
    }
}

/// Reads the keys and values of a plan; problems go to the reader.
pub(super) fn read_plan(node: &Node, reader: &mut FieldReader<'_>) -> Option<PlanSource> {
    let mut fields = reader.open(node, "a plan")?;
    let name = required_text(&mut fields, "name", "name the work, such as `name: csv-export`", reader);
    let description = fields.take("description", reader);
    let adr = fields.take("adr", reader);
    let workflow = fields.take("workflow", reader);
    let defaults = fields.entry("defaults").map(|entry| read_defaults(&entry.value, reader));
    let entry = fields.entry("phases");
    let phases = entry.and_then(|entry| match &entry.value.value {
        Value::Sequence(items) => Some(items.iter().filter_map(|item| read_phase(item, reader)).collect()),
        Value::Scalar(_) | Value::Mapping(_) => {
            let help = Some("write each phase as an item: `- id: …`".into());
            reader.wrong_type(&entry.value, "`phases`", "a list of phases", help);
            None
        }
    });
    let phases_place = entry.map(|entry| entry.key_range.clone());
    let head = fields.head();
    fields.finish(reader);
    Some(PlanSource { name, description, adr, workflow, defaults, phases, phases_place, head })
}

fn read_defaults(node: &Node, reader: &mut FieldReader<'_>) -> DefaultsSource {
    let Some(mut fields) = reader.open(node, "`defaults`") else { return DefaultsSource::default() };
    let defaults = DefaultsSource {
        agent: text(&mut fields, "agent", reader),
        model: text(&mut fields, "model", reader),
        max_attempts: at_least_one(&mut fields, "max_attempts", reader),
        timeout: fields.take("timeout", reader),
        budget_usd: budget(&mut fields, reader),
        max_turns: at_least_one(&mut fields, "max_turns", reader),
    };
    fields.finish(reader);
    defaults
}

/// Reads the keys and values of a phase.
pub(super) fn read_phase(node: &Node, reader: &mut FieldReader<'_>) -> Option<PhaseSource> {
    let mut fields = reader.open(node, "a phase")?;
    let id = required_text(&mut fields, "id", "give it an id, such as `id: implement`", reader);
    let name = text(&mut fields, "name", reader);
    let kind = fields.require("type", "give it a type, such as `type: development`", reader);
    let description = fields.take("description", reader);
    let depends_on = fields.take("depends_on", reader);
    let skills = fields.take("skills", reader);
    let inputs = fields.take("inputs", reader);
    let outputs = fields.take("outputs", reader);
    let before = reader.problems.len();
    let gates = fields.take("gates", reader);
    let gates_readable = reader.problems.len() == before;
    let phase = PhaseSource {
        id,
        name,
        kind,
        description,
        depends_on,
        skills,
        inputs,
        outputs,
        gates,
        gates_readable,
        verify: fields.take("verify", reader),
        approval: fields.take("approval", reader),
        on_failure: fields.take("on_failure", reader),
        optional: fields.take("optional", reader),
        generates_phases: fields.take("generates_phases", reader),
        agent: text(&mut fields, "agent", reader),
        model: text(&mut fields, "model", reader),
        max_attempts: at_least_one(&mut fields, "max_attempts", reader),
        timeout: fields.take("timeout", reader),
        budget_usd: budget(&mut fields, reader),
        max_turns: at_least_one(&mut fields, "max_turns", reader),
        head: fields.head(),
    };
    fields.finish(reader);
    Some(phase)
}

/// Reads an optional text that must not be blank.
pub(super) fn text(fields: &mut Fields<'_>, key: &'static str, reader: &mut FieldReader<'_>) -> Option<Placed<String>> {
    let text = fields.take::<String>(key, reader)?;
    not_blank(text, key, "write a text, or leave the key out", reader)
}

/// Reads a required text that must not be blank.
pub(super) fn required_text(
    fields: &mut Fields<'_>,
    key: &'static str,
    help: &str,
    reader: &mut FieldReader<'_>,
) -> Option<Placed<String>> {
    let text = fields.require::<String>(key, help, reader)?;
    not_blank(text, key, help, reader)
}

fn not_blank(text: Placed<String>, key: &str, help: &str, reader: &mut FieldReader<'_>) -> Option<Placed<String>> {
    if text.value.trim().is_empty() {
        reader.error(codes::MISSING_KEY, &text.range, format!("`{key}` is empty"), help);
        return None;
    }
    Some(text)
}

fn at_least_one(fields: &mut Fields<'_>, key: &'static str, reader: &mut FieldReader<'_>) -> Option<Placed<u32>> {
    let number = fields.take::<u32>(key, reader)?;
    if number.value == 0 {
        let help = "write at least 1, or leave the key out";
        reader.error(codes::OUT_OF_RANGE, &number.range, format!("`{key}` is 0"), help);
        return None;
    }
    Some(number)
}

fn budget(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<Placed<f64>> {
    let number = fields.take::<f64>("budget_usd", reader)?;
    if !number.value.is_finite() || number.value <= 0.0 {
        let message = format!("`budget_usd` is {}, which is no amount that can be spent", number.value);
        reader.error(codes::OUT_OF_RANGE, &number.range, message, "write US dollars above 0, such as 2.5");
        return None;
    }
    Some(number)
}

impl FromYaml for Seconds {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let written = match &node.value {
            Value::Scalar(scalar) if node.as_bool().is_none() && !node.is_null() => &scalar.text,
            Value::Scalar(_) | Value::Sequence(_) | Value::Mapping(_) => {
                reader.wrong_type(node, what, "a duration such as 90s, 30m or 2h", None);
                return None;
            }
        };
        match written.parse::<Self>() {
            Ok(seconds) => Some(seconds),
            Err(error) => {
                reader.error(codes::BAD_DURATION, &node.range, format!("{what}: {error}"), error.remedy());
                None
            }
        }
    }
}

impl FromYaml for PhaseType {
    fn from_yaml(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        reader.word(node, "a phase type", &Self::ALL.map(|kind| (kind.word(), kind)))
    }
}

impl FromYaml for Approval {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        reader.word(node, &format!("a value of {what}"), APPROVALS)
    }
}

impl FromYaml for OnFailure {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        reader.word(node, &format!("a value of {what}"), ON_FAILURE)
    }
}

impl FromYaml for VerifySource {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        if let Some(switch) = node.as_bool() {
            return Some(Self::Switch(switch));
        }
        if !matches!(node.value, Value::Mapping(_)) {
            reader.wrong_type(node, what, "true, false or a mapping with `model` and `timeout`", None);
            return None;
        }
        let mut fields = reader.open(node, what)?;
        let detail =
            VerifyDetail { model: text(&mut fields, "model", reader), timeout: fields.take("timeout", reader) };
        fields.finish(reader);
        Some(Self::Detail(detail))
    }
}

impl FromYaml for GeneratePhasesSource {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let mut fields = reader.open(node, what)?;
        let min = fields.take("min", reader);
        let max = fields.require("max", "say how many phases it may add at most, such as `max: 5`", reader);
        let template = fields.take("template", reader);
        let before = reader.problems.len();
        let gates = fields.take("gates", reader);
        let gates_readable = reader.problems.len() == before;
        let verify = fields.take("verify", reader);
        let defaults = fields.entry("defaults").map(|entry| read_defaults(&entry.value, reader));
        let source = Self { min, max, template, gates, verify, defaults, gates_readable };
        fields.finish(reader);
        Some(source)
    }
}

/// A reader that gives the codes of plans.
pub(super) fn reader<'s>(source: &'s SourceText<'s>) -> FieldReader<'s> {
    FieldReader::new(source, FIELD_CODES)
}
