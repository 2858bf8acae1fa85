//! The events of a run, one JSON object on a line. Must not know where they are kept.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use helix_core::agent_event::AgentEvent;
use helix_core::ids::RunId;
use helix_engine::Follow;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_stream::wrappers::ReceiverStream;

use super::request::Params;
use crate::problem::Problem;
use crate::sse;
use crate::state::ServerState;

/// Most events in one write.
const BATCH: usize = 256;

/// Whether to wait for more events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// `1` or `true`: continues until the run has ended.
    follow: Option<String>,
}

impl LogQuery {
    pub(crate) fn follow(&self) -> Result<Follow, Problem> {
        match self.follow.as_deref() {
            None | Some("0" | "false") => Ok(Follow::Now),
            Some("" | "1" | "true") => Ok(Follow::UntilEnd),
            Some(other) => Err(Problem::bad_request(format!("follow must be 1 or 0, not {other:?}"))),
        }
    }
}

/// `GET /api/v1/jobs/{id}/log/{run}`
pub(crate) async fn stream(
    State(shared): State<ServerState>,
    Path((id, run)): Path<(String, String)>,
    Params(asked): Params<LogQuery>,
) -> Result<Response, Problem> {
    let follow = asked.follow()?;
    let job = shared.engine.jobs().get(&id).await?;
    let Some(run) = job.phases.iter().flat_map(|phase| &phase.runs).find(|known| known.as_str() == run) else {
        return Err(Problem::not_found(format!("job {} has no run {run:?}", job.id))
            .hint("the runs of a job are in `phases[].runs`"));
    };
    lines(&shared, run, follow).await
}

/// The response with a run's events.
pub(crate) async fn lines(shared: &ServerState, run: &RunId, follow: Follow) -> Result<Response, Problem> {
    let events = ReceiverStream::new(shared.engine.jobs().run_events(run, follow).await?);
    let lines = events.ready_chunks(BATCH).map(|events| Ok::<_, Infallible>(json_lines(&events)));
    let lines = lines.take_until(shared.shutdown.clone().cancelled_owned());
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

fn json_lines(events: &[AgentEvent]) -> Bytes {
    let mut out = Vec::new();
    for event in events {
        if sse::json(&mut out, event) {
            out.push(b'\n');
        }
    }
    out.into()
}
