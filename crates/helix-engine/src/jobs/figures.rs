//! How much there is and how much is under way, for those who watch over a host.
//!
//! Must not know how figures are shown.

use async_recursion::async_recursion as boxed;
use helix_job::question::QuestionStatus;
use helix_store::{Counts, JobFilter};

use super::Jobs;
use crate::admission::Places;
use crate::error::EngineError;

/// A host at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// What the journal holds.
    pub counts: Counts,
    /// Questions that wait for a person.
    pub open_questions: u64,
    pub agents: Places,
    /// Gates that run commands.
    pub gates: Places,
}

impl Jobs {
    /// How much there is and how much is under way. Costs the same however many jobs are over.
    ///
    /// # Errors
    /// [`EngineError::Journal`].
    #[boxed]
    pub async fn figures(&self) -> Result<Figures, EngineError> {
        let counts = self.services.journal().counts().await?;
        let unfinished = self.list(JobFilter::unfinished()).await?.jobs;
        let open = unfinished.iter().flat_map(|job| &job.questions);
        let open = open.filter(|question| question.status == QuestionStatus::Open).count();
        Ok(Figures {
            counts,
            open_questions: open as u64,
            agents: self.services.runner.admission().figures(),
            gates: self.effects.shared.gate_places.figures(),
        })
    }
}
