//! What a run amounted to, derived from evidence alone.
//!
//! There is no default and no variant that means "probably fine": [`Outcome::Completed`] can only be built here, from a
//! whole terminal success record, exit status 0 and stdout read to its end. Order and rules: `docs/outcomes.md`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recorded;
use crate::said::Words;

use super::facts::{
    AgentErrorKind, Ending, RepeatedCall, RunFacts, StopCause, StopReason, Terminal, TerminalKind, TerminalReason,
};

/// What a run amounted to. Not deserialisable on purpose: keep [`RunFacts`] and derive it again.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent ended its turn, says so in a whole record, exited 0, and everything it wrote was read.
    Completed(Completed),
    /// As [`Outcome::Completed`], and some tool calls were denied.
    CompletedWithDenials(Completed),
    /// The turn ended well but background tasks were stopped, failed or killed.
    TasksLost {
        tasks: u32,
    },
    /// A local slash command ran; no model was asked.
    LocalCommand,
    /// Output or work was cut off.
    Truncated {
        evidence: Words,
    },
    /// The program ended well and does not know Helix's result record.
    NoRecord,
    /// The turn ended but what was asked for is not there.
    Incomplete {
        missing: Words,
    },
    /// A hook ended the turn.
    StoppedByHook,
    /// An interrupt that did not come from Helix.
    Interrupted,
    /// Helix stopped it because somebody asked.
    Cancelled,
    /// Helix stopped it at its time limit.
    TimedOut,
    /// Helix stopped it because it was silent for too long.
    Stalled,
    /// Helix stopped it because it repeated a call that failed the same way each time.
    Stuck {
        /// The call, where the record shows it.
        call: Option<RepeatedCall>,
    },
    /// Nobody knows how it ended.
    Lost,
    /// The provider refuses for now.
    RateLimited {
        /// When it may work again, if the provider said.
        resets_at: Option<Timestamp>,
    },
    /// The provider failed, is overloaded, or could not be reached.
    Overloaded {
        /// HTTP status, if there was an answer.
        http_status: Option<u16>,
        /// The record's words, for people.
        message: String,
    },
    /// The provider does not accept the key or login, or there is no money.
    Credentials {
        /// Which of the two.
        billing: bool,
    },
    /// The conversation does not fit the model's context.
    ContextOverflow,
    /// A limit of turns, money or structured-output attempts was reached.
    LimitReached {
        limit: LimitKind,
    },
    Refused,
    /// The agent did not start working: wrong flags, missing program, unreadable settings.
    Unstarted {
        /// What it, its keeper or the operating system said.
        reason: Words,
    },
    /// The agent started but cannot work as configured (such as an unknown session to resume).
    Misconfigured,
    /// The run failed in any other way.
    Failed(Failure),
}

/// Proof of completion. Has no public constructor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Completed {
    turns: u32,
    denials: u32,
}

impl Completed {
    /// Turns the agent took.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Tool calls that were denied on the way.
    pub fn denials(&self) -> u32 {
        self.denials
    }
}

/// How a run failed that fits no other variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Failure {
    /// The agent's own record says so.
    Declared {
        /// The record's words, or what the agent printed beside it.
        message: Words,
        /// Its kind, where the dialect knows it.
        error: Option<AgentErrorKind>,
    },
    /// The record says success and something else says the opposite.
    Contradicted { evidence: Words },
}

/// Limits that end a run from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// `max_turns`.
    Turns,
    /// `budget_usd`.
    Budget,
    /// Tries at valid structured output.
    StructuredOutput,
}

/// Names of outcomes in Helix's output and in recordings' manifests, one for each [`Outcome`] variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "each is the name of the Outcome variant that `Outcome::name` maps to it")]
pub enum OutcomeName {
    Complete,
    CompleteWithDenials,
    CompleteButTasksLost,
    LocalCommand,
    Truncated,
    NoRecord,
    Incomplete,
    StoppedByHook,
    Interrupted,
    Cancelled,
    TimedOut,
    Stalled,
    Stuck,
    Lost,
    RateLimited,
    OverloadedOrNetwork,
    FatalCredentials,
    Context,
    Limit,
    Refused,
    Usage,
    Config,
    Error,
}

