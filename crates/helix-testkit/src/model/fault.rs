//! Every way in which a model endpoint lets its client down, by name.
//!
//! Must not know sockets: the server and the stream carry a fault out.

use std::collections::BTreeMap;
use std::fmt;

use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Value, json};

/// The kinds of faults; their names in scripts are the kebab-case variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// HTTP 400, `invalid_request_error`.
    InvalidRequest,
    /// HTTP 400, the account has no credit.
    CreditBalance,
    /// HTTP 400, the prompt exceeds the context window.
    PromptTooLong,
    /// HTTP 401.
    Unauthorized,
    /// HTTP 403.
    Forbidden,
    /// HTTP 404, unknown model.
    NotFound,
    /// HTTP 413.
    TooLarge,
    /// HTTP 429, with `retry-after` and the unified headers if asked for.
    RateLimited,
    /// HTTP 500.
    ServerError,
    /// HTTP 502 with an HTML page, as a proxy writes it.
    BadGateway,
    /// HTTP 529.
    Overloaded,
    /// The reply with `stop_reason: refusal`.
    Refusal,
    /// The reply with `stop_reason: max_tokens`.
    MaxTokens,
    /// The reply with `stop_reason: pause_turn`.
    PauseTurn,
    /// The reply with `stop_reason: model_context_window_exceeded`.
    ContextExceeded,
    /// A message without any content block.
    EmptyContent,
    /// An `error` event (overloaded) in the middle of the stream.
    SseError,
    /// The connection is reset before any header.
    ResetBeforeHeaders,
    /// The connection is reset inside the first content block.
    ResetMidStream,
    /// The connection is reset after the first whole content block.
    ResetAfterBlock,
    /// An orderly end of the body inside the first content block.
    EofMidStream,
    /// An orderly end of the body after the first whole content block.
    EofAfterBlock,
    /// An orderly end of the body inside the input of the first tool call.
    EofMidToolUse,
    /// An orderly end of the body after `message_delta`, without `message_stop`.
    EofAfterMessageDelta,
    /// Lines that are no server-sent events, and one whose data is no JSON.
    GarbageSse,
    /// Nothing is ever answered.
    HangBeforeHeaders,
    /// The stream stops inside the first content block and stays open.
    HangMidStream,
    /// Every event of the stream waits `delay_ms`.
    SlowStream,
}

/// How often a fault strikes before the reply is given as scripted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeat {
    #[default]
    Always,
    /// The first so many times.
    Times(u64),
}

impl<'de> Deserialize<'de> for Repeat {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrAlways;

