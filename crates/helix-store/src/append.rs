//! What can be asked of the journal's writer, and what it answers. Must not know how it is stored.

use helix_core::ids::{JobId, SessionId};
use helix_job::JobView;
use helix_job::session::{SessionView, TurnView};

use crate::event::NewEvent;
use crate::fence::Fence;
use crate::stream::Stream;

/// Events for one stream, written all or none, together with what they make of the projection.
///
/// A crash before the answer may leave all of them or none; after the answer they are on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    pub stream: Stream,
    /// The number that the stream's last event must have (0: that it is empty), or nothing is written. A writer that decided on
    /// the basis of that event passes this; without it, the events go to the end.
    pub expected: Option<u64>,
    /// A fence that has to be the newest, or nothing is written.
    pub fence: Option<Fence>,
    /// At least one event.
    pub events: Vec<NewEvent>,
    /// The projection after these events; its `last_event` must be the number of the last of them. A stream that was
    /// ever written with a projection must be written with one from then on.
    pub projection: Option<Projection>,
}

/// A row that is kept in step with a stream, in the same transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Projection {
    /// Of a job's stream.
    Job(Box<JobView>),
    /// Of a session's stream: the session, and the turn that the events began or ended.
    Session(Box<SessionView>, Option<Box<TurnView>>),
}

/// Where events went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    pub first: u64,
    pub last: u64,
    /// Place of the last of them in the whole journal.
    pub position: u64,
}

/// A job that is to exist.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Submitting again with the same key gives the same job.
    pub idempotency_key: Option<String>,
    pub events: Vec<NewEvent>,
    /// What they amount to; names the job.
    pub view: Box<JobView>,
}

/// The answer to a [`NewJob`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    Created(Appended),
    /// A job with this idempotency key existed; nothing was written.
    Existing(JobId),
}

/// A session that is to be forgotten with its events and turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forget {
    pub session: SessionId,
    /// The number that its last event must have: the one who decided that it is over has seen this one.
    pub last_event: u64,
    /// A fence that has to be the newest, or nothing is removed.
    pub fence: Option<Fence>,
}

/// A session that is to exist.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    pub events: Vec<NewEvent>,
    /// What they amount to; names the session and the client's own key for it.
    pub view: Box<SessionView>,
}

/// The answer to a [`NewSession`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    Created(Appended),
    /// A session with this key existed; nothing was written.
    Existing(SessionId),
}

impl Append {
    /// Events for the end of a stream, without conditions and without a projection.
    pub fn to(stream: impl Into<Stream>, events: Vec<NewEvent>) -> Self {
        Self { stream: stream.into(), expected: None, fence: None, events, projection: None }
    }

    /// Demands that the stream's last event has this number.
    #[must_use]
    pub fn after(mut self, number: u64) -> Self {
        self.expected = Some(number);
        self
    }

    /// Demands that this fence is still the newest.
    #[must_use]
    pub fn fenced(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Keeps the projection in step.
    #[must_use]
    pub fn with(mut self, projection: Projection) -> Self {
        self.projection = Some(projection);
        self
    }
}

impl Projection {
    /// The stream that it belongs to.
    pub fn stream(&self) -> Stream {
        match self {
            Self::Job(view) => Stream::Job(view.id.clone()),
            Self::Session(view, _) => Stream::Session(view.id.clone()),
        }
    }

    /// Number of the last event that it includes.
    pub fn last_event(&self) -> u64 {
        match self {
            Self::Job(view) => view.last_event,
            Self::Session(view, _) => view.last_event,
        }
    }
}
