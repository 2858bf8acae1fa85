//! The Consultant: sessions as trees of turns, one run at a time in each, further turns queue; its instructions, its
//! experts, and the checks of its answers.
//!
//! Must not know HTTP or any chat client's wire format, nor how a job is carried out.

mod actor;
mod agent_words;
pub mod codes;
mod config;
mod context;
mod enforce;
pub mod experts;
mod facts;
mod files;
mod job_digest;
mod locator;
mod own_template;
pub mod phrases;
mod prompt;
mod registry;
mod retention;
mod services;
mod turn_output;
mod uploads;
mod user_words;

pub use config::{ConsultantConfig, FOLLOW_JOBS};
pub use enforce::{CheckedFiles, Enforcement, OwnValidator, Validator, linked_path};
pub use own_template::{OwnTemplate, TRY_TEMPLATE, try_template_main};
pub use prompt::{BUILT_IN as BUILT_IN_PROMPT, ConsultantPrompt, prompt_inputs};
pub use registry::Consultant;
pub use retention::{Retention, TEMPORARY};
pub use user_words::unwrapped;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use helix_core::agent_event::SaidAnew;
use helix_core::ids::{JobId, SessionId, TurnId};
use helix_core::run::Outcome;
use helix_core::usage::Usage;
pub use helix_job::session::Author;
use helix_job::session::ClientIds;
use helix_language::{ErrorView, Language};
use tokio_util::sync::CancellationToken;

/// A user message to be answered.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// Which session it belongs to.
    pub session: SessionSelector,
    /// Whose session it is, as the client tells it; sessions of different owners never meet.
    pub owner: Option<String>,
    /// Where in the session it stands.
    pub parent: ParentSelector,
    /// What is to be done.
    pub purpose: Purpose,
    /// The user's new message, as the agent is to read it.
    pub message: String,
    /// The user's own words in it: what a client sends back of it later.
    pub words: String,
    /// Files that came with it.
    pub uploads: Vec<Upload>,
    /// What was said before, as the client tells it: finds the place, and is what a new agent session is told.
    pub history: Vec<Message>,
    /// What the client shows as the last answer, Helix's own blocks included.
    pub last_shown: String,
    /// What the client calls the turn.
    pub client: ClientIds,
    /// System prompt of the client, if any: a fact for the agent, never its instructions.
    pub system: Option<String>,
    /// Model name, as the agent knows it.
    pub model: Option<String>,
    /// The language that the user writes, as far as what the client sends tells; [`Consultant::locate`] asks the record, too.
    pub language: Option<Language>,
    /// The language that the client asks for, which counts where no words of the user tell.
    pub asked: Language,
    /// The directory that the user is in: a session that is opened there is about the project that it belongs to.
    pub directory: Option<PathBuf>,
    /// Whether the client itself shows drafts to the user and starts them on their yes.
    pub confirms: bool,
    /// Whether the client shows the answer as it comes: it keeps what is taken back.
    pub reads_along: bool,
    /// Cancelled when the client has disconnected.
    pub disconnected: CancellationToken,
}

impl TurnRequest {
    /// What Helix itself says to the user is in this language.
    pub fn language(&self) -> Language {
        self.language.unwrap_or(self.asked)
    }

    /// Whether the same request, sent again, proves to be this one: by its session, an id, or an answer that it shows.
    pub fn is_known_again(&self) -> bool {
        let is_after = matches!(&self.parent, ParentSelector::Ids { parent: Some(_) });
        let shows_answer = self.history.iter().any(|one| one.author == Author::Consultant);
        let is_named = !matches!(self.session, SessionSelector::Unnamed(_)) || self.client.message.is_some();
        is_named || is_after || shows_answer
    }
}

/// Which session a turn belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSelector {
    /// The one with the client's own key, which is opaque and unique; opened if there is none.
    Key(String),
    Id(SessionId),
    /// The client names none: the one that its ids or its history prove to be meant, else a new one. The text is how the
    /// keys begin of those that may be meant.
    Unnamed(String),
}

/// Where in a session a turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParentSelector {
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
    pub bytes: Arc<[u8]>,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Upload({:?}, {}, {} bytes)", self.name, self.media_type, self.bytes.len())
    }
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub author: Author,
    /// The text, without what a client wrapped around it.
    pub text: String,
}

/// What happens while a turn is answered. The last one is always [`TurnEvent::Ended`].
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The turn has its place: it runs now.
    Began { session: SessionId, turn: TurnId },
    /// Something worth one line: what the turn waits for, a retry, a rate limit.
    Status { text: String },
    /// What happened to a job of the session since the user's last message: a line that is true beyond the turn.
    JobNews {
        job: JobId,
        text: String,
        /// What came of one that is over: a block of Helix's own.
        note: Option<String>,
    },
    /// A block of Helix's own, in the answer's text but no part of what the agent says.
    Note { text: String },
    /// A piece of reasoning.
    Thinking { text: String },
    /// A piece of the answer.
    Text { text: String },
    /// This text, the last that was told, is no part of the answer: the agent says it anew.
    TakenBack { text: String, reason: SaidAnew },
    /// A tool call began.
    ToolStarted { id: String, name: String, input: serde_json::Value },
    /// A tool call ended.
    ToolFinished {
        id: String,
        /// What it said, cut to 16 KiB.
        output: String,
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
    pub usage: Usage,
    /// How long it took; nothing for an answer that was there.
    pub took: Duration,
    /// Whether it passed all its checks: else a note says what is not in order.
    pub is_in_order: bool,
    /// Why the turn failed and what to do, if it did.
    pub error: Option<ErrorView>,
}

/// Why a turn could not begin.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// There is no such session.
    #[error("no session {0}")]
    NoSession(SessionId),
    /// The agent is missing or not configured.
    #[error("{}", .0.line())]
    Agent(ErrorView),
    /// Helix is shutting down.
    #[error("Helix is shutting down")]
    Closing,
    /// Helix's own storage failed.
    #[error("the journal failed")]
    Journal(#[source] Box<dyn std::error::Error + Send + Sync>),
}
