//! An answer of the Consultant as it streams, in OpenAI's form with Open WebUI's additions.
//!
//! Must not know how it is shown.

use helix_core::ids::SessionId;
use serde_json::{Value, json};

use super::sse::Frames;
use crate::codes;
use crate::error::CommandError;
use crate::exit::Exit;

/// A streamed answer.
#[derive(Debug)]
pub(crate) struct ChatStream {
    frames: Frames,
}

/// A piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChatEvent {
    /// A piece of the answer.
    Text(String),
    /// What the Consultant is doing, in one line.
    Activity(String),
}

/// The conversation that the terminal is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Talk {
    /// By a key of the terminal's own; opened when something is said.
    Key(String),
    /// One that is there, whichever client began it.
    Session(SessionId),
}

impl Talk {
    /// The header that names it.
    pub(super) fn header(&self) -> (&'static str, &str) {
        match self {
            Self::Key(key) => ("x-chat", key),
            Self::Session(id) => ("x-helix-session", id.as_str()),
        }
    }
}

/// How a host's records call the conversation of a [`Talk::Key`].
pub(crate) fn session_key(key: &str) -> String {
    format!("chat:{key}")
}

/// A request with one user message.
pub(crate) fn chat_body(model: Option<&str>, message: &str) -> Value {
    let model = model.map_or_else(|| "helix".to_owned(), |model| format!("helix:{model}"));
    json!({
        "model": model, "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": message }],
    })
}

impl ChatStream {
    pub(super) fn new(frames: Frames) -> Self {
        Self { frames }
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When the Consultant failed or the host went away.
    pub(crate) async fn next(&mut self) -> Result<Option<ChatEvent>, CommandError> {
        loop {
            let frame = self.frames.next().await.map_err(|error| {
                CommandError::environment(codes::HOST_SILENT, "the answer broke off").because(&error)
            })?;
            let Some(frame) = frame.filter(|frame| frame.data != "[DONE]") else { return Ok(None) };
            let chunk: Value = serde_json::from_str(&frame.data).map_err(|error| {
                CommandError::helix(codes::HOST_UNINTELLIGIBLE, "the host's answer cannot be understood")
                    .because(&error)
            })?;
            if let Some(event) = piece(&chunk)? {
                return Ok(Some(event));
            }
        }
    }
}

/// What a chunk says, if it says anything.
fn piece(chunk: &Value) -> Result<Option<ChatEvent>, CommandError> {
    if let Some(message) = chunk.pointer("/error/message").and_then(Value::as_str) {
        return Err(CommandError::new(Exit::No, codes::HOST_REFUSED, format!("the Consultant failed: {message}"))
            .hint("`helix doctor` examines the agent"));
    }
    let text = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(answer) = text("/choices/0/delta/content") {
        return Ok(Some(ChatEvent::Text(answer.to_owned())));
    }
    let activity = text("/event/data/description").or_else(|| text("/choices/0/delta/reasoning_content"));
    Ok(activity.map(|text| ChatEvent::Activity(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_read_by_what_they_are() {
        let text = json!({ "choices": [{ "delta": { "content": "Hi" } }] });
        assert_eq!(piece(&text).unwrap(), Some(ChatEvent::Text("Hi".into())));
        let status = json!({ "event": { "type": "status", "data": { "description": "reads a file" } } });
        assert_eq!(piece(&status).unwrap(), Some(ChatEvent::Activity("reads a file".into())));
        assert_eq!(piece(&json!({ "choices": [] })).unwrap(), None);
        assert!(piece(&json!({ "error": { "message": "no" } })).is_err());
    }
}
