//! `POST /v1/responses`: the newer form of the same conversation, for clients that are configured for it.
//!
//! Must not know more of a turn than its events; what a request means is `asking`'s business.

mod encoder;
mod items;
mod request;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use helix_engine::consultant::TurnEnded;
use jiff::Timestamp;
use uuid::Uuid;

use super::asking::{self, Ask, Previous};
use super::error::ApiError;
use super::profile::FORWARDED_USER_HEADER;
use super::streaming::{self, Encode};
use super::turn::Attended;
use crate::body;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sse;
use encoder::{Encoder, Options};
pub(crate) use items::ResponseObject;
use request::ResponsesRequest;

/// `POST /v1/responses`
pub(crate) async fn create(State(shared): State<Shared>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&head.headers, body, shared.config.body_limit, shared.config.body_timeout).await?;
    let ResponsesRequest { chat, previous } = asking::parsed(body, ResponsesRequest::parse).await?;
    let previous = match previous {
        Some(id) => Some(find(&shared, &head.headers, &id, Some("previous_response_id")).await?),
        None => None,
    };
    let ask = Ask::new(&shared, head.headers, chat);
    let options = Options {
        id: format!("resp_{}", Uuid::now_v7().simple()),
        model: ask.request().model.clone().unwrap_or_else(|| "helix".into()),
        created: Timestamp::now(),
        profile: ask.profile(),
        previous: previous.as_ref().map(|previous| previous.message.clone()),
    };
    let stream = ask.request().stream;
    if let Some(answer) = ask.task(&shared).await {
        let (mut encoder, mut out) = (Encoder::new(options), Vec::new());
        encoder.whole(&mut out, &answer?);
        return Ok(match stream {
            true => sse::response(futures::stream::iter([Ok(out.into())])),
            false => Json(encoder.response()).into_response(),
        });
    }
    let id = options.id.clone();
    let turn = ask.begin(shared.clone(), previous, Some(&id)).await.map_err(ApiError::of_input)?;
    let encoder = Encoder::new(options);
    if stream {
        return Ok(sse::response(streaming::frames(shared, encoder, turn)));
    }
    Ok(Json(collect(&shared, encoder, turn).await?).into_response())
}

/// Waits for the end of a turn and gives the response as a whole.
async fn collect(shared: &Shared, mut encoder: Encoder, mut turn: Attended) -> Result<ResponseObject, ApiError> {
    let mut frames = Vec::new();
    loop {
        let event = tokio::select! {
            event = turn.next() => event.ok_or_else(ApiError::turn_lost)?,
            () = shared.shutdown.cancelled() => return Err(ApiError::shutting_down()),
        };
        if let helix_engine::consultant::TurnEvent::Ended(ended) = &event
            && let Some(error) = failure(ended)
        {
            return Err(error);
        }
        encoder.event(&mut frames, event);
        // What would have been streamed is not wanted here; its items are kept by the encoder.
        frames.clear();
        if encoder.is_over() {
            return Ok(encoder.response());
        }
    }
}

fn failure(ended: &TurnEnded) -> Option<ApiError> {
    ApiError::of_turn(ended, Timestamp::now())
}

/// Finds a response by its id, among those of the same user.
async fn find(shared: &Shared, headers: &HeaderMap, id: &str, param: Option<&str>) -> Result<Previous, ApiError> {
    let owner = headers.get(FORWARDED_USER_HEADER).and_then(|value| value.to_str().ok()).map(str::trim);
    let owner = owner.filter(|owner| !owner.is_empty()).map(str::to_owned);
    let found = shared.engine.turn_of_message(owner, id).await.map_err(Problem::from)?;
    let turn = found.ok_or_else(|| ApiError::response_not_found(id, param))?;
    Ok(Previous { session: turn.session, message: id.to_owned() })
}

/// `GET /v1/responses/{id}`: the answer as it is kept, also for a client that lost its connection.
pub(crate) async fn retrieve(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ResponseObject>, ApiError> {
    find(&shared, &headers, &id, None).await?;
    let owner = headers.get(FORWARDED_USER_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let found = shared.engine.turn_of_message(owner.filter(|owner| !owner.trim().is_empty()), &id).await;
    let turn = found.map_err(Problem::from)?.ok_or_else(|| ApiError::response_not_found(&id, None))?;
    Ok(Json(ResponseObject::of_turn(&id, &turn)))
}
