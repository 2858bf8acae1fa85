//! Hearing which streams moved, without polling. Must not know who listens, nor how streams are read.
//!
//! The feed carries only stream names and numbers and is bounded: a listener that is late is told that it lags and reads
//! again from where it is, so nothing is ever lost.

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

/// Tells which streams have new events, from the moment it was made. Where it lags, any stream may have new events; closed,
/// it has no more to tell, because the journal is closed.
pub type Subscription = broadcast::Receiver<Moved>;
