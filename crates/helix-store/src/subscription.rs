//! Hearing which streams moved, without polling. Must not know who listens, nor how streams are read.
//!
//! The feed carries only stream names and numbers and is bounded: a listener that is late hears [`Change::Lagged`] and
//! reads again from where it is, so nothing is ever lost.

use async_recursion::async_recursion as boxed;
use tokio::sync::broadcast;

use crate::stream::Stream;

/// How many moves a listener may be behind before it is told to read again.
pub(crate) const FEED_CAPACITY: usize = 1_024;

/// A stream has new events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub stream: Stream,
    /// Number of its last event.
    pub last: u64,
}

/// What a [`Subscription`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This stream has new events.
    Moved(Moved),
    /// Too much happened: any stream may have new events.
    Lagged,
    /// The journal is closed; there will be no more changes.
    Closed,
}

/// Tells which streams have new events, from the moment it was made.
#[derive(Debug)]
pub struct Subscription {
    feed: broadcast::Receiver<Moved>,
}

impl Subscription {
    pub(crate) fn new(feed: broadcast::Receiver<Moved>) -> Self {
        Self { feed }
    }

    /// Waits for the next change. Cancelling the wait loses nothing.
    #[boxed]
    pub async fn next(&mut self) -> Change {
        match self.feed.recv().await {
            Ok(moved) => Change::Moved(moved),
            Err(broadcast::error::RecvError::Lagged(_)) => Change::Lagged,
            Err(broadcast::error::RecvError::Closed) => Change::Closed,
        }
    }
}
