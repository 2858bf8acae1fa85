//! Questions, results and evidence of jobs as the host gives them. Must not know how they are shown.

use helix_core::ids::QuestionId;
use helix_job::JobView;
use helix_job::question::QuestionView;
use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{Client, ClientError, in_path};

/// An answer as the API takes it.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct AnswerBody {
    /// Key of the chosen option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<String>,
    /// Words of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Who answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

/// How a job goes on.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ReopenBody {
    /// A phase that is done again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// A new budget for the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget_usd: Option<f64>,
    /// Who wants it.
    pub(crate) by: String,
}

impl Client {
    /// Questions that wait for an answer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn questions(&self) -> Result<Vec<QuestionView>, ClientError> {
        #[derive(Deserialize)]
        struct Listing {
            questions: Vec<QuestionView>,
        }
        let listing: Listing = self.decode(self.request(Method::GET, "/api/v1/questions")).await?;
        Ok(listing.questions)
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ClientError`]; then nothing has changed.
    pub(crate) async fn answer(&self, id: &QuestionId, body: &AnswerBody) -> Result<QuestionView, ClientError> {
        let path = format!("/api/v1/questions/{}/answer", in_path(id.as_str()));
        self.decode(self.request(Method::POST, &path).json(body)).await
    }

    /// Takes a job up again: what has not passed, or a phase and all that build on it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub(crate) async fn reopen(&self, id: &str, body: &ReopenBody) -> Result<JobView, ClientError> {
        let verb = if body.phase.is_some() { "retry" } else { "resume" };
        self.decode(self.request(Method::POST, &format!("/api/v1/jobs/{}/{verb}", in_path(id))).json(body)).await
    }
}
