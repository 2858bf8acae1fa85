//! The responses form of a turn, and `GET /v1/responses/{id}`. Must not know how a turn is answered.

mod items;
mod wire;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;

use super::call::turn_of_response;
use super::error::ApiError;
use crate::problem::Problem;
use crate::shared::Shared;
pub(crate) use items::ResponseObject;
pub(crate) use wire::ResponsesWire;

/// `GET /v1/responses/{id}`: a stored answer, also for a client that lost its connection.
pub(crate) async fn retrieve(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ResponseObject>, ApiError> {
    let turn = turn_of_response(&shared, &headers, &id, None).await?;
    let previous = match &turn.parent {
        Some(parent) => shared.engine.sessions().turn(parent).await.map_err(Problem::from)?.begin.client.message,
        None => None,
    };
    Ok(Json(ResponseObject::of_turn(&id, &turn, previous)))
}
