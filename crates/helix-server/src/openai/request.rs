//! A chat completion request as clients really send them: parsed tolerantly, refused precisely.
//!
//! Must not know what a message means to the Consultant, nor any header. Fields that Helix does not know are ignored.

use helix_engine::consultant::Upload;
use serde_json::{Map, Value};

use super::{files, unsupported};

/// A parsed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChatRequest {
    /// The model's name; `None` when the client named none.
    pub(crate) model: Option<String>,
    /// Whether the answer is to be streamed.
    pub(crate) stream: bool,
    /// Whether the stream is to end with the usage.
    pub(crate) include_usage: bool,
    /// Whether the client offers tools of its own.
    pub(crate) offers_tools: bool,
    /// At least one.
    pub(crate) messages: Vec<Message>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Whose.
    pub(crate) role: Role,
    /// All of its text.
    pub(crate) text: String,
    /// Files that came with it.
    pub(crate) uploads: Vec<Upload>,
    /// What came with it that cannot be passed on, in words.
    pub(crate) left_out: Vec<String>,
}

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The client's instructions (`system`, `developer`).
    System,
    /// The user's words.
    User,
    /// The model's.
    Assistant,
    /// The answer of one of the client's tools (`tool`, `function`).
    Tool,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct BadRequest {
    /// The field at fault, such as `messages[2].role`.
    pub(crate) param: Option<String>,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl BadRequest {
    pub(crate) fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: Some(param.into()), message: message.into() }
    }
}

impl ChatRequest {
    /// Parses a body.
    ///
    /// # Errors
    /// [`BadRequest`] with the field at fault.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, BadRequest> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| BadRequest { param: None, message: format!("the body is not JSON: {error}") })?;
        let Value::Object(mut fields) = value else {
            return Err(BadRequest { param: None, message: "the body must be a JSON object".into() });
        };
        unsupported::refuse(&fields)?;
        let model = match fields.remove("model") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => return Err(BadRequest::new("model", format!("must be a string, not {}", kind(&other)))),
        };
        let stream = flag(&fields, "stream", "stream")?;
        let include_usage = match fields.get("stream_options") {
            None | Some(Value::Null) => false,
            Some(Value::Object(options)) => flag(options, "include_usage", "stream_options.include_usage")?,
            Some(other) => {
                return Err(BadRequest::new("stream_options", format!("must be an object, not {}", kind(other))));
            }
        };
        let offers_tools = ["tools", "functions"]
            .iter()
            .any(|name| fields.get(*name).and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()));
        let messages = match fields.remove("messages") {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::Array(_)) => return Err(BadRequest::new("messages", "must hold at least one message")),
            None => return Err(BadRequest::new("messages", "is missing")),
            Some(other) => return Err(BadRequest::new("messages", format!("must be a list, not {}", kind(&other)))),
        };
        let messages = messages.into_iter().enumerate().map(message).collect::<Result<_, _>>()?;
        Ok(Self { model, stream, include_usage, offers_tools, messages })
    }
}

pub(super) fn flag(fields: &Map<String, Value>, name: &str, path: &str) -> Result<bool, BadRequest> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(BadRequest::new(path, format!("must be true or false, not {}", kind(other)))),
    }
}

pub(super) fn message((index, value): (usize, Value)) -> Result<Message, BadRequest> {
    let at = format!("messages[{index}]");
    let Value::Object(mut fields) = value else {
        return Err(BadRequest::new(at, format!("must be an object, not {}", kind(&value))));
    };
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some(other) => {
            let message = format!("{other:?} is no role; use system, developer, user, assistant or tool");
            return Err(BadRequest::new(format!("{at}.role"), message));
        }
        None => return Err(BadRequest::new(format!("{at}.role"), "is missing or no string")),
    };
    let mut message = Message { role, text: String::new(), uploads: Vec::new(), left_out: Vec::new() };
    match fields.remove("content") {
        // An assistant's message may consist of tool calls alone.
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => message.text = text,
        Some(Value::Array(parts)) => {
            for (part_index, part) in parts.into_iter().enumerate() {
                message.add_part(part, &format!("{at}.content[{part_index}]"))?;
            }
        }
        Some(other) => {
            let message = format!("must be a string or a list of parts, not {}", kind(&other));
            return Err(BadRequest::new(format!("{at}.content"), message));
        }
    }
    Ok(message)
}

