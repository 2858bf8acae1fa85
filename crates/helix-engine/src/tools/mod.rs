//! Helix's own tools: what the Consultant, a phase's agent and any MCP client can call. One method each, typed in and out.
//!
//! Must not know MCP: the server wraps these.

mod arguments;
mod caller;
mod confirmed;
mod drafts;
mod jobs;
mod knowledge;
mod questions;
mod refusal;

use serde_json::Value;

pub use arguments::{
    AdrAccept, AdrCheck, AdrFinalize, AnswerQuestion, AskUser, InProject, JobStart, JobStatusOf, PlanCheck,
    ProjectCreate, SimilarFailures, SkillRead,
};
pub use caller::Caller;
pub use confirmed::{ADR_DRAFT, DraftStart, PLAN_DRAFT};

use crate::engine::Engine;
pub use refusal::Refusal;

/// What a tool answers: text for the agent, and the same for programs.
pub type Answer = Result<(String, Value), Refusal>;

/// The tools of one caller.
#[derive(Clone)]
pub struct Tools {
    engine: Engine,
    caller: Caller,
}

impl Tools {
    pub fn new(engine: Engine, caller: Caller) -> Self {
        Self { engine, caller }
    }
}

/// Reads files and runs git away from the async runtime.
async fn blocking<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    match helix_process::spawn_blocking(work).await {
        Ok(result) => result.map_err(Into::into),
        Err(error) => Err(Refusal::from_error(error)),
    }
}
