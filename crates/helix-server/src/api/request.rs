//! Typed queries, bodies and page sizes of jobs API requests, with the errors that name what is wrong in them.
//!
//! Must not know any route or what a request means.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use helix_core::diagnostic::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::body;
use crate::problem::Problem;

/// Most items in a page.
const MAX_PAGE: u16 = 500;

/// JSON, or what went wrong.
pub(crate) type JsonResult<T> = Result<Json<T>, Problem>;

/// The query parameters of a request.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => {
                let pairs = Query::<Vec<_>>::try_from_uri(&parts.uri).map(|Query(pairs)| pairs).unwrap_or_default();
                Err(unreadable_query(&pairs, &error.body_text()))
            }
        }
    }
}

/// The JSON body of a request, of at most `LIMIT` bytes. No body at all is an empty object.
pub(crate) struct Body<T, const LIMIT: usize = { 1024 * 1024 }>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let body = body::read(&head.headers, body, LIMIT, body::TIME).await?;
        parse(&body).map(Self)
    }
}

/// Parses a body; a field `by` is ignored.
///
/// # Errors
/// A [`Problem`]: 400 when it is not JSON, 422 when it has a wrong field.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    let mut value: Value =
        serde_json::from_slice(body).map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
    let Some(fields) = value.as_object_mut() else {
        return Err(Problem::unprocessable("the body must be a JSON object"));
    };
    // Who acts is who was authenticated: clients that say a name are not refused, and not believed.
    fields.remove("by");
    serde_json::from_value(value).map_err(|error| unreadable(Problem::unprocessable, &error.to_string()))
}

/// The parameter that cannot be read, with its value and what it takes.
fn unreadable_query(pairs: &[(String, String)], message: &str) -> Problem {
    let said = message.strip_prefix("Failed to deserialize query string: ").unwrap_or(message);
    let known = said.split_once(": ").filter(|(_, why)| !why.starts_with("unknown")).and_then(|(name, why)| {
        let (_, value) = pairs.iter().find(|(key, _)| key == name)?;
        Some((name, value, why))
    });
    let Some((name, value, why)) = known else { return unreadable(Problem::bad_request, said) };
    let problem = Problem::bad_request(format!("{name} cannot be {value:?}"));
    match why {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            problem.hint(format!("{name} takes a whole number, such as {name}=20"))
        }
        "number too large to fit in target type" => problem.hint(format!("{name} takes a smaller number")),
        "provided string was not `true` or `false`" => problem.hint(format!("{name} is true or false")),
        why => problem.hint(why.to_owned()),
    }
}

/// A problem in serde's words. Where they name what is known, in backticks behind what was given, the nearest is suggested.
fn unreadable(problem: fn(String) -> Problem, message: &str) -> Problem {
    let unknown = message.find("unknown field").or_else(|| message.find("unknown variant"));
    let mut quoted = message[unknown.unwrap_or(message.len())..].split('`').skip(1).step_by(2);
    let problem = problem(message.to_owned());
    match quoted.next() {
        Some(given) => problem.hint_for(given, &quoted.collect::<Vec<_>>()),
        None => problem,
    }
}

impl Problem {
    /// Names the word that was probably meant, else all that are possible.
    pub(crate) fn hint_for(self, given: &str, known: &[&str]) -> Self {
        self.hint(match did_you_mean(given, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of: {}", known.join(", ")),
        })
    }
}

/// The one of some values that a word names.
///
/// # Errors
/// A [`Problem`] that suggests the nearest one.
pub(crate) fn named<T: Copy>(field: &str, given: &str, known: &[(&str, T)]) -> Result<T, Problem> {
    known.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        Problem::bad_request(format!("{field} cannot be {given:?}")).hint_for(given, &words)
    })
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

/// Checks a budget in US dollars.
///
/// # Errors
/// A [`Problem`] when nothing could be done with it.
pub(crate) fn budget(dollars: Option<f64>) -> Result<(), Problem> {
    match dollars {
        Some(amount) if !amount.is_finite() || amount <= 0.0 => {
            Err(Problem::unprocessable(format!("budget_usd must be more than 0, not {amount}")))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
#[path = "request_test.rs"]
mod tests;