impl Message {
    fn add_part(&mut self, part: Value, at: &str) -> Result<(), BadRequest> {
        let fields = match part {
            Value::String(text) => {
                self.add_text(&text);
                return Ok(());
            }
            Value::Object(fields) => fields,
            other => return Err(BadRequest::new(at, format!("must be an object, not {}", kind(&other)))),
        };
        let name = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        match name {
            "text" | "input_text" | "output_text" => match fields.get("text").and_then(Value::as_str) {
                Some(text) => self.add_text(text),
                None => return Err(BadRequest::new(format!("{at}.text"), "is missing or no string")),
            },
            "refusal" => self.add_text(fields.get("refusal").and_then(Value::as_str).unwrap_or_default()),
            "image_url" | "input_image" => self.add_file(files::image(&fields, at)?),
            "file" | "input_file" => self.add_file(files::file(&fields, at)?),
            "input_audio" => self.add_file(files::audio(&fields, at)?),
            "" => return Err(BadRequest::new(format!("{at}.type"), "is missing or no string")),
            other => self.left_out.push(format!("a part of type {other:?}")),
        }
        Ok(())
    }

    fn add_file(&mut self, file: files::Sent) {
        match file {
            files::Sent::Whole(upload) => self.uploads.push(upload),
            files::Sent::Elsewhere(words) => self.left_out.push(words),
        }
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<ChatRequest, BadRequest> {
        ChatRequest::parse(body.as_bytes())
    }

    #[test]
    fn text_and_parts_and_unknown_fields_are_accepted() {
        let request = parse(
            r#"{"stream":true,"model":"helix","temperature":0.3,"x":{"y":1},"stream_options":{"include_usage":true},
               "tools":[{"type":"function"}],"messages":[
               {"role":"developer","content":"be brief","name":"n"},
               {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
                 {"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,eA=="}},{"type":"text","text":"here"}]},
               {"role":"assistant","content":null,"tool_calls":[]}]}"#,
        )
        .unwrap();
        assert!(request.stream && request.include_usage && request.offers_tools);
        assert_eq!(request.messages[0].role, Role::System);
        assert_eq!(request.messages[1].text, "look\nhere");
        let uploads: Vec<_> =
            request.messages[1].uploads.iter().map(|one| (one.media_type.as_str(), one.bytes.to_vec())).collect();
        assert_eq!(uploads, [("image/png", vec![0, 0, 0]), ("text/plain", b"x".to_vec())]);
        let empty = Message { role: Role::Assistant, text: String::new(), uploads: vec![], left_out: vec![] };
        assert_eq!(request.messages[2], empty);
    }

    #[test]
    fn errors_name_the_field() {
        for (body, param) in [
            ("{", None),
            ("[]", None),
            ("\u{feff}", None),
            (r#"{"model":"m"}"#, Some("messages")),
            (r#"{"messages":[]}"#, Some("messages")),
            (r#"{"messages":{}}"#, Some("messages")),
            (r#"{"messages":["hi"]}"#, Some("messages[0]")),
            (r#"{"messages":[{"content":"hi"}]}"#, Some("messages[0].role")),
            (
                r#"{"messages":[{"role":"user","content":"a"},{"role":"robot","content":"hi"}]}"#,
                Some("messages[1].role"),
            ),
            (r#"{"messages":[{"role":"user","content":7}]}"#, Some("messages[0].content")),
            (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#, Some("messages[0].content[0].text")),
            (r#"{"messages":[{"role":"user","content":[{}]}]}"#, Some("messages[0].content[0].type")),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}}]}]}"#,
                Some("messages[0].content[0].image_url"),
            ),
            (r#"{"stream":"yes","messages":[{"role":"user","content":"a"}]}"#, Some("stream")),
            (r#"{"stream_options":1,"messages":[{"role":"user","content":"a"}]}"#, Some("stream_options")),
            (r#"{"model":4,"messages":[{"role":"user","content":"a"}]}"#, Some("model")),
        ] {
            assert_eq!(parse(body).unwrap_err().param.as_deref(), param, "{body}");
        }
    }
}
