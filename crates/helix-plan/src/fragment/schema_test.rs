//! The schema of added phases as the real CLI takes it.

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
