//! Errors of every route outside `/v1` and `/mcp`: `application/problem+json` (RFC 9457) with Helix's code and hint.
//!
//! Must not know any route.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use helix_core::diagnostic::Diagnostic;
use helix_core::error_chain;
use helix_core::ids::{InvalidId, JobId};
use helix_engine::EngineError;
use helix_engine::submit::{Blame, SubmitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error: what failed, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The kind of problem: `urn:helix:` and its code in lower case.
    #[serde(rename = "type")]
    pub kind: Box<str>,
    /// The HTTP status in words.
    pub title: Box<str>,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, in one sentence.
    pub detail: Box<str>,
    /// `HX` and four digits.
    pub code: Cow<'static, str>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Box<str>>,
    /// Problems in a file, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Codes of problems that arise in this crate. Pages: `docs/errors/`.
pub(crate) mod codes {
    /// The request lacks the right bearer token.
    pub(crate) const UNAUTHORIZED: &str = "HX0801";
    /// The Host or Origin header is not allowed.
    pub(crate) const FORBIDDEN_HOST: &str = "HX0802";
    /// There is no such route or method.
    pub(crate) const NO_ROUTE: &str = "HX0803";
    /// The request is invalid.
    pub(crate) const BAD_REQUEST: &str = "HX0804";
    /// The body is larger than the limit.
    pub(crate) const TOO_LARGE: &str = "HX0805";
    /// The body did not arrive in time.
    pub(crate) const BODY_TIMEOUT: &str = "HX0806";
    /// There is no such job, run or session.
    pub(crate) const NOT_FOUND: &str = "HX0807";
    /// The job is over.
    pub(crate) const OVER: &str = "HX0808";
    /// The question is no longer open.
    pub(crate) const SETTLED: &str = "HX0812";
    /// The answer does not fit its question.
    pub(crate) const MISFIT: &str = "HX0813";
    /// The job's state does not allow it.
    pub(crate) const REFUSED: &str = "HX0814";
    /// An agent asked for what only a person may.
    pub(crate) const AGENT: &str = "HX0815";
    /// Who asks may not do that.
    pub(crate) const FORBIDDEN: &str = "HX0816";
    /// There is a key of this name.
    pub(crate) const KEY_TAKEN: &str = "HX0817";
    pub(crate) const JOURNAL: &str = "HX0810";
    pub(crate) use helix_engine::codes::{AMBIGUOUS, LEFT_TO_PERSON};
    pub(crate) const ENVIRONMENT: &str = "HX0811";
}

impl Problem {
    /// A problem without hint or diagnostics.
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<Box<str>>) -> Self {
        Self {
            kind: format!("urn:helix:{}", code.to_ascii_lowercase()).into(),
            title: status.canonical_reason().unwrap_or("error").into(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.into(),
            hint: None,
            diagnostics: Vec::new(),
        }
    }

    /// The request cannot be parsed.
    pub(crate) fn bad_request(detail: impl Into<Box<str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<Box<str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, detail)
    }

    /// The request is well-formed and has a wrong value.
    pub(crate) fn unprocessable(detail: impl Into<Box<str>>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, codes::BAD_REQUEST, detail)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

/// There can be nothing of such an id.
impl From<InvalidId> for Problem {
    fn from(error: InvalidId) -> Self {
        Self::not_found(error.to_string())
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::NotFound { kind, id } => Self::not_found(format!("no {kind} {id:?}")).hint(match kind {
                "session" => "GET /api/v1/sessions lists all",
                "question" => "`helix answer` lists the open questions",
                _ => "`helix jobs list` shows all jobs; `helix jobs show` the phases and attempts of one",
            }),
            EngineError::Ambiguous { .. } => {
                Self::new(StatusCode::CONFLICT, codes::AMBIGUOUS, error.to_string()).hint("give a longer prefix")
            }
            EngineError::Over { id, status } => {
                Self::new(StatusCode::CONFLICT, codes::OVER, format!("job {id} is over ({status})"))
            }
            EngineError::Refused { message, job } => {
                let job = job.as_ref().map_or("ID", JobId::as_str);
                Self::new(StatusCode::CONFLICT, codes::REFUSED, message)
                    .hint(format!("nothing was changed; `helix jobs show {job}` shows how the job stands"))
            }
            EngineError::LeftToPerson { message } => Self::new(StatusCode::CONFLICT, codes::LEFT_TO_PERSON, message),
            EngineError::Journal(_) => {
                let detail = error_chain(&error);
                tracing::error!(%detail, "the journal failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, codes::JOURNAL, detail)
                    .hint("check the disk and the permissions of the state directory: `helix doctor`")
            }
            EngineError::Contradiction { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, codes::JOURNAL, error_chain(&error))
                    .hint("this is a bug in Helix: please report it with the job's events (`helix jobs show --json`)")
            }
            EngineError::Environment { message, hint } => Self {
                hint: hint.map(Into::into),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, codes::ENVIRONMENT, message)
            },
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        let (detail, code) = (error.to_string(), error.code());
        match error {
            SubmitError::Plan { diagnostics, .. } => Self {
                diagnostics,
                ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
                    .hint("fix the plan; `helix plan check` shows each problem at its place")
            },
            SubmitError::Refused { code, message, hint, blame } => {
                let status = match blame {
                    Blame::Request => StatusCode::UNPROCESSABLE_ENTITY,
                    Blame::Permission => StatusCode::FORBIDDEN,
                    Blame::Environment => StatusCode::SERVICE_UNAVAILABLE,
                    Blame::Helix => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self { hint: hint.map(Into::into), ..Self::new(status, code, message) }
            }
        }
    }
}
