//! A session's stream in the journal and the state that it adds up to.
//!
//! Must not know what a turn does. Tools and the observer of failures write to the stream beside the session's actor.

use async_recursion::async_recursion as boxed;
use helix_core::ids::{SessionId, TurnId};
use helix_job::Recorded;
use helix_job::session::{IllegalSessionEvent, SessionEvent, SessionState, SessionView};
use helix_language::ErrorView;
use helix_store::{Journal, Projection, ReadError, Stream};

use super::{EventLog, LogError, LogWriter, Record, StreamState};

/// A session's events and state.
pub type SessionLog = EventLog<SessionState>;

impl StreamState for SessionState {
    type Id = SessionId;
    type Event = SessionEvent;
    type Illegal = IllegalSessionEvent;
    const NOUN: &'static str = "session";

    fn stream(id: &SessionId) -> Stream {
        Stream::Session(id.clone())
    }

    fn last_event(&self) -> u64 {
        self.view.last_event
    }

    fn apply(self, id: &SessionId, recorded: &Recorded<SessionEvent>) -> Result<Self, IllegalSessionEvent> {
        SessionView::apply(Some(self.view), id, recorded)
    }

    fn projection(&self, _id: &SessionId) -> Option<Projection> {
        Some(Projection::Session(Box::new(self.view.clone()), self.turn.clone().map(Box::new)))
    }

    async fn reload(journal: &dyn Journal, id: &SessionId) -> Result<Option<Self>, ReadError> {
        Ok(journal.session(id.clone()).await?.map(|view| Self { view, turn: None }))
    }

    fn append_name(&self, events: &[SessionEvent]) -> String {
        let begins = events.iter().any(|event| matches!(event, SessionEvent::TurnStarted { .. }));
        let turn = self.view.running().map(|turn| turn.id.clone()).filter(|_| !begins);
        let turn = turn.unwrap_or_else(|| self.view.next_turn());
        let names: Vec<&str> = events.iter().map(SessionEvent::name).collect();
        format!("append of {} {}", names.join(", "), turn_name(&turn))
    }
}

/// A turn's id without its session's.
pub fn turn_name(turn: &TurnId) -> &str {
    turn.as_str().rsplit('.').next().unwrap_or_default()
}

/// What came of recording an event, for people.
///
/// # Errors
/// Why it is not recorded.
pub fn settled(recorded: Result<Record<IllegalSessionEvent>, LogError>) -> Result<(), ErrorView> {
    match recorded {
        Ok(Record::Done) => Ok(()),
        Ok(Record::Stale(error)) => Err(ErrorView {
            message: format!("the session cannot be recorded: {error}"),
            hint: Some("please report this with the host's log".into()),
            said: None,
        }),
        Err(error) => Err(error.view()),
    }
}

/// Adds an event to a session beside its actor, or says at once why that cannot be done.
///
/// # Errors
/// Why it is not recorded.
#[boxed]
pub async fn record(writer: &LogWriter, view: SessionView, event: SessionEvent) -> Result<(), ErrorView> {
    let mut log = SessionLog::new(view.id.clone(), SessionState { view, turn: None }, writer.clone());
    settled(log.record_once(&[event]).await)
}
