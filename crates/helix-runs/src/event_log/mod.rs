//! A stream of the journal and the state that it adds up to, kept in step: retries what may pass, and says why it is blocked.
//!
//! Must not know what happens in a stream, nor what is to be done next.

mod job;
mod session;

use async_recursion::async_recursion as boxed;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use helix_job::Recorded;
use helix_language::ErrorView;
use helix_store::{Append, AppendError, DatabaseError, Fence, Journal, NewEvent, Projection, ReadError, Stream};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use job::JobLog;
pub use session::{SessionLog, record, settled, turn_name};

use crate::crash_point::CrashPoint;

/// Pauses between attempts to write when the database refuses (full disk, lock): the work waits, nothing is lost.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What the events of one stream add up to.
pub trait StreamState: Clone + Send + Sync {
    type Id: Clone + Display + Send + Sync;
    type Event: Clone + Serialize + Send + Sync;
    type Illegal: std::error::Error + Send + Sync + 'static;

    /// What a user calls the stream, such as `job`.
    const NOUN: &'static str;

    fn stream(id: &Self::Id) -> Stream;

    fn last_event(&self) -> u64;

    fn apply(self, id: &Self::Id, recorded: &Recorded<Self::Event>) -> Result<Self, Self::Illegal>;

    fn projection(&self, id: &Self::Id) -> Option<Projection>;

    /// The state as other writers left it; `None` where a stream has one writer only, so that a conflict means that another
    /// host has taken over.
    fn reload(journal: &dyn Journal, id: &Self::Id) -> impl Future<Output = Result<Option<Self>, ReadError>> + Send;

    /// Names an append after this state by what it says, for [`CrashPoint`].
    fn append_name(&self, events: &[Self::Event]) -> String;
}

/// Where events go: the same for all streams of a host.
#[derive(Clone)]
pub struct LogWriter {
    pub journal: Arc<dyn Journal>,
    pub fence: Fence,
    pub crash: CrashPoint,
}

/// A stream's events and state. The journal is written first; the state follows only what is durable.
pub struct EventLog<S: StreamState> {
    pub id: S::Id,
    pub state: S,
    writer: LogWriter,
    blocked: Blocked,
}

/// Why a stream cannot be written at the moment. It is not in the journal, which is what cannot be written.
#[derive(Debug, Clone, Default)]
pub struct Blocked(Arc<watch::Sender<Option<ErrorView>>>);

impl Blocked {
    pub fn now(&self) -> Option<ErrorView> {
        self.0.borrow().clone()
    }

    /// Waits until there is a reason.
    #[boxed]
    pub async fn wait(&self) -> ErrorView {
        match self.0.subscribe().wait_for(Option::is_some).await.ok().and_then(|why| why.clone()) {
            Some(why) => why,
            None => std::future::pending().await,
        }
    }

    fn set(&self, why: Option<ErrorView>) {
        self.0.send_replace(why);
    }
}

/// What became of an event.
pub enum Record<E> {
    /// It is durable and the state includes it.
    Done,
    /// It cannot follow what happened meanwhile (a late answer after a cancel): it was dropped.
    Stale(E),
}

/// Why an event is not in the journal.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Another host owns the journal now: this one has to stop at once.
    #[error("{stream} belongs to another host now, or is gone")]
    Fenced { stream: Stream },
    /// The engine is closing.
    #[error("the engine is closing")]
    Closing,
    /// The same work fails again and again, and nothing can be recorded of it.
    #[error("{effect} in {stream} fails again and again")]
    Stuck { stream: Stream, effect: String },
    /// The database refused it.
    #[error("{stream} cannot be recorded")]
    Refused { stream: Stream, source: AppendError },
    /// The stream cannot be read, or the event cannot be written as text.
    #[error("{stream} cannot be recorded")]
    Unusable { stream: Stream, source: Box<dyn std::error::Error + Send + Sync> },
}

impl LogError {
    /// The error with what to do about it.
    pub fn view(&self) -> ErrorView {
        let hint = match self {
            Self::Refused { source, .. } => source.hint(),
            Self::Fenced { .. } => "use the host that runs now".to_owned(),
            Self::Closing => "try again when Helix is back".to_owned(),
            Self::Stuck { .. } => "please report this with the host's log".to_owned(),
            Self::Unusable { .. } => "run `helix doctor`: it examines the database".to_owned(),
        };
        ErrorView { message: helix_core::error_chain(self), hint: Some(hint), said: None }
    }
}

