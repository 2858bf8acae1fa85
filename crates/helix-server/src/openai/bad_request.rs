//! An invalid request, by the field at fault. Must not know what a field means.

use serde_json::Value;

/// An invalid request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct BadRequest {
    /// The field at fault, such as `messages[2].role`.
    pub(crate) param: Option<String>,
    pub(crate) message: String,
}

impl BadRequest {
    pub(crate) fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: Some(param.into()), message: message.into() }
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
