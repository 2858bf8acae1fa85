//! Failure intelligence beside the work: one task follows the journal, remembers the failures that it tells of, and adds notes.
//!
//! Nothing waits for it. Must not change what a job or a session does.

mod jobs;
mod reading;
mod sessions;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{JobId, SessionId};
use helix_failure::event::FailureEvent;
use helix_failure::memory::Suggestion;
use helix_job::session::SessionEvent;
use helix_job::{Event, JobEvent, JobState, Recorded};
use helix_store::{MAX_EVENTS_PER_READ, ReadError, StoredEvent, Stream};
use jiff::Timestamp;
use tokio::sync::broadcast::error::RecvError;

pub use helix_store::failures::{FailureFilter, FailurePage};
pub use reading::{Explanation, JobReport, job_reports, last_reports};

use crate::event_log::record;
use crate::failures::{FailureService, RefusedDrafts, replace};
use crate::jobs::Jobs;
use crate::services::Services;

/// Events that are read at once.
const READ: usize = 100;
/// How long a host that closes lets the observer catch up. The next host goes on where it was.
const CLOSING: Duration = Duration::from_millis(500);
/// How long a journal that cannot be read is left alone.
const PAUSE: Duration = Duration::from_secs(5);
/// File below the state directory with the position of the last event that was observed.
const POSITION: &str = "failures.position";

/// What the observer works with.
pub(crate) struct Observer {
    pub(crate) services: Arc<Services>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) failures: FailureService,
    /// Names of the validators of answers that are switched on.
    pub(crate) validators: Vec<&'static str>,
}

/// How far the observer has come.
#[derive(Default)]
struct Progress {
    position: u64,
    saved: u64,
    /// The state of each job that has not ended, after its last event that was observed.
    jobs: HashMap<JobId, JobState>,
    drafts: RefusedDrafts,
}

impl Observer {
    /// Follows the journal until the engine closes. Events are observed at least once: keys keep a second time from counting.
    pub(crate) async fn run(self) {
        let mut progress = Progress { position: self.saved_position().await, ..Progress::default() };
        progress.saved = progress.position;
        let closed = async {
            self.services.closing.cancelled().await;
            tokio::time::sleep(CLOSING).await;
        };
        tokio::select! {
            () = closed => {}
            () = self.follow(&mut progress) => {}
        }
        self.save(&mut progress).await;
    }

    async fn follow(&self, progress: &mut Progress) {
        let mut changes = self.services.journal().subscribe();
        let Some(mut documents) = self.failures.checked_documents() else { return };
        self.failures.forget_stale(Timestamp::now()).await;
        loop {
            match self.services.journal().read_all(progress.position, READ).await {
                Ok(events) if events.is_empty() => {}
                Ok(events) => {
                    for event in &events {
                        if let Err(error) = self.observe(event, progress).await {
                            tracing::warn!(stream = %event.stream, number = event.number, %error, "an event is not observed");
                        }
                        progress.position = event.position;
                    }
                    self.save(progress).await;
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "failures are not observed: the journal cannot be read");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            }
            self.save(progress).await;
            tokio::select! {
                Some(document) = documents.recv() => self.failures.document(document, &mut progress.drafts).await,
                () = self.services.closing.cancelled() => return,
                change = changes.recv() => if change == Err(RecvError::Closed) { return },
            }
        }
    }

    async fn observe(&self, event: &StoredEvent, progress: &mut Progress) -> Result<(), ReadError> {
        match &event.stream {
            Stream::Job(job) => {
                let recorded = event.decode::<JobEvent>()?;
                let Some(before) = self.state_before(job, &recorded, progress).await? else { return Ok(()) };
                let Ok(after) = before.clone().apply(&recorded) else { return Ok(()) };
                let notes = self.job_event(job, &recorded, &before, &after).await;
                if after.end().is_none() {
                    progress.jobs.insert(job.clone(), after);
                }
                let learned = !notes.is_empty();
                self.note_in_job(job, recorded.number, notes).await?;
                // Hosts that die soon get on all the same: none learns again what took the one before it its life.
                if learned {
                    progress.position = event.position;
                    self.save(progress).await;
                }
                Ok(())
            }
            Stream::Session(id) => {
                let recorded = event.decode::<SessionEvent>()?;
                let SessionEvent::TurnFinished { turn, end } = &recorded.event else { return Ok(()) };
                if end.runs == 0 {
                    // An answer that was there already shows nothing new.
                    return Ok(());
                }
                let session = self.services.journal().session(id.clone()).await?;
                let (Some(session), Some(turn)) = (session, self.services.journal().turn(turn.clone()).await?) else {
                    return Ok(());
                };
                let notes = self.turn_finished(&session, &turn, &end.facts, recorded.at).await;
                self.note_in_session(id, recorded.number, notes).await
            }
        }
    }

