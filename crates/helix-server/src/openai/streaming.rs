//! A turn's events as a stream of bytes, in whichever form an encoder gives them. Must not know the form.

use std::convert::Infallible;

use axum::body::Bytes;
use helix_engine::consultant::TurnEvent;

use super::encoder::Encoder;
use super::error::ApiError;
use super::turn::Attended;
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
}

/// Who is to speak next in a stream.
enum Next {
    /// Nobody has yet.
    Beginning,
    /// The turn.
    Turn,
}

/// The stream's bytes. Runs within the connection's own task: an event costs no hop but the engine's channel. When the
/// client goes away the connection drops the stream, and with it the turn's attendance.
pub(crate) fn frames(
    shared: Shared,
    encoder: impl Encode,
    turn: Attended,
) -> impl futures::Stream<Item = Result<Bytes, Infallible>> + Send {
    let state = (shared, encoder, turn, Next::Beginning);
    futures::stream::unfold(state, |(shared, mut encoder, mut turn, next)| async move {
        let mut out = Vec::new();
        match next {
            Next::Beginning => encoder.begin(&mut out),
            Next::Turn if encoder.is_over() => return None,
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
                    Some(Some(event)) => {
                        encoder.event(&mut out, event);
                        while out.len() < PIECE
                            && let Some(event) = turn.ready()
                        {
                            encoder.event(&mut out, event);
                        }
                    }
                }
            }
        }
        Some((Ok(Bytes::from(out)), (shared, encoder, turn, Next::Turn)))
    })
}
