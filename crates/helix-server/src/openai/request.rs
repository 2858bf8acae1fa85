//! Requests of both OpenAI forms as clients send them: parsed leniently into one conversation, with precise errors.
//!
//! Must not know what a message means to the Consultant, nor any header. Unknown fields are ignored.

use helix_engine::consultant::Upload;
use serde_json::{Map, Value};

use super::bad_request::{BadRequest, kind};
use super::{files, unsupported};

/// A request for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChatRequest {
    /// The model's name; `None` when the client named none.
    pub(crate) model: Option<String>,
    /// Whether to stream the answer.
    pub(crate) stream: bool,
    /// Whether to end the stream with the usage.
    pub(crate) include_usage: bool,
    /// Whether the client offers tools of its own.
    pub(crate) offers_tools: bool,
    /// The response that this one follows (responses form).
    pub(crate) previous: Option<String>,
    /// The messages, at least one.
    pub(crate) messages: Vec<Message>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Its place in the body, such as `messages[2]`.
    pub(crate) at: String,
    pub(crate) role: Role,
    /// All of its text.
    pub(crate) text: String,
    /// Files that came with it.
    pub(crate) uploads: Vec<Upload>,
    /// Parts that cannot be passed on, in words.
    pub(crate) left_out: Vec<String>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The client's instructions (`system`, `developer`).
    System,
    User,
    Assistant,
    /// The answer of one of the client's tools (`tool`, `function`).
    Tool,
}

impl ChatRequest {
    /// Parses the body of a chat completion.
    ///
    /// # Errors
    /// [`BadRequest`] with the field at fault.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, BadRequest> {
        let mut fields = Fields::parse(body)?;
        let include_usage = match fields.0.get("stream_options") {
            None | Some(Value::Null) => false,
            Some(Value::Object(options)) => flag(options, "include_usage", "stream_options.include_usage")?,
            Some(other) => {
                return Err(BadRequest::new("stream_options", format!("must be an object, not {}", kind(other))));
            }
        };
        let messages = match fields.0.remove("messages") {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::Array(_)) => return Err(BadRequest::new("messages", "must hold at least one message")),
            None => return Err(BadRequest::new("messages", "is missing")),
            Some(other) => return Err(BadRequest::new("messages", format!("must be a list, not {}", kind(&other)))),
        };
        let messages = messages.into_iter().enumerate();
        let messages = messages.map(|(index, value)| message(format!("messages[{index}]"), value));
        let messages = messages.collect::<Result<_, _>>()?;
        Ok(Self { include_usage, messages, ..fields.common()? })
    }

    /// Parses the body of a response.
    ///
    /// # Errors
    /// [`BadRequest`] with the field at fault.
    pub(crate) fn parse_response(body: &[u8]) -> Result<Self, BadRequest> {
        let mut fields = Fields::parse(body)?;
        if fields.0.get("conversation").is_some_and(|conversation| !conversation.is_null()) {
            let message = "is not supported: use `previous_response_id`, or send the earlier messages in `input`";
            return Err(BadRequest::new("conversation", message));
        }
        if fields.0.get("background").and_then(Value::as_bool) == Some(true) {
            let message = "is not supported; a turn continues in the background when its client disconnects";
            return Err(BadRequest::new("background", message));
        }
        let previous = fields.text("previous_response_id")?;
        let instructions = fields.text("instructions")?.filter(|text| !text.trim().is_empty());
        let instructions = instructions.map(|text| Message::new("instructions".into(), Role::System, text));
        let mut messages: Vec<Message> = instructions.into_iter().collect();
        match fields.0.remove("input") {
            Some(Value::String(text)) => messages.push(Message::new("input".into(), Role::User, text)),
            Some(Value::Array(items)) if items.is_empty() => {
                return Err(BadRequest::new("input", "must hold at least one message"));
            }
            Some(Value::Array(items)) => {
                for (index, value) in items.into_iter().enumerate() {
                    messages.extend(item(format!("input[{index}]"), value)?);
                }
            }
            None | Some(Value::Null) => return Err(BadRequest::new("input", "is missing")),
            Some(other) => {
                return Err(BadRequest::new("input", format!("must be a string or a list, not {}", kind(&other))));
            }
        }
        Ok(Self { include_usage: true, previous, messages, ..fields.common()? })
    }
}

/// The fields of a body.
struct Fields(Map<String, Value>);

impl Fields {
    fn parse(body: &[u8]) -> Result<Self, BadRequest> {
        let whole = |message: String| BadRequest { param: None, message };
        let value = serde_json::from_slice(body).map_err(|error| whole(format!("the body is not JSON: {error}")))?;
        let Value::Object(fields) = value else { return Err(whole("the body must be a JSON object".into())) };
        unsupported::refuse(&fields)?;
        Ok(Self(fields))
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, BadRequest> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(BadRequest::new(name, format!("must be a string, not {}", kind(&other)))),
        }
    }

    /// What both forms have.
    fn common(mut self) -> Result<ChatRequest, BadRequest> {
        let tools = ["tools", "functions"].iter().filter_map(|name| self.0.get(*name).and_then(Value::as_array));
        Ok(ChatRequest {
            offers_tools: tools.into_iter().any(|tools| !tools.is_empty()),
            model: self.text("model")?,
            stream: flag(&self.0, "stream", "stream")?,
            include_usage: false,
            previous: None,
            messages: Vec::new(),
        })
    }
}

