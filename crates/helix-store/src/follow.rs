//! Reading a stream and then waiting for more of it. Must not know who reads.

use std::collections::VecDeque;

use tokio::sync::broadcast::error::RecvError;

use crate::error::ReadError;
use crate::event::StoredEvent;
use crate::journal::Journal;
use crate::query::MAX_EVENTS_PER_READ;
use crate::stream::Stream;
use crate::subscription::Subscription;

/// Reads a stream from a number on and then waits for more: what an SSE connection needs.
pub struct Follower<'a> {
    journal: &'a dyn Journal,
    subscription: Subscription,
    stream: Stream,
    /// Number of the last event that was given out.
    after: u64,
    ready: VecDeque<StoredEvent>,
    /// Whether the stream has to be read before waiting for the feed.
    unread: bool,
}

impl<'a> Follower<'a> {
    /// Starts after the event with number `after` (0: at the beginning).
    pub fn new(journal: &'a dyn Journal, stream: Stream, after: u64) -> Self {
        // Subscribed before the first read, so that nothing can fall between the two.
        let subscription = journal.subscribe();
        Self { journal, subscription, stream, after, ready: VecDeque::new(), unread: true }
    }

    /// Waits for the next event; `None` when the journal was closed. Cancelling the wait loses nothing.
    ///
    /// # Errors
    /// [`ReadError`] when the database fails.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, ReadError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.after = event.number;
                return Ok(Some(event));
            }
            if self.unread {
                let page = self.journal.read(self.stream.clone(), self.after, MAX_EVENTS_PER_READ).await?;
                self.unread = page.has_more();
                self.ready.extend(page.events);
                continue;
            }
            match self.subscription.recv().await {
                Ok(moved) if moved.stream != self.stream || moved.last <= self.after => {}
                Ok(_) | Err(RecvError::Lagged(_)) => self.unread = true,
                Err(RecvError::Closed) => return Ok(None),
            }
        }
    }
}
