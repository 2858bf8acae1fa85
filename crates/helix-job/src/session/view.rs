//! A session as it stands: the fold of its events, without the bodies of its turns.
//!
//! Must not know where views are kept. A view stays small however long the session is; turns are kept beside it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{SessionEvent, TurnParent};
use super::turn::TurnView;
use crate::Recorded;
use helix_core::ids::{JobId, SessionId, TurnId};
use helix_core::step_marker::{Marker, Step, split};
use helix_core::words;
use helix_language::ErrorView;

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The client's own key.
    pub key: String,
    /// Whose it is, as the client tells it.
    pub owner: Option<String>,
    /// Session that it is a copy of, if any.
    pub copied_from: Option<SessionId>,
    /// Directory of the agent's work, absolute.
    pub directory: String,
    /// Name of the agent.
    pub agent: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// How many turns it has, on all branches.
    pub turn_count: u32,
    /// The turn that was started last.
    pub latest: Option<TurnId>,
    /// The turn that is being answered.
    pub running: Option<Box<TurnView>>,
    /// Jobs that it is about, in the order in which they came into it: started from it, or asked about in it.
    pub jobs: Vec<JobId>,
    /// Directory of its project, if any.
    pub project: Option<String>,
    /// Number of the last event that this view includes.
    pub last_event: u64,
    /// Whether something is under way in it.
    #[serde(default)]
    pub status: SessionStatus,
    /// What the marker in the last answer said; absent where it had none. It only says so: nothing follows from it.
    #[serde(default)]
    pub step: Option<Step>,
    /// Why nothing can be recorded in it at the moment; in no record, but known to the host that runs.
    pub blocked: Option<ErrorView>,
}

words! {
    /// Whether something is under way in a session.
    #[derive(Default)]
    pub enum SessionStatus {
        /// Nothing was said yet.
        #[default]
        New = "new",
        /// A message is being answered.
        Answering = "answering",
        /// It waits for the next message.
        Idle = "idle",
    }
}

/// What an event makes of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    /// The session after it.
    pub view: SessionView,
    /// The turn that it began or ended.
    pub turn: Option<TurnView>,
}

/// An event that cannot follow what happened before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session event {event} cannot follow: {why}")]
pub struct IllegalSessionEvent {
    /// Name of the event.
    pub event: &'static str,
    pub why: String,
}

impl SessionView {
    /// Adds up all events of a session: the session, and its turns by number.
    ///
    /// # Errors
    /// [`IllegalSessionEvent`] when the stream does not begin with its opening or contradicts itself.
    pub fn fold<'a>(
        id: &SessionId,
        events: impl IntoIterator<Item = &'a Recorded<SessionEvent>>,
    ) -> Result<Option<(Self, Vec<TurnView>)>, IllegalSessionEvent> {
        let (mut view, mut turns): (Option<Self>, Vec<TurnView>) = (None, Vec::new());
        for recorded in events {
            let applied = Self::apply(view, id, recorded)?;
            view = Some(applied.view);
            if let Some(turn) = applied.turn {
                // A turn ends before the next one begins: it is the last one or new.
                match turns.last_mut().filter(|last| last.id == turn.id) {
                    Some(last) => *last = turn,
                    None => turns.push(turn),
                }
            }
        }
        Ok(view.map(|view| (view, turns)))
    }

    /// Adds one event.
    ///
    /// # Errors
    /// [`IllegalSessionEvent`] as for [`SessionView::fold`].
    pub fn apply(
        view: Option<Self>,
        id: &SessionId,
        recorded: &Recorded<SessionEvent>,
    ) -> Result<SessionState, IllegalSessionEvent> {
        let at = recorded.at;
        let illegal = |why: &str| IllegalSessionEvent { event: recorded.event.name(), why: why.into() };
        let mut view = match (view, &recorded.event) {
            (None, SessionEvent::SessionOpened { key, owner, copied_from, directory, agent }) => Self {
                id: id.clone(),
                key: key.clone(),
                owner: owner.clone(),
                copied_from: copied_from.clone(),
                directory: directory.clone(),
                agent: agent.clone(),
                created_at: at,
                updated_at: at,
                turn_count: 0,
                latest: None,
                running: None,
                jobs: Vec::new(),
                project: None,
                last_event: 0,
                status: SessionStatus::New,
                step: None,
                blocked: None,
            },
            (None, _) => return Err(illegal("the session is not open")),
            (Some(view), _) => view,
        };
        let mut turn = None;
        match &recorded.event {
            SessionEvent::SessionOpened { .. } if view.last_event == 0 => {}
            SessionEvent::SessionOpened { .. } => return Err(illegal("the session is open already")),
            SessionEvent::TurnStarted { .. } if view.running.is_some() => {
                return Err(illegal("another turn is running"));
            }
            SessionEvent::TurnStarted { turn: id, place, begin, resume: _ } => {
                let (parent, under, continues) = match place {
                    TurnParent::Beginning => (None, None, None),
                    TurnParent::After { turn } => (Some(turn.clone()), Some(turn.clone()), None),
                    TurnParent::Continuing { turn, under } => (Some(turn.clone()), under.clone(), Some(turn.clone())),
                };
                view.turn_count += 1;
                view.latest = Some(id.clone());
                turn = Some(TurnView {
                    id: id.clone(),
                    session: view.id.clone(),
                    number: view.turn_count,
                    parent,
                    under,
                    continues,
                    begin: begin.clone(),
                    started_at: at,
                    checks: Vec::new(),
                    ended_at: None,
                    end: None,
                });
                view.running = turn.clone().map(Box::new);
            }
            SessionEvent::TurnFinished { turn: id, end } => {
                let Some(open) = view.running.take().filter(|open| &open.id == id) else {
                    return Err(illegal("this turn is not running"));
                };
                view.step = match split(&end.answer).1 {
                    Marker::Step(step) => Some(step),
                    Marker::Absent | Marker::Unknown(_) => None,
                };
                let mut ended = TurnView { ended_at: Some(at), end: Some(end.clone()), ..*open };
                // Where the agent had lost the session that was to be resumed, it wrote to another one.
                ended.begin.agent_session = end.session.clone().or(ended.begin.agent_session);
                turn = Some(ended);
            }
            SessionEvent::JobStarted { job } => view.jobs.push(job.clone()),
            // Two questions about the same job at once join it twice.
            SessionEvent::JobJoined { job } if view.jobs.contains(job) => {}
            SessionEvent::JobJoined { job } => view.jobs.push(job.clone()),
            SessionEvent::ProjectChosen { path } => view.project = Some(path.clone()),
            SessionEvent::AnswerChecked { turn, check } => {
                let Some(open) = view.running.as_mut().filter(|open| &open.id == turn) else {
                    return Err(illegal("this turn is not running"));
                };
                // The same run's answer is checked again after a restart.
                open.checks.retain(|other| other.run != check.run);
                open.checks.push(check.clone());
            }
            SessionEvent::Failure(_) => {}
        }
        view.status = match (&view.running, view.turn_count) {
            (Some(_), _) => SessionStatus::Answering,
            (None, 0) => SessionStatus::New,
            (None, _) => SessionStatus::Idle,
        };
        view.updated_at = at;
        view.last_event = recorded.number;
        Ok(SessionState { view, turn })
    }

    /// The turn that is being answered.
    pub fn running(&self) -> Option<&TurnView> {
        self.running.as_deref()
    }

    /// The id of the next turn.
    pub fn next_turn(&self) -> TurnId {
        TurnId::nth(&self.id, self.turn_count + 1)
    }
}

#[cfg(test)]
#[path = "view_test.rs"]
mod tests;
