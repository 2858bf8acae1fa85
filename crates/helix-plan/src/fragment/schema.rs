//! The JSON Schema of a fragment, generated from the types that the reader reads into.
//!
//! Must not know a plan beyond what its planning phase says about the phases that it adds.

use helix_core::document::Text;
use helix_core::mapping;
use serde_json::{Value, json};

use super::super::model::{GateSpec, GeneratePhases, PhaseType};
use super::super::source::{IdText, schema_of};

mapping! { schema
    /// The phases to add to the plan.
    pub(super) struct FragmentSource {
        /// Runs before all others and finds out whether they can be done at all; leave it out when that is clear.
        feasibility: AddedPhaseSource;
        /// The phases, in a sensible order.
        phases: Vec<AddedPhaseSource>, required = "write a list of phases";
    }
}

mapping! { schema
    /// An added phase as the agent writes it.
    pub(super) struct AddedPhaseSource as "a phase" {
        /// Unique in the whole plan.
        id: IdText, required = "add an id, such as `parser`";
        /// Display name; the id if absent.
        name: Text;
        /// Set by the plan; may be omitted.
        kind["type"]: PhaseType;
        /// What the agent of this phase is asked to do; it knows nothing but this, the plan's description and its ADR.
        description: Text, required = "describe the work, in enough detail for an engineer who has only this text";
        /// Ids of added phases whose results it needs; independent phases run in parallel.
        depends_on: Vec<String>;
        /// Names of skills.
        skills: Vec<String>;
        /// Files that must exist before an attempt, relative to the repository's root.
        inputs: Vec<String>;
        /// Claims: files or globs that will be created or changed; phases that may run at the same time share none.
        outputs: Vec<String>, required = "list the files that it will create or change";
        /// Checks besides those that every added phase has.
        gates: Vec<GateSpec>;
        /// Agent's name, one that the plan uses.
        agent: Text;
        /// Model, one that the plan uses.
        model: Text;
    }
}

/// The JSON Schema of what a planning phase returns. Every value that [`super::read`] accepts satisfies it.
pub fn schema(generate: &GeneratePhases) -> Value {
    let mut schema = schema_of::<FragmentSource>("Phases to add to a Helix plan");
    leave_out_deliveries(&mut schema);
    // The feasibility phase is one as the others, but comes before them all and has a type of its own.
    let mut feasibility = schema["$defs"]["AddedPhaseSource"].clone();
    feasibility["description"] = "The phase that finds out whether the others can be done.".into();
    if let Some(keys) = feasibility["properties"].as_object_mut() {
        keys.shift_remove("depends_on");
    }
    schema["$defs"]["FeasibilitySource"] = feasibility;
    schema["properties"]["feasibility"] = json!({
        "description": schema["properties"]["feasibility"]["description"], "$ref": "#/$defs/FeasibilitySource",
    });
    let mut set = |pointer: &str, key: &str, value: Value| {
        if let Some(Value::Object(object)) = schema.pointer_mut(pointer) {
            object.insert(key.into(), value);
        }
    };
    set("/properties/phases", "minItems", generate.min.into());
    set("/properties/phases", "maxItems", generate.max.into());
    for (definition, kind) in [("AddedPhaseSource", generate.template), ("FeasibilitySource", PhaseType::Feasibility)] {
        let place = format!("/$defs/{definition}/properties");
        let why = "Set by the plan; may be omitted.";
        set(&place, "type", json!({ "description": why, "const": kind.word() }));
        set(&format!("{place}/description"), "minLength", 1.into());
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
    kind.default_gates().iter().any(GateSpec::is_about_claims)
}

#[cfg(test)]
#[path = "schema_test.rs"]
mod tests;
