//! Conversations with the Consultant: trees of turns, one run at a time in each, further turns queue.
//!
//! Must not know HTTP or any chat client's wire format.

mod context;
mod copying;
mod desk;
mod ears;
mod enforce;
mod facts;
mod following;
mod house;
mod news;
mod placing;
mod retention;
mod room;
mod topic;
mod trouble;
mod uploads;

pub use desk::ToolsEndpoint;
pub(crate) use desk::{Desk, TOOL_SERVER};
pub(crate) use enforce::Judged;
pub use enforce::{Enforcement, Validator};
pub use following::JobNews;
pub(crate) use house::House;
pub use news::outcome_of;
pub use retention::Retention;
pub use topic::{Topic, TopicStage};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use helix_core::ids::{SessionId, TurnId};
use helix_core::run::Outcome;
use helix_core::usage::Usage;
use helix_job::session::ClientIds;
use helix_job::{ErrorView, Wait};

/// A user message to be answered.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// Which conversation it belongs to.
    pub conversation: Conversation,
    /// Whose conversation it is, as the client tells it; conversations of different owners never meet.
    pub owner: Option<String>,
    /// Where in the conversation it stands.
    pub place: Place,
    /// What is to be done.
    pub purpose: Purpose,
    /// The user's new message, as the agent is to read it.
    pub message: String,
    /// The user's own words in it: what a client sends back of it later.
    pub words: String,
    /// Files that came with it.
    pub uploads: Vec<Upload>,
    /// What was said before, as the client tells it: finds the place, and is what a new agent session is told.
    pub history: Vec<Said>,
    /// What the client calls the turn.
    pub client: ClientIds,
    /// Extra system prompt of the client, if any; data for the agent, after Helix's own.
    pub system: Option<String>,
    /// Model, in the agent's words.
    pub model: Option<String>,
    /// Whether somebody still reads the answer.
    pub audience: Audience,
}

/// Which conversation a turn belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// The one with the client's own key, which is opaque and unique; opened if there is none.
    Key(String),
    /// This one.
    Session(SessionId),
}

/// Where in a conversation a turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// After the turn that was started last.
    Latest,
    /// After the answer that the client calls so; `None`: at the beginning.
    Ids {
        /// The client's id of the answer.
        parent: Option<String>,
    },
    /// Where the client's history ends.
    History,
}

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A new answer.
    Answer,
    /// More of the answer that the history (or the answer's id) ends with.
    Continue,
}

/// A file that came with a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// What the user calls it, if anything.
    pub name: Option<String>,
    /// Media type as the client names it.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Upload({:?}, {}, {} bytes)", self.name, self.media_type, self.bytes.len())
    }
}

/// Whether somebody reads an answer. All clones speak of the same answer.
#[derive(Debug, Clone, Default)]
pub struct Audience(Arc<AtomicBool>);

impl Audience {
    /// Nobody reads it any more.
    pub fn leave(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody still does.
    pub fn is_there(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// By whom.
    pub by: Speaker,
    /// The text, without what a client wrapped around it.
    pub text: String,
    /// Files that came with it.
    pub uploads: Vec<Upload>,
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
    /// The turn has its place in the conversation, and its agent waits for one among all agents.
    Waits {
        /// For what.
        wait: Wait,
    },
    /// Something worth one line: a retry, a rate limit, a job that started.
    Status {
        /// The line.
        text: String,
    },
    /// What happened to a job of the conversation since the user's last message: a line that is true beyond the turn.
    JobNews {
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

/// What is wrong with a turn's outcome, and what to do, in one sentence; empty if it is an answer.
pub fn trouble_of(outcome: &Outcome) -> String {
    trouble::of(outcome).map_or_else(String::new, |view| match view.hint {
        Some(hint) => format!("{}: {hint}", view.message),
        None => view.message,
    })
}

/// Why a turn could not begin.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The request is wrong.
    #[error("{0}")]
    Request(String),
    /// There is no such conversation.
    #[error("there is no session {0}")]
    NoSession(SessionId),
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
