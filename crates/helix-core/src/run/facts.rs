//! The evidence of a run, as types. The journal stores facts, never verdicts; `Outcome` is derived from them each time.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::walls::WallsHeld;
use crate::said::Words;

/// Everything that is known of a run once it is over. Rules and figures come from 473
/// measured runs of the real CLI and are summarised in `docs/outcomes.md`. By default, nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// How the process ended.
    pub ending: Ending,
    /// Set when Helix itself ended the run; whatever the exit code, the run was then not the agent's to finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopCause>,
    /// How stdout was read.
    pub stdout: StreamFacts,
    /// Whether Helix asked for structured output.
    #[serde(default)]
    pub asked_schema: bool,
    /// Whether the agent announced itself.
    pub started: bool,
    /// Whether the agent went on working after its last terminal record (a further turn began and has no record).
    #[serde(default)]
    pub active_after_terminal: bool,
    /// The last terminal record, empty follow-ups skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<Terminal>,
    /// The error that the turn of the terminal record ended with; one that the agent got over is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_error: Option<AgentErrorKind>,
    /// The last word about rate limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Background tasks that did not complete: stopped, failed, killed, or never reported to have ended.
    #[serde(default)]
    pub tasks_lost: u32,
    /// Whether the agent has put a summary in the place of what its session held.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// Whether the model has answered anything: words, thoughts, or a call of a tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// Whether it ended well by its status and printed nothing that was meant as a final record, where that is the whole protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record_unknown: bool,
    /// The call that an agent was stopped for, where Helix stopped it as stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<RepeatedCall>,
    /// The last 2 KiB of stderr, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// What held its processes back; `None` where no sandbox was asked for, or nobody recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsHeld>,
}

impl RunFacts {
    /// The facts of a run that left no record: it never started, or nobody can read what it wrote.
    pub fn without_record(ending: Ending, stopped: Option<StopCause>) -> Self {
        Self { ending, stopped, ..Self::default() }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// It exited by itself.
    Exited {
        /// Exit status, 0 to 255.
        code: i32,
    },
    /// A signal ended it.
    Signaled {
        /// Number of the signal.
        signal: i32,
    },
    /// It never ran.
    NotStarted {
        /// Why, with the operating system's words.
        reason: Words,
        /// The system's error number for its program, where there is one: 2 is that there is no such program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
    },
    /// Nobody saw it end: its keeper is gone and left no record.
    #[default]
    Unknown,
}

/// Why Helix ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// Somebody asked for it.
    Cancelled,
    /// Its time limit passed.
    Deadline,
    /// Nothing happened for too long outside a tool call.
    Stalled,
    /// Its terminal record was whole and the process did not end within the grace period.
    Lingered,
    /// It made the same call again and again, which failed the same way each time.
    Stuck,
    /// It printed more than is kept.
    Output,
    /// It took more memory than it may.
    Memory,
}

/// A tool call that failed the same way again and again, with nothing new in between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedCall {
    /// Name of the tool.
    pub tool: String,
    /// Its command, or its input as JSON; the first 500 characters.
    pub input: String,
    /// The last 1000 bytes of what it said.
    pub error: String,
    /// How often it failed so.
    pub times: u32,
}

/// How an output stream was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamFacts {
    /// Whether it was read to its end after the process ended.
    pub read_to_end: bool,
    /// Whole lines read.
    pub lines: u64,
    /// Lines that are not a record of the dialect (not JSON, not UTF-8, not an object).
    pub unparsable: u64,
    /// Lines that were too long: only their first 32 MiB were read.
    #[serde(default, skip_serializing_if = "crate::evidence::is_zero")]
    pub cut: u64,
    /// Whether the last line lacks its newline *and* is not a whole record.
    pub broken_tail: bool,
}

/// The agent's own last word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Terminal {
    /// What the record calls itself.
    pub kind: TerminalKind,
    /// Whether it calls itself an error.
    pub is_error: bool,
    /// Why the run ended, by the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TerminalReason>,
    /// Why the model stopped; `None` when the record says `null` or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// HTTP status of the provider's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Whether structured output is there.
    pub structured_output: bool,
    /// Whether any model's consumption is named. A success without it is a cut-off stream.
    pub usage_present: bool,
    /// Whether the answer is the empty text.
    pub answer_empty: bool,
    /// Turns taken.
    pub turns: u32,
    /// Tool calls denied.
    pub denials: u32,
    /// The first 2,000 characters of the record's own text, for people; never decided by.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What a terminal record calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalKind {
    /// Success, which by itself means nothing.
    Success,
    /// The turn limit was reached.
    MaxTurns,
    /// The money limit was reached.
    MaxBudget,
    /// No valid structured output after all attempts.
    MaxStructuredOutputRetries,
    /// An error while it ran.
    ErrorDuringExecution,
    /// A kind this version of Helix does not know.
    Other(String),
}

/// Why a run ended, by its terminal record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalReason {
    /// The turn is complete.
    Completed,
    /// An interrupt reached the agent while it streamed or ran tools.
    Aborted,
    /// The conversation does not fit the model's context.
    PromptTooLong,
    /// A hook told the agent to stop.
    HookStopped,
    /// The provider's error ended it.
    ApiError,
    /// A limit of turns, money or structured-output attempts.
    Limit,
    /// A reason this version of Helix does not know.
    Other(String),
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It said all it wanted to say.
    EndTurn,
    /// It called a tool.
    ToolUse,
    /// A stop sequence; the CLI also writes it on synthetic error messages.
    StopSequence,
    /// It refused.
    Refusal,
    /// Anything else, such as `pause_turn` or `max_tokens`.
    Other(String),
}

/// Errors that agents declare, whatever the dialect calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentErrorKind {
    /// Too many requests, or a quota is used up.
    RateLimit,
    /// The key or login is not accepted.
    Authentication,
    /// No money.
    Billing,
    /// The provider failed or could not be reached.
    Server,
    /// The request was not acceptable.
    InvalidRequest,
    /// The request was larger than the provider takes.
    TooLarge,
    /// The model does not exist or is not allowed.
    ModelNotFound,
    /// The answer was longer than the model may write.
    MaxOutputTokens,
    /// Anything else.
    Unknown,
}

impl AgentErrorKind {
    /// Whether the provider refuses this request however often it is sent.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::InvalidRequest | Self::TooLarge | Self::ModelNotFound)
    }
}

/// The provider's word about rate limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateLimit {
    /// Whether a request was refused.
    pub rejected: bool,
    /// When the limit resets, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
}
