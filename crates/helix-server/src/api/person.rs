//! The name of the person who sends a request, for the record. Must not know what the request does.

use axum::http::StatusCode;

use crate::problem::{Problem, codes};

/// The name when a request gives none.
const ANONYMOUS: &str = "unnamed (API)";
/// Longest name, in bytes.
const MAX_NAME: usize = 200;

/// The name in a request's optional field `by`.
///
/// # Errors
/// A [`Problem`] when the name does not fit in a line.
pub(crate) fn named(by: Option<String>) -> Result<String, Problem> {
    let name = by.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    if name.as_ref().is_some_and(|name| name.len() > MAX_NAME || name.chars().any(char::is_control)) {
        let detail = format!("by must be a name of at most {MAX_NAME} bytes without control characters");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::MISFIT, detail));
    }
    Ok(name.unwrap_or_else(|| ANONYMOUS.into()))
}

#[cfg(test)]
#[path = "person_test.rs"]
mod tests;
