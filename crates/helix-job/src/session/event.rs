//! What can happen in a conversation. Must not know what it adds up to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::TextDigest;
use super::turn::{AnswerCheck, Attachment, ClientIds, Delivery};
use helix_core::ids::{AgentSessionId, JobId, RunId, SessionId, TurnId};
use helix_core::run::RunFacts;
use helix_core::usage::Usage;
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        /// Session that this one is a copy of, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
        /// The first agent run that answers.
        run: RunId,
        /// The user's message.
        message: String,
        /// Its position in the tree.
        place: TurnParent,
        /// The user's own words, for finding the turn again by a client's history.
        asked: TextDigest,
        /// What the client calls it.
        client: ClientIds,
        /// Model that the client chose, in the agent's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// What the client adds to the agent's instructions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system: Option<String>,
        /// Files that came with the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Agent session that the turn continues; `None` starts one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<AgentSessionId>,
        /// Agent session that the turn writes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session: Option<AgentSessionId>,
    },
    /// The agent's work on a turn is over.
    TurnFinished {
        /// Which turn.
        turn: TurnId,
        /// The evidence, of its last run.
        facts: Box<RunFacts>,
        /// What the agent answered at the end, also when it was cut off.
        answer: String,
        /// What the user was shown, where that is more than the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        /// Digest of what the client shows: with the answer that this one continues, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered: Option<TextDigest>,
        /// Usage of all its runs.
        usage: Usage,
        /// The agent session that the next turn resumes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<AgentSessionId>,
        /// The point of that session at which the turn ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        point: Option<String>,
        /// How many runs it took.
        runs: u32,
        /// Whether a client read it to its end.
        delivery: Delivery,
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        under: Option<TurnId>,
    },
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
