//! What Codex says went wrong, as types: its records name no kinds of errors, only sentences.
//!
//! Must be the only place that knows these sentences. One that it does not know is an error of unknown kind, never none.

use helix_core::run::{AgentErrorKind, RateLimit, Terminal, TerminalKind, TerminalReason};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde_json::Value;

use super::super::reader::completed;

/// A sentence of Codex about an error, understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::dialect) struct Trouble {
    /// Its kind; `None` where the sentence says that nobody erred, such as an interrupt.
    pub(in crate::dialect) error: Option<AgentErrorKind>,
    /// HTTP status, where the sentence names it.
    pub(in crate::dialect) http_status: Option<u16>,
    /// When the limit resets, where it is a limit.
    pub(super) resets: Option<Resets>,
    /// More than an error's kind.
    pub(super) nature: Nature,
}

/// Endings that are no mere error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Nature {
    #[default]
    Error,
    /// The conversation does not fit the model's context.
    ContextFull,
    /// Somebody interrupted the turn.
    Interrupted,
    /// The provider's filter ended the answer.
    Refused,
    /// The session to resume does not exist.
    NoSession,
}

/// When a limit resets, as the sentence says it. Codex writes local times, and Helix runs it with `TZ=UTC`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Resets {
    /// At a point in time.
    At(Timestamp),
    /// At this time of the day on which it was said: Codex leaves the date out then.
    TimeOfDay(Time),
    /// So long after it was said.
    After(SignedDuration),
}

impl Resets {
    /// The point in time, given when it was said; `None` if that is not known and is needed.
    pub(super) fn at(self, said: Option<Timestamp>) -> Option<Timestamp> {
        match self {
            Self::At(time) => Some(time),
            Self::TimeOfDay(time) => {
                let said = said?;
                let today = said.to_zoned(TimeZone::UTC).date().to_datetime(time);
                let time = today.to_zoned(TimeZone::UTC).ok()?.timestamp();
                // Said shortly before midnight and read after it.
                if time < said { time.checked_add(SignedDuration::from_hours(24)).ok() } else { Some(time) }
            }
            Self::After(length) => said?.checked_add(length).ok(),
        }
    }
}

impl Trouble {
    /// Understands a sentence. Total; sources are the recordings of 0.169.0 and the words in its executable.
    pub(in crate::dialect) fn classify(message: &str) -> Self {
        let said = message.to_lowercase().replace('\u{2019}', "'");
        let mut trouble = Self { http_status: http_status(&said), ..Self::default() };
        let code = provider_code(message);
        trouble.nature = nature(&said, code.as_deref());
        trouble.error = match trouble.nature {
            Nature::Interrupted | Nature::NoSession => None,
            Nature::ContextFull | Nature::Refused => Some(AgentErrorKind::Unknown),
            Nature::Error => Some(kind(&said, code.as_deref(), trouble.http_status)),
        };
        if trouble.error == Some(AgentErrorKind::RateLimit) {
            trouble.resets = resets(&said);
        }
        trouble
    }

    /// How the run ends that said this of it.
    pub(in crate::dialect) fn terminal(&self, said: &str, turns: u32) -> Terminal {
        let turn_failed = TerminalKind::Other("turn.failed".to_owned());
        let (kind, reason) = match self.nature {
            Nature::Error | Nature::Refused => (turn_failed, TerminalReason::ApiError),
            Nature::ContextFull => (turn_failed, TerminalReason::PromptTooLong),
            Nature::Interrupted => (TerminalKind::ErrorDuringExecution, TerminalReason::Aborted),
            Nature::NoSession => {
                (TerminalKind::ErrorDuringExecution, TerminalReason::Other("no such session".to_owned()))
            }
        };
        Terminal {
            kind,
            is_error: true,
            reason: Some(reason),
            stop_reason: None,
            http_status: self.http_status,
            usage_present: false,
            answer_empty: true,
            ..completed(said, turns)
        }
    }

    /// The word about limits, given when it was said.
    pub(in crate::dialect) fn rate_limit(&self, said: Option<Timestamp>) -> Option<RateLimit> {
        (self.error == Some(AgentErrorKind::RateLimit))
            .then(|| RateLimit { rejected: true, resets_at: self.resets.and_then(|resets| resets.at(said)) })
    }
}

fn nature(said: &str, code: Option<&str>) -> Nature {
    let has = |part: &str| said.contains(part);
    if code == Some("context_length_exceeded")
        || has("ran out of room in the model's context window")
        || has("exceeds the context window")
        || has("context_length_exceeded")
    {
        Nature::ContextFull
    } else if has("reason: content_filter") || matches!(code, Some("content_policy_violation" | "cyber_policy")) {
        Nature::Refused
    } else if has("turn interrupted") || has("turn aborted") || has("interrupted by user") {
        Nature::Interrupted
    } else if has("no rollout found for") {
        Nature::NoSession
    } else {
        Nature::Error
    }
}

