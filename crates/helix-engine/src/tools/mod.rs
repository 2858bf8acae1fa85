//! Helix's own tools: what the Consultant, a phase's agent and any MCP client can call. One method each, typed in and out.
//!
//! Must not know MCP: the server wraps these.

mod arguments;
mod caller;
mod drafts;
mod jobs;
mod knowledge;
mod questions;
mod refusal;

use serde::Serialize;
use serde_json::Value;

pub use arguments::{
    AdrCheck, AdrFinalize, AdrList, AnswerQuestion, AskUser, JobStart, JobStatusOf, PlanCheck, ProjectCreate,
    SimilarFailures, SkillRead, SkillsList,
};
pub use caller::Caller;

use crate::engine::Engine;
use refusal::Refusal;

/// What a tool answers: text for the agent, and whether it is a refusal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolAnswer {
    /// For the agent to read.
    pub text: String,
    /// The same for programs.
    pub data: Value,
    /// Whether the tool could not do what it was asked.
    pub failed: bool,
}

/// The tools of one caller.
#[derive(Clone)]
pub struct Tools {
    engine: Engine,
    caller: Caller,
}

type Answer = Result<(String, Value), Refusal>;

impl Tools {
    pub fn new(engine: Engine, caller: Caller) -> Self {
        Self { engine, caller }
    }

    async fn answered(&self, work: impl Future<Output = Answer>) -> ToolAnswer {
        match work.await {
            Ok((text, data)) => ToolAnswer { text, data, failed: false },
            Err(Refusal { text, data }) => ToolAnswer { text, data, failed: true },
        }
    }
}

/// Reads files and runs git away from the async runtime.
async fn blocking<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Into::into),
        Err(error) => Err(Refusal::text(format!("an internal task ended early: {error}"))),
    }
}
