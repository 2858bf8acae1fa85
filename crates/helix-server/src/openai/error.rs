//! OpenAI's error envelope, and the error of each failed turn. Must not know streams.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::error_chain;
use helix_core::run::Outcome;
use helix_engine::consultant::{TurnEnded, TurnError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bad_request::BadRequest;
use crate::body::BodyError;
use crate::problem::Problem;

/// `Retry-After` when the provider gives no time.
const DEFAULT_RETRY_AFTER_SECONDS: i64 = 60;

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

/// Whether a client's library may retry a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Free,
    /// It must not: the turn has run, and would run again.
    Never,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    pub(crate) envelope: ErrorEnvelope,
    retry_after_seconds: Option<i64>,
    repeat: Repeat,
}

impl ApiError {
    fn new(status: StatusCode, kind: &str, code: &str, message: impl Into<String>) -> Self {
        let body =
            ErrorBody { message: message.into(), kind: kind.to_owned(), param: None, code: Some(code.to_owned()) };
        Self { status, envelope: ErrorEnvelope { error: body }, retry_after_seconds: None, repeat: Repeat::Free }
    }

    /// The same error, about this field.
    fn with_param(mut self, param: &str) -> Self {
        self.envelope.error.param = Some(param.to_owned());
        self
    }

    /// The same error, which a library must not retry.
    fn without_retry(self) -> Self {
        Self { repeat: Repeat::Never, ..self }
    }

    /// The request is invalid.
    fn bad_request(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", "invalid_request", message)
    }

    /// There is no such model.
    pub(crate) fn model_not_found(model: &str, known: &[String]) -> Self {
        let message = format!("unknown model {model:?}; available: {}", known.join(", "));
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", "model_not_found", message).with_param("model")
    }

    /// There is no such session.
    pub(crate) fn session_not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", "session_not_found", what)
    }

    /// There is no such response.
    pub(crate) fn response_not_found(id: &str, param: Option<&str>) -> Self {
        let message = format!("no response {id:?}");
        let error = |status| Self::new(status, "invalid_request_error", "previous_response_not_found", message);
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
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", "too_many_requests", message);
        error.retry_after_seconds = Some(i64::try_from(seconds).unwrap_or(i64::MAX));
        error
    }

    /// The background task needs a model.
    pub(crate) fn task_not_supported(task: &str) -> Self {
        let message =
            format!("Helix does not support the background task {task:?}; set a task model in the chat client");
        Self::new(StatusCode::NOT_IMPLEMENTED, "not_supported", "task_not_supported", message).without_retry()
    }

    /// The error of a turn; `None` when it has an answer.
    pub(crate) fn of_turn(ended: &TurnEnded, now: Timestamp) -> Option<Self> {
        let message = ended.error.as_ref()?.line();
        let (status, kind, code) = classify(&ended.outcome);
        let mut error = Self::new(status, kind, code, message).without_retry();
        if let Outcome::RateLimited { resets_at } = &ended.outcome {
            let pause = resets_at.map_or(DEFAULT_RETRY_AFTER_SECONDS, |at| at.as_second() - now.as_second());
            error.retry_after_seconds = Some(pause.max(1));
        }
        Some(error)
    }

    /// The turn's events ended without its end.
    pub(crate) fn turn_lost() -> Self {
        let message = "the turn's events ended early; send the message again, and see Helix's log if it happens again";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "turn_lost", message).without_retry()
    }

    /// The task that parsed a request ended early.
    pub(crate) fn parsing_failed(error: &tokio::task::JoinError) -> Self {
        let message = format!("parsing the request failed: {error}; see Helix's log");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "parsing_failed", message)
    }

    /// The server shuts down.
    pub(crate) fn shutting_down() -> Self {
        let message = "Helix is shutting down; send the message again after the restart";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", "shutting_down", message).without_retry()
    }
}

