//! Questions to people: list, show, answer. Must not know which client an answer comes from.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use helix_core::ids::QuestionId;
use helix_engine::jobs::{AnswerError, QuestionFilter};
use helix_job::question::{Answer, QuestionView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Body, JsonResult, Params};
use crate::principal::By;
use crate::problem::{Problem, codes};
use crate::state::ServerState;

/// Questions, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionList {
    /// The questions.
    pub questions: Vec<QuestionView>,
}

/// Filters a list of questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionQuery {
    /// All questions of this job, answered ones included; without it the open questions of all jobs.
    job: Option<String>,
}

/// An answer: `choice`, `text` or both, as the question allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// Key of the chosen option.
    pub choice: Option<String>,
    /// An answer in words.
    pub text: Option<String>,
}

/// An answer that names its question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedAnswer {
    /// Id of the question.
    question: String,
    /// Key of the chosen option.
    choice: Option<String>,
    /// An answer in words.
    text: Option<String>,
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        let (status, code, hint) = match error {
            AnswerError::NotFound(_) => {
                (StatusCode::NOT_FOUND, codes::NOT_FOUND, "list open questions: `helix answer`")
            }
            AnswerError::Settled { .. } => {
                (StatusCode::CONFLICT, codes::SETTLED, "list open questions: `helix answer`")
            }
            AnswerError::Misfit(ref why) => (StatusCode::UNPROCESSABLE_ENTITY, codes::MISFIT, why.hint()),
            AnswerError::Forbidden(_) => (
                StatusCode::FORBIDDEN,
                codes::FORBIDDEN,
                "answer at the terminal, or with a key: `helix people add NAME`",
            ),
            AnswerError::Engine(error) => return error.into(),
        };
        Self::new(status, code, error.to_string()).hint(hint)
    }
}

fn id(text: &str) -> Result<QuestionId, Problem> {
    QuestionId::new(text).map_err(|_| AnswerError::NotFound(text.to_owned()).into())
}

/// `GET /api/v1/questions`
pub(crate) async fn list(
    State(shared): State<ServerState>,
    Params(asked): Params<QuestionQuery>,
) -> JsonResult<QuestionList> {
    let filter = asked.job.map_or(QuestionFilter::Open, QuestionFilter::Job);
    Ok(Json(QuestionList { questions: shared.engine.jobs().questions(filter).await? }))
}

/// `GET /api/v1/questions/{id}`
pub(crate) async fn show(State(shared): State<ServerState>, Path(text): Path<String>) -> JsonResult<QuestionView> {
    Ok(Json(shared.engine.jobs().question(&id(&text)?).await?))
}

/// `POST /api/v1/questions/{id}/answer`
pub(crate) async fn answer(
    State(shared): State<ServerState>,
    Path(text): Path<String>,
    by: By,
    Body(AnswerRequest { choice, text: words }): Body<AnswerRequest>,
) -> JsonResult<QuestionView> {
    let reply = Answer { choice, text: words, by: by.0 };
    Ok(Json(shared.engine.jobs().answer(&id(&text)?, reply).await?))
}

/// `POST /api/v1/questions`
pub(crate) async fn answer_named(
    shared: State<ServerState>,
    by: By,
    Body(NamedAnswer { question, choice, text }): Body<NamedAnswer>,
) -> JsonResult<QuestionView> {
    answer(shared, Path(question), by, Body(AnswerRequest { choice, text })).await
}
