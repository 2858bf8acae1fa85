//! Typed queries, bodies and page sizes of jobs API requests, with the errors that name what is wrong in them.
//!
//! Must not know any route or what a request means.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use helix_core::diagnostic::did_you_mean;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::body;
use crate::problem::Problem;
use crate::shared::Shared;

/// Most items in a page.
const MAX_PAGE: u16 = 500;

/// The query parameters of a request.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let params = Query::try_from_uri(&parts.uri);
        params.map(|Query(params)| Self(params)).map_err(|error| Problem::bad_request(error.body_text()))
    }
}

/// The JSON body of a request, of at most `LIMIT` bytes. No body at all is an empty object.
pub(crate) struct Body<T, const LIMIT: usize = { 1024 * 1024 }>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema, const LIMIT: usize> FromRequest<Shared> for Body<T, LIMIT> {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let body = body::read(&head.headers, body, LIMIT, shared.config.body_timeout).await?;
        parse(&body).map(Self)
    }
}

/// Parses a body.
///
/// # Errors
/// A [`Problem`]: 400 when it is not JSON, 422 when it has a wrong field.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(body: &[u8]) -> Result<T, Problem> {
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    let value: Value =
        serde_json::from_slice(body).map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
    let Value::Object(fields) = &value else { return Err(Problem::unprocessable("the body must be a JSON object")) };
    if let Some(problem) = unknown_field::<T>(fields) {
        return Err(problem);
    }
    serde_json::from_value(value).map_err(|error| Problem::unprocessable(error.to_string()))
}

fn unknown_field<T: JsonSchema>(fields: &Map<String, Value>) -> Option<Problem> {
    let schema = schemars::schema_for!(T).to_value();
    let known: Vec<&str> = schema.get("properties")?.as_object()?.keys().map(String::as_str).collect();
    let unknown = fields.keys().find(|name| !known.contains(&name.as_str()))?;
    let problem = Problem::unprocessable(format!("unknown field {unknown:?}"));
    Some(problem.hint_for(unknown, &known))
}

impl Problem {
    /// Names the word that was probably meant, else all that are possible.
    pub(crate) fn hint_for(self, given: &str, known: &[&str]) -> Self {
        self.hint(match did_you_mean(given, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("use one of: {}", known.join(", ")),
        })
    }
}

/// The number of items in a page; `None` when a request asks for all.
///
/// # Errors
/// A [`Problem`] when the limit is out of range.
pub(crate) fn page_size<A>(limit: Option<u16>, after: Option<&A>) -> Result<Option<usize>, Problem> {
    match (limit, after) {
        (Some(limit @ 1..=MAX_PAGE), _) => Ok(Some(usize::from(limit))),
        (Some(other), _) => Err(Problem::bad_request(format!("limit must be from 1 to {MAX_PAGE}, not {other}"))),
        (None, Some(_)) => Ok(Some(usize::from(MAX_PAGE))),
        (None, None) => Ok(None),
    }
}
