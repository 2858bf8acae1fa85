//! Names of event streams. Must not know what the events in them mean.

use std::fmt;
use std::str::FromStr;

use helix_core::ids::{JobId, SessionId};

/// One numbered sequence of events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// What happened to a job; written `job/<id>`.
    Job(JobId),
    /// What happened in a session; written `session/<id>`.
    Session(SessionId),
}

/// A text that names no stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no stream; streams are written job/<id> or session/<id>")]
pub struct InvalidStream {
    pub text: String,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => write!(f, "job/{id}"),
            Self::Session(id) => write!(f, "session/{id}"),
        }
    }
}

impl FromStr for Stream {
    type Err = InvalidStream;

    fn from_str(text: &str) -> Result<Self, InvalidStream> {
        let invalid = || InvalidStream { text: text.to_owned() };
        let (kind, id) = text.split_once('/').ok_or_else(invalid)?;
        match kind {
            "job" => JobId::new(id).map(Self::Job).map_err(|_| invalid()),
            "session" => SessionId::new(id).map(Self::Session).map_err(|_| invalid()),
            _ => Err(invalid()),
        }
    }
}

impl From<JobId> for Stream {
    fn from(id: JobId) -> Self {
        Self::Job(id)
    }
}

impl From<SessionId> for Stream {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

#[cfg(test)]
#[path = "stream_test.rs"]
mod tests;
