//! Questions to persons: list, show, answer. One object for terminal, API, chat and MCP; must not know where an answer comes
//! from.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use helix_core::ids::QuestionId;
use helix_engine::questions::{AnswerError, QuestionFilter, Reply};
use helix_job::question::QuestionView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::{BODY_LIMIT, body, query};
use super::person;
use crate::problem::{Problem, codes};
use crate::shared::Shared;

/// Questions, those that were asked first coming first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct QuestionList {
    /// The questions.
    pub(crate) questions: Vec<QuestionView>,
}

/// Which questions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionQuery {
    /// All of this job, also settled ones; without it those that are open.
    #[serde(default)]
    job: Option<String>,
}

/// An answer. At least one of `choice` and `text` is needed; which, the question says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRequest {
    /// Key of the chosen option.
    #[serde(default)]
    choice: Option<String>,
    /// Words of their own.
    #[serde(default)]
    text: Option<String>,
    /// Who answers, for the record.
    #[serde(default)]
    by: Option<String>,
}

/// As [`AnswerRequest`], with the question in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedAnswer {
    /// Id of the question.
    question: String,
    /// Key of the chosen option.
    #[serde(default)]
    choice: Option<String>,
    /// Words of their own.
    #[serde(default)]
    text: Option<String>,
    /// Who answers, for the record.
    #[serde(default)]
    by: Option<String>,
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, error.to_string())
                .hint("GET /api/v1/questions lists those that wait (`helix answer`)"),
            AnswerError::Settled { .. } => Self::new(StatusCode::CONFLICT, codes::SETTLED, error.to_string())
                .hint("nothing was changed; GET /api/v1/questions lists those that wait (`helix answer`)"),
            AnswerError::Misfit(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, codes::MISFIT, error.to_string())
                .hint("the question's `options` name what can be chosen; nothing was changed"),
            AnswerError::Engine(error) => error.into(),
        }
    }
}

fn id(text: &str) -> Result<QuestionId, Problem> {
    QuestionId::new(text).map_err(|_| AnswerError::NotFound(text.to_owned()).into())
}

/// `GET /api/v1/questions`
pub(crate) async fn list(
    State(shared): State<Shared>,
    asked: Result<Query<QuestionQuery>, QueryRejection>,
) -> Result<Json<QuestionList>, Problem> {
    let filter = query(asked)?.job.map_or(QuestionFilter::Open, QuestionFilter::Job);
    Ok(Json(QuestionList { questions: shared.engine.questions(filter).await? }))
}

/// `GET /api/v1/questions/{id}`
pub(crate) async fn show(
    State(shared): State<Shared>,
    Path(text): Path<String>,
) -> Result<Json<QuestionView>, Problem> {
    Ok(Json(shared.engine.question(&id(&text)?).await?))
}

/// `POST /api/v1/questions/{id}/answer`
pub(crate) async fn answer(
    State(shared): State<Shared>,
    Path(text): Path<String>,
    request: Request,
) -> Result<Json<QuestionView>, Problem> {
    let id = id(&text)?;
    let answer = body(&shared, request, BODY_LIMIT).await?;
    give(&shared, &id, answer).await
}

/// `POST /api/v1/questions`
pub(crate) async fn answer_named(
    State(shared): State<Shared>,
    request: Request,
) -> Result<Json<QuestionView>, Problem> {
    let NamedAnswer { question, choice, text, by } = body(&shared, request, BODY_LIMIT).await?;
    give(&shared, &id(&question)?, AnswerRequest { choice, text, by }).await
}

async fn give(shared: &Shared, id: &QuestionId, answer: AnswerRequest) -> Result<Json<QuestionView>, Problem> {
    let AnswerRequest { choice, text, by } = answer;
    let reply = Reply { choice, text, by: person::named(by)? };
    Ok(Json(shared.engine.answer(id, reply).await?))
}
