//! OpenAI's error envelope, and the error of each failed turn. Must not know streams.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::error_chain;
use helix_core::ids::SessionId;
use helix_core::run::{AgentErrorKind, Failure, Outcome};
use helix_engine::consultant::{TurnEnded, TurnError, phrases};
use helix_language::{Language, say};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, codes};

/// `Retry-After` when the provider gives no time.
const DEFAULT_RETRY_AFTER_SECONDS: i64 = 60;
/// The code of the error that the server shuts down.
const SHUTTING_DOWN: &str = "shutting_down";

/// The envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEnvelope {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What happened and what to do.
    pub message: String,
    /// Kind of error, in OpenAI's words where it has one.
    #[serde(rename = "type")]
    pub kind: String,
    /// The field at fault.
    pub param: Option<String>,
    /// Finer kind.
    pub code: Option<String>,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    pub(crate) envelope: ErrorEnvelope,
    retry_after_seconds: Option<i64>,
    /// Whether a client's library must not send the request again: the turn has run, and would run again.
    is_final: bool,
}

impl ApiError {
    /// A background task of a kind that Helix does not know.
    pub(super) const UNKNOWN_TASK: &str = "unknown";

    fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let error = ErrorBody {
            message: message.into(),
            kind: kind(status).to_owned(),
            param: None,
            code: Some(code.to_owned()),
        };
        Self { status, envelope: ErrorEnvelope { error }, retry_after_seconds: None, is_final: false }
    }

    /// The same error, about this field.
    fn with_param(mut self, param: &str) -> Self {
        self.envelope.error.param = Some(param.to_owned());
        self
    }

    /// An error after which a library must not send the request again.
    fn last(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { is_final: true, ..Self::new(status, code, message) }
    }

    /// The request is invalid.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// This field of the request is invalid.
    pub(super) fn bad_field(param: &str, message: impl Into<String>) -> Self {
        Self::bad_request(message).with_param(param)
    }

    /// There is no such model.
    pub(crate) fn model_not_found(model: &str, known: &[String]) -> Self {
        let message = format!("unknown model {model:?}; available: {}", known.join(", "));
        Self::new(StatusCode::NOT_FOUND, "model_not_found", message).with_param("model")
    }

    /// There is no such session.
    pub(crate) fn session_not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "session_not_found", what)
    }

    /// There is no such response.
    pub(crate) fn response_not_found(id: &str, param: Option<&str>) -> Self {
        let error = |status| {
            Self::new(status, "previous_response_not_found", format!("Previous response with id '{id}' not found."))
        };
        match param {
            Some(param) => error(StatusCode::BAD_REQUEST).with_param(param),
            None => error(StatusCode::NOT_FOUND),
        }
    }

    /// The key has no requests left.
    pub(crate) fn too_many_requests(per_minute: u32, seconds: u64) -> Self {
        let message = format!(
            "more than {per_minute} requests in a minute with this key: wait {seconds} s, or raise [server] rate_limit in helix.toml"
        );
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
        Self { retry_after_seconds: i64::try_from(seconds).ok(), ..error }
    }

    /// The background task needs a model.
    pub(crate) fn task_not_supported(task: &str) -> Self {
        let message = match task {
            Self::UNKNOWN_TASK => {
                "Helix does not know this background task; set a task model in the chat client".to_owned()
            }
            task => format!("Helix does not support the background task {task:?}; set a task model in the chat client"),
        };
        Self::last(StatusCode::NOT_IMPLEMENTED, "task_not_supported", message)
    }

    /// The error of a turn; `None` when it has an answer.
    pub(crate) fn of_turn(ended: &TurnEnded, now: Timestamp) -> Option<Self> {
        let message = phrases::in_sentences(ended.error.as_ref()?);
        let (status, code) = classify(&ended.outcome);
        let mut error = Self::last(status, code, message);
        if let Outcome::RateLimited { resets_at } = &ended.outcome {
            let pause = resets_at.map_or(DEFAULT_RETRY_AFTER_SECONDS, |at| at.as_second() - now.as_second());
            error.retry_after_seconds = Some(pause.max(1));
        }
        Some(error)
    }

    /// The turn's events ended without its end.
    pub(crate) fn turn_lost(language: Language) -> Self {
        Self::last(StatusCode::INTERNAL_SERVER_ERROR, "turn_lost", say!(language, "answer-turn-lost"))
    }

    /// The task that parsed a request ended early.
    pub(crate) fn parsing_failed(error: &tokio::task::JoinError) -> Self {
        let message = format!("parsing the request failed: {error}; see Helix's log");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "parsing_failed", message)
    }

    /// Whether it is that the server shuts down.
    pub(super) fn is_shutdown(&self) -> bool {
        self.envelope.error.code.as_deref() == Some(SHUTTING_DOWN)
    }

    /// The server shuts down. `kept_in` is where the answer is to be looked for, if the same request does not lead to it.
    pub(crate) fn shutting_down(language: Language, kept_in: Option<&SessionId>) -> Self {
        let message = match kept_in {
            Some(session) => say!(language, "answer-shutdown-kept", session = session.as_str()),
            None => say!(language, "answer-shutdown"),
        };
        Self::last(StatusCode::SERVICE_UNAVAILABLE, SHUTTING_DOWN, message)
    }
}

