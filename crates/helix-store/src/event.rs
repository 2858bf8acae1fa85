//! Events as the journal keeps them: a kind, a JSON text, a time and a place.
//!
//! Must not know which events exist; the typed ways in and out work for every event enum that is tagged with `type`.

use std::borrow::Cow;

use helix_job::{Event, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::stream::Stream;

/// An event that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub at: Timestamp,
    /// The event's own `type`, kept beside the body so that it can be looked for without parsing.
    pub kind: String,
    /// The event as JSON text.
    pub body: String,
}

/// An event that is in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub stream: Stream,
    /// Number in the stream, from 1, without gaps.
    pub number: u64,
    /// Place in the whole journal; strictly increasing, gaps allowed.
    pub position: u64,
    pub at: Timestamp,
    /// Its `type`.
    pub kind: String,
    /// The event as JSON text.
    pub body: String,
}

/// A stored event that this version of Helix cannot read.
#[derive(Debug, thiserror::Error)]
#[error("event {number} of {stream} (type {kind:?}) cannot be read")]
pub struct DecodeError {
    pub stream: Stream,
    pub number: u64,
    pub kind: String,
    pub source: serde_json::Error,
}

/// The one field that every event has.
#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

impl NewEvent {
    /// Writes an event with its own `type` tag.
    ///
    /// # Errors
    /// It cannot be serialised or has no `type`, so that nobody could read it back.
    pub fn of<E: Serialize>(at: Timestamp, event: &E) -> serde_json::Result<Self> {
        let body = serde_json::to_string(event)?;
        let tag: Tag<'_> = serde_json::from_str(&body)?;
        let kind = tag.kind.into_owned();
        Ok(Self { at, kind, body })
    }
}

impl StoredEvent {
    /// Reads the event as what it was written from.
    ///
    /// # Errors
    /// [`DecodeError`] when the body is not such an event, for example one of a newer Helix.
    pub fn decode<E: Event>(&self) -> Result<Recorded<E>, DecodeError> {
        match E::read(&self.body) {
            Ok(event) => Ok(Recorded { number: self.number, at: self.at, event }),
            Err(source) => {
                Err(DecodeError { stream: self.stream.clone(), number: self.number, kind: self.kind.clone(), source })
            }
        }
    }
}

#[cfg(test)]
#[path = "event_test.rs"]
mod tests;
