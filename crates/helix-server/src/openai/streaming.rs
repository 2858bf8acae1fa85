//! A turn's events as a stream of bytes, in whichever form an encoder gives them. Must not know the form.

use std::convert::Infallible;

use axum::body::Bytes;
use helix_engine::consultant::{JobNews, TurnEnded, TurnEvent};
use tokio::sync::mpsc;

use super::encoder::Encoder;
use super::error::ApiError;
use super::turn::Attended;
use crate::problem::chain;
use crate::shared::Shared;
use crate::sse;

/// Most bytes that are gathered into one piece when events are there faster than they are sent.
const PIECE: usize = 64 * 1024;

/// Turns events into frames. Whatever happens to the turn, the stream ends in order.
pub(crate) trait Encode: Send + 'static {
    /// Appends what is said at once, so that the client knows that somebody is there.
    fn begin(&mut self, out: &mut Vec<u8>);
    /// Appends what one event amounts to; nothing once the stream is over.
    fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent);
    /// Ends a stream whose turn gave no end of its own.
    fn abort(&mut self, out: &mut Vec<u8>, error: &ApiError);
    /// Whether everything is said.
    fn is_over(&self) -> bool;
    /// The same, where its form has a place for what happens after an answer.
    fn watching(&mut self) -> Option<&mut dyn Watch> {
        None
    }
}

/// Turns what happens to jobs after an answer into frames.
pub(crate) trait Watch {
    /// Appends what is left of the answer; the stream goes on.
    fn answered(&mut self, out: &mut Vec<u8>, ended: TurnEnded);
    /// Appends what some news amount to.
    fn news(&mut self, out: &mut Vec<u8>, news: &JobNews);
    /// Ends the stream.
    fn rest(&mut self, out: &mut Vec<u8>);
}

impl Encode for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        Encoder::begin(self, out);
    }

    fn event(&mut self, out: &mut Vec<u8>, event: TurnEvent) {
        Encoder::event(self, out, event);
    }

    fn abort(&mut self, out: &mut Vec<u8>, error: &ApiError) {
        Encoder::abort(self, out, error);
    }

    fn is_over(&self) -> bool {
        Encoder::is_over(self)
    }

    fn watching(&mut self) -> Option<&mut dyn Watch> {
        self.shows_events().then_some(self)
    }
}

/// Appends what an event amounts to. Jobs to watch, if the event is the end of an answer and there are any.
async fn hear(
    shared: &Shared,
    encoder: &mut impl Encode,
    turn: &Attended,
    event: TurnEvent,
    out: &mut Vec<u8>,
) -> Option<mpsc::Receiver<JobNews>> {
    let TurnEvent::Ended(ended) = event else {
        encoder.event(out, event);
        return None;
    };
    let jobs = match turn.began() {
        Some((session, turn)) if ended.error.is_none() && encoder.watching().is_some() => {
            shared.engine.follow_jobs(session, turn).await.unwrap_or_else(|error| {
                tracing::warn!(%session, error = chain(&error), "the jobs of a conversation cannot be watched");
                None
            })
        }
        Some(_) | None => None,
    };
    match (jobs, encoder.watching()) {
        (Some(jobs), Some(watch)) => {
            watch.answered(out, *ended);
            Some(jobs)
        }
        (_, _) => {
            encoder.event(out, TurnEvent::Ended(ended));
            None
        }
    }
}

/// Who is to speak next in a stream.
enum Next {
    /// Nobody has yet.
    Beginning,
    /// The turn.
    Turn,
    /// The jobs of the conversation, after the answer.
    Jobs(mpsc::Receiver<JobNews>),
}

/// The stream's bytes. Runs within the connection's own task: an event costs no hop but the engine's channel. When the
/// client goes away the connection drops the stream, and with it the turn's attendance.
pub(crate) fn frames(
    shared: Shared,
    encoder: impl Encode,
    turn: Attended,
) -> impl futures::Stream<Item = Result<Bytes, Infallible>> + Send {
    let state = (shared, encoder, turn, Next::Beginning);
    futures::stream::unfold(state, |(shared, mut encoder, mut turn, mut next)| async move {
        let mut out = Vec::new();
        match &mut next {
            Next::Beginning => {
                encoder.begin(&mut out);
                next = Next::Turn;
            }
            Next::Turn | Next::Jobs(_) if encoder.is_over() => return None,
            Next::Jobs(jobs) => {
                let news = tokio::select! {
                    biased;
                    news = sse::next_or_heartbeat(shared.config.heartbeat, jobs.recv()) => news,
                    // The answer is whole, and jobs go on without this server: nothing has failed.
                    () = shared.shutdown.cancelled() => Some(None),
                };
                match (news, encoder.watching()) {
                    (None, _) => out.extend_from_slice(sse::HEARTBEAT),
                    (Some(Some(news)), Some(watch)) => {
                        watch.news(&mut out, &news);
                        while out.len() < PIECE
                            && let Ok(news) = jobs.try_recv()
                        {
                            watch.news(&mut out, &news);
                        }
                    }
                    (Some(None), Some(watch)) => watch.rest(&mut out),
                    (Some(_), None) => encoder.abort(&mut out, &ApiError::turn_lost()),
                }
            }
            Next::Turn => {
                let event = tokio::select! {
                    biased;
                    event = sse::next_or_heartbeat(shared.config.heartbeat, turn.next()) => event,
                    () = shared.shutdown.cancelled() => {
                        encoder.abort(&mut out, &ApiError::shutting_down());
                        return Some((Ok(Bytes::from(out)), (shared, encoder, turn, Next::Turn)));
                    }
                };
                match event {
                    None => out.extend_from_slice(sse::HEARTBEAT),
                    Some(None) => encoder.abort(&mut out, &ApiError::turn_lost()),
                    Some(Some(first)) => {
                        let mut event = Some(first);
                        while let Some(one) = event {
                            if let Some(jobs) = hear(&shared, &mut encoder, &turn, one, &mut out).await {
                                next = Next::Jobs(jobs);
                            }
                            event = if out.len() < PIECE { turn.ready() } else { None };
                        }
                    }
                }
            }
        }
        Some((Ok(Bytes::from(out)), (shared, encoder, turn, next)))
    })
}
