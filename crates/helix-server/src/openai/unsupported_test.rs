use serde_json::json;

use super::*;
use crate::openai::wanted::WantedForm;

fn refused(fields: Value) -> Option<String> {
    let body = Field::body(&fields);
    let error = refuse(&body).err().or_else(|| Some(WantedForm::of(&body)?.refuse()));
    error.map(|error| error.envelope.error.param.unwrap())
}

#[test]
fn only_what_would_be_taken_for_something_else_is_refused() {
    for (fields, param) in [
        (json!({ "n": 2 }), "n"),
        (json!({ "n": 0 }), "n"),
        (json!({ "n": "1" }), "n"),
        (json!({ "logprobs": true, "top_logprobs": 3 }), "logprobs"),
        (json!({ "response_format": { "type": "json_object" } }), "response_format"),
        (json!({ "response_format": { "type": "json_schema", "json_schema": {} } }), "response_format"),
        (json!({ "text": { "format": { "type": "json_schema" } } }), "text.format"),
        (json!({ "tools": [{}], "tool_choice": "required" }), "tool_choice"),
        (json!({ "tool_choice": { "type": "function", "function": { "name": "f" } } }), "tool_choice"),
        (json!({ "function_call": { "name": "f" } }), "function_call"),
        (json!({ "modalities": ["text", "audio"] }), "modalities"),
    ] {
        assert_eq!(refused(fields.clone()).as_deref(), Some(param), "{fields}");
    }
    for fields in [
        json!({ "n": 1, "logprobs": false, "response_format": { "type": "text" }, "tool_choice": "auto" }),
        json!({ "n": null, "logprobs": null, "response_format": null, "tool_choice": null, "modalities": ["text"] }),
        json!({ "tools": [{}], "tool_choice": "none", "function_call": "auto", "text": { "verbosity": "low" } }),
        json!({ "temperature": 0, "seed": 1, "stop": ["x"], "max_tokens": 1, "max_completion_tokens": 1, "x": {} }),
    ] {
        assert_eq!(refused(fields.clone()), None, "{fields}");
    }
}