/// What an outcome means for trying again. Decided by type alone, never by text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "advice", content = "not_before", rename_all = "snake_case")]
pub enum Retry {
    /// The run is over and usable: go on to the gates.
    Accept,
    /// Try again in the same agent session.
    Resume,
    /// Try again in a new agent session.
    Fresh,
    /// Try again in the same session after a pause; until the given time if the provider named one.
    Later(Option<Timestamp>),
    /// Trying again cannot help before a person has changed something.
    Never,
}

impl Outcome {
    /// Derives the outcome. Total: every combination of facts has exactly one answer.
    pub fn from_facts(facts: &RunFacts) -> Self {
        match facts.stopped {
            Some(StopCause::Cancelled) => return Self::Cancelled,
            Some(StopCause::Deadline) => return Self::TimedOut,
            Some(StopCause::Stalled) => return Self::Stalled,
            Some(StopCause::Stuck) => return Self::Stuck { call: facts.repeated.clone() },
            Some(StopCause::Output) => {
                return Self::Truncated { evidence: recorded!("run-cut-output") };
            }
            Some(StopCause::Memory) => {
                return Self::Truncated { evidence: recorded!("run-cut-memory") };
            }
            // The record was whole and the process would not go: the evidence below decides.
            Some(StopCause::Lingered) | None => {}
        }
        match &facts.ending {
            Ending::Unknown => return Self::Lost,
            Ending::NotStarted { reason, .. } => return Self::Unstarted { reason: reason.clone() },
            Ending::Exited { .. } | Ending::Signaled { .. } => {}
        }
        match (&facts.terminal, cut_off(facts)) {
            (Some(terminal), None) if terminal.is_error => declared_error(facts, terminal),
            (Some(terminal), None) => success(facts, terminal),
            (None, _) if refused_to_start(facts) => Self::Unstarted { reason: said_at_end(facts) },
            (None, _) if facts.record_unknown => Self::NoRecord,
            (_, Some(evidence)) => Self::Truncated { evidence },
            (None, None) => Self::Truncated { evidence: no_end(facts) },
        }
    }

    /// The stable name of the variant.
    pub fn name(&self) -> OutcomeName {
        match self {
            Self::Completed(_) => OutcomeName::Complete,
            Self::CompletedWithDenials(_) => OutcomeName::CompleteWithDenials,
            Self::TasksLost { .. } => OutcomeName::CompleteButTasksLost,
            Self::LocalCommand => OutcomeName::LocalCommand,
            Self::Truncated { .. } => OutcomeName::Truncated,
            Self::NoRecord => OutcomeName::NoRecord,
            Self::Incomplete { .. } => OutcomeName::Incomplete,
            Self::StoppedByHook => OutcomeName::StoppedByHook,
            Self::Interrupted => OutcomeName::Interrupted,
            Self::Cancelled => OutcomeName::Cancelled,
            Self::TimedOut => OutcomeName::TimedOut,
            Self::Stalled => OutcomeName::Stalled,
            Self::Stuck { .. } => OutcomeName::Stuck,
            Self::Lost => OutcomeName::Lost,
            Self::RateLimited { .. } => OutcomeName::RateLimited,
            Self::Overloaded { .. } => OutcomeName::OverloadedOrNetwork,
            Self::Credentials { .. } => OutcomeName::FatalCredentials,
            Self::ContextOverflow => OutcomeName::Context,
            Self::LimitReached { .. } => OutcomeName::Limit,
            Self::Refused => OutcomeName::Refused,
            Self::Unstarted { .. } => OutcomeName::Usage,
            Self::Misconfigured => OutcomeName::Config,
            Self::Failed(_) => OutcomeName::Error,
        }
    }

