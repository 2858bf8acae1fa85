//! The seam: what a journal does, whichever database is behind it.
//!
//! Must not know SQL. What every implementation must do is stated once more, as tests, in `tests/contract`.

use async_recursion::async_recursion as boxed;
use std::future::Future;
use std::pin::Pin;

use helix_core::ids::{AgentSessionId, JobId, SessionId, TurnId};
use helix_job::session::{SessionView, TurnSummary, TurnView};
use helix_job::{JobEvent, JobView, Recorded};

use crate::append::{Append, Appended, Forget, NewJob, NewSession, Opened, Submitted};
use crate::error::{AppendError, DatabaseError, ReadError};
use crate::event::StoredEvent;
use crate::fence::Fence;
use crate::query::{Counts, EventPage, JobFilter, JobPage, MAX_EVENTS_PER_READ, MAX_ROWS_PER_PAGE, SessionPage};
use crate::stream::Stream;
use crate::subscription::Subscription;

/// An answer that is being worked on; boxed, so that `dyn Journal` is possible.
pub type Pending<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// Streams of events with projections, fences and a feed of what moved.
///
/// Every write is one transaction that is durable when it is answered. Dropping a pending answer does not undo the write.
pub trait Journal: Send + Sync {
    /// Writes events to the end of a stream, all or none, and its projection with them.
    fn append(&self, append: Append) -> Pending<'_, Appended, AppendError>;

    /// Creates a job, or finds the one that has its idempotency key. Atomic: of two racing callers one creates.
    fn submit(&self, job: NewJob) -> Pending<'_, Submitted, AppendError>;

    /// Creates a session, or finds the one that has its key. Atomic: of two racing callers one creates.
    fn open_session(&self, session: NewSession) -> Pending<'_, Opened, AppendError>;

    /// Removes a session with its events and turns, all or nothing; what other sessions say of it stays. Nobody may follow
    /// its stream any more.
    fn forget_session(&self, forget: Forget) -> Pending<'_, (), AppendError>;

    /// Takes over what has this name: the fences that were given out for it before write nothing any more.
    fn take_over(&self, name: String) -> Pending<'_, Fence, DatabaseError>;

    /// Reads events after a number, at most `limit` (and [`MAX_EVENTS_PER_READ`], and a few megabytes).
    fn read(&self, stream: Stream, after: u64, limit: usize) -> Pending<'_, EventPage, ReadError>;

    /// Reads events of all streams after a position, in the order in which they were written, bounded as [`Journal::read`] is, and without
    /// those that something else has changed: they keep nobody from what comes after them.
    fn read_all(&self, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>, ReadError>;

    /// List jobs, newest first, that come after `cursor`.
    fn list_jobs(&self, filter: JobFilter, cursor: Option<JobId>, limit: usize) -> Pending<'_, JobPage, ReadError>;

    /// Finds a job by its id, or by a beginning of its id that no other job has.
    fn job(&self, id_or_prefix: String) -> Pending<'_, Option<JobView>, ReadError>;

    /// Finds the job that was submitted with this idempotency key.
    fn job_by_key(&self, idempotency_key: String) -> Pending<'_, Option<JobView>, ReadError>;

    /// How much there is; costs the same however long jobs and sessions are.
    fn counts(&self) -> Pending<'_, Counts, ReadError>;

    /// Lists sessions, newest first, that come after `cursor`.
    fn list_sessions(&self, cursor: Option<SessionId>, limit: usize) -> Pending<'_, SessionPage, ReadError>;

    fn session(&self, id: SessionId) -> Pending<'_, Option<SessionView>, ReadError>;

    /// Finds a session by the client's own key, compared byte by byte.
    fn session_by_key(&self, key: String) -> Pending<'_, Option<SessionView>, ReadError>;

    /// Lists sessions whose keys begin with this ASCII text, the greatest key first, at most `limit`.
    fn sessions_by_prefix(&self, prefix: String, limit: usize) -> Pending<'_, Vec<SessionView>, ReadError>;

    /// Lists turns of a session by number, oldest first, that come after `after` (0: from the first); a page is cut at
    /// `limit`, [`crate::MAX_ROWS_PER_PAGE`] and a few megabytes, and is empty only where there are no more.
    fn list_turns(&self, session: SessionId, after: u32, limit: usize) -> Pending<'_, Vec<TurnView>, ReadError>;

    fn turn(&self, id: TurnId) -> Pending<'_, Option<TurnView>, ReadError>;

    /// Finds the newest turn whose answer an owner's client calls so, in whichever session.
    fn turn_by_message(&self, owner: Option<String>, message: String) -> Pending<'_, Option<TurnView>, ReadError>;

    /// What finding turns by a client's history needs, of all turns of a session.
    fn turn_summaries(&self, session: SessionId) -> Pending<'_, Vec<TurnSummary>, ReadError>;

    /// Finds the turn that wrote last to a session of an agent.
    fn last_writer(&self, agent_session: AgentSessionId) -> Pending<'_, Option<TurnId>, ReadError>;

    /// Tells from now on which streams have new events, written through this journal.
    fn subscribe(&self) -> Subscription;
}

/// All events of a job after a number.
///
/// # Errors
/// [`ReadError`] when the database fails or an event cannot be understood.
#[boxed]
pub async fn job_events(
    journal: &dyn Journal,
    job: &JobId,
    mut after: u64,
) -> Result<Vec<Recorded<JobEvent>>, ReadError> {
    let mut all = Vec::new();
    loop {
        let page = journal.read(Stream::Job(job.clone()), after, MAX_EVENTS_PER_READ).await?;
        for event in &page.events {
            all.push(event.decode()?);
            after = event.number;
        }
        if !page.has_more() {
            return Ok(all);
        }
    }
}

/// All sessions, newest first.
///
/// # Errors
/// As for [`job_events`].
#[boxed]
pub async fn all_sessions(journal: &dyn Journal) -> Result<SessionPage, ReadError> {
    let (mut all, mut cursor) = (SessionPage::default(), None);
    loop {
        let page = journal.list_sessions(cursor, MAX_ROWS_PER_PAGE).await?;
        all.sessions.extend(page.sessions);
        all.unreadable.extend(page.unreadable);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}
