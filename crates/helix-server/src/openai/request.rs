//! Requests of both OpenAI forms as clients send them: parsed leniently into one conversation, with precise errors.
//!
//! Must not know what a message means to the Consultant, nor any header. Unknown fields are ignored.

use helix_engine::consultant::Upload;
use serde_json::Value;

use super::error::ApiError;
use super::field::Field;
use super::files::{self, Sent};
use super::unsupported;
use super::wanted::WantedForm;

/// The form of a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Chat,
    Responses,
}

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
    /// The form that it wants the answer in, if that is not text.
    pub(crate) wanted: Option<WantedForm>,
    /// The response that this one follows (responses form).
    pub(crate) previous: Option<String>,
    /// The messages, at least one.
    pub(crate) messages: Vec<Message>,
}

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
    /// Parses a body.
    ///
    /// # Errors
    /// [`ApiError`] with the field at fault.
    pub(crate) fn parse(form: Form, body: &[u8]) -> Result<Self, ApiError> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| ApiError::bad_request(format!("the body is not JSON: {error}")))?;
        if !value.is_object() {
            return Err(ApiError::bad_request("the body must be a JSON object"));
        }
        let body = Field::body(&value);
        unsupported::refuse(&body)?;
        let (include_usage, previous, messages) = match form {
            Form::Chat => {
                let options = body.get("stream_options");
                if options.value.is_some_and(|value| !value.is_object()) {
                    return Err(options.must_be("an object"));
                }
                (options.get("include_usage").flag()?, None, messages(&body.get("messages"), form)?)
            }
            Form::Responses => {
                unsupported::refuse_of_responses(&body)?;
                let field = body.get("instructions");
                let instructions = field.optional_text()?.filter(|text| !text.trim().is_empty());
                let mut all: Vec<_> =
                    instructions.map(|text| Message::new(field.at, Role::System, text)).into_iter().collect();
                all.extend(messages(&body.get("input"), form)?);
                (true, body.get("previous_response_id").optional_text()?, all)
            }
        };
        Ok(Self {
            model: body.get("model").optional_text()?,
            stream: body.get("stream").flag()?,
            include_usage,
            offers_tools: ["tools", "functions"].iter().any(|name| body.get(name).items().next().is_some()),
            wanted: WantedForm::of(&body),
            previous,
            messages,
        })
    }
}

/// The messages of a request. The responses form may have one text instead, and items that are none.
fn messages(field: &Field<'_>, form: Form) -> Result<Vec<Message>, ApiError> {
    match (field.value, form) {
        (None, _) => Err(field.refuse("is missing")),
        (Some(Value::Array(list)), _) if list.is_empty() => Err(field.refuse("must hold at least one message")),
        (Some(Value::Array(_)), Form::Chat) => field.items().map(message).collect(),
        (Some(Value::Array(_)), Form::Responses) => field.items().filter_map(|one| item(one).transpose()).collect(),
        (Some(Value::String(text)), Form::Responses) => {
            Ok(vec![Message::new(field.at.clone(), Role::User, text.clone())])
        }
        (Some(_), Form::Chat) => Err(field.must_be("a list")),
        (Some(_), Form::Responses) => Err(field.must_be("a string or a list")),
    }
}

/// An item of the responses form as a message; `None` for an agent's activity.
fn item(field: Field<'_>) -> Result<Option<Message>, ApiError> {
    match field.get("type").text() {
        None | Some("message") => message(field).map(Some),
        Some("function_call_output" | "custom_tool_call_output") => {
            let output = field.get("output");
            let text = output.text().map(str::to_owned).or_else(|| output.value.map(Value::to_string));
            Ok(Some(Message::new(field.at, Role::Tool, text.unwrap_or_default())))
        }
        // Reasoning, calls and the like.
        Some(_) => Ok(None),
    }
}

fn message(field: Field<'_>) -> Result<Message, ApiError> {
    if !field.value.is_some_and(Value::is_object) {
        return Err(field.must_be("an object"));
    }
    let role = field.get("role");
    let author = match role.required_text()? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            let message = format!("{other:?} is not a role; use system, developer, user, assistant or tool");
            return Err(role.refuse(message));
        }
    };
    let content = field.get("content");
    let mut message = Message::new(field.at, author, String::new());
    match content.value {
        // An assistant's message may consist of tool calls alone.
        None => {}
        Some(Value::String(text)) => message.text.clone_from(text),
        Some(Value::Array(_)) => content.items().try_for_each(|part| message.add_part(&part))?,
        Some(_) => return Err(content.must_be("a string or a list of parts")),
    }
    Ok(message)
}

impl Message {
    /// A message of text.
    pub(super) fn new(at: String, role: Role, text: String) -> Self {
        Self { at, role, text, uploads: Vec::new(), left_out: Vec::new() }
    }

    fn add_part(&mut self, part: &Field<'_>) -> Result<(), ApiError> {
        if let Some(text) = part.text() {
            self.add_text(text);
            return Ok(());
        }
        if !part.value.is_some_and(Value::is_object) {
            return Err(part.must_be("an object"));
        }
        match part.get("type").text().unwrap_or_default() {
            "text" | "input_text" | "output_text" => self.add_text(part.get("text").required_text()?),
            "refusal" => self.add_text(part.get("refusal").text().unwrap_or_default()),
            "image_url" | "input_image" => self.add_file(files::image(part)?),
            "file" | "input_file" => self.add_file(files::file(part)?),
            "input_audio" => self.add_file(files::audio(part)?),
            "" => return Err(part.get("type").refuse("is missing or not a string")),
            other => self.left_out.push(format!("a part of type {other:?}")),
        }
        Ok(())
    }

    fn add_file(&mut self, file: Sent) {
        match file {
            Sent::Whole(upload) => self.uploads.push(upload),
            Sent::Elsewhere(words) => self.left_out.push(words),
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
#[path = "request_test.rs"]
mod tests;
