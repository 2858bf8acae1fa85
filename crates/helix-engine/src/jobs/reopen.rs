//! Takes a job up again that had failed or was cancelled.
//!
//! Must not know why somebody wants it to go on.

use std::collections::HashMap;
use std::sync::Arc;

use helix_core::ids::{JobId, PhaseId};
use helix_job::{JobEvent, JobView, Reopen, ReopenError};
use helix_store::Pending;

use super::Jobs;
use crate::error::EngineError;
use crate::event_log::{JobLog, Record};
use crate::job::renew_agents;
use crate::job_record;

/// How a job goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReopenRequest {
    /// A phase that is done again with all that builds on it; `None` goes on with what has not passed.
    pub phase: Option<PhaseId>,
    /// A new budget for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    pub by: String,
}

impl Jobs {
    /// Goes on with a job that is over; returns once that is durable.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when it cannot go on, with the reason; [`EngineError::NotFound`], [`EngineError::Journal`].
    pub fn reopen<'a>(self: &'a Arc<Self>, id: &'a JobId, request: ReopenRequest) -> Pending<'a, JobView, EngineError> {
        Box::pin(self.accept_reopening(id, request))
    }

    async fn accept_reopening(self: &Arc<Self>, id: &JobId, request: ReopenRequest) -> Result<JobView, EngineError> {
        let _turn = self.reopening.lock().await;
        if request.budget_usd.is_some_and(|budget| !(budget > 0.0 && budget.is_finite())) {
            return Err(EngineError::refused("a budget must be a positive number"));
        }
        let view = self.get(id.as_str()).await?;
        // The loop of a job that has just ended removes its worktrees first.
        loop {
            let settled = self.settled.notified();
            let Some(handle) = self.handle(id) else { break };
            if let Some(broken) = handle.broken() {
                return Err(EngineError::refused(broken.line()));
            }
            if !view.status.is_final() {
                return Err(EngineError::refused(ReopenError::Running));
            }
            settled.await;
        }
        let state = job_record::state(self.services.journal().as_ref(), &view.id).await?;
        let what = request.phase.map_or(Reopen::Unfinished, Reopen::Phase);
        let (reopen, restart) = state.to_reopen(&what).map_err(EngineError::refused)?;
        // The person who resumes a job may just have repaired the agent's configuration.
        let (root, job, config) = (self.services.state.root().to_path_buf(), id.clone(), Arc::clone(&self.config));
        let renewed = tokio::task::spawn_blocking(move || renew_agents(&root, &job, &config.agents));
        renewed.await.map_err(EngineError::journal)?.map_err(EngineError::journal)?;
        let mut log = JobLog::new(id.clone(), state, self.services.writer.clone());
        let event = JobEvent::JobResumed { by: request.by, reopen, restart, budget_usd: request.budget_usd };
        match log.record(event, &self.services.closing).await.map_err(EngineError::journal)? {
            Record::Done => {}
            Record::Stale(illegal) => return Err(EngineError::refused(illegal.why)),
        }
        self.start_loop(id.clone(), log.state, HashMap::new());
        self.get(id.as_str()).await
    }
}
