//! A request in the responses form, read as the same conversation that a chat completion would carry.
//!
//! Must not know headers. What Helix does not use (tools, sampling, storage) is ignored.

use serde_json::{Map, Value, json};

use crate::openai::request::{BadRequest, ChatRequest, flag, kind, message};
use crate::openai::unsupported;

/// A parsed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResponsesRequest {
    /// Its conversation.
    pub(super) chat: ChatRequest,
    /// The response that it goes on from.
    pub(super) previous: Option<String>,
}

impl ResponsesRequest {
    /// Parses a body.
    ///
    /// # Errors
    /// [`BadRequest`] with the field at fault.
    pub(super) fn parse(body: &[u8]) -> Result<Self, BadRequest> {
        let whole = |message: String| BadRequest { param: None, message };
        let value: Value =
            serde_json::from_slice(body).map_err(|error| whole(format!("the body is not JSON: {error}")))?;
        let Value::Object(mut fields) = value else { return Err(whole("the body must be a JSON object".into())) };
        unsupported::refuse(&fields)?;
        if fields.get("conversation").is_some_and(|conversation| !conversation.is_null()) {
            let message =
                "is not supported: go on with `previous_response_id`, or send what was said before in `input`";
            return Err(BadRequest::new("conversation", message));
        }
        let mut text = |name: &str| match fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(BadRequest::new(name, format!("must be a string, not {}", kind(&other)))),
        };
        let (model, previous, instructions) = (text("model")?, text("previous_response_id")?, text("instructions")?);
        if fields.get("background").and_then(Value::as_bool) == Some(true) {
            let message = "is not supported; a turn goes on in the background anyway when its client goes away";
            return Err(BadRequest::new("background", message));
        }
        let mut messages = Vec::new();
        if let Some(instructions) = instructions.filter(|text| !text.trim().is_empty()) {
            messages.push(message((0, json!({ "role": "system", "content": instructions })))?);
        }
        match fields.remove("input") {
            Some(Value::String(text)) => messages.push(message((0, json!({ "role": "user", "content": text })))?),
            Some(Value::Array(items)) => {
                for (index, item) in items.into_iter().enumerate() {
                    let said = said(item, index)?.map(|item| message((index, item))).transpose();
                    messages.extend(said.map_err(|error| renamed(error, index))?);
                }
            }
            None | Some(Value::Null) => return Err(BadRequest::new("input", "is missing")),
            Some(other) => {
                return Err(BadRequest::new("input", format!("must be a string or a list, not {}", kind(&other))));
            }
        }
        let offers_tools = fields.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
        let stream = flag(&fields, "stream", "stream")?;
        Ok(Self { chat: ChatRequest { model, stream, include_usage: true, offers_tools, messages }, previous })
    }
}

/// An item as a chat message; `None` for activity, which is no part of what was said.
fn said(item: Value, index: usize) -> Result<Option<Value>, BadRequest> {
    let at = format!("input[{index}]");
    let Value::Object(fields) = item else {
        return Err(BadRequest::new(at, format!("must be an object, not {}", kind(&item))));
    };
    match fields.get("type").and_then(Value::as_str) {
        None | Some("message") => Ok(Some(Value::Object(fields))),
        Some("function_call_output" | "custom_tool_call_output") => Ok(Some(tool_answer(&fields))),
        // Reasoning, calls and their kin: what an agent did, not what anybody said.
        Some(_) => Ok(None),
    }
}

fn tool_answer(fields: &Map<String, Value>) -> Value {
    let output = match fields.get("output") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    json!({ "role": "tool", "content": output })
}

fn renamed(error: BadRequest, index: usize) -> BadRequest {
    let (old, new) = (format!("messages[{index}]"), format!("input[{index}]"));
    BadRequest { param: error.param.map(|param| param.replacen(&old, &new, 1)), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::request::Role;

    fn parse(body: &str) -> Result<ResponsesRequest, BadRequest> {
        ResponsesRequest::parse(body.as_bytes())
    }

    #[test]
    fn text_and_items_are_the_same_conversation() {
        let short = parse(r#"{"model":"helix","input":"hi","instructions":"be brief","stream":true}"#).unwrap();
        let roles: Vec<Role> = short.chat.messages.iter().map(|one| one.role).collect();
        assert_eq!((roles, short.chat.stream), (vec![Role::System, Role::User], true));
        let long = parse(
            r#"{"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[]},
               {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},
               {"type":"function_call","call_id":"c","name":"n","arguments":"{}"},
               {"type":"function_call_output","call_id":"c","output":"d"},
               {"role":"user","content":[{"type":"input_text","text":"e"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],
               "previous_response_id":"resp_1"}"#,
        )
        .unwrap();
        let texts: Vec<&str> = long.chat.messages.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((texts, long.previous.as_deref()), (vec!["a", "b", "d", "e"], Some("resp_1")));
        assert_eq!(long.chat.messages[3].uploads.len(), 1);
    }

    #[test]
    fn errors_name_the_field() {
        for (body, param) in [
            ("[]", None),
            (r#"{}"#, Some("input")),
            (r#"{"input":7}"#, Some("input")),
            (r#"{"input":["x"]}"#, Some("input[0]")),
            (r#"{"input":[{"role":"robot","content":"x"}]}"#, Some("input[0].role")),
            (r#"{"input":"x","background":true}"#, Some("background")),
            (r#"{"input":"x","previous_response_id":1}"#, Some("previous_response_id")),
        ] {
            assert_eq!(parse(body).unwrap_err().param.as_deref(), param, "{body}");
        }
    }
}
