//! Request options that agents cannot fulfil. They are refused, since the client would take the answer for what it asked.
//!
//! Must not know messages. Options that only shape an answer (temperature, seed, stop, token limits) are ignored.

use serde_json::{Map, Value};

use super::bad_request::{BadRequest, kind};

/// Refuses what cannot be done.
///
/// # Errors
/// [`BadRequest`] with the field at fault.
pub(super) fn refuse(fields: &Map<String, Value>) -> Result<(), BadRequest> {
    let given = |name: &str| fields.get(name).filter(|value| !value.is_null());
    if let Some(count) = given("n").filter(|count| count.as_u64() != Some(1)) {
        return Err(BadRequest::new("n", format!("must be 1, not {}: a turn has one answer", shown(count))));
    }
    if given("logprobs").and_then(Value::as_bool) == Some(true) {
        return Err(BadRequest::new("logprobs", "is not supported: agents report no probabilities"));
    }
    for (param, format) in [
        ("response_format", given("response_format")),
        ("text.format", given("text").and_then(|text| text.get("format")).filter(|format| !format.is_null())),
    ] {
        let wanted = format.and_then(|format| format.get("type")).and_then(Value::as_str);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != "text") {
            let message =
                format!("{wanted:?} is not supported: the Consultant answers in text; ask for JSON in the message");
            return Err(BadRequest::new(param, message));
        }
    }
    for name in ["tool_choice", "function_call"] {
        let Some(choice) = given(name) else { continue };
        if !matches!(choice.as_str(), Some("auto" | "none")) {
            let message = format!(
                "{} is not supported: Helix's agents run their own tools, not the client's; omit it or use \"auto\"",
                shown(choice)
            );
            return Err(BadRequest::new(name, message));
        }
    }
    let speaks = given("modalities").and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == "audio"));
    if speaks {
        return Err(BadRequest::new("modalities", "audio is not supported: the Consultant answers in text"));
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(fields: Value) -> Option<String> {
        refuse(fields.as_object().unwrap()).err().map(|error| error.param.unwrap())
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
}