    /// What it means for trying again.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Completed(_) | Self::CompletedWithDenials(_) => Retry::Accept,
            Self::TasksLost { .. }
            | Self::Truncated { .. }
            | Self::Incomplete { .. }
            | Self::Interrupted
            | Self::TimedOut
            | Self::Stalled
            | Self::Lost
            | Self::LimitReached { .. } => Retry::Resume,
            // A session full of one failure goes on with it.
            Self::ContextOverflow | Self::LocalCommand | Self::Misconfigured | Self::Stuck { .. } => Retry::Fresh,
            Self::RateLimited { resets_at } => Retry::Later(*resets_at),
            Self::Overloaded { .. } => Retry::Later(None),
            Self::Failed(Failure::Contradicted { .. }) => Retry::Resume,
            Self::Failed(Failure::Declared { error, .. }) => match error {
                Some(kind) if kind.is_refusal() => Retry::Never,
                Some(AgentErrorKind::Authentication | AgentErrorKind::Billing) => Retry::Never,
                Some(AgentErrorKind::RateLimit | AgentErrorKind::Server) => Retry::Later(None),
                Some(_) | None => Retry::Resume,
            },
            Self::Cancelled
            | Self::NoRecord
            | Self::StoppedByHook
            | Self::Credentials { .. }
            | Self::Refused
            | Self::Unstarted { .. } => Retry::Never,
        }
    }
}

/// What a record names; a dash where it names nothing.
fn named<T: std::fmt::Debug>(value: Option<&T>) -> Words {
    value.map_or_else(|| "-".into(), |value| format!("{value:?}").into())
}

/// What shows that output or work was cut off, if anything does.
fn cut_off(facts: &RunFacts) -> Option<Words> {
    if !facts.stdout.read_to_end {
        return Some(recorded!("run-cut-unread"));
    }
    if facts.stdout.broken_tail {
        return Some(recorded!("run-cut-line"));
    }
    if facts.stdout.cut > 0 {
        return Some(recorded!("run-cut-long-lines", lines = facts.stdout.cut));
    }
    if facts.stdout.unparsable > 0 {
        return Some(recorded!("run-cut-no-records", lines = facts.stdout.unparsable));
    }
    if facts.terminal.is_none() {
        return Some(no_end(facts));
    }
    facts.active_after_terminal.then(|| recorded!("run-cut-went-on"))
}

/// How a run ended that left no final record.
fn no_end(facts: &RunFacts) -> Words {
    match facts.ending {
        Ending::Exited { code } if code != 0 => recorded!("run-cut-exited", code = code.to_string()),
        Ending::Signaled { signal } => recorded!("run-cut-signal", signal = signal.to_string()),
        Ending::Exited { .. } | Ending::NotStarted { .. } | Ending::Unknown => recorded!("run-cut-no-end"),
    }
}

/// An early exit with a usage or configuration error: the agent never announced itself. Records of hooks may come before
/// that, and some errors are printed on stdout; half a record means that more was to come.
fn refused_to_start(facts: &RunFacts) -> bool {
    let all_of_stdout = facts.stdout.read_to_end && !facts.stdout.broken_tail;
    // Codes from 128 up are signals by the shell's convention: killed, not refused.
    matches!(facts.ending, Ending::Exited { code: 1..=127 }) && !facts.started && all_of_stdout
}

/// What an agent without a record said of its end, or that it said nothing.
fn said_at_end(facts: &RunFacts) -> Words {
    let said = facts.stderr_tail.trim();
    match facts.ending {
        Ending::Exited { code } if said.is_empty() => {
            recorded!("run-silent-exit", code = code.to_string())
        }
        Ending::Exited { .. } | Ending::Signaled { .. } | Ending::NotStarted { .. } | Ending::Unknown => said.into(),
    }
}

