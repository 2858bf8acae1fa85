//! A job's stream in the journal and the state that it adds up to, kept in step.
//!
//! Must not know what is to be done next.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use helix_core::ids::JobId;
use helix_job::{ErrorView, IllegalEvent, JobEvent, JobState, JobView, Recorded};
use helix_store::{Append, AppendError, DatabaseError, Fence, Journal, NewEvent, Projection, Stream};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::effects::lock;
use crate::crash_point::CrashPoint;

/// Pauses between tries to write when the database refuses (full disk, lock): the job waits, nothing is lost.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A job's events and state. The journal is written first; the state follows only what is durable.
pub(crate) struct JobLog {
    pub(crate) id: JobId,
    pub(crate) state: JobState,
    journal: Arc<dyn Journal>,
    fence: Fence,
    crash: CrashPoint,
    blocked: Blocked,
}

/// Why a job cannot be carried on at the moment, for whoever looks at it: it is not in the journal, which is what cannot be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocked(Arc<Mutex<Option<ErrorView>>>);

impl Blocked {
    /// What hinders the job, if anything does.
    pub(crate) fn now(&self) -> Option<ErrorView> {
        lock(&self.0).clone()
    }

    fn set(&self, why: Option<ErrorView>) {
        *lock(&self.0) = why;
    }
}

/// What became of an event.
pub(crate) enum Record {
    /// It is durable and the state includes it.
    Done,
    /// It cannot follow what happened meanwhile (a late answer after a cancel): it was dropped.
    Stale(IllegalEvent),
}

/// Why an event is not in the journal and never will be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// Another host owns the journal now: this one has to stop at once.
    #[error("another host has taken over job {0}")]
    Fenced(JobId),
    /// The engine is closing.
    #[error("the engine is closing")]
    Closing,
    /// The same work comes to nothing again and again, and nothing can be recorded of it.
    #[error("{effect} of job {job} comes to nothing again and again")]
    Stuck {
        /// Which job.
        job: JobId,
        /// The key of the work.
        effect: String,
    },
    /// The event cannot be written at all.
    #[error("an event of job {job} cannot be written")]
    Unwritable {
        /// Which job.
        job: JobId,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl JobLog {
    pub(crate) fn new(id: JobId, state: JobState, journal: Arc<dyn Journal>, fence: Fence, crash: CrashPoint) -> Self {
        Self { id, state, journal, fence, crash, blocked: Blocked::default() }
    }

    /// What keeps the job from going on, as long as this log lives.
    pub(crate) fn blocked(&self) -> Blocked {
        self.blocked.clone()
    }

    /// Says for good why this host cannot carry the job on.
    pub(crate) fn give_up(&self, error: &LogError) {
        let fault = super::effects::environment(error);
        let message = format!("this host cannot carry the job on: {}", fault.message);
        let hint = "stop this host and start Helix again: the job goes on where its record stands".to_owned();
        self.blocked.set(Some(ErrorView { message, hint: Some(hint) }));
    }

    /// Makes an event durable, then part of the state. Tries again as long as the database refuses for a reason that may
    /// pass.
    pub(crate) async fn record(&mut self, event: JobEvent, closing: &CancellationToken) -> Result<Record, LogError> {
        self.record_all(vec![event], closing).await
    }

    /// As [`JobLog::record`] for events that belong together: all of them are durable, or none is.
    pub(crate) async fn record_all(
        &mut self,
        events: Vec<JobEvent>,
        closing: &CancellationToken,
    ) -> Result<Record, LogError> {
        let last = self.state.active().map_or(0, |active| active.last_event);
        let at = Timestamp::now();
        let (mut next, mut recorded) = (self.state.clone(), Vec::with_capacity(events.len()));
        for (number, event) in (last + 1..).zip(events) {
            let one = Recorded { number, at, event };
            next = match next.apply(&one) {
                Ok(next) => next,
                Err(illegal) => return Ok(Record::Stale(illegal)),
            };
            recorded.push(one);
        }
        let append = self.append_of(&recorded, &next, last)?;
        let mut pause = FIRST_PAUSE;
        let crash = self.crash.clone();
        crash.pass(|| format!("before {}", append_place(&recorded)));
        loop {
            match self.journal.append(append.clone()).await {
                Ok(_) => {
                    crash.pass(|| format!("after {}", append_place(&recorded)));
                    self.blocked.set(None);
                    self.state = next;
                    return Ok(Record::Done);
                }
                Err(AppendError::StaleFence { .. } | AppendError::Conflict { .. }) => {
                    return Err(LogError::Fenced(self.id.clone()));
                }
                // A damaged database does not mend itself; everything else may pass.
                Err(AppendError::Database(error)) if !matches!(error, DatabaseError::Damaged { .. }) => {
                    tracing::error!(job = %self.id, %error, "the journal cannot be written; trying again in {pause:?}");
                    let message = format!("the job waits, since it cannot be recorded: {error}");
                    self.blocked.set(Some(ErrorView { message, hint: Some(error.hint()) }));
                    tokio::select! {
                        () = closing.cancelled() => return Err(LogError::Closing),
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                    }
                }
                Err(error) => return Err(LogError::Unwritable { job: self.id.clone(), source: Box::new(error) }),
            }
        }
    }

    /// Everything that was recorded so far.
    pub(crate) async fn events(&self) -> Result<Vec<Recorded<JobEvent>>, LogError> {
        let read = helix_store::job_events(self.journal.as_ref(), &self.id, 0).await;
        read.map_err(|source| LogError::Unwritable { job: self.id.clone(), source: Box::new(source) })
    }

    fn append_of(&self, recorded: &[Recorded<JobEvent>], next: &JobState, last: u64) -> Result<Append, LogError> {
        let unwritable =
            |source: Box<dyn std::error::Error + Send + Sync>| LogError::Unwritable { job: self.id.clone(), source };
        let written = recorded.iter().map(|one| NewEvent::of(one.at, &one.event)).collect::<Result<Vec<_>, _>>();
        let events = written.map_err(|source| unwritable(Box::new(source)))?;
        let append = Append::to(Stream::Job(self.id.clone()), events).after(last).fenced(self.fence.clone());
        Ok(match JobView::project(&self.id, next) {
            Some(view) => append.with(Projection::Job(Box::new(view))),
            None => append,
        })
    }
}

/// Names an append by what it says, for [`CrashPoint`].
fn append_place(recorded: &[Recorded<JobEvent>]) -> String {
    let names = recorded.iter().map(|one| {
        let mut name = one.event.name().to_owned();
        // An event that cannot be written is refused before; here its fields only tell places apart.
        let fields = serde_json::to_value(&one.event).unwrap_or_default();
        for key in ["phase", "attempt", "gate", "round", "asked"] {
            match &fields[key] {
                serde_json::Value::String(text) => name.push_str(&format!(" {text}")),
                serde_json::Value::Number(number) => name.push_str(&format!(" {key} {number}")),
                _ => {}
            }
        }
        name
    });
    format!("append of {}", names.collect::<Vec<_>>().join(", "))
}
