//! A job's events as a numbered stream: complete and in order, for any number of clients, from any number on.
//!
//! Must not know what the events mean.

use std::ops::ControlFlow::{Break, Continue};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_stream::wrappers::ReceiverStream;

use super::request::Params;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sse;

/// Name of the frame that says why a stream ends early.
pub(crate) const PROBLEM: &str = "problem";

/// Where to start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventQuery {
    /// Number of the last event that the client has; 0 starts with the first. The header `Last-Event-ID` takes precedence.
    #[serde(default)]
    pub(super) after: u64,
}

/// `GET /api/v1/jobs/{id}/events`
pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Params(asked): Params<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = last_event_id(&headers)?.unwrap_or(asked.after);
    let job = shared.engine.jobs().get(&id).await?;
    if job.status.is_final() && after >= job.last_event {
        // Tells an EventSource not to reconnect: nothing more will come.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let events = ReceiverStream::new(shared.engine.jobs().events(&job.id, after).await?);
    Ok(sse::follow(&shared, events, |out, event| match event {
        None => Break(()),
        Some(Ok(event)) => {
            sse::numbered(out, event.number, event.event.name(), &event);
            Continue(())
        }
        Some(Err(error)) => {
            sse::named(out, PROBLEM, &Problem::from(error));
            Break(())
        }
    }))
}

/// The number of the last event that the client has, by its header.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = String::from_utf8_lossy(value.as_bytes());
    match text.trim() {
        // An EventSource before its first event.
        "" => Ok(None),
        number => number.parse().map(Some).map_err(|_| {
            Problem::bad_request(format!("the header Last-Event-ID must be the number of an event, not {number:?}"))
        }),
    }
}

#[cfg(test)]
#[path = "events_test.rs"]
mod tests;
