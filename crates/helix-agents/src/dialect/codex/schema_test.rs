use super::*;

#[test]
fn optional_properties_become_nullable_and_are_left_out_again() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}},
            "b": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"type": "object", "properties": {}}}});
    let wanted = json!({"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["integer", "null"]}},
                  "required": ["n"], "additionalProperties": false}},
            "b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}},
            "$defs": {"B": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}}});
    assert_eq!(strict(schema), wanted);
    assert_eq!(without_nulls(json!({"a": [{"n": null}], "b": null})), json!({"a": [{}]}));
}
