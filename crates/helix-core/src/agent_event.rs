//! What an agent does while it runs, free of any dialect.
//!
//! Must not know which CLI spoke: dialects in `helix-agents` translate, everybody else reads these.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AgentSessionId;
use crate::usage::Usage;

/// Why an agent says something anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaidAnew {
    /// The connection to the model broke.
    #[default]
    Disconnected,
    /// The provider's safeguards stopped it.
    Stopped,
    /// It did not pass its checks.
    Refused,
}

/// One event of a run. Events a dialect does not know become [`AgentEvent::Unrecognised`]: kept and counted, never dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent announced itself (once per turn).
    Started {
        /// Its session, for resuming.
        session: Option<AgentSessionId>,
        /// Model in use.
        model: Option<String>,
        /// Version of the agent's CLI.
        version: Option<String>,
    },
    /// Text of the answer.
    Text {
        /// The text; a fragment when `partial`.
        text: String,
        /// True for a streamed fragment, false for a whole block that repeats the fragments before it.
        partial: bool,
        /// The tool call of the sub-agent that wrote it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// Text that is no part of the answer: the agent says another one in its place.
    TakenBack {
        /// The text, all fragments put together.
        text: String,
        /// Why.
        #[serde(default)]
        reason: SaidAnew,
        /// As for [`AgentEvent::Text`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// Reasoning that is not part of the answer.
    Thinking {
        /// The text; a fragment when `partial`.
        text: String,
        /// As for [`AgentEvent::Text`].
        partial: bool,
        /// As for [`AgentEvent::Text`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// A tool call began.
    ToolStarted {
        /// The call's id, unique in the run.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments as JSON.
        input: serde_json::Value,
        /// As for [`AgentEvent::Text`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// A tool call ended.
    ToolFinished {
        /// Id of the call.
        id: String,
        /// What the tool said, cut to 16 KiB.
        output: String,
        /// Whether the tool reported an error or was denied.
        failed: bool,
    },
    /// Consumption so far.
    UsageReported {
        /// As reported.
        usage: Usage,
    },
    /// The provider limits the account.
    RateLimited {
        /// Whether the request was refused (else: a warning).
        rejected: bool,
        /// When the limit resets.
        resets_at: Option<jiff::Timestamp>,
    },
    /// The agent repeats a request to its provider.
    ApiRetry {
        /// Which repeat, from 1.
        attempt: u32,
        /// How many it will make at most.
        max: u32,
        /// Milliseconds until the repeat.
        delay_ms: u64,
        /// What went wrong, in the dialect's words.
        reason: String,
    },
    /// The agent asks something only a person can answer.
    Question {
        /// The question.
        text: String,
    },
    /// The agent's terminal record. Not a proof of completion: see [`crate::run::Outcome`].
    Finished {
        /// The answer, if the record has one.
        answer: Option<String>,
        /// Structured output, if one was asked for and given.
        structured: Option<serde_json::Value>,
        /// Whether the agent itself calls the run an error.
        is_error: bool,
        /// Consumption of the run.
        usage: Usage,
    },
    /// Something this dialect does not know, or that has no meaning for Helix.
    Unrecognised {
        /// Its type as the agent named it; `not json` for a line that does not parse.
        kind_name: String,
    },
}
