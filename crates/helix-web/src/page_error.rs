//! What a page could not show or do: the same errors as everywhere, with what to do. Must not know which page.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use helix_core::error_chain;
use helix_engine::EngineError;
use helix_engine::jobs::AnswerError;
use helix_engine::submit::{Blame, SubmitError};
use helix_language::say;
use maud::html;

use crate::layout::{Frame, Place};
use crate::reader::Reader;
use crate::when::phrase;

/// Why a page is not there, or an action was not taken.
#[derive(Debug)]
pub(crate) struct PageError {
    status: StatusCode,
    message: String,
    hint: Option<String>,
}

/// The answer of a page, or its error as a page.
pub(crate) type Shown<T> = Result<T, Response>;

impl PageError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn page(self, reader: &Reader) -> Response {
        let language = reader.language;
        let body = html! {
            section.trouble {
                h1 { (say!(language, "web-trouble")) }
                p { (phrase(&self.message)) }
                @if let Some(hint) = &self.hint { p.hint { (phrase(hint)) } }
                p { a.button href="/" { (say!(language, "web-to-board")) } }
            }
        };
        (self.status, Frame::new(reader, Place::Elsewhere, &say!(language, "web-trouble")).page(body)).into_response()
    }
}

impl From<EngineError> for PageError {
    fn from(error: EngineError) -> Self {
        let message = error_chain(&error);
        let (status, hint) = match error {
            EngineError::NotFound { .. } => (StatusCode::NOT_FOUND, None),
            EngineError::Ambiguous { .. }
            | EngineError::Over { .. }
            | EngineError::Refused { .. }
            | EngineError::LeftToPerson { .. } => (StatusCode::CONFLICT, None),
            EngineError::Journal(_) | EngineError::Contradiction { .. } => {
                tracing::error!(%message, "a page cannot be shown");
                (StatusCode::INTERNAL_SERVER_ERROR, Some("check the state directory: `helix doctor`".to_owned()))
            }
            EngineError::Environment { hint, .. } => (StatusCode::SERVICE_UNAVAILABLE, hint),
        };
        Self { status, message, hint }
    }
}

impl From<AnswerError> for PageError {
    fn from(error: AnswerError) -> Self {
        let status = match error {
            AnswerError::NotFound(_) => StatusCode::NOT_FOUND,
            AnswerError::Settled { .. } => StatusCode::CONFLICT,
            AnswerError::Misfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            AnswerError::Forbidden(_) => StatusCode::FORBIDDEN,
            AnswerError::Engine(error) => return error.into(),
        };
        Self::new(status, error.to_string())
    }
}

impl From<SubmitError> for PageError {
    fn from(error: SubmitError) -> Self {
        let message = error.to_string();
        match error {
            SubmitError::Plan { .. } => Self::new(StatusCode::UNPROCESSABLE_ENTITY, message),
            SubmitError::Refused { hint, blame, .. } => {
                let status = match blame {
                    Blame::Request => StatusCode::UNPROCESSABLE_ENTITY,
                    Blame::Permission => StatusCode::FORBIDDEN,
                    Blame::Environment => StatusCode::SERVICE_UNAVAILABLE,
                    Blame::Helix => StatusCode::INTERNAL_SERVER_ERROR,
                };
                Self { status, message, hint }
            }
        }
    }
}
