//! JSON Schemas in the strict form that the provider demands of structured output, and the way back.
//!
//! Must not weaken a schema: what was required stays required, what was optional may be `null` instead of absent.

use serde_json::{Value, json};

/// The strict form: objects name all of their properties as required and allow no others. The provider refuses anything else
/// (its guide to structured outputs, "all fields must be required").
pub(super) fn strict(mut schema: Value) -> Value {
    make_strict(&mut schema);
    schema
}

fn make_strict(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    // No meaning for the model, and unknown to the provider.
    fields.remove("$schema");
    for key in ["$defs", "definitions", "properties"] {
        if let Some(Value::Object(members)) = fields.get_mut(key) {
            members.values_mut().for_each(make_strict);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(member) = fields.get_mut(key) {
            make_strict(member);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(members)) = fields.get_mut(key) {
            members.iter_mut().for_each(make_strict);
        }
    }
    // A free-form map stays as it is: the strict form has no word for it.
    let Some(Value::Object(properties)) = fields.get_mut("properties") else { return };
    let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
    let required = fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.iter().any(|one| one == name.as_str()) && !allows_null(property) {
                let present = property.take();
                *property = json!({"anyOf": [present, {"type": "null"}]});
            }
        }
    }
    fields.insert("required".to_owned(), Value::Array(names));
    fields.insert("additionalProperties".to_owned(), Value::Bool(false));
}

fn allows_null(schema: &Value) -> bool {
    let names_null = |kind: &Value| kind == "null";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(names_null),
        Some(kind) => names_null(kind),
        None => ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(|key| schema.get(key)?.as_array())
            .any(|members| members.iter().any(allows_null)),
    }
}

/// Removes what is `null` from objects: in the strict form that is how an optional property is left out.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .filter(|(_, field)| !field.is_null())
                .map(|(name, field)| (name, without_nulls(field)))
                .collect(),
        ),
        Value::Array(values) => Value::Array(values.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
#[path = "schema_test.rs"]
mod tests;