/// OpenAI's kind of error for a status.
fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::CONFLICT => "cancelled",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        StatusCode::NOT_IMPLEMENTED => "not_supported",
        StatusCode::BAD_GATEWAY => "upstream_error",
        status if status.is_client_error() => "invalid_request_error",
        _ => "server_error",
    }
}

/// HTTP status and code for each outcome. A provider that refuses Helix's credentials is not a 401: the client's own token was
/// right.
fn classify(outcome: &Outcome) -> (StatusCode, &'static str) {
    use StatusCode as S;
    match outcome {
        Outcome::RateLimited { .. } => (S::TOO_MANY_REQUESTS, "rate_limited"),
        Outcome::Overloaded { .. } => (S::SERVICE_UNAVAILABLE, "provider_overloaded"),
        Outcome::Credentials { billing: true } => (S::BAD_GATEWAY, "provider_billing"),
        Outcome::Credentials { billing: false } => (S::BAD_GATEWAY, "provider_credentials"),
        Outcome::ContextOverflow | Outcome::Failed(Failure::Declared { error: Some(AgentErrorKind::TooLarge), .. }) => {
            (S::BAD_REQUEST, "context_length_exceeded")
        }
        Outcome::Failed(Failure::Declared {
            error: Some(AgentErrorKind::InvalidRequest | AgentErrorKind::ModelNotFound),
            ..
        }) => (S::BAD_GATEWAY, "provider_refused"),
        Outcome::TimedOut => (S::GATEWAY_TIMEOUT, "timed_out"),
        Outcome::Stalled => (S::GATEWAY_TIMEOUT, "stalled"),
        Outcome::Stuck { .. } => (S::INTERNAL_SERVER_ERROR, "stuck"),
        Outcome::Cancelled => (S::CONFLICT, "cancelled"),
        Outcome::Interrupted => (S::CONFLICT, "interrupted"),
        Outcome::Unstarted { .. } => (S::SERVICE_UNAVAILABLE, "agent_not_started"),
        Outcome::Misconfigured | Outcome::NoRecord => (S::SERVICE_UNAVAILABLE, "agent_misconfigured"),
        Outcome::LimitReached { .. } => (S::INTERNAL_SERVER_ERROR, "limit_reached"),
        Outcome::Refused => (S::INTERNAL_SERVER_ERROR, "refused"),
        Outcome::StoppedByHook => (S::INTERNAL_SERVER_ERROR, "stopped_by_hook"),
        Outcome::Truncated { .. } => (S::INTERNAL_SERVER_ERROR, "truncated"),
        Outcome::Incomplete { .. } => (S::INTERNAL_SERVER_ERROR, "incomplete"),
        Outcome::TasksLost { .. } => (S::INTERNAL_SERVER_ERROR, "tasks_lost"),
        Outcome::LocalCommand => (S::INTERNAL_SERVER_ERROR, "local_command"),
        Outcome::Lost => (S::INTERNAL_SERVER_ERROR, "lost"),
        Outcome::Failed(_) => (S::INTERNAL_SERVER_ERROR, "agent_failed"),
        // A completed run whose reply the engine did not accept.
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) => (S::INTERNAL_SERVER_ERROR, "reply_not_accepted"),
    }
}

impl From<TurnError> for ApiError {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::NoSession(_) => Self::session_not_found(&error.to_string()),
            TurnError::Agent(view) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "agent_not_available", phrases::in_sentences(&view))
            }
            TurnError::Closing => Self::shutting_down(Language::English, None),
            TurnError::Journal(_) => {
                let message = error_chain(&error);
                tracing::error!(%message, "a turn cannot start");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "journal_failed", message)
            }
        }
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = match status {
            StatusCode::UNAUTHORIZED => "invalid_api_key",
            StatusCode::FORBIDDEN if problem.code == codes::FORBIDDEN_HOST => "forbidden_host",
            StatusCode::FORBIDDEN => "forbidden",
            StatusCode::NOT_FOUND => "unknown_url",
            StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
            StatusCode::PAYLOAD_TOO_LARGE => "body_too_large",
            StatusCode::REQUEST_TIMEOUT => "body_too_slow",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "body_encoded",
            status if status.is_client_error() => "body_broken",
            _ => "journal_failed",
        };
        let message = match problem.hint {
            Some(hint) => format!("{}; {hint}", problem.detail),
            None => problem.detail.into(),
        };
        Self::new(status, code, message)
    }
}

/// Whether a path belongs to the OpenAI-compatible API, whose errors have their own form.
pub(crate) fn is_openai(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// The answer to a request that is refused before it reaches its route, in the form that this path answers in.
pub(crate) fn refusal(problem: Problem, path: &str) -> Response {
    if is_openai(path) { ApiError::from(problem).into_response() } else { problem.into_response() }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.envelope)).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_final {
            // Asks OpenAI's libraries not to run a whole turn again.
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }
}

#[cfg(test)]
#[path = "error_test.rs"]
mod tests;
