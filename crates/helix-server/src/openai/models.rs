//! `GET /v1/models`: the models, with what Open WebUI shows of them. Must not know how a model answers.

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::profile::Profile;
use crate::shared::Shared;

/// The Consultant with its configured model.
const CONSULTANT: &str = "helix";
const PREFIX: &str = "helix:";

/// All models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ModelList {
    /// Always `list`.
    pub(crate) object: String,
    /// The models.
    pub(crate) data: Vec<ModelObject>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ModelObject {
    /// What requests name.
    pub(crate) id: String,
    /// What people read.
    pub(crate) name: String,
    /// Always `model`.
    pub(crate) object: String,
    /// Seconds since 1970.
    pub(crate) created: i64,
    /// Always `helix`.
    pub(crate) owned_by: String,
    /// What Open WebUI shows.
    pub(crate) info: ModelInfo,
}

/// What Open WebUI shows of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ModelInfo {
    /// As its model editor calls them.
    pub(crate) meta: ModelMeta,
}

/// Description, suggestions and capabilities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ModelMeta {
    /// One sentence.
    pub(crate) description: String,
    /// Suggestions for the first message.
    pub(crate) suggestion_prompts: Vec<SuggestionPrompt>,
    /// Features that the client should offer.
    pub(crate) capabilities: Capabilities,
}

/// A suggestion for the first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SuggestionPrompt {
    /// Title and subtitle.
    pub(crate) title: [String; 2],
    /// What is sent.
    pub(crate) content: String,
}

/// Features that the client should offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Capabilities {
    /// The client's own tools: agents have their own.
    pub(crate) builtin_tools: bool,
    /// Token usage and cost at the end of a stream.
    pub(crate) usage: bool,
    /// Status lines above the answer.
    pub(crate) status_updates: bool,
    /// Images.
    pub(crate) vision: bool,
    /// The client's web search.
    pub(crate) web_search: bool,
    /// The client's image generation.
    pub(crate) image_generation: bool,
    /// The client's code interpreter.
    pub(crate) code_interpreter: bool,
}

impl ModelObject {
    fn new(id: &str, model: Option<&str>, created: i64) -> Self {
        let suggestion = |title: &str, subtitle: &str, content: &str| SuggestionPrompt {
            title: [title.into(), subtitle.into()],
            content: content.into(),
        };
        Self {
            id: id.into(),
            name: model.map_or_else(|| "Helix".into(), |model| format!("Helix ({model})")),
            object: "model".into(),
            created,
            owned_by: "helix".into(),
            info: ModelInfo {
                meta: ModelMeta {
                    description: "Turns a conversation into a decision, a plan and a verified commit.".into(),
                    suggestion_prompts: vec![
                        suggestion(
                            "Plan a change",
                            "from an idea to phases with gates",
                            "I want to change something in a project of mine. Ask me what you need to know, then write an ADR and a plan.",
                        ),
                        suggestion(
                            "Start a new project",
                            "with tests from the first commit",
                            "I want to start a new small project. Ask me what it is for, then write an ADR and a plan.",
                        ),
                        suggestion("How is my job?", "phases, gates and cost", "What is the state of my last job?"),
                    ],
                    capabilities: Capabilities {
                        builtin_tools: false,
                        usage: true,
                        status_updates: true,
                        vision: true,
                        web_search: false,
                        image_generation: false,
                        code_interpreter: false,
                    },
                },
            },
        }
    }
}

/// Names of all models.
fn names(models: &[String]) -> Vec<String> {
    std::iter::once(CONSULTANT.to_owned()).chain(models.iter().map(|model| format!("{PREFIX}{model}"))).collect()
}

/// Splits a model's name from its profile: `helix:opus@plain` is `helix:opus` for a plain client.
pub(crate) fn split_profile(requested: Option<&str>) -> (Option<&str>, Option<Profile>) {
    let split = requested.and_then(|name| {
        let (model, profile) = name.rsplit_once('@')?;
        Some((model, Profile::named(profile)?))
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
pub(crate) async fn list(State(shared): State<Shared>) -> Json<ModelList> {
    let created = shared.started_at.as_second();
    let variants =
        shared.config.models.iter().map(|model| ModelObject::new(&format!("{PREFIX}{model}"), Some(model), created));
    let data = std::iter::once(ModelObject::new(CONSULTANT, None, created)).chain(variants).collect();
    Json(ModelList { object: "list".into(), data })
}

/// `GET /v1/models/{model}`
pub(crate) async fn retrieve(
    State(shared): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<ModelObject>, ApiError> {
    let model = resolve(split_profile(Some(&name)).0, &shared.config.models)?;
    Ok(Json(ModelObject::new(&name, model.as_deref(), shared.started_at.as_second())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_offered_models_are_known() {
        let models = vec!["opus".to_owned()];
        assert_eq!(resolve(None, &models), Ok(None));
        assert_eq!(resolve(Some("helix"), &models), Ok(None));
        assert_eq!(resolve(Some("helix:opus"), &models), Ok(Some("opus".into())));
        let error = resolve(Some("gpt-4o"), &models).unwrap_err();
        assert!(error.envelope.error.message.contains("helix, helix:opus"), "{error:?}");
        assert!(resolve(Some("helix:haiku"), &models).is_err());
    }

    #[test]
    fn a_model_may_name_the_profile() {
        assert_eq!(split_profile(Some("helix:opus@plain")), (Some("helix:opus"), Some(Profile::Plain)));
        assert_eq!(split_profile(Some("helix@other")), (Some("helix@other"), None), "part of the name");
        assert_eq!(split_profile(None), (None, None));
    }
}
