//! A turn's events, and then those of its jobs, as a stream of bytes. Must not know the form of an answer.

use std::convert::Infallible;

use axum::body::Bytes;
use helix_core::error_chain;
use helix_engine::consultant::TurnEvent;
use helix_engine::sessions::JobNews;
use tokio::sync::mpsc;

use super::error::ApiError;
use super::presenter::{Presenter, Wire};
use super::turn_stream::TurnStream;
use crate::shared::Shared;
use crate::sse;

/// Most bytes in one write when events come faster than they are sent.
const PIECE: usize = 64 * 1024;

/// The source of the next event of a stream.
enum Source {
    Start,
    Turn,
    /// The jobs of the conversation, after the answer.
    Jobs(mpsc::Receiver<JobNews>),
}

/// An answer being streamed.
struct Answer<W> {
    shared: Shared,
    presenter: Presenter<W>,
    turn: TurnStream,
    source: Source,
}

/// The stream's bytes. It runs in the connection's own task; when the client disconnects, the connection drops the stream, and with
/// it the turn's [`TurnStream`].
pub(crate) fn frames<W: Wire>(
    shared: Shared,
    presenter: Presenter<W>,
    turn: TurnStream,
) -> impl futures::Stream<Item = Result<Bytes, Infallible>> + Send {
    let answer = Answer { shared, presenter, turn, source: Source::Start };
    futures::stream::unfold(answer, |mut answer| async move {
        if answer.presenter.is_over() {
            return None;
        }
        let mut out = Vec::new();
        answer.next(&mut out).await;
        Some((Ok(Bytes::from(out)), answer))
    })
}

impl<W: Wire> Answer<W> {
    async fn next(&mut self, out: &mut Vec<u8>) {
        let Self { shared, presenter, turn, source } = self;
        let heartbeat = shared.config.heartbeat;
        match source {
            Source::Start => {
                presenter.begin(out);
                *source = Source::Turn;
            }
            Source::Turn => {
                let event = tokio::select! {
                    biased;
                    event = sse::next_or_heartbeat(heartbeat, turn.next()) => event,
                    () = shared.shutdown.cancelled() => return presenter.abort(out, &ApiError::shutting_down()),
                };
                match event {
                    None => out.extend_from_slice(sse::HEARTBEAT),
                    Some(None) => presenter.abort(out, &ApiError::turn_lost()),
                    Some(mut event) => {
                        while let Some(one) = event {
                            self.event(out, one).await;
                            event = if out.len() < PIECE { self.turn.ready() } else { None };
                        }
                    }
                }
            }
            Source::Jobs(jobs) => {
                let news = tokio::select! {
                    biased;
                    news = sse::next_or_heartbeat(heartbeat, jobs.recv()) => news,
                    // The answer is complete and jobs continue without this server: nothing has failed.
                    () = shared.shutdown.cancelled() => Some(None),
                };
                match news {
                    None => out.extend_from_slice(sse::HEARTBEAT),
                    Some(None) => presenter.finish(out),
                    Some(Some(news)) => presenter.on_news(out, &news),
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
                self.source = Source::Jobs(jobs);
                return;
            }
        }
        self.presenter.event(out, event);
    }
}
