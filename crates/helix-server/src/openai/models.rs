//! `GET /v1/models`: the models, with what Open WebUI shows of them. Must not know how a model answers.

use axum::Json;
use axum::extract::{Path, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::error::ApiError;
use crate::profile::Profile;
use crate::state::ServerState;

/// The Consultant with its configured model.
const CONSULTANT: &str = "helix";
const PREFIX: &str = "helix:";
/// What clients show beside the name: 96 x 96 pixels.
const ICON: &[u8] = include_bytes!("icon.png");

/// A model, with what Open WebUI shows of it.
fn model_object(id: &str, model: Option<&str>, created: i64) -> Value {
    json!({
        "id": id,
        "name": model.map_or_else(|| "Helix".into(), |model| format!("Helix ({model})")),
        "object": "model",
        "created": created,
        "owned_by": "helix",
        "info": { "meta": {
            "profile_image_url": format!("data:image/png;base64,{}", STANDARD.encode(ICON)),
            "description": "Turns a conversation into a decision, a plan and a verified commit.",
            "suggestion_prompts": [
                {
                    "title": ["Plan a change", "from an idea to phases with gates"],
                    "content": "I want to change something in a project of mine. Ask me what you need to know, then write an ADR and a plan.",
                },
                {
                    "title": ["Start a new project", "with tests from the first commit"],
                    "content": "I want to start a new small project. Ask me what it is for, then write an ADR and a plan.",
                },
                { "title": ["How is my job?", "phases, gates and cost"], "content": "What is the state of my last job?" },
            ],
            // The client's own tools, search, pictures and interpreter stay off: agents have theirs.
            "capabilities": {
                "builtin_tools": false, "usage": true, "status_updates": true, "vision": true, "web_search": false,
                "image_generation": false, "code_interpreter": false,
            },
        } },
    })
}

fn names(models: &[String]) -> Vec<String> {
    std::iter::once(CONSULTANT.to_owned()).chain(models.iter().map(|model| format!("{PREFIX}{model}"))).collect()
}

/// Splits a model's name from its profile: `helix:opus@plain` is `helix:opus` for a plain client.
pub(crate) fn split_profile(requested: Option<&str>) -> (Option<&str>, Option<Profile>) {
    let split = requested.and_then(|name| {
        let (model, profile) = name.rsplit_once('@')?;
        Some((model, Profile::from_word(profile)?))
    });
    match split {
        Some((model, profile)) => (Some(model), Some(profile)),
        None => (requested, None),
    }
}

/// The agent's name of a model; `None` is the configured one.
///
/// # Errors
/// [`ApiError`] when it is not offered.
pub(crate) fn resolve(requested: Option<&str>, models: &[String]) -> Result<Option<String>, ApiError> {
    match requested {
        None | Some(CONSULTANT) => Ok(None),
        Some(name) => match name.strip_prefix(PREFIX) {
            Some(model) if models.iter().any(|known| known == model) => Ok(Some(model.to_owned())),
            Some(_) | None => Err(ApiError::model_not_found(name, &names(models))),
        },
    }
}

/// `GET /v1/models`
pub(crate) async fn list(State(shared): State<ServerState>) -> Json<Value> {
    let created = shared.started_at.as_second();
    let models = names(&shared.config.models);
    let data = models.iter().map(|id| model_object(id, id.strip_prefix(PREFIX), created));
    Json(json!({ "object": "list", "data": data.collect::<Vec<_>>() }))
}

/// `GET /v1/models/{model}`
pub(crate) async fn retrieve(
    State(shared): State<ServerState>,
    Path(name): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let model = resolve(split_profile(Some(&name)).0, &shared.config.models)?;
    Ok(Json(model_object(&name, model.as_deref(), shared.started_at.as_second())))
}

#[cfg(test)]
#[path = "models_test.rs"]
mod tests;
