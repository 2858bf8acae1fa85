//! Server-sent events as bytes, one frame for each event.
//!
//! Must not know what the events mean. A frame's data is JSON on one line, so that nothing in it can end the frame.

use std::convert::Infallible;
use std::ops::ControlFlow;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures::{FutureExt, Stream, StreamExt, stream};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use crate::state::ServerState;

/// A comment: resets the idle timeouts of proxies and clients.
pub(crate) const HEARTBEAT: &[u8] = b": keep-alive\n\n";

/// Most bytes in one write when items come faster than they are sent.
const PIECE: usize = 64 * 1024;

/// What ends an OpenAI stream.
pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

/// Appends a frame without name or number.
pub(crate) fn data(out: &mut Vec<u8>, value: &impl Serialize) {
    frame(out, "", value);
}

/// Appends a frame with a name.
pub(crate) fn named(out: &mut Vec<u8>, event: &str, value: &impl Serialize) {
    frame(out, &format!("event: {event}\n"), value);
}

/// Appends a frame with a name and a number, from which a client can continue.
pub(crate) fn numbered(out: &mut Vec<u8>, number: u64, event: &str, value: &impl Serialize) {
    frame(out, &format!("id: {number}\nevent: {event}\n"), value);
}

fn frame(out: &mut Vec<u8>, head: &str, value: &impl Serialize) {
    let before = out.len();
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(b"data: ");
    if json(out, value) { out.extend_from_slice(b"\n\n") } else { out.truncate(before) }
}

/// Appends a value; what cannot be written is left out, which the log says.
pub(crate) fn json(out: &mut Vec<u8>, value: &impl Serialize) -> bool {
    let before = out.len();
    let written = serde_json::to_writer(&mut *out, value);
    if let Err(error) = &written {
        tracing::error!(%error, "an event cannot be written as JSON and was left out");
        out.truncate(before);
    }
    written.is_ok()
}

/// Makes a response that sends frames as they come.
pub(crate) fn response<S>(frames: S) -> Response
where
    S: Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
{
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Asks nginx not to hold frames back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A response with frames for items: `encode` appends what an item shows and breaks at the end; `None`: there are no more, or the server
/// shuts down. Items may be skipped; what comes faster than it is sent goes together.
pub(crate) fn follow<T: Send>(
    shared: &ServerState,
    items: impl Stream<Item = T> + Send + 'static,
    encode: impl FnMut(&mut Vec<u8>, Option<T>) -> ControlFlow<()> + Send + 'static,
) -> Response {
    let pause = shared.config.heartbeat;
    let items = Box::pin(items.take_until(shared.shutdown.clone().cancelled_owned()));
    response(stream::unfold(Some((items, encode)), move |state| async move {
        let (mut items, mut encode) = state?;
        let (mut out, due) = (Vec::new(), Instant::now() + pause);
        loop {
            let item = match items.next().now_or_never() {
                Some(item) => item,
                None if !out.is_empty() => return Some((Ok(Bytes::from(out)), Some((items, encode)))),
                None => match timeout_at(due, items.next()).await {
                    Ok(item) => item,
                    Err(_) => return Some((Ok(Bytes::from_static(HEARTBEAT)), Some((items, encode)))),
                },
            };
            let is_last = item.is_none();
            if encode(&mut out, item).is_break() || is_last {
                return (!out.is_empty()).then(|| (Ok(Bytes::from(out)), None));
            }
            if out.len() >= PIECE {
                return Some((Ok(Bytes::from(out)), Some((items, encode))));
            }
        }
    }))
}

#[cfg(test)]
#[path = "sse_test.rs"]
mod tests;
