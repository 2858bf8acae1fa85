//! `phases.yaml` as it is written: every field optional and placed, so that one reading finds all problems.
//!
//! Must not know what a valid plan is beyond keys and types; reader and JSON Schema are made from these declarations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use helix_core::document::{Count, FieldCodes, FieldReader, FromNode, Money, Node, TableOf, Text, Time, Value};
use helix_core::evidence::Land;
use helix_core::issue::Issue;
use helix_core::run::NetworkAccess;
use helix_core::source_text::SourceText;
use helix_core::{kinds, mapping};

use super::codes;
use super::model::{Approval, GateSpec, InputValue, OnFailure, PhaseType, Seconds, VERIFY_TIMEOUT, Verify};

pub(super) const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::UNKNOWN_KEY,
    duplicate_key: codes::DUPLICATE_KEY,
    missing_key: codes::MISSING_KEY,
    wrong_type: codes::WRONG_TYPE,
    unknown_word: codes::UNKNOWN_WORD,
    out_of_range: codes::OUT_OF_RANGE,
    bad_duration: codes::BAD_DURATION,
};

/// A reader that gives the codes of plans.
pub(super) fn reader<'s>(source: &'s SourceText<'s>) -> FieldReader<'s> {
    FieldReader::new(source, FIELD_CODES)
}

mapping! { schema
    /// A plan: the phases that a job carries out.
    pub(super) struct PlanSource {
        /// Name of the plan, used in branch names and messages.
        name: Text, required = "add a name, such as `name: csv-export`";
        /// What it is for.
        description: String;
        /// The decision it implements, relative to the repository's root; criteria and file claims come from it.
        adr: String;
        /// The issue, pull request or merge request that it is for: its number, or its URL.
        issue: Issue;
        /// How its result gets to the user: `merge`, `squash` (one commit), or `branch` (no merge).
        land: Land;
        /// Workflow that the plan's phases are added to.
        workflow: WorkflowSource;
        /// Defaults for all phases.
        defaults: DefaultsSource;
        /// The phases; may be empty only with a workflow.
        phases: Vec<PhaseSource>;
    }
}

/// A workflow: its name, or its name with values for its inputs.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(super) enum WorkflowSource {
    /// With what the plan gives anyway.
    Name(String),
    /// With values of its own.
    Call(WorkflowDetail),
}

mapping! { schema
    /// A workflow with values for its inputs.
    pub(super) struct WorkflowDetail {
        /// Its name.
        name: Text, required = "add the name; `helix workflow list` shows them";
        /// Values by the names of its inputs.
        inputs: TableOf<InputValue>;
    }
}

impl FromNode for WorkflowSource {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        match node.value {
            Value::Mapping(_) => WorkflowDetail::from_node(node, what, reader).map(Self::Call),
            Value::Scalar(_) | Value::Sequence(_) => Text::from_node(node, what, reader).map(Self::Name),
        }
    }
}

mapping! { schema
    /// Defaults for all phases.
    pub(super) struct DefaultsSource {
        /// Agent's name in `helix.toml`.
        agent: Text;
        /// Model name, as the agent knows it.
        model: Text;
        /// Attempts at a phase, at least 1 (default: 3).
        max_attempts: Count;
        /// Time limit of one run (default: 30m).
        timeout: TimeLimit;
        /// Budget of one run in US dollars.
        budget_usd: Money;
        /// Turn limit of one run, at least 1.
        max_turns: Count;
    }
}

mapping! { schema
    /// One phase.
    pub(super) struct PhaseSource as "a phase" {
        /// Unique in the plan.
        id: IdText, required = "add an id, such as `id: implement`";
        /// Display name; the id if absent.
        name: Text;
        /// Decides prompt template and default gates.
        kind["type"]: PhaseType, required = "add a type, such as `type: development`";
        /// What the agent is asked to do.
        description: String;
        /// Ids of the phases it starts from; independent phases run in parallel.
        depends_on: Vec<String>;
        /// Names of skills.
        skills: Vec<String>;
        /// Files that must exist before an attempt, relative to the root.
        inputs: Vec<String>;
        /// Claims: files or globs that must be in the diff.
        outputs: Vec<String>;
        /// Checks of the result; the type's default gates if absent.
        gates: Vec<GateSpec>;
        /// Independent verification of the result.
        verify: VerifySource;
        /// When a person must approve.
        approval: Approval;
        /// What happens after the attempts are used up (default: escalate).
        on_failure: OnFailure;
        /// Whether the job can succeed without it.
        optional: bool;
        /// Planning phases only: how many phases it may add.
        generates_phases: GeneratePhasesSource;
        /// Agent's name in `helix.toml`.
        agent: Text;
        /// Model name, as the agent knows it.
        model: Text;
        /// Attempts, at least 1.
        max_attempts: Count;
        /// Time limit of one run.
        timeout: TimeLimit;
        /// Budget of one run in US dollars.
        budget_usd: Money;
        /// Turn limit of one run, at least 1.
        max_turns: Count;
        /// What its agent and its gates may connect to: `open`, or `closed` (an agent: its provider only).
        network: NetworkAccess;
    }
}

/// Independent verification: on, off, or with its own model and time limit.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum VerifySource {
    /// On with the configured model, or off.
    Switch(bool),
    /// On with details.
    Detail(VerifyDetail),
}

mapping! { schema
    /// Model and time limit of the verifier.
    pub(super) struct VerifyDetail {
        /// The verifier's model.
        model: Text;
        /// Its time limit (default: 2m).
        timeout: TimeLimit;
    }
}