/// HTTP status, kind and code for each outcome. A provider that refuses Helix's credentials is not a 401: the client's own
/// token was right.
fn classify(outcome: &Outcome) -> (StatusCode, &'static str, &'static str) {
    use StatusCode as S;
    match outcome {
        Outcome::RateLimited { .. } => (S::TOO_MANY_REQUESTS, "rate_limit_error", "rate_limited"),
        Outcome::Overloaded { .. } => (S::SERVICE_UNAVAILABLE, "server_error", "provider_overloaded"),
        Outcome::Credentials { billing: true } => (S::BAD_GATEWAY, "upstream_error", "provider_billing"),
        Outcome::Credentials { billing: false } => (S::BAD_GATEWAY, "upstream_error", "provider_credentials"),
        Outcome::ContextOverflow => (S::BAD_REQUEST, "invalid_request_error", "context_length_exceeded"),
        Outcome::TimedOut => (S::GATEWAY_TIMEOUT, "server_error", "timed_out"),
        Outcome::Stalled => (S::GATEWAY_TIMEOUT, "server_error", "stalled"),
        Outcome::Cancelled => (S::CONFLICT, "cancelled", "cancelled"),
        Outcome::Interrupted => (S::CONFLICT, "cancelled", "interrupted"),
        Outcome::Unstarted { .. } => (S::SERVICE_UNAVAILABLE, "server_error", "agent_not_started"),
        Outcome::Misconfigured => (S::SERVICE_UNAVAILABLE, "server_error", "agent_misconfigured"),
        Outcome::LimitReached { .. } => (S::INTERNAL_SERVER_ERROR, "server_error", "limit_reached"),
        Outcome::Refused => (S::INTERNAL_SERVER_ERROR, "server_error", "refused"),
        Outcome::StoppedByHook => (S::INTERNAL_SERVER_ERROR, "server_error", "stopped_by_hook"),
        Outcome::Truncated { .. } => (S::INTERNAL_SERVER_ERROR, "server_error", "truncated"),
        Outcome::Incomplete { .. } => (S::INTERNAL_SERVER_ERROR, "server_error", "incomplete"),
        Outcome::TasksLost { .. } => (S::INTERNAL_SERVER_ERROR, "server_error", "tasks_lost"),
        Outcome::LocalCommand => (S::INTERNAL_SERVER_ERROR, "server_error", "local_command"),
        Outcome::Lost => (S::INTERNAL_SERVER_ERROR, "server_error", "lost"),
        Outcome::Failed(_) => (S::INTERNAL_SERVER_ERROR, "server_error", "agent_failed"),
        // A completed run whose reply the engine did not accept.
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) => {
            (S::INTERNAL_SERVER_ERROR, "server_error", "reply_not_accepted")
        }
    }
}

impl From<BadRequest> for ApiError {
    fn from(error: BadRequest) -> Self {
        let refused = Self::bad_request(error.message);
        match error.param {
            Some(param) => refused.with_param(&param),
            None => refused,
        }
    }
}

impl From<TurnError> for ApiError {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Request(message) => Self::bad_request(message),
            TurnError::NoSession(_) => Self::session_not_found(&error.to_string()),
            TurnError::Agent { message, hint } => {
                let message = hint.map_or_else(|| message.clone(), |hint| format!("{message}: {hint}"));
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", "agent_not_available", message)
            }
            TurnError::Closing => Self::shutting_down(),
            TurnError::Journal(_) => {
                let message = error_chain(&error);
                tracing::error!(%message, "a turn cannot start");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "journal_failed", message)
            }
        }
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (kind, code) = match status {
            StatusCode::UNAUTHORIZED => ("authentication_error", "invalid_api_key"),
            StatusCode::FORBIDDEN => ("permission_error", "forbidden_host"),
            StatusCode::NOT_FOUND => ("invalid_request_error", "unknown_url"),
            StatusCode::METHOD_NOT_ALLOWED => ("invalid_request_error", "method_not_allowed"),
            StatusCode::PAYLOAD_TOO_LARGE => ("invalid_request_error", "body_too_large"),
            StatusCode::REQUEST_TIMEOUT => ("invalid_request_error", "body_too_slow"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ("invalid_request_error", "body_encoded"),
            status if status.is_client_error() => ("invalid_request_error", "body_broken"),
            _ => ("server_error", "journal_failed"),
        };
        let message = match problem.hint {
            Some(hint) => format!("{}; {hint}", problem.detail),
            None => problem.detail.into(),
        };
        Self::new(status, kind, code, message)
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

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.envelope)).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.repeat == Repeat::Never {
            // Asks OpenAI's libraries not to run a whole turn again.
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use helix_core::usage::Usage;

    use super::*;

    fn of(outcome: Outcome) -> Response {
        let error = Some(helix_job::ErrorView { message: "it failed".into(), hint: Some("do this".into()) });
        let ended = TurnEnded { outcome, answer: String::new(), usage: Usage::default(), error };
        ApiError::of_turn(&ended, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap().into_response()
    }

    #[test]
    fn a_rate_limit_says_when_to_come_back() {
        let resets_at = Some("2026-01-01T00:02:00Z".parse().unwrap());
        let response = of(Outcome::RateLimited { resets_at });
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "120");
        assert_eq!(of(Outcome::RateLimited { resets_at: None }).headers()["retry-after"], "60");
        let past = Some("2025-01-01T00:02:00Z".parse().unwrap());
        assert_eq!(of(Outcome::RateLimited { resets_at: past }).headers()["retry-after"], "1");
    }

    #[test]
    fn the_providers_credentials_are_not_the_clients() {
        assert_eq!(of(Outcome::Credentials { billing: false }).status(), 502);
        assert_eq!(of(Outcome::Overloaded { http_status: Some(529) }).status(), 503);
        assert_eq!(of(Outcome::Lost).status(), 500);
    }

    #[test]
    fn a_carried_out_turn_is_not_repeated_by_a_library() {
        assert_eq!(of(Outcome::Stalled).headers()["x-should-retry"], "false");
    }
}
