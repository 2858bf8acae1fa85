//! Who asks for something, for the record. Must not know what is asked for.

use axum::http::StatusCode;

use crate::problem::{Problem, codes};

/// Who it was when a request does not say.
const ANONYMOUS: &str = "somebody (API)";
/// Longest name, in bytes.
const MAX_NAME: usize = 200;

/// The name that a request gives in its field `by`, which is optional.
///
/// # Errors
/// A [`Problem`] when it is no name that can stand in a line.
pub(crate) fn named(by: Option<String>) -> Result<String, Problem> {
    let name = by.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    if name.as_ref().is_some_and(|name| name.len() > MAX_NAME || name.chars().any(char::is_control)) {
        let detail = format!("by must be a name of at most {MAX_NAME} bytes without control characters");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, codes::MISFIT, detail));
    }
    Ok(name.unwrap_or_else(|| ANONYMOUS.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_one_line() {
        assert_eq!(named(Some(" anna ".into())).unwrap(), "anna");
        assert_eq!(named(None).unwrap(), ANONYMOUS);
        assert_eq!(named(Some("  ".into())).unwrap(), ANONYMOUS);
        for bad in ["a\nb".to_owned(), "x".repeat(201)] {
            assert_eq!(named(Some(bad)).unwrap_err().status, 422);
        }
    }
}
