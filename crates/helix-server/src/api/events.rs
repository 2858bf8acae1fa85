//! A job's events as a numbered stream: complete and in order, for any number of clients, from any number on.
//!
//! Must not know what the events mean.

use std::ops::ControlFlow::{self, Break, Continue};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use helix_job::{JobEvent, JobView, Recorded};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_stream::wrappers::ReceiverStream;

use super::request::Params;
use crate::problem::Problem;
use crate::sse;
use crate::state::ServerState;

/// Name of the frame that says why a stream ends early.
pub(crate) const PROBLEM: &str = "problem";

/// Where to start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventQuery {
    /// Number of the last event that the client has; 0 starts with the first. The header `Last-Event-ID` takes precedence.
    #[serde(default)]
    after: u64,
}

/// `GET /api/v1/jobs/{id}/events`
pub(crate) async fn stream(
    State(shared): State<ServerState>,
    Path(id): Path<String>,
    Params(asked): Params<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    follow(&shared, &id, &asked, &headers, |_, after| {
        (after, |out: &mut Vec<u8>, event: &Recorded<JobEvent>| {
            sse::numbered(out, event.number, event.event.name(), event);
            Continue(())
        })
    })
    .await
}

/// A job's events for a client that may have some of them. Given the job and the number of the last event that the client has,
/// `begin` says after which number to read, and what writes each event that is read.
pub(super) async fn follow<W>(
    shared: &ServerState,
    id: &str,
    asked: &EventQuery,
    headers: &HeaderMap,
    begin: impl FnOnce(&JobView, u64) -> (u64, W),
) -> Result<Response, Problem>
where
    W: FnMut(&mut Vec<u8>, &Recorded<JobEvent>) -> ControlFlow<()> + Send + 'static,
{
    let after = last_event_id(headers)?.unwrap_or(asked.after);
    let job = shared.engine.jobs().get(id).await?;
    if job.status.is_final() && after >= job.last_event {
        // Tells an EventSource not to reconnect: nothing more will come.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let (after, mut write) = begin(&job, after);
    let (id, events) = (job.id.clone(), ReceiverStream::new(shared.engine.jobs().events(&job.id, after).await?));
    Ok(sse::follow(shared, events, move |out, event| match event {
        None => Break(()),
        Some(Ok(mut event)) => {
            event.event.name_job(&id);
            write(out, &event)
        }
        Some(Err(error)) => {
            sse::named(out, PROBLEM, &Problem::from(error));
            Break(())
        }
    }))
}

/// The number of the last event that the client has, by its header.
fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
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