impl<S: StreamState> EventLog<S> {
    pub fn new(id: S::Id, state: S, writer: LogWriter) -> Self {
        Self { id, state, writer, blocked: Blocked::default() }
    }

    /// What keeps the log from being written, as long as it lives.
    pub fn blocked(&self) -> Blocked {
        self.blocked.clone()
    }

    /// Says for good why this host cannot go on with the stream.
    pub fn give_up(&self, error: &LogError) {
        let message = format!("this host cannot continue the {}: {}", S::NOUN, error.view().message);
        let hint = format!("restart Helix: the {} continues where its record ends", S::NOUN);
        self.blocked.set(Some(ErrorView { message, hint: Some(hint), said: None }));
    }

    /// Makes an event durable, then part of the state. Retries as long as the database refuses for a reason that may pass.
    #[boxed]
    pub async fn record(
        &mut self,
        event: S::Event,
        closing: &CancellationToken,
    ) -> Result<Record<S::Illegal>, LogError> {
        self.record_all(vec![event], closing).await
    }

    /// As [`EventLog::record`] for events that belong together: all of them are durable, or none is.
    #[boxed]
    pub async fn record_all(
        &mut self,
        events: Vec<S::Event>,
        closing: &CancellationToken,
    ) -> Result<Record<S::Illegal>, LogError> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.record_once(&events).await {
                Err(LogError::Refused { source: AppendError::Database(error), .. }) if may_pass(&error) => {
                    tracing::error!(id = %self.id, %error, "the journal cannot be written; retrying in {pause:?}");
                    let message = format!("the {} waits because it cannot be recorded: {error}", S::NOUN);
                    self.blocked.set(Some(ErrorView { message, hint: Some(error.hint()), said: None }));
                    tokio::select! {
                        () = closing.cancelled() => return Err(LogError::Closing),
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                    }
                }
                done => {
                    self.blocked.set(None);
                    return done;
                }
            }
        }
    }

    /// Makes events durable, then part of the state, or says at once why that cannot be done.
    #[boxed]
    pub async fn record_once(&mut self, events: &[S::Event]) -> Result<Record<S::Illegal>, LogError> {
        loop {
            let (last, at) = (self.state.last_event(), Timestamp::now());
            let (mut next, mut new) = (self.state.clone(), Vec::with_capacity(events.len()));
            for (number, event) in (last + 1..).zip(events) {
                new.push(NewEvent::of(at, event).map_err(|error| self.unusable(error))?);
                next = match next.apply(&self.id, &Recorded { number, at, event: event.clone() }) {
                    Ok(next) => next,
                    Err(illegal) => return Ok(Record::Stale(illegal)),
                };
            }
            let append = Append::to(S::stream(&self.id), new).after(last).fenced(self.writer.fence.clone());
            let append = match next.projection(&self.id) {
                Some(projection) => append.with(projection),
                None => append,
            };
            self.writer.crash.pass(|| format!("before {}", self.state.append_name(events)));
            match self.writer.journal.append(append).await {
                Ok(_) => {
                    self.writer.crash.pass(|| format!("after {}", self.state.append_name(events)));
                    self.state = next;
                    return Ok(Record::Done);
                }
                Err(AppendError::StaleFence { .. }) => return Err(LogError::Fenced { stream: S::stream(&self.id) }),
                Err(AppendError::Conflict { .. }) => self.reload().await?,
                Err(source) => return Err(LogError::Refused { stream: S::stream(&self.id), source }),
            }
        }
    }

    /// Takes over what other writers have recorded.
    #[boxed]
    pub async fn reload(&mut self) -> Result<(), LogError> {
        let read = S::reload(self.writer.journal.as_ref(), &self.id).await.map_err(|error| self.unusable(error))?;
        self.state = read.ok_or_else(|| LogError::Fenced { stream: S::stream(&self.id) })?;
        Ok(())
    }

    pub fn unusable(&self, source: impl std::error::Error + Send + Sync + 'static) -> LogError {
        LogError::Unusable { stream: S::stream(&self.id), source: Box::new(source) }
    }
}

/// Whether the same append may succeed later. A damaged database does not repair itself.
fn may_pass(error: &DatabaseError) -> bool {
    !matches!(error, DatabaseError::Damaged { .. })
}
