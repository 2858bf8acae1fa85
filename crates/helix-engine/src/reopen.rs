//! Takes a job up again that had failed or was cancelled.
//!
//! Must not know why somebody wants it to go on.

use helix_core::ids::{JobId, PhaseId};
use helix_job::{JobEvent, JobView, Reopen, ReopenError};

use crate::engine::{Engine, EngineError, folded, journal_error, refused as refused_by};
use crate::event_log::Record;
use crate::job::{JobLog, renew_agents};
use crate::mutex::lock;

/// How a job goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReopenRequest {
    /// A phase that is done again with all that builds on it; `None` goes on with what has not passed.
    pub phase: Option<PhaseId>,
    /// A new budget for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    pub by: String,
}

impl Engine {
    /// Goes on with a job that is over; returns once that is durable.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when it cannot go on, with the reason; [`EngineError::NotFound`], [`EngineError::Journal`].
    pub async fn reopen(&self, id: &JobId, request: ReopenRequest) -> Result<JobView, EngineError> {
        let _turn = self.inner.reopening.lock().await;
        if request.budget_usd.is_some_and(|budget| !(budget > 0.0 && budget.is_finite())) {
            return Err(EngineError::Refused { message: "a budget must be a positive number".into() });
        }
        let refused = |error: ReopenError| EngineError::Refused { message: error.to_string() };
        let view = self.job(id.as_str()).await?;
        // The loop of a job that has just ended removes its worktrees first.
        loop {
            let settled = self.inner.settled.notified();
            let handle = lock(&self.inner.jobs).get(id).cloned();
            let Some(handle) = handle else { break };
            if let Some(broken) = handle.broken() {
                return Err(refused_by(broken));
            }
            if !view.status.is_final() {
                return Err(refused(ReopenError::Running));
            }
            settled.await;
        }
        let events = helix_store::job_events(self.inner.journal.as_ref(), &view.id, 0).await.map_err(journal_error)?;
        let state = folded(&view.id, &events)?;
        let what = request.phase.map_or(Reopen::Unfinished, Reopen::Phase);
        let (reopen, restart) = state.to_reopen(&what).map_err(refused)?;
        // Whoever takes a job up again may just have mended the agent's configuration.
        let (root, job, agents) = (self.inner.state.root().to_path_buf(), id.clone(), self.inner.config.agents.clone());
        let renewed = tokio::task::spawn_blocking(move || renew_agents(&root, &job, &agents));
        renewed.await.map_err(journal_error)?.map_err(journal_error)?;
        let mut log = JobLog::new(id.clone(), state, self.inner.writer.clone());
        let event = JobEvent::JobResumed { by: request.by, reopen, restart, budget_usd: request.budget_usd };
        match log.record(event, &self.inner.closing).await.map_err(journal_error)? {
            Record::Done => {}
            Record::Stale(illegal) => return Err(EngineError::Refused { message: illegal.why.to_string() }),
        }
        self.start_loop(id.clone(), log.state);
        self.job(id.as_str()).await
    }
}
