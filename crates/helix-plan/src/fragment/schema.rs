//! The JSON Schema of a fragment, generated from the types that the reader reads into.
//!
//! Must not know a plan beyond what its planning phase says about the phases that it adds.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::super::model::{GateSpec, GeneratePhases, PhaseType};
use super::super::source::{Texts, write_gates_as_in_plans};
use helix_core::yaml::Placed;

/// The phases to add to the plan.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Phases to add to a Helix plan")]
#[expect(dead_code, reason = "only its schema is used: the reader goes through its keys one by one")]
pub(super) struct FragmentSource {
    /// Runs before all others and finds out whether they can be done at all; leave it out when that is clear.
    feasibility: Option<FeasibilitySource>,
    /// The phases, in a sensible order.
    #[schemars(required)]
    phases: Option<Vec<AddedPhaseSource>>,
}

/// An added phase as the agent writes it.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct AddedPhaseSource {
    /// Unique in the whole plan.
    #[schemars(required, regex(pattern = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    pub(super) id: Option<Placed<String>>,
    /// For people; the id if absent.
    pub(super) name: Option<Placed<String>>,
    /// The plan decides it; may be left out.
    #[schemars(rename = "type")]
    pub(super) kind: Option<Placed<PhaseType>>,
    /// What the agent of this phase is asked to do; it knows nothing but this, the plan's description and its ADR.
    #[schemars(required, length(min = 1))]
    pub(super) description: Option<Placed<String>>,
    /// Ids of added phases whose results it needs; independent phases run in parallel.
    pub(super) depends_on: Option<Texts>,
    /// Names of skills.
    pub(super) skills: Option<Texts>,
    /// Files that must exist before an attempt, relative to the repository's root.
    pub(super) inputs: Option<Texts>,
    /// Claims: files or globs that will be created or changed; phases that may run at the same time share none.
    #[schemars(required)]
    pub(super) outputs: Option<Texts>,
    /// Checks besides those that every added phase has.
    pub(super) gates: Option<Placed<Vec<Placed<GateSpec>>>>,
    /// Agent's name, one that the plan uses.
    pub(super) agent: Option<Placed<String>>,
    /// Model, one that the plan uses.
    pub(super) model: Option<Placed<String>>,
}

/// The phase that finds out whether the others can be done.
#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: it is read as an added phase without dependencies")]
pub(super) struct FeasibilitySource {
    /// Unique in the whole plan.
    #[schemars(required, regex(pattern = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    id: Option<Placed<String>>,
    /// For people; the id if absent.
    name: Option<Placed<String>>,
    /// `feasibility`; may be left out.
    #[schemars(rename = "type")]
    kind: Option<Placed<PhaseType>>,
    /// What is to be found out, and how.
    #[schemars(required, length(min = 1))]
    description: Option<Placed<String>>,
    /// Names of skills.
    skills: Option<Texts>,
    /// Files that must exist before an attempt, relative to the repository's root.
    inputs: Option<Texts>,
    /// The file that says what was found out.
    #[schemars(required, length(min = 1))]
    outputs: Option<Texts>,
    /// Checks besides those that every feasibility phase has.
    gates: Option<Placed<Vec<Placed<GateSpec>>>>,
    /// Agent's name, one that the plan uses.
    agent: Option<Placed<String>>,
    /// Model, one that the plan uses.
    model: Option<Placed<String>>,
}

/// The JSON Schema of what a planning phase returns. Every value that [`super::read`] accepts satisfies it.
pub fn schema(generate: &GeneratePhases) -> Value {
    let mut schema = schemars::schema_for!(FragmentSource).to_value();
    write_gates_as_in_plans(&mut schema);
    leave_out_deliveries(&mut schema);
    let mut set = |pointer: &str, key: &str, value: Value| {
        if let Some(Value::Object(object)) = schema.pointer_mut(pointer) {
            object.insert(key.into(), value);
        }
    };
    set("/properties/phases", "minItems", generate.min.into());
    set("/properties/phases", "maxItems", generate.max.into());
    for (definition, kind) in [("AddedPhaseSource", generate.template), ("FeasibilitySource", PhaseType::Feasibility)] {
        let place = format!("/$defs/{definition}/properties");
        let why = "The plan decides it; may be left out.";
        set(&place, "type", json!({ "description": why, "const": kind.word() }));
        if claims_files(kind) {
            set(&format!("{place}/outputs"), "minItems", 1.into());
        }
    }
    schema
}

/// Takes out the gates that added phases cannot have, with what they alone are made of: what acts outside of the repository
/// only the plan itself can ask for.
fn leave_out_deliveries(schema: &mut Value) {
    if let Some(variants) = schema.pointer_mut("/$defs/GateSpec/oneOf").and_then(Value::as_array_mut) {
        variants.retain(|variant| variant.pointer("/properties/probes").is_none());
    }
    loop {
        let text = schema.to_string();
        let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            return;
        }
    }
}

/// Whether a phase of this type proves itself by the files that it claims.
pub(super) fn claims_files(kind: PhaseType) -> bool {
    kind.default_gates().gates.iter().any(|gate| gate.needs_outputs())
}

#[cfg(test)]
mod tests {
    use super::super::super::model::Defaults;
    use super::*;

    fn references<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
        match value {
            Value::Object(keys) => {
                into.extend(keys.get("$ref").and_then(Value::as_str));
                keys.values().for_each(|value| references(value, into));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The real CLI refuses to start with a schema that lacks a definition.
    #[test]
    fn every_reference_of_the_schema_is_defined_in_it() {
        let generate = GeneratePhases {
            min: 1,
            max: 5,
            template: PhaseType::Development,
            gates: Vec::new(),
            verify: None,
            defaults: Defaults::default(),
        };
        let schema = schema(&generate);
        let mut found = Vec::new();
        references(&schema, &mut found);
        assert!(found.contains(&"#/$defs/Duration"), "{found:?}");
        for reference in found {
            assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference} is not defined");
        }
        // What is refused is not offered, and nothing that only it needs: the CLI takes no formats that it does not know.
        let text = schema.to_string();
        for absent in ["deploy_success", "integration_pass", "Probe", "uint16"] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
        assert!(text.contains("tests_pass") && text.contains("files_exist"), "{text}");
    }
}
