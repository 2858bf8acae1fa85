//! Tables of the keys and gates of plans for `docs/plan.md`, made from the schema.
//!
//! Must not know a key by name: what the schema has is in the tables.

use serde_json::Value;

use super::source::json_schema;

/// The objects of a plan in the order of the tables, with what they are called there.
const OBJECTS: &[(&str, &str)] = &[
    ("", "plan"),
    ("/$defs/WorkflowDetail", "`workflow` as a mapping"),
    ("/$defs/DefaultsSource", "`defaults`"),
    ("/$defs/PhaseSource", "phase"),
    ("/$defs/VerifyDetail", "`verify` as a mapping"),
    ("/$defs/GeneratePhasesSource", "`generates_phases`"),
];

/// The table of all keys of plans as Markdown.
pub fn keys_markdown() -> String {
    let schema = json_schema();
    let mut out = String::from("| where | key | meaning |\n|---|---|---|\n");
    for (pointer, place) in OBJECTS {
        let Some(object) = schema.pointer(pointer) else { continue };
        for (key, property) in properties(object) {
            let required = if is_required(object, key) { " (required)" } else { "" };
            out.push_str(&format!("| {place} | `{key}`{required} | {} |\n", described(property)));
        }
    }
    out
}

/// The table of all gates with their parameters as Markdown.
pub fn gates_markdown() -> String {
    let schema = json_schema();
    let mut out = String::from("| gate | passes when | parameters |\n|---|---|---|\n");
    let gates = schema.pointer("/$defs/GateSpec/oneOf").and_then(Value::as_array);
    for gate in gates.into_iter().flatten() {
        let word = gate.pointer("/properties/type/const").and_then(Value::as_str).unwrap_or_default();
        let mut parameters: Vec<String> = Vec::new();
        for (key, property) in properties(gate).filter(|(key, _)| *key != "type") {
            let required = if is_required(gate, key) { " (required)" } else { "" };
            parameters.push(format!("`{key}`{required}: {}", described(property)));
        }
        out.push_str(&format!("| `{word}` | {} | {} |\n", described(gate), parameters.join("<br>")));
    }
    out
}

fn properties(object: &Value) -> impl Iterator<Item = (&str, &Value)> {
    object.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

fn is_required(object: &Value, key: &str) -> bool {
    object.get("required").and_then(Value::as_array).is_some_and(|required| required.iter().any(|one| one == key))
}

fn described(value: &Value) -> String {
    let text = value.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
