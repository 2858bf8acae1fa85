//! A job's events as a numbered stream: complete, in order, for any number of clients, from any number on. [42]

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::jobs::query;
use crate::problem::{Problem, codes};
use crate::shared::Shared;
use crate::sse;

/// Name of the frame that tells why a stream ends early.
pub(crate) const PROBLEM: &str = "problem";

/// Where to begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventQuery {
    /// Number of the last event that the client has; 0 begins with the first. The header `Last-Event-ID` wins over it.
    #[serde(default)]
    after: u64,
}

/// `GET /api/v1/jobs/{id}/events`
pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    asked: Result<Query<EventQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = last_event_id(&headers)?.unwrap_or(query(asked)?.after);
    let job = shared.engine.job(&id).await?;
    if job.status.is_final() && after >= job.last_event {
        // Tells an EventSource not to come back: there is nothing more, ever.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let events = shared.engine.job_events(&job.id, after).await?;
    let frames = futures::stream::unfold(Some((shared, events)), |state| async move {
        let (shared, mut events) = state?;
        let next = tokio::select! {
            biased;
            next = sse::next_or_heartbeat(shared.config.heartbeat, events.recv()) => next,
            () = shared.shutdown.cancelled() => return None,
        };
        let mut out = Vec::new();
        let state = match next {
            None => {
                out.extend_from_slice(sse::HEARTBEAT);
                Some((shared, events))
            }
            Some(None) => return None,
            Some(Some(Ok(event))) => {
                sse::numbered(&mut out, event.number, event.event.name(), &event);
                Some((shared, events))
            }
            Some(Some(Err(error))) => {
                sse::named(&mut out, PROBLEM, &Problem::from(error));
                None
            }
        };
        Some((Ok::<_, Infallible>(Bytes::from(out)), state))
    });
    Ok(sse::response(frames))
}

/// The last event that the client has, by its own account.
fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = String::from_utf8_lossy(value.as_bytes());
    match text.trim() {
        // What an EventSource has before its first event.
        "" => Ok(None),
        number => number.parse().map(Some).map_err(|_| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                codes::BAD_REQUEST,
                format!("the header Last-Event-ID must be the number of an event, not {number:?}"),
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_a_number_or_nothing() {
        let with =
            |value: &'static str| HeaderMap::from_iter([("last-event-id".parse().unwrap(), value.parse().unwrap())]);
        assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
        assert_eq!(last_event_id(&with("")).unwrap(), None);
        assert_eq!(last_event_id(&with("12")).unwrap(), Some(12));
        assert_eq!(last_event_id(&with("-1")).unwrap_err().status, 400);
    }
}
