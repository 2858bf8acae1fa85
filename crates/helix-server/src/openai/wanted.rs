//! A form that a request wants its answer in, beyond text: JSON, by a schema, or a call of one of the client's tools.
//!
//! Must not know what an answer says. No turn has such a form; a background task may, since Helix itself answers it.

use serde_json::{Map, Value};

use super::error::ApiError;
use super::field::Field;

/// A form of an answer that no turn has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedForm {
    /// The field of the request that wants it.
    at: String,
    /// Why a turn cannot have it.
    refusal: String,
    /// The fields that are wanted, as JSON Schema, where the request says.
    schema: Option<Value>,
    /// The tool that must be called with them.
    pub(super) tool: Option<String>,
}

impl WantedForm {
    /// The form that a body wants; `None`: text.
    pub(super) fn of(body: &Field<'_>) -> Option<Self> {
        for format in [body.get("response_format"), body.get("text").get("format")] {
            if let Some(wanted) = format.get("type").text().filter(|wanted| *wanted != "text") {
                let refusal =
                    format!("{wanted:?} is not supported: the Consultant answers in text; ask for JSON in the message");
                let schema = format.get("json_schema").get("schema").value.or(format.get("schema").value).cloned();
                return Some(Self { at: format.at, refusal, schema, tool: None });
            }
        }
        let mut choices = [body.get("tool_choice"), body.get("function_call")].into_iter();
        let choice = choices.find(|one| one.value.is_some() && !matches!(one.text(), Some("auto" | "none")))?;
        let refusal = format!(
            "{} is not supported: Helix's agents run their own tools, not the client's; omit it or use \"auto\"",
            choice.shown()
        );
        let tools: Vec<Field<'_>> = body.get("tools").items().map(|tool| flat(tool, "function")).collect();
        let named = flat(Field { at: choice.at.clone(), value: choice.value }, "function").get("name").text();
        let only = choice.text() == Some("required") && tools.len() == 1;
        let is_chosen = |tool: &&Field<'_>| only || named.is_some() && tool.get("name").text() == named;
        let tool = tools.iter().find(is_chosen);
        let schema = tool.and_then(|tool| tool.get("parameters").value).cloned();
        let tool = tool.and_then(|tool| tool.get("name").text()).map(str::to_owned);
        Some(Self { at: choice.at, refusal, schema, tool })
    }

    /// The error of a request that cannot be answered in this form.
    pub(super) fn refuse(&self) -> ApiError {
        ApiError::bad_field(&self.at, &*self.refusal)
    }

    /// Whether only fields of these names are wanted, and at least one.
    pub(super) fn is_of(&self, known: impl Fn(&str) -> bool) -> bool {
        self.schema.as_ref().and_then(|schema| fields(schema, |name| known(name).then_some(Value::Null))).is_some()
    }

    /// An answer in this form: of the fields that are wanted, those that have a value. `None` where one that must be there has
    /// none; `text` where the request does not say which fields it wants.
    pub(super) fn filled(&self, text: &str, value: impl Fn(&str) -> Option<Value>) -> Option<String> {
        match &self.schema {
            Some(schema) => fields(schema, value).map(|fields| Value::Object(fields).to_string()),
            None => self.tool.is_none().then(|| text.to_owned()),
        }
    }
}

/// What an object says below a name, as the chat form has it, or itself, as the responses form has it.
fn flat<'a>(field: Field<'a>, name: &str) -> Field<'a> {
    let inner = field.get(name);
    if inner.value.is_some() { inner } else { field }
}

/// The fields that a schema wants, with their values; `None` where one that must be there has none.
fn fields(schema: &Value, value: impl Fn(&str) -> Option<Value>) -> Option<Map<String, Value>> {
    let properties = schema.get("properties")?.as_object()?;
    // A schema that calls none required wants them all.
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_none_or(|names| names.iter().any(|one| one == name));
    let mut fields = Map::new();
    for name in properties.keys() {
        match value(name) {
            Some(value) => drop(fields.insert(name.clone(), value)),
            None if is_required(name) => return None,
            None => {}
        }
    }
    (!fields.is_empty()).then_some(fields)
}