    /// The state of a job before one of its events; `None` for a note about a job that is not kept.
    async fn state_before(
        &self,
        job: &JobId,
        recorded: &Recorded<JobEvent>,
        progress: &mut Progress,
    ) -> Result<Option<JobState>, ReadError> {
        let last = |state: &JobState| state.active().map_or(0, |active| active.last_event);
        let kept = progress.jobs.remove(job).filter(|state| last(state) + 1 == recorded.number);
        if kept.is_some() || matches!(recorded.event, JobEvent::Failure(_)) {
            return Ok(kept);
        }
        let mut events = helix_store::job_events(self.services.journal().as_ref(), job, 0).await?;
        events.retain(|one| one.number < recorded.number);
        Ok(JobState::fold(&events).ok())
    }

    /// Adds notes to the stream of a job that this host carries out. Nothing follows the end of a job: what comes later is in
    /// the reports and the memory alone.
    async fn note_in_job(&self, job: &JobId, after: u64, notes: Vec<FailureEvent>) -> Result<(), ReadError> {
        let Some(handle) = self.jobs.handle(job) else { return Ok(()) };
        let known = |event| match event {
            JobEvent::Failure(note) => Some(*note),
            _ => None,
        };
        let notes = self.unknown(Stream::Job(job.clone()), after, notes, known).await?;
        let events: Vec<JobEvent> = notes.into_iter().map(|note| JobEvent::Failure(Box::new(note))).collect();
        if !events.is_empty()
            && let Err(refused) = handle.record(events).await
        {
            tracing::debug!(%job, %refused, "what is known of a failure is not noted in its job");
        }
        Ok(())
    }

    async fn note_in_session(&self, id: &SessionId, after: u64, notes: Vec<FailureEvent>) -> Result<(), ReadError> {
        let known = |event| match event {
            SessionEvent::Failure(note) => Some(*note),
            _ => None,
        };
        for note in self.unknown(Stream::Session(id.clone()), after, notes, known).await? {
            let Some(session) = self.services.journal().session(id.clone()).await? else { break };
            if let Err(error) = record(&self.services.writer, session, SessionEvent::Failure(Box::new(note))).await {
                tracing::warn!(session = %id, error = error.message, "what is known of a failure is not noted in its session");
                break;
            }
        }
        Ok(())
    }

    /// The notes that a stream does not have after this event, where a former host died before it knew that it had written them.
    async fn unknown<E: Event>(
        &self,
        stream: Stream,
        after: u64,
        mut notes: Vec<FailureEvent>,
        known: fn(E) -> Option<FailureEvent>,
    ) -> Result<Vec<FailureEvent>, ReadError> {
        if notes.is_empty() {
            return Ok(notes);
        }
        for event in self.services.journal().read(stream, after, MAX_EVENTS_PER_READ).await?.events {
            if let Some(note) = known(event.decode::<E>()?.event) {
                notes.retain(|one| one.key() != note.key());
            }
        }
        Ok(notes)
    }

    fn position_file(&self) -> PathBuf {
        self.services.state.root().join(POSITION)
    }

    /// The position up to which a former host has observed; without one, all of the journal is observed.
    async fn saved_position(&self) -> u64 {
        let saved = tokio::fs::read_to_string(self.position_file()).await.unwrap_or_default();
        saved.trim().parse().unwrap_or_default()
    }

    async fn save(&self, progress: &mut Progress) {
        if progress.saved == progress.position {
            return;
        }
        match replace(&self.position_file(), progress.position.to_string().as_bytes()).await {
            Ok(()) => progress.saved = progress.position,
            Err(error) => tracing::warn!(%error, "how far failures are observed is not saved"),
        }
    }
}

/// Notes about suggestions whose outcome is known.
fn resolved(suggestions: &[Suggestion]) -> Vec<FailureEvent> {
    let known = suggestions.iter().filter(|suggestion| suggestion.outcome.is_some()).cloned();
    known.map(|suggestion| FailureEvent::SuggestionResolved { suggestion }).collect()
}