/// The kind of an error. What the provider's own code says comes before its HTTP status, and that before the sentence.
fn kind(said: &str, code: Option<&str>, status: Option<u16>) -> AgentErrorKind {
    use AgentErrorKind as Kind;
    let has = |part: &str| said.contains(part);
    match code {
        Some("rate_limit_exceeded" | "usage_limit_reached") => return Kind::RateLimit,
        Some("insufficient_quota" | "usage_not_included" | "billing_hard_limit_reached") => return Kind::Billing,
        Some("invalid_api_key" | "token_expired") => return Kind::Authentication,
        Some("model_not_found") => return Kind::ModelNotFound,
        Some("server_error" | "server_is_overloaded" | "slow_down") => return Kind::Server,
        Some(_) | None => {}
    }
    // A quota that is used up for good also comes with status 429, and waiting does not help against it.
    if has("quota exceeded") || has("insufficient_quota") || has("check your plan and billing") {
        return Kind::Billing;
    }
    match status {
        Some(429) => return Kind::RateLimit,
        Some(401 | 403) => return Kind::Authentication,
        Some(402) => return Kind::Billing,
        Some(404) => return Kind::ModelNotFound,
        Some(500..) => return Kind::Server,
        Some(413) => return Kind::TooLarge,
        Some(400 | 422) => return Kind::InvalidRequest,
        Some(_) | None => {}
    }
    if has("usage limit") || has("rate limit") || has("too many requests") {
        Kind::RateLimit
    } else if has("log in again")
        || has("sign in again")
        || has("not logged in")
        || has("access token could not be refreshed")
        || has("upgrade to plus")
    {
        Kind::Authentication
    } else if has("the model does not exist") || (has("model") && (has("not supported") || has("not found"))) {
        Kind::ModelNotFound
    } else if has("reason: max_output_tokens") {
        Kind::MaxOutputTokens
    } else if has("high demand")
        || has("at capacity")
        || has("overloaded")
        || has("internal server error")
        || has("stream disconnected before completion")
        || has("error sending request")
        || has("connection failed")
        || has("connection reset")
        || has("timeout")
        || has("timed out")
    {
        Kind::Server
    } else if code.is_some() {
        // The provider's own object with a code that stands for a request which was not acceptable.
        Kind::InvalidRequest
    } else {
        Kind::Unknown
    }
}

/// The code of the provider's error where Codex hands the whole object on.
fn provider_code(message: &str) -> Option<String> {
    let start = message.find('{')?;
    let object: Value = serde_json::Deserializer::from_str(&message[start..]).into_iter().next()?.ok()?;
    let error = object.get("error").unwrap_or(&object);
    let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
    text("code").or_else(|| text("type"))
}

fn http_status(said: &str) -> Option<u16> {
    // "unexpected status 401 Unauthorized: …", "exceeded retry limit, last status: 429 Too Many Requests"
    let (_, after) = ["unexpected status ", "last status: "].iter().find_map(|words| said.split_once(words))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

/// When to try again, by the words after "try again".
fn resets(said: &str) -> Option<Resets> {
    let (_, after) = said.rsplit_once("try again ")?;
    if let Some(words) = after.strip_prefix("in ") {
        return length_of_time(words).map(Resets::After);
    }
    let words: Vec<&str> = after.strip_prefix("at ")?.trim_end_matches(['.', ' ']).split_whitespace().collect();
    match words.as_slice() {
        [_, _] => Time::strptime("%I:%M %p", words.join(" ")).ok().map(Resets::TimeOfDay),
        [month, day, rest @ ..] => {
            let day = day.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            let rest = rest.get(..3)?.join(" ");
            let time = DateTime::strptime("%b %d %Y %I:%M %p", format!("{month} {day} {rest}")).ok()?;
            Some(Resets::At(time.to_zoned(TimeZone::UTC).ok()?.timestamp()))
        }
        _ => None,
    }
}

/// `1.5s`, `250ms`, `2 hours 5 minutes` and the like, at the start of these words.
fn length_of_time(words: &str) -> Option<SignedDuration> {
    let words: Vec<&str> = words.split_whitespace().collect();
    (1..=words.len()).rev().find_map(|count| {
        let length: Span = words[..count].join(" ").trim_end_matches(['.', ',']).parse().ok()?;
        length.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
    })
}

#[cfg(test)]
#[path = "trouble_test.rs"]
mod tests;
