//! A turn's events, and then those of its jobs, as a stream of bytes. Must not know the form of an answer.

use std::convert::Infallible;

use axum::body::Bytes;
use futures::{Stream, StreamExt, stream};
use helix_core::error_chain;
use helix_engine::consultant::TurnEvent;
use helix_engine::sessions::JobNews;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::error::ApiError;
use super::presenter::{Presenter, Wire};
use super::turn_stream::TurnStream;
use crate::shared::Shared;
use crate::sse;

/// Most bytes in one write when events come faster than they are sent.
const PIECE: usize = 64 * 1024;

/// An answer being streamed.
struct Answer<W> {
    shared: Shared,
    presenter: Presenter<W>,
    turn: TurnStream,
    /// The jobs of the session, after the answer.
    jobs: Option<mpsc::Receiver<JobNews>>,
}

/// The stream's bytes. It runs in the connection's own task; when the client disconnects, the connection drops the stream, and with
/// it the turn's [`TurnStream`].
pub(crate) fn frames<W: Wire>(
    shared: Shared,
    mut presenter: Presenter<W>,
    turn: TurnStream,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    let mut begin = Vec::new();
    presenter.begin(&mut begin);
    let answer = Answer { shared, presenter, turn, jobs: None };
    let rest = stream::unfold(answer, |mut answer| async move {
        if answer.presenter.is_over() {
            return None;
        }
        let mut out = Vec::new();
        answer.next(&mut out).await;
        Some((Ok(Bytes::from(out)), answer))
    });
    stream::iter([Ok(Bytes::from(begin))]).chain(rest)
}

impl<W: Wire> Answer<W> {
    async fn next(&mut self, out: &mut Vec<u8>) {
        let Self { shared, presenter, turn, jobs } = self;
        let heartbeat = shared.config.heartbeat;
        if let Some(jobs) = jobs {
            let news = tokio::select! {
                biased;
                news = timeout(heartbeat, jobs.recv()) => news,
                // The answer is complete and jobs continue without this server: nothing has failed.
                () = shared.shutdown.cancelled() => Ok(None),
            };
            return match news {
                Err(_) => out.extend_from_slice(sse::HEARTBEAT),
                Ok(None) => presenter.finish(out),
                Ok(Some(news)) => presenter.on_news(out, &news),
            };
        }
        let event = tokio::select! {
            biased;
            event = timeout(heartbeat, turn.next()) => event,
            () = shared.shutdown.cancelled() => return presenter.abort(out, &ApiError::shutting_down()),
        };
        match event {
            Err(_) => out.extend_from_slice(sse::HEARTBEAT),
            Ok(None) => presenter.abort(out, &ApiError::turn_lost()),
            Ok(Some(event)) => {
                let mut next = Some(event);
                while let Some(event) = next {
                    self.event(out, event).await;
                    next = if out.len() < PIECE { self.turn.ready() } else { None };
                }
            }
        }
    }

    /// Appends what an event shows. The end of a good answer may be followed by jobs.
    async fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent) {
        if let TurnEvent::Ended(ended) = &event
            && ended.error.is_none()
            && self.presenter.shows_status()
            && let Some((session, turn)) = self.turn.began()
        {
            let jobs = self.shared.engine.sessions().follow_jobs(session, turn).await.unwrap_or_else(|error| {
                tracing::warn!(%session, error = error_chain(&error), "cannot follow the jobs of a session");
                None
            });
            if let Some(jobs) = jobs {
                self.presenter.on_answer(out, ended);
                self.jobs = Some(jobs);
                return;
            }
        }
        self.presenter.event(out, event);
    }
}
