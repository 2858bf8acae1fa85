//! What a route is: its method and path, what it takes and answers, and who handles it.
//!
//! Must not know any route.

use axum::routing::MethodRouter;
use schemars::{JsonSchema, SchemaGenerator};

use crate::state::ServerState;

/// A route and its entry in the document.
pub(crate) struct Route {
    /// `get`, `post` or `delete`.
    pub(crate) method: &'static str,
    /// With parameters in braces, such as `{id}`.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// Its answer on success.
    pub(crate) answer: Answer,
    /// The schema of its body, if it takes one, and whether a request must have it.
    pub(crate) body: Option<(Schema, bool)>,
    /// The schema of its query, if it takes one.
    pub(crate) query: Option<Schema>,
    pub(crate) handler: MethodRouter<ServerState>,
}

/// Makes the schema of a type, or adds it to the document and makes the reference to it.
pub(crate) type Schema = fn(&mut SchemaGenerator) -> schemars::Schema;

/// What a route answers when all is well.
pub(crate) enum Answer {
    /// JSON with this status.
    Json(u16, Schema),
    /// A stream of events.
    Events(&'static str),
    /// JSON, one value on a line.
    Lines(Schema),
    /// JSON, or the same in another media type.
    JsonOr(&'static str, Schema),
    /// JSON of a form that others define.
    Foreign(&'static str),
    /// Text of a form that others define.
    Text(&'static str),
}

pub(crate) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    generator.subschema_for::<T>()
}

/// The schema itself, without an entry in the document.
pub(crate) fn inline<T: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    T::json_schema(generator)
}

pub(crate) fn foreign(_: &mut SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object" })
}

impl Route {
    pub(crate) fn new(
        method: &'static str,
        path: &'static str,
        summary: &'static str,
        answer: Answer,
        handler: MethodRouter<ServerState>,
    ) -> Self {
        Self { method, path, summary, answer, body: None, query: None, handler }
    }

    pub(crate) fn optional_body(self, body: Schema) -> Self {
        Self { body: Some((body, false)), ..self }
    }

    pub(crate) fn body(self, body: Schema) -> Self {
        Self { body: Some((body, true)), ..self }
    }

    pub(crate) fn query(self, query: Schema) -> Self {
        Self { query: Some(query), ..self }
    }
}
