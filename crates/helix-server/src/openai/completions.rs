//! `POST /v1/chat/completions`: joins request, session key, task and encoder to the engine.

use std::convert::Infallible;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use helix_engine::consultant::TurnRequest;
use jiff::Timestamp;
use uuid::Uuid;

use super::chunk::Identity;
use super::conversation::Conversation;
use super::encoder::{Encoder, StreamOptions};
use super::error::ApiError;
use super::models;
use super::profile::Profile;
use super::request::{BadRequest, ChatRequest};
use super::session_key::session_key;
use super::task::Task;
use super::turn::Attended;
use super::whole::{self, Completion};
use crate::body;
use crate::shared::Shared;
use crate::sse;

/// Most bytes that are gathered into one piece when events are there faster than they are sent.
const PIECE: usize = 64 * 1024;

impl From<BadRequest> for ApiError {
    fn from(error: BadRequest) -> Self {
        Self::bad_request(error.param, error.message)
    }
}

/// `POST /v1/chat/completions`
pub(crate) async fn create(State(shared): State<Shared>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(body, shared.config.body_limit, shared.config.body_timeout).await?;
    let request = ChatRequest::parse(&body)?;
    drop(body);
    let options = StreamOptions {
        id: format!("chatcmpl-{}", Uuid::now_v7().simple()),
        model: request.model.clone().unwrap_or_else(|| "helix".into()),
        created: Timestamp::now(),
        profile: Profile::of(&head.headers),
        include_usage: request.include_usage,
    };
    if let Some(task) = Task::recognise(&head.headers, &request) {
        return Ok(answer_task(options, &request, &task.answer(&request)?));
    }
    let model = models::resolve(request.model.as_deref(), &shared.config.models)?;
    let conversation = Conversation::from_messages(&request.messages)?;
    let key = session_key(&head.headers, &conversation);
    let Conversation { system, history, message, opening: _ } = conversation;
    let stream = request.stream;
    drop(request);
    let turn = Attended::begin(shared.clone(), TurnRequest { key, message, history, system, model }).await?;
    if stream {
        return Ok(sse::response(frames(shared, options, turn)));
    }
    Ok(Json(answer_whole(&shared, options.into(), turn).await?).into_response())
}

/// Answers a background task in the form that was asked for. No session, no agent. [14]
fn answer_task(options: StreamOptions, request: &ChatRequest, answer: &str) -> Response {
    if !request.stream {
        return Json(Completion::of_text(options.into(), answer.to_owned())).into_response();
    }
    let mut out = Vec::new();
    Encoder::new(StreamOptions { profile: Profile::Plain, ..options }).whole(&mut out, answer);
    sse::response(futures::stream::iter([Ok(Bytes::from(out))]))
}

async fn answer_whole(shared: &Shared, identity: Identity, mut turn: Attended) -> Result<Completion, ApiError> {
    let collected = tokio::select! {
        collected = whole::collect(&mut turn) => collected,
        () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down()),
    };
    let (ended, reasoning) = collected.ok_or_else(ApiError::turn_lost)?;
    Completion::of_turn(identity, turn.began(), ended, reasoning)
}

impl From<StreamOptions> for Identity {
    fn from(options: StreamOptions) -> Self {
        Self { id: options.id, created: options.created.as_second(), model: options.model }
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
fn frames(
    shared: Shared,
    options: StreamOptions,
    turn: Attended,
) -> impl futures::Stream<Item = Result<Bytes, Infallible>> + Send {
    let state = (shared, Encoder::new(options), turn, Next::Beginning);
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
