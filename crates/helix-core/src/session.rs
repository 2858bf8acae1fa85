//! Conversations with the Consultant: what happened in them and what that adds up to.
//!
//! Must not know HTTP or any chat client: client ids are opaque texts here.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentSessionId, JobId, RunId, SessionId, TurnId};
use crate::run::RunFacts;
use crate::usage::Usage;

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The session exists. Always the first event.
    SessionOpened {
        /// The client's own key for the conversation; unique, opaque.
        key: String,
        /// Directory of the agent's work, absolute.
        directory: String,
        /// Name of the agent in `helix.toml`.
        agent: String,
    },
    /// A user message is being answered.
    TurnStarted {
        /// Which turn.
        turn: TurnId,
        /// The agent run that answers.
        run: RunId,
        /// The user's message.
        message: String,
        /// Agent session that is resumed; `None` starts one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<AgentSessionId>,
    },
    /// The agent's run is over.
    TurnFinished {
        /// Which turn.
        turn: TurnId,
        /// The evidence.
        facts: Box<RunFacts>,
        /// What the agent answered, also when it was cut off.
        answer: String,
        /// What it consumed.
        usage: Usage,
        /// The agent session that the next turn resumes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<AgentSessionId>,
    },
    /// A job was started from this conversation.
    JobStarted {
        /// Which.
        job: JobId,
    },
}

/// A session as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The client's own key.
    pub key: String,
    /// Directory of the agent's work, absolute.
    pub directory: String,
    /// Name of the agent.
    pub agent: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// Its turns, oldest first.
    pub turns: Vec<TurnView>,
    /// Jobs started from it, oldest first.
    pub jobs: Vec<JobId>,
    /// Number of the last event that this view includes.
    pub last_event: u64,
}

/// A turn as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    /// Its id.
    pub id: TurnId,
    /// Its run.
    pub run: RunId,
    /// The user's message.
    pub message: String,
    /// When it began.
    pub started_at: Timestamp,
    /// Its end; absent while it runs.
    pub end: Option<TurnEnd>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnd {
    /// When.
    pub at: Timestamp,
    /// The evidence.
    pub facts: Box<RunFacts>,
    /// The answer, also when it was cut off.
    pub answer: String,
    /// What it consumed.
    pub usage: Usage,
    /// The agent session that the next turn resumes.
    pub session: Option<AgentSessionId>,
}

/// An event that cannot follow what happened before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session event {event} cannot follow: {why}")]
pub struct IllegalSessionEvent {
    /// Name of the event.
    pub event: &'static str,
    /// Why not.
    pub why: String,
}

impl SessionView {
    /// Adds up all events of a session.
    ///
    /// # Errors
    /// [`IllegalSessionEvent`] when the stream does not begin with its opening or contradicts itself.
    pub fn fold<'a>(
        id: &SessionId,
        events: impl IntoIterator<Item = &'a crate::job::Recorded<SessionEvent>>,
    ) -> Result<Option<Self>, IllegalSessionEvent> {
        let mut view: Option<Self> = None;
        for recorded in events {
            view = Some(Self::apply(view, id, recorded)?);
        }
        Ok(view)
    }

    /// Adds one event.
    ///
    /// # Errors
    /// [`IllegalSessionEvent`] as for [`SessionView::fold`].
    pub fn apply(
        view: Option<Self>,
        id: &SessionId,
        recorded: &crate::job::Recorded<SessionEvent>,
    ) -> Result<Self, IllegalSessionEvent> {
        let at = recorded.at;
        let name = recorded.event.name();
        let illegal = |why: &str| IllegalSessionEvent { event: name, why: why.into() };
        let mut view = match (view, &recorded.event) {
            (None, SessionEvent::SessionOpened { key, directory, agent }) => Self {
                id: id.clone(),
                key: key.clone(),
                directory: directory.clone(),
                agent: agent.clone(),
                created_at: at,
                updated_at: at,
                turns: Vec::new(),
                jobs: Vec::new(),
                last_event: 0,
            },
            (None, _) => return Err(illegal("the session is not open")),
            (Some(_), SessionEvent::SessionOpened { .. }) => return Err(illegal("the session is open already")),
            (Some(mut view), SessionEvent::TurnStarted { turn, run, message, resume: _ }) => {
                if view.running().is_some() {
                    return Err(illegal("another turn is running"));
                }
                view.turns.push(TurnView {
                    id: turn.clone(),
                    run: run.clone(),
                    message: message.clone(),
                    started_at: at,
                    end: None,
                });
                view
            }
            (Some(mut view), SessionEvent::TurnFinished { turn, facts, answer, usage, session }) => {
                let Some(open) = view.turns.iter_mut().find(|open| &open.id == turn && open.end.is_none()) else {
                    return Err(illegal("this turn is not running"));
                };
                open.end = Some(TurnEnd {
                    at,
                    facts: facts.clone(),
                    answer: answer.clone(),
                    usage: *usage,
                    session: session.clone(),
                });
                view
            }
            (Some(mut view), SessionEvent::JobStarted { job }) => {
                view.jobs.push(job.clone());
                view
            }
        };
        view.updated_at = at;
        view.last_event = recorded.number;
        Ok(view)
    }

    /// The turn that is being answered.
    pub fn running(&self) -> Option<&TurnView> {
        self.turns.last().filter(|turn| turn.end.is_none())
    }

    /// The agent session that the next turn resumes.
    pub fn resumable(&self) -> Option<&AgentSessionId> {
        self.turns.iter().rev().find_map(|turn| turn.end.as_ref()?.session.as_ref())
    }
}

impl SessionEvent {
    /// The event's name in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionOpened { .. } => "session_opened",
            Self::TurnStarted { .. } => "turn_started",
            Self::TurnFinished { .. } => "turn_finished",
            Self::JobStarted { .. } => "job_started",
        }
    }
}