        impl Visitor<'_> for NumberOrAlways {
            type Value = Repeat;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, once, or always")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Repeat, E> {
                Ok(Repeat::Times(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Repeat, E> {
                u64::try_from(number).map(Repeat::Times).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Repeat, E> {
                match text {
                    "once" => Ok(Repeat::Times(1)),
                    "always" => Ok(Repeat::Always),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
        }

        deserializer.deserialize_any(NumberOrAlways)
    }
}

/// A fault with its details; in a script either its name or a mapping with `kind`.
#[derive(Debug, Clone)]
pub struct Fault {
    pub kind: FaultKind,
    pub times: Repeat,
    /// The header `retry-after`, in seconds.
    pub retry_after: Option<u64>,
    /// Adds the unified rate-limit headers with a reset so many seconds from now.
    pub resets_in: Option<u64>,
    /// Further response headers, such as `x-should-retry`.
    pub headers: BTreeMap<String, String>,
    /// The message instead of the usual one.
    pub message: Option<String>,
    /// Milliseconds between events of a slow stream, or before a reset.
    pub delay_ms: Option<u64>,
}

impl Fault {
    /// A fault that strikes each time.
    pub fn always(kind: FaultKind) -> Self {
        Self {
            kind,
            times: Repeat::Always,
            retry_after: None,
            resets_in: None,
            headers: BTreeMap::new(),
            message: None,
            delay_ms: None,
        }
    }

    /// A fault that strikes the first `count` times.
    pub fn times(kind: FaultKind, count: u64) -> Self {
        Self { times: Repeat::Times(count), ..Self::always(kind) }
    }

    /// The HTTP error that this fault amounts to; `None` for the faults that happen inside a stream.
    pub(crate) fn http_error(&self) -> Option<HttpError> {
        use FaultKind as Kind;
        let (status, error_type, message) = match self.kind {
            Kind::InvalidRequest => (400, "invalid_request_error", "messages: the request is not valid"),
            Kind::CreditBalance => (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            ),
            Kind::PromptTooLong => (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            Kind::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
            Kind::Forbidden => (403, "permission_error", "Your API key does not have permission to use this resource"),
            Kind::NotFound => (404, "not_found_error", "model: unknown"),
            Kind::TooLarge => (413, "request_too_large", "Request exceeds the maximum size"),
            Kind::RateLimited => (429, "rate_limit_error", "This request would exceed your rate limit"),
            Kind::ServerError => (500, "api_error", "Internal server error"),
            Kind::BadGateway => (502, "", "<html><head><title>502 Bad Gateway</title></head><body>502</body></html>"),
            Kind::Overloaded => (529, "overloaded_error", "Overloaded"),
            Kind::Refusal
            | Kind::MaxTokens
            | Kind::PauseTurn
            | Kind::ContextExceeded
            | Kind::EmptyContent
            | Kind::SseError
            | Kind::ResetBeforeHeaders
            | Kind::ResetMidStream
            | Kind::ResetAfterBlock
            | Kind::EofMidStream
            | Kind::EofAfterBlock
            | Kind::EofMidToolUse
            | Kind::EofAfterMessageDelta
            | Kind::GarbageSse
            | Kind::HangBeforeHeaders
            | Kind::HangMidStream
            | Kind::SlowStream => return None,
        };
        let message = self.message.clone().unwrap_or_else(|| message.to_owned());
        let body = if error_type.is_empty() {
            ErrorBody::Html(message)
        } else {
            ErrorBody::Json(error_body(error_type, &message))
        };
        Some(HttpError { status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body })
    }

    /// The `stop_reason` that this fault puts in place of the scripted one.
    pub(crate) fn stop_reason(&self) -> Option<&'static str> {
        match self.kind {
            FaultKind::Refusal => Some("refusal"),
            FaultKind::MaxTokens => Some("max_tokens"),
            FaultKind::PauseTurn => Some("pause_turn"),
            FaultKind::ContextExceeded => Some("model_context_window_exceeded"),
            _ => None,
        }
    }
}

/// An HTTP answer that is an error.
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) body: ErrorBody,
}

pub(crate) enum ErrorBody {
    Json(Value),
    Html(String),
}

/// The error envelope of the Messages API.
pub(crate) fn error_body(error_type: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": error_type, "message": message}})
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Parts {
            kind: FaultKind,
            #[serde(default)]
            times: Repeat,
            retry_after: Option<u64>,
            resets_in: Option<u64>,
            #[serde(default)]
            headers: BTreeMap<String, String>,
            message: Option<String>,
            delay_ms: Option<u64>,
        }

        struct NameOrParts;

        impl<'de> Visitor<'de> for NameOrParts {
            type Value = Fault;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a fault, or a mapping with kind, times and details")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Fault, E> {
                FaultKind::deserialize(name.into_deserializer()).map(Fault::always)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fault, A::Error> {
                let parts = Parts::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Fault {
                    kind: parts.kind,
                    times: parts.times,
                    retry_after: parts.retry_after,
                    resets_in: parts.resets_in,
                    headers: parts.headers,
                    message: parts.message,
                    delay_ms: parts.delay_ms,
                })
            }
        }

        deserializer.deserialize_any(NameOrParts)
    }
}
