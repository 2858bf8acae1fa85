//! Conversations with the Consultant: one agent session each, one run at a time, further turns queue.
//!
//! Must not know HTTP or any chat client's wire format.

mod desk;
mod house;
mod room;

pub(crate) use desk::{Desk, ToolsEndpoint};
pub(crate) use house::House;

use helix_core::ids::{SessionId, TurnId};
use helix_core::job::ErrorView;
use helix_core::run::Outcome;
use helix_core::usage::Usage;

/// A user message to be answered.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The client's key for the conversation: opaque, unique.
    pub key: String,
    /// The user's new message.
    pub message: String,
    /// What was said before, as the client tells it; only used when the agent's own session is lost or never existed.
    pub history: Vec<Said>,
    /// Extra system prompt of the client, if any; data for the agent, after Helix's own.
    pub system: Option<String>,
    /// Model, in the agent's words.
    pub model: Option<String>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// By whom.
    pub by: Speaker,
    /// The text.
    pub text: String,
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The Consultant.
    Consultant,
}

/// What happens while a turn is answered. The last one is always [`TurnEvent::Ended`].
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The turn has its place: it runs now.
    Began {
        /// Session.
        session: SessionId,
        /// Turn.
        turn: TurnId,
    },
    /// The turn waits for others before it.
    Queued {
        /// How many.
        ahead: usize,
    },
    /// Something worth one line: a retry, a rate limit, a job that started.
    Status {
        /// The line.
        text: String,
    },
    /// A piece of reasoning.
    Thinking {
        /// The piece.
        text: String,
    },
    /// A piece of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// A tool call began.
    ToolStarted {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        input: serde_json::Value,
    },
    /// A tool call ended.
    ToolFinished {
        /// Id of the call.
        id: String,
        /// What it said, cut to 16 KiB.
        output: String,
        /// Whether it failed.
        failed: bool,
    },
    /// The turn is over.
    Ended(Box<TurnEnded>),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnded {
    /// What the run amounts to.
    pub outcome: Outcome,
    /// The whole answer, also when it was cut off.
    pub answer: String,
    /// What it consumed.
    pub usage: Usage,
    /// Why it is no good answer and what to do, if it is none.
    pub error: Option<ErrorView>,
}

/// Why a turn could not begin.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The request is wrong.
    #[error("{0}")]
    Request(String),
    /// The agent is missing or not configured.
    #[error("{message}")]
    Agent {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// Helix's own storage failed.
    #[error("the journal failed")]
    Journal(#[source] Box<dyn std::error::Error + Send + Sync>),
}
