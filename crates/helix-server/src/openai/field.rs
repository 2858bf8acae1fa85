//! A value in the body of a request, with its place there for error messages. Must not know what any field means.

use serde_json::Value;

use super::error::ApiError;

/// A value in a body.
pub(super) struct Field<'a> {
    /// Such as `messages[2].role`; empty for the whole body.
    pub(super) at: String,
    /// `None` where it is absent or `null`.
    pub(super) value: Option<&'a Value>,
}

impl<'a> Field<'a> {
    /// The whole body.
    pub(super) fn body(value: &'a Value) -> Self {
        Self { at: String::new(), value: Some(value) }
    }

    /// A field of an object; absent in everything else.
    pub(super) fn get(&self, name: &str) -> Self {
        let at = if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) };
        Self { at, value: self.value.and_then(|value| value.get(name)).filter(|value| !value.is_null()) }
    }

    /// The items of a list; none of everything else.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> {
        let items = self.value.and_then(Value::as_array).into_iter().flatten().enumerate();
        items.map(|(index, value)| Self { at: format!("{}[{index}]", self.at), value: Some(value) })
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        self.value?.as_str()
    }

    pub(super) fn optional_text(&self) -> Result<Option<String>, ApiError> {
        match (self.value, self.text()) {
            (Some(_), None) => Err(self.must_be("a string")),
            (_, text) => Ok(text.map(str::to_owned)),
        }
    }

    pub(super) fn required_text(&self) -> Result<&'a str, ApiError> {
        self.text().ok_or_else(|| self.refuse("is missing or not a string"))
    }

    pub(super) fn flag(&self) -> Result<bool, ApiError> {
        match self.value {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.must_be("true or false")),
        }
    }

    /// The error for a value of the wrong type.
    pub(super) fn must_be(&self, wanted: &str) -> ApiError {
        self.refuse(format!("must be {wanted}, not {}", self.kind()))
    }

    /// The error for this field.
    pub(super) fn refuse(&self, message: impl Into<String>) -> ApiError {
        ApiError::bad_field(&self.at, message)
    }

    /// The value itself, where it is short, else what it is.
    pub(super) fn shown(&self) -> String {
        match self.value {
            Some(value) if !value.is_array() && !value.is_object() => value.to_string(),
            Some(_) | None => self.kind().to_owned(),
        }
    }

    /// What the value is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            None | Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "a truth value",
            Some(Value::Number(_)) => "a number",
            Some(Value::String(_)) => "a string",
            Some(Value::Array(_)) => "a list",
            Some(Value::Object(_)) => "an object",
        }
    }
}