fn declared_error(facts: &RunFacts, terminal: &Terminal) -> Outcome {
    use AgentErrorKind as Kind;
    let (status, declared) = (terminal.http_status, facts.declared_error);
    let limit = facts.rate_limit.filter(|limit| limit.rejected);
    if status == Some(429) || declared == Some(Kind::RateLimit) || limit.is_some() {
        return Outcome::RateLimited { resets_at: limit.and_then(|limit| limit.resets_at) };
    }
    // Besides 5xx the statuses that ask for the same request again: a timeout, a collision with another request, too early.
    if status.is_some_and(|status| status >= 500 || matches!(status, 408 | 409 | 425)) || declared == Some(Kind::Server)
    {
        return Outcome::Overloaded { http_status: status, message: terminal.message.clone() };
    }
    let billing = status == Some(402) || declared == Some(Kind::Billing);
    if billing || matches!(status, Some(401 | 403)) || declared == Some(Kind::Authentication) {
        return Outcome::Credentials { billing };
    }
    if terminal.reason == Some(TerminalReason::PromptTooLong) {
        return Outcome::ContextOverflow;
    }
    match &terminal.kind {
        TerminalKind::MaxTurns => return Outcome::LimitReached { limit: LimitKind::Turns },
        TerminalKind::MaxBudget => return Outcome::LimitReached { limit: LimitKind::Budget },
        TerminalKind::MaxStructuredOutputRetries => {
            return Outcome::LimitReached { limit: LimitKind::StructuredOutput };
        }
        TerminalKind::Success | TerminalKind::ErrorDuringExecution | TerminalKind::Other(_) => {}
    }
    if terminal.stop_reason == Some(StopReason::Refusal) {
        return Outcome::Refused;
    }
    // Agents call all of these refusals invalid, and some of them unknown.
    let vague = [Kind::Unknown, Kind::InvalidRequest];
    let error = declared.filter(|kind| !vague.contains(kind)).or_else(|| refused_request(status)).or(declared);
    if terminal.kind == TerminalKind::ErrorDuringExecution && !error.is_some_and(Kind::is_refusal) {
        return if terminal.reason == Some(TerminalReason::Aborted) {
            Outcome::Interrupted
        } else {
            Outcome::Misconfigured
        };
    }
    let message = match terminal.message.trim() {
        "" => said_at_end(facts),
        _ => terminal.message.as_str().into(),
    };
    Outcome::Failed(Failure::Declared { message, error })
}

/// What a provider refuses by a status that stays the same however often it is asked.
fn refused_request(status: Option<u16>) -> Option<AgentErrorKind> {
    match status? {
        404 => Some(AgentErrorKind::ModelNotFound),
        413 => Some(AgentErrorKind::TooLarge),
        400..500 => Some(AgentErrorKind::InvalidRequest),
        _ => None,
    }
}

fn success(facts: &RunFacts, terminal: &Terminal) -> Outcome {
    let contradicted = |evidence: Words| Outcome::Failed(Failure::Contradicted { evidence });
    if terminal.kind != TerminalKind::Success {
        return contradicted(recorded!("run-says-kind", kind = format!("{:?}", terminal.kind)));
    }
    if terminal.reason == Some(TerminalReason::HookStopped) {
        return Outcome::StoppedByHook;
    }
    if terminal.turns == 0 && terminal.stop_reason.is_none() && facts.ending == (Ending::Exited { code: 0 }) {
        return Outcome::LocalCommand;
    }
    match &terminal.reason {
        Some(TerminalReason::Completed) => {}
        other => return contradicted(recorded!("run-says-reason", reason = named(other.as_ref()))),
    }
    if facts.asked_schema && !terminal.structured_output {
        return Outcome::Incomplete { missing: recorded!("run-lacks-output") };
    }
    let stop_reason_fits = match &terminal.stop_reason {
        Some(StopReason::EndTurn) => true,
        // With a schema the last thing the model does is to call the output tool.
        Some(StopReason::ToolUse) => facts.asked_schema,
        Some(StopReason::StopSequence | StopReason::Refusal | StopReason::Other(_)) | None => false,
    };
    if !stop_reason_fits {
        return Outcome::Truncated {
            evidence: recorded!("run-says-stop", reason = named(terminal.stop_reason.as_ref())),
        };
    }
    if !terminal.usage_present {
        return Outcome::Truncated { evidence: recorded!("run-says-no-usage") };
    }
    if let Some(status) = terminal.http_status.filter(|status| *status >= 400) {
        return contradicted(recorded!("run-says-status", status = status));
    }
    match facts.ending {
        Ending::Exited { code: 0 } => {}
        Ending::Exited { code } => return contradicted(recorded!("run-says-exit", code = code.to_string())),
        Ending::Signaled { signal } => {
            return contradicted(recorded!("run-says-signal", signal = signal.to_string()));
        }
        Ending::NotStarted { .. } | Ending::Unknown => return Outcome::Lost,
    }
    if terminal.answer_empty && !terminal.structured_output {
        return Outcome::Incomplete { missing: recorded!("run-lacks-answer") };
    }
    if facts.tasks_lost > 0 {
        return Outcome::TasksLost { tasks: facts.tasks_lost };
    }
    let completed = Completed { turns: terminal.turns, denials: terminal.denials };
    if terminal.denials > 0 { Outcome::CompletedWithDenials(completed) } else { Outcome::Completed(completed) }
}
