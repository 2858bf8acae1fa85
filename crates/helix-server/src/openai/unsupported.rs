//! Request options that agents cannot fulfil. They are refused, since the client would take the answer for what it asked.
//!
//! Must not know messages. Options that only shape an answer (temperature, seed, stop, token limits) are ignored.

use serde_json::Value;

use super::error::ApiError;
use super::field::Field;

/// Refuses what cannot be done in either form.
///
/// # Errors
/// [`ApiError`] with the field at fault.
pub(super) fn refuse(body: &Field<'_>) -> Result<(), ApiError> {
    let count = body.get("n");
    if count.value.is_some_and(|count| count.as_u64() != Some(1)) {
        return Err(count.refuse(format!("must be 1, not {}: a turn has one answer", shown(&count))));
    }
    let logprobs = body.get("logprobs");
    if logprobs.value == Some(&Value::Bool(true)) {
        return Err(logprobs.refuse("is not supported: agents report no probabilities"));
    }
    for format in [body.get("response_format"), body.get("text").get("format")] {
        if let Some(wanted) = format.get("type").text().filter(|wanted| *wanted != "text") {
            let message =
                format!("{wanted:?} is not supported: the Consultant answers in text; ask for JSON in the message");
            return Err(format.refuse(message));
        }
    }
    for choice in [body.get("tool_choice"), body.get("function_call")] {
        if choice.value.is_some() && !matches!(choice.text(), Some("auto" | "none")) {
            return Err(choice.refuse(format!(
                "{} is not supported: Helix's agents run their own tools, not the client's; omit it or use \"auto\"",
                shown(&choice)
            )));
        }
    }
    let modalities = body.get("modalities");
    if modalities.items().any(|one| one.text() == Some("audio")) {
        return Err(modalities.refuse("audio is not supported: the Consultant answers in text"));
    }
    Ok(())
}

/// Refuses what cannot be done in the responses form.
///
/// # Errors
/// [`ApiError`] with the field at fault.
pub(super) fn refuse_of_responses(body: &Field<'_>) -> Result<(), ApiError> {
    let (conversation, background) = (body.get("conversation"), body.get("background"));
    if conversation.value.is_some() {
        let message = "is not supported: use `previous_response_id`, or send the earlier messages in `input`";
        return Err(conversation.refuse(message));
    }
    if background.value == Some(&Value::Bool(true)) {
        let message = "is not supported; a turn continues in the background when its client disconnects";
        return Err(background.refuse(message));
    }
    Ok(())
}

fn shown(field: &Field<'_>) -> String {
    match field.value {
        Some(value) if !value.is_array() && !value.is_object() => value.to_string(),
        Some(_) | None => field.kind().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(fields: Value) -> Option<String> {
        refuse(&Field::body(&fields)).err().map(|error| error.envelope.error.param.unwrap())
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