impl FromNode for VerifySource {
    type Value = Option<Verify>;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Option<Verify>> {
        match (&node.value, node.as_bool()) {
            (Value::Mapping(_), _) => VerifyDetail::from_node(node, what, reader).map(|detail| {
                let timeout = detail.timeout.map_or(VERIFY_TIMEOUT, |timeout| timeout.value);
                Some(Verify { model: detail.model.map(|model| model.value), timeout })
            }),
            (_, Some(switch)) => Some(switch.then_some(Verify { model: None, timeout: VERIFY_TIMEOUT })),
            (_, None) => {
                reader.wrong_type(node, what, "true, false or a mapping with `model` and `timeout`", None);
                None
            }
        }
    }
}

mapping! { schema
    /// How many phases a planning phase may add, and what each of them is.
    pub(super) struct GeneratePhasesSource {
        /// At least this many (default: 1).
        min: u32;
        /// At most this many.
        max: u32, required = "set the maximum, such as `max: 5`";
        /// Type of the added phases (default: development).
        template: PhaseType;
        /// Gates of every added phase besides its own; the type's default gates if absent.
        gates: Vec<GateSpec>;
        /// Independent verification of every added phase.
        verify: VerifySource;
        /// Agent, model and limits of every added phase; those of the plan if absent.
        defaults: DefaultsSource;
    }
}

kinds! {
    /// A text in the form of ids of phases; what is not is reported when the id is made of it.
    pub(super) IdText -> String as { "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$" }, String::from_node;
}

/// A time limit in whole seconds.
#[derive(Debug)]
pub(super) struct TimeLimit;

impl FromNode for TimeLimit {
    type Value = Seconds;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Seconds> {
        let time = Time::from_node(node, what, reader)?;
        let seconds = u32::try_from(time.as_secs()).ok().filter(|_| time.subsec_millis() == 0);
        if seconds.is_none() {
            let help = "write hours, minutes and whole seconds, such as 90s, 30m, 2h or 1h30m";
            reader.error(codes::BAD_DURATION, &node.range, format!("{what} is not a whole number of seconds"), help);
        }
        seconds.map(Seconds)
    }
}

impl JsonSchema for TimeLimit {
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
    schema_of::<PlanSource>("Helix plan (phases.yaml)")
}

/// The schema of a file whose gates are those of plans.
pub(super) fn schema_of<T: JsonSchema>(title: &str) -> serde_json::Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".into(), title.into());
    let mut schema = schema.to_value();
    write_gates_as_in_plans(&mut schema);
    schema
}

/// Durations of gates and of probes, with what they mean in plans.
const GATE_DURATIONS: &[(&str, &str)] =
    &[("timeout", "Its time limit (default: 10m)."), ("delay", "Pause before a retry (default: 3s).")];
const PROBE_DURATIONS: &[(&str, &str)] = &[("timeout", "Time limit of one attempt (default: 10s).")];
const HEALTH_DURATIONS: &[(&str, &str)] = &[
    ("every", "Pause between two checks (default: 5s)."),
    ("for", "How long it is watched (default: 1m)."),
    ("timeout", "Time limit of each command (default: 10s)."),
];

/// Durations are texts in plans, and what has a default may be left out.
fn write_as_in_plans(variant: &mut serde_json::Value, durations: &[(&str, &str)]) {
    for (key, meaning) in durations {
        if let Some(duration) = variant.pointer_mut(&format!("/properties/{key}")) {
            *duration = serde_json::json!({"description": meaning, "$ref": "#/$defs/Duration"});
        }
    }
    if let Some(required) = variant.get_mut("required").and_then(serde_json::Value::as_array_mut) {
        let optional = ["timeout", "retries", "delay", "status", "every", "for", "limit", "min_killed"];
        required.retain(|key| !optional.iter().any(|other| key == other));
    }
    // One command line of several is written without a list.
    for key in ["command", "rollback"] {
        let Some(commands) = variant.pointer_mut(&format!("/properties/{key}")) else { continue };
        if commands["type"] == "array" {
            let text = serde_json::json!({ "type": "string" });
            *commands = serde_json::json!({
                "description": commands["description"],
                "anyOf": [text, { "type": "array", "items": text }],
            });
        }
    }
}

/// Makes a schema's gates those of plans instead of those of the journal.
fn write_gates_as_in_plans(schema: &mut serde_json::Value) {
    // The gates' schema is the journal's; in plans the time limit is a text and may be left out.
    let variants = schema.pointer_mut("/$defs/GateSpec/oneOf").and_then(serde_json::Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        write_as_in_plans(variant, GATE_DURATIONS);
    }
    if let Some(health) = schema.pointer_mut("/$defs/Health") {
        write_as_in_plans(health, HEALTH_DURATIONS);
    }
    let probes = schema.pointer_mut("/$defs/Probe/anyOf").and_then(serde_json::Value::as_array_mut);
    for variant in probes.into_iter().flatten() {
        write_as_in_plans(variant, PROBE_DURATIONS);
    }
    // A schema whose own types have no duration does not define it yet, and an agent does not start with one that lacks it.
    let duration = TimeLimit::json_schema(&mut SchemaGenerator::default()).to_value();
    if let Some(definitions) = schema.get_mut("$defs").and_then(serde_json::Value::as_object_mut) {
        definitions.entry("Duration").or_insert(duration);
    }
}
