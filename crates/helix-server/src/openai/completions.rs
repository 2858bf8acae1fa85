//! `POST /v1/chat/completions`: joins request, session key, task and encoder to the engine.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use uuid::Uuid;

use super::asking::{self, Ask};
use super::chunk::Identity;
use super::encoder::{Encoder, StreamOptions};
use super::error::ApiError;
use super::profile::Profile;
use super::request::{BadRequest, ChatRequest};
use super::streaming;
use super::turn::Attended;
use super::whole::{self, Completion};
use crate::body;
use crate::shared::Shared;
use crate::sse;

impl From<BadRequest> for ApiError {
    fn from(error: BadRequest) -> Self {
        Self::bad_request(error.param, error.message)
    }
}

/// `POST /v1/chat/completions`
pub(crate) async fn create(State(shared): State<Shared>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&head.headers, body, shared.config.body_limit, shared.config.body_timeout).await?;
    let request = asking::parsed(body, ChatRequest::parse).await?;
    let ask = Ask::new(&shared, head.headers, request);
    let options = StreamOptions {
        id: format!("chatcmpl-{}", Uuid::now_v7().simple()),
        model: ask.request().model.clone().unwrap_or_else(|| "helix".into()),
        created: Timestamp::now(),
        profile: ask.profile(),
        include_usage: ask.request().include_usage,
    };
    if let Some(answer) = ask.task(&shared).await {
        return Ok(answer_task(options, ask.request(), &answer?));
    }
    let stream = ask.request().stream;
    let turn = ask.begin(shared.clone(), None, None).await?;
    if stream {
        return Ok(sse::response(streaming::frames(shared, Encoder::new(options), turn)));
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
