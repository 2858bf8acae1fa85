//! The CLI's `result` record as the evidence it is, and the words of its fields as types.
//!
//! Must not decide anything: an unknown word becomes `Other`, a missing one `None`, and neither ever reads as success.

use helix_core::run::{AgentErrorKind, RateLimit, StopReason, Terminal, TerminalKind, TerminalReason};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::reader::message;

/// Reads a `result` record.
pub(super) fn terminal(record: &Map<String, Value>) -> Terminal {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let answer = text("result").unwrap_or_default();
    let errors = record.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let said = if answer.is_empty() { errors.collect::<Vec<_>>().join("; ") } else { answer.to_owned() };
    let denials = record.get("permission_denials").and_then(Value::as_array);
    Terminal {
        kind: kind(text("subtype").unwrap_or_default()),
        // Whatever is not a plain `false` is no claim of success.
        is_error: record.get("is_error") != Some(&Value::Bool(false)),
        reason: text("terminal_reason").map(reason),
        stop_reason: text("stop_reason").map(stop_reason),
        http_status: http_status(record.get("api_error_status")),
        structured_output: record.get("structured_output").is_some_and(|output| !output.is_null()),
        usage_present: usage_present(record),
        answer_empty: answer.trim().is_empty(),
        turns: count(record.get("num_turns")),
        denials: u32::try_from(denials.map_or(0, Vec::len)).unwrap_or(u32::MAX),
        message: message(&said),
    }
}

/// Whether this record only closes the delivery of a background task's notice to a session that had nothing to say.
pub(super) fn is_empty_follow_up(record: &Map<String, Value>) -> bool {
    let origin = record.get("origin").and_then(|origin| origin.get("kind")).and_then(Value::as_str);
    origin == Some("task-notification") && record.get("num_turns").and_then(Value::as_u64) == Some(0)
}

/// What the record itself says of its error, for versions and paths where no message declared one.
pub(super) fn error_of_record(record: &Map<String, Value>) -> Option<AgentErrorKind> {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    text("api_error_type").or_else(|| text("api_error")).map(declared_error)
}

/// The kind of an error by the word that messages declare it with, or the provider's own word for it.
pub(super) fn declared_error(word: &str) -> AgentErrorKind {
    match word {
        "rate_limit" | "rate_limit_error" => AgentErrorKind::RateLimit,
        "authentication_failed" | "oauth_org_not_allowed" | "authentication_error" | "permission_error" => {
            AgentErrorKind::Authentication
        }
        "billing_error" => AgentErrorKind::Billing,
        "server_error" | "overloaded" | "api_error" | "overloaded_error" | "timeout_error" | "connection_failed" => {
            AgentErrorKind::Server
        }
        "invalid_request" | "invalid_request_error" => AgentErrorKind::InvalidRequest,
        "request_too_large" => AgentErrorKind::TooLarge,
        "model_not_found" | "not_found_error" => AgentErrorKind::ModelNotFound,
        "max_output_tokens" => AgentErrorKind::MaxOutputTokens,
        _ => AgentErrorKind::Unknown,
    }
}

/// The provider's word about limits.
pub(super) fn rate_limit(info: &Value) -> RateLimit {
    let refused = info.get("status").and_then(Value::as_str) == Some("rejected");
    // Beyond the limit the account may go on against payment; the request was then not refused.
    let paid = info.get("isUsingOverage").and_then(Value::as_bool) == Some(true);
    RateLimit { rejected: refused && !paid, resets_at: info.get("resetsAt").and_then(time) }
}

/// A number that fits, or 0.
pub(super) fn count(value: Option<&Value>) -> u32 {
    value.and_then(Value::as_u64).map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// A point in time as seconds or milliseconds since 1970, or as RFC 3339.
fn time(value: &Value) -> Option<Timestamp> {
    /// Seconds beyond this would be after the year 5000: they are milliseconds.
    const MILLISECONDS_FROM: i64 = 100_000_000_000;
    if let Some(text) = value.as_str() {
        return text.parse().ok().or_else(|| time(&Value::from(text.parse::<i64>().ok()?)));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a saturating cast of a fractional second is what is wanted")]
    let number = value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))?;
    if number.abs() < MILLISECONDS_FROM {
        Timestamp::from_second(number).ok()
    } else {
        Timestamp::from_millisecond(number).ok()
    }
}

fn http_status(value: Option<&Value>) -> Option<u16> {
    let status = match value? {
        Value::String(text) => text.trim().parse().ok()?,
        number => u16::try_from(number.as_u64()?).ok()?,
    };
    (100..600).contains(&status).then_some(status)
}

fn usage_present(record: &Map<String, Value>) -> bool {
    match record.get("modelUsage") {
        Some(models) => models.as_object().is_some_and(|models| !models.is_empty()),
        // Versions that do not break usage down by model name the tokens of the turn.
        None => record
            .get("usage")
            .and_then(|usage| usage.get("output_tokens"))
            .and_then(Value::as_u64)
            .is_some_and(|tokens| tokens > 0),
    }
}

fn kind(word: &str) -> TerminalKind {
    match word {
        "success" => TerminalKind::Success,
        "error_max_turns" => TerminalKind::MaxTurns,
        "error_max_budget_usd" => TerminalKind::MaxBudget,
        "error_max_structured_output_retries" => TerminalKind::MaxStructuredOutputRetries,
        "error_during_execution" => TerminalKind::ErrorDuringExecution,
        other => TerminalKind::Other(message(other)),
    }
}

fn reason(word: &str) -> TerminalReason {
    match word {
        "completed" => TerminalReason::Completed,
        "prompt_too_long" => TerminalReason::PromptTooLong,
        "hook_stopped" => TerminalReason::HookStopped,
        "api_error" => TerminalReason::ApiError,
        "max_turns" | "budget_exhausted" | "structured_output_retry_exhausted" => TerminalReason::Limit,
        aborted if aborted.starts_with("aborted") => TerminalReason::Aborted,
        other => TerminalReason::Other(message(other)),
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(message(other)),
    }
}
