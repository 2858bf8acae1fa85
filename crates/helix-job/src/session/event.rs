//! What can happen in a session. Must not know what it adds up to.

use crate::event::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::turn::{AnswerCheck, TurnEnd, TurnStart, TurnView};
use helix_core::ids::{AgentSessionId, JobId, SessionId, TurnId};
use helix_failure::event::FailureEvent;

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The session exists. Always the first event.
    SessionOpened {
        /// The client's key for the session; unique, opaque.
        key: String,
        /// The session's owner, as the client reports it; opaque. Owners cannot see each other's sessions.
        owner: Option<String>,
        /// Session that this one is a copy of, if any.
        copied_from: Option<SessionId>,
        /// Directory of the agent's work, absolute.
        directory: String,
        /// Name of the agent in `helix.toml`.
        agent: String,
    },
    /// A user message is being answered.
    TurnStarted {
        /// Which turn.
        turn: TurnId,
        /// Its position in the tree.
        place: TurnParent,
        /// Agent session that the turn continues; `None` starts one.
        resume: Option<AgentSessionId>,
        /// What it is about.
        #[serde(flatten)]
        begin: TurnStart,
    },
    /// The agent's work on a turn is over.
    TurnFinished {
        /// Which turn.
        turn: TurnId,
        /// How it ended.
        #[serde(flatten)]
        end: TurnEnd,
    },
    /// A job was started in this session.
    JobStarted {
        /// Which.
        job: JobId,
    },
    /// The session follows this job, too, which was started elsewhere.
    JobJoined {
        /// Which.
        job: JobId,
    },
    /// This is the session's project from now on.
    ProjectChosen {
        /// Its directory, absolute.
        path: String,
    },
    /// A run's answer to the turn under way was checked, and something was found.
    AnswerChecked {
        /// Which turn.
        turn: TurnId,
        /// Which answer and what was found.
        check: AnswerCheck,
    },
    /// What failure intelligence has to say of a turn that failed. It moves nothing.
    #[serde(untagged)]
    Failure(Box<FailureEvent>),
}

impl Event for SessionEvent {
    fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// A turn's position in the session's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum TurnParent {
    /// At the beginning: nothing was said before.
    Beginning,
    /// After this turn, which may be one of another session.
    After {
        /// Which.
        turn: TurnId,
    },
    /// It continues this turn's answer; for the client both are one.
    Continuing {
        /// Which.
        turn: TurnId,
        /// The turn before the continued one in the client's tree.
        under: Option<TurnId>,
    },
}

impl TurnParent {
    /// A turn's position.
    pub fn from_turn(turn: &TurnView) -> Self {
        match (&turn.continues, &turn.parent) {
            (Some(continued), _) => Self::Continuing { turn: continued.clone(), under: turn.under.clone() },
            (None, Some(parent)) => Self::After { turn: parent.clone() },
            (None, None) => Self::Beginning,
        }
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
            Self::JobJoined { .. } => "job_joined",
            Self::ProjectChosen { .. } => "project_chosen",
            Self::AnswerChecked { .. } => "answer_checked",
            Self::Failure(note) => note.name(),
        }
    }
}