fn flag(fields: &Map<String, Value>, name: &str, path: &str) -> Result<bool, BadRequest> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(BadRequest::new(path, format!("must be true or false, not {}", kind(other)))),
    }
}

/// An item of the responses form as a message; `None` for an agent's activity.
fn item(at: String, value: Value) -> Result<Option<Message>, BadRequest> {
    match value.get("type").and_then(Value::as_str) {
        None | Some("message") => message(at, value).map(Some),
        Some("function_call_output" | "custom_tool_call_output") => {
            let output = value.get("output").map_or_else(String::new, |output| match output {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            Ok(Some(Message::new(at, Role::Tool, output)))
        }
        // Reasoning, calls and the like.
        Some(_) => Ok(None),
    }
}

/// A message at this place in the body.
///
/// # Errors
/// [`BadRequest`] with the field at fault.
fn message(at: String, value: Value) -> Result<Message, BadRequest> {
    let Value::Object(mut fields) = value else {
        return Err(BadRequest::new(at, format!("must be an object, not {}", kind(&value))));
    };
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some(other) => {
            let message = format!("{other:?} is not a role; use system, developer, user, assistant or tool");
            return Err(BadRequest::new(format!("{at}.role"), message));
        }
        None => return Err(BadRequest::new(format!("{at}.role"), "is missing or not a string")),
    };
    let mut message = Message::new(at, role, String::new());
    match fields.remove("content") {
        // An assistant's message may consist of tool calls alone.
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => message.text = text,
        Some(Value::Array(parts)) => {
            for (part_index, part) in parts.into_iter().enumerate() {
                let at = format!("{}.content[{part_index}]", message.at);
                message.add_part(part, &at)?;
            }
        }
        Some(other) => {
            let words = format!("must be a string or a list of parts, not {}", kind(&other));
            return Err(BadRequest::new(format!("{}.content", message.at), words));
        }
    }
    Ok(message)
}

impl Message {
    /// A message of text.
    pub(super) fn new(at: String, role: Role, text: String) -> Self {
        Self { at, role, text, uploads: Vec::new(), left_out: Vec::new() }
    }

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
                None => return Err(BadRequest::new(format!("{at}.text"), "is missing or not a string")),
            },
            "refusal" => self.add_text(fields.get("refusal").and_then(Value::as_str).unwrap_or_default()),
            "image_url" | "input_image" => self.add_file(files::image(&fields, at)?),
            "file" | "input_file" => self.add_file(files::file(&fields, at)?),
            "input_audio" => self.add_file(files::audio(&fields, at)?),
            "" => return Err(BadRequest::new(format!("{at}.type"), "is missing or not a string")),
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
        assert_eq!(request.messages[2], Message::new("messages[2]".into(), Role::Assistant, String::new()));
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

    fn parse_response(body: &str) -> Result<ChatRequest, BadRequest> {
        ChatRequest::parse_response(body.as_bytes())
    }

    #[test]
    fn text_and_items_are_the_same_conversation() {
        let short =
            parse_response(r#"{"model":"helix","input":"hi","instructions":"be brief","stream":true}"#).unwrap();
        let roles: Vec<Role> = short.messages.iter().map(|one| one.role).collect();
        assert_eq!((roles, short.stream), (vec![Role::System, Role::User], true));
        let long = parse_response(
            r#"{"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[]},
               {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},
               {"type":"function_call","call_id":"c","name":"n","arguments":"{}"},
               {"type":"function_call_output","call_id":"c","output":"d"},
               {"role":"user","content":[{"type":"input_text","text":"e"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],
               "previous_response_id":"resp_1"}"#,
        )
        .unwrap();
        let texts: Vec<&str> = long.messages.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((texts, long.previous.as_deref()), (vec!["a", "b", "d", "e"], Some("resp_1")));
        assert_eq!(long.messages[3].uploads.len(), 1);
    }

    #[test]
    fn errors_of_responses_name_the_field() {
        for (body, param) in [
            ("[]", None),
            (r#"{}"#, Some("input")),
            (r#"{"input":7}"#, Some("input")),
            (r#"{"input":["x"]}"#, Some("input[0]")),
            (r#"{"input":[{"role":"robot","content":"x"}]}"#, Some("input[0].role")),
            (r#"{"input":"x","background":true}"#, Some("background")),
            (r#"{"input":"x","previous_response_id":1}"#, Some("previous_response_id")),
        ] {
            assert_eq!(parse_response(body).unwrap_err().param.as_deref(), param, "{body}");
        }
    }
}
