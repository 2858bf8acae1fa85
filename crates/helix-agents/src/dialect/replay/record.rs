//! The lines that the embedded agent prints, one JSON object each.
//!
//! Must not hold anything that is not evidence or an event.

use helix_core::agent_event::AgentEvent;
use helix_core::run::{AgentErrorKind, RateLimit, Terminal};
use helix_core::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum Record {
    Event {
        event: AgentEvent,
    },
    /// A background task began.
    TaskBegan {
        id: String,
    },
    /// A background task ended.
    TaskEnded {
        id: String,
        /// Whether it was lost.
        lost: bool,
    },
    /// The agent's last word on its turn.
    Terminal(Box<TerminalRecord>),
}

/// The agent's last word, with all that the outcome depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TerminalRecord {
    pub(super) terminal: Terminal,
    /// The error it ended with.
    pub(super) error: Option<AgentErrorKind>,
    /// The word about rate limits.
    pub(super) rate_limit: Option<RateLimit>,
    /// The answer.
    pub(super) answer: Option<String>,
    /// Structured output.
    pub(super) structured: Option<Value>,
    /// Consumption of the turn.
    pub(super) usage: Usage,
}
