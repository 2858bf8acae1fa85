//! The events of a run, one JSON object on a line. Must not know where they are kept.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use helix_core::ids::RunId;
use helix_engine::Follow;
use schemars::JsonSchema;
use serde::Deserialize;

use super::jobs::query;
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Most bytes that are gathered into one piece.
const PIECE: usize = 64 * 1024;

/// Whether to wait.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// `1` or `true`: goes on until the run has ended.
    #[serde(default)]
    follow: Option<String>,
}

impl LogQuery {
    pub(crate) fn follow(&self) -> Result<Follow, Problem> {
        match self.follow.as_deref() {
            None | Some("0" | "false") => Ok(Follow::Now),
            Some("" | "1" | "true") => Ok(Follow::UntilEnd),
            Some(other) => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                codes::BAD_REQUEST,
                format!("follow must be 1 or 0, not {other:?}"),
            )),
        }
    }
}

/// `GET /api/v1/jobs/{id}/log/{run}`
pub(crate) async fn stream(
    State(shared): State<Shared>,
    Path((id, run)): Path<(String, String)>,
    asked: Result<Query<LogQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let follow = query(asked)?.follow()?;
    let job = shared.engine.job(&id).await?;
    let Some(run) = job.phases.iter().flat_map(|phase| &phase.runs).find(|known| known.as_str() == run) else {
        let detail = format!("job {} has no run {run:?}", job.id);
        return Err(Problem::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, detail)
            .hint("the runs of a job are in `phases[].runs`"));
    };
    lines(shared, run, follow).await
}

/// The events of a run, one JSON value on a line.
pub(crate) async fn lines(shared: Shared, run: &RunId, follow: Follow) -> Result<Response, Problem> {
    let events = shared.engine.run_events(run, follow).await?;
    let lines = futures::stream::unfold((shared, events), |(shared, mut events)| async move {
        let mut event = tokio::select! {
            biased;
            event = events.recv() => event?,
            () = shared.shutdown.cancelled() => return None,
        };
        let mut out = Vec::new();
        loop {
            let before = out.len();
            match serde_json::to_writer(&mut out, &event) {
                Ok(()) => out.push(b'\n'),
                Err(error) => {
                    tracing::error!(%error, "an event of a run cannot be written as JSON and was left out");
                    out.truncate(before);
                }
            }
            if out.len() >= PIECE {
                break;
            }
            match events.try_recv() {
                Ok(next) => event = next,
                Err(_) => break,
            }
        }
        Some((Ok::<_, Infallible>(Bytes::from(out)), (shared, events)))
    });
    let mut response = Response::new(Body::from_stream(lines));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}
