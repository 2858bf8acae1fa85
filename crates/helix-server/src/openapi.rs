//! The OpenAPI document: routes from the list, schemas from the types.
//!
//! Must not know any route by name.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::activity::{ActivityFrame, Missed};
use crate::guard::is_open;
use crate::openai::{ErrorEnvelope, is_openai};
use crate::problem::Problem;
use crate::route::{Answer, Route};

/// The document as JSON.
pub(crate) fn document(routes: &[Route]) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = SchemaGenerator::new(settings);
    let mut paths = Map::new();
    for route in routes {
        let operation = operation(route, &mut generator);
        if let Value::Object(methods) = paths.entry(route.path).or_insert_with(|| json!({})) {
            methods.insert(route.method.into(), operation);
        }
    }
    // What streams carry is named in their descriptions.
    generator.subschema_for::<ActivityFrame>();
    generator.subschema_for::<Missed>();
    generator.subschema_for::<helix_job::Recorded<helix_job::JobEvent>>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Helix",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions with the Consultant (/v1), jobs (/api/v1), and Helix's tools over MCP (POST /mcp)."
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": generator.take_definitions(true)
        }
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = Map::new();
    operation.insert("summary".into(), json!(route.summary));
    let parameters = parameters(route, generator);
    if !parameters.is_empty() {
        operation.insert("parameters".into(), Value::Array(parameters));
    }
    if let Some((body, required)) = route.body {
        let content = json!({ "application/json": { "schema": body(generator) } });
        operation.insert("requestBody".into(), json!({ "required": required, "content": content }));
    }
    let text = json!({ "type": "string" });
    let (status, description, content) = match &route.answer {
        Answer::Json(status, schema) => (*status, "OK", json!({ "application/json": { "schema": schema(generator) } })),
        Answer::JsonOr(other, schema) => {
            (200, "OK", json!({ "application/json": { "schema": schema(generator) }, *other: { "schema": text } }))
        }
        Answer::Lines(schema) => {
            (200, "JSON, one value on a line", json!({ "application/x-ndjson": { "schema": schema(generator) } }))
        }
        Answer::Events(what) => (200, *what, json!({ "text/event-stream": { "schema": text } })),
        Answer::Text(what) => (200, *what, json!({ "text/plain": { "schema": text } })),
        Answer::Foreign(what) => (200, *what, json!({ "application/json": { "schema": { "type": "object" } } })),
    };
    let error = if is_openai(route.path) {
        json!({ "application/json": { "schema": generator.subschema_for::<ErrorEnvelope>() } })
    } else {
        json!({ "application/problem+json": { "schema": generator.subschema_for::<Problem>() } })
    };
    operation.insert(
        "responses".into(),
        json!({
            status.to_string(): { "description": description, "content": content },
            "default": { "description": "What went wrong and what to do", "content": error }
        }),
    );
    if is_open(route.path) {
        operation.insert("security".into(), json!([]));
    }
    Value::Object(operation)
}

fn parameters(route: &Route, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let mut parameters: Vec<Value> = in_path.collect();
    let query = route.query.map(|query| query(generator).to_value()).unwrap_or_default();
    for (name, mut schema) in query["properties"].as_object().cloned().unwrap_or_default() {
        let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
        parameters.push(json!({ "name": name, "in": "query", "description": description, "schema": schema }));
    }
    parameters
}

#[cfg(test)]
#[path = "openapi_test.rs"]
mod tests;
