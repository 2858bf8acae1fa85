//! The event streams of a host: a job's events, and an answer of the Consultant.
//!
//! Must not know how either is shown.

use std::path::PathBuf;

use futures::StreamExt;
use helix_core::ids::SessionId;
use helix_job::{JobEvent, Recorded};
use helix_language::Language;
use helix_server::Profile;
use helix_server::wire::{ActivityFrame, CALL_EVENT, CallFrame, ErrorEnvelope};
use reqwest::{Body, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sse_stream::SseStream;

use super::unreadable_answer;
use crate::error::{CommandError, Exit, codes};

/// The frames of a response.
pub(super) type Frames = SseStream<Body>;

pub(super) fn frames(response: Response) -> Frames {
    SseStream::new(Body::from(response))
}

fn parsed<T: DeserializeOwned>(data: &str) -> Result<T, CommandError> {
    serde_json::from_str(data).map_err(|error| unreadable_answer(&error))
}

/// The events of one job from one connection.
pub(crate) struct JobEvents(pub(super) Frames);

impl JobEvents {
    /// The next event; `None` when the connection is closed, though the job may still be running: the caller reconnects with
    /// the last number.
    ///
    /// # Errors
    /// An event that cannot be parsed.
    pub(crate) async fn next(&mut self) -> Result<Option<Box<Recorded<JobEvent>>>, CommandError> {
        while let Some(Ok(frame)) = self.0.next().await {
            // Frames without a number are about the stream, not the job.
            if let (Some(_), Some(data)) = (frame.id, frame.data) {
                return Ok(Some(Box::new(parsed(&data)?)));
            }
        }
        Ok(None)
    }
}

/// What the agents of one job do, from one connection.
pub(crate) struct JobActivity(pub(super) Frames);

impl JobActivity {
    /// What an agent does next; `None` when the connection is closed. What this client was too slow for is left out.
    ///
    /// # Errors
    /// Something that cannot be parsed.
    pub(crate) async fn next(&mut self) -> Result<Option<ActivityFrame>, CommandError> {
        while let Some(Ok(frame)) = self.0.next().await {
            if let (Some("activity"), Some(data)) = (frame.event.as_deref(), frame.data) {
                return Ok(Some(parsed(&data)?));
            }
        }
        Ok(None)
    }
}

/// An answer of the Consultant.
pub(crate) struct ChatStream {
    pub(super) frames: Frames,
    /// The language of what Helix says in it, if the host told.
    pub(crate) language: Option<Language>,
}

/// A piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChatEvent {
    /// A piece of the answer.
    Text(String),
    /// What the Consultant is doing, in one line.
    Activity(String),
    /// A piece of what it thinks.
    Thought(String),
    /// What became of a tool call.
    Call(CallFrame),
}

/// Where a message is sent from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Here {
    /// The directory that the user is in.
    pub(crate) directory: PathBuf,
    /// What this client can show.
    pub(crate) profile: Profile,
    /// Whether this client shows drafts to the user and starts them on their yes.
    pub(crate) confirms: bool,
    /// The language that Helix speaks where the user's words tell none.
    pub(crate) language: Language,
}

/// The session of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Talk {
    /// One of this name, which the first message opens.
    New(String),
    /// An existing session of any client.
    Session(SessionId),
}

impl Talk {
    /// What [`super::Client::session`] finds it by.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::New(name) => name,
            Self::Session(id) => id.as_str(),
        }
    }
}

impl ChatStream {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When the Consultant failed or the connection broke.
    pub(crate) async fn next(&mut self) -> Result<Option<ChatEvent>, CommandError> {
        while let Some(frame) = self.frames.next().await {
            let frame = frame.map_err(|error| {
                CommandError::environment(codes::HOST_SILENT, "lost the connection to the host").because(&error)
            })?;
            let Some(data) = frame.data else { continue };
            if data == "[DONE]" {
                break;
            }
            if let Some(event) = piece(&data)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

/// The text or the activity in a chunk, if it has any.
fn piece(data: &str) -> Result<Option<ChatEvent>, CommandError> {
    let chunk: Value = parsed(data)?;
    if chunk.get("error").is_some() {
        let error = parsed::<ErrorEnvelope>(data)?.error;
        let exit = if error.code.as_deref().is_some_and(is_environment) { Exit::Environment } else { Exit::No };
        // The message says what to do.
        return Err(CommandError::new(exit, codes::HOST_REFUSED, error.message));
    }
    if chunk.pointer("/event/type").and_then(Value::as_str) == Some(CALL_EVENT) {
        let call = serde_json::from_value(chunk["event"]["data"].clone());
        return call.map(|call| Some(ChatEvent::Call(call))).map_err(|error| unreadable_answer(&error));
    }
    let text = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let answer = text("/choices/0/delta/content").map(|text| ChatEvent::Text(text.to_owned()));
    let activity = text("/event/data/description").map(|text| ChatEvent::Activity(text.to_owned()));
    let thought = text("/choices/0/delta/reasoning_content").map(|text| ChatEvent::Thought(text.to_owned()));
    Ok(answer.or(activity).or(thought))
}

/// Whether an error of a turn says that its agent cannot work here, as jobs end with 4 for it.
fn is_environment(code: &str) -> bool {
    matches!(
        code,
        "agent_not_started"
            | "agent_not_available"
            | "agent_misconfigured"
            | "provider_credentials"
            | "provider_billing"
            | "provider_refused"
    )
}

#[cfg(test)]
#[path = "streams_test.rs"]
mod tests;
