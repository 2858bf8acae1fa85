//! Takes a job up again that is over: what failed is done again, or what it has delivered is taken back.
//!
//! Must not know why somebody wants it to go on.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use helix_core::ids::{JobId, PhaseId};
use helix_git::Repository;
use helix_job::{ChangedPlan, JobEvent, JobState, JobView, Person, Reopen, ReopenError};
use helix_plan::Plan;
use helix_store::Pending;

use super::Jobs;
use crate::error::EngineError;
use crate::event_log::{JobLog, Record};
use crate::job::{Configured, Target, renew_configured};
use crate::job_record;
use crate::submit::{Site, SubmitError, SubmitRequest, workspace_of};
use helix_workspace::Workspace;

/// How a job goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReopenRequest {
    pub what: Again,
    /// Whether the plan is taken as its file is now.
    pub takes_plan: bool,
    /// A new budget for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    pub by: Person,
}

/// What of a job is done again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// What has not passed, where it stopped.
    Unfinished,
    /// This phase, with all that builds on it.
    Phase(PhaseId),
    /// Only the gates, on the last result of this phase, or of all that did not pass.
    Gates(Option<PhaseId>),
    /// Nothing of this phase: its result counts as it is, for this reason.
    Nothing { phase: PhaseId, reason: String },
}

/// Which delivery of a job is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollbackRequest {
    /// The last delivery of this phase; `None` is the last one of the job.
    pub phase: Option<PhaseId>,
    /// Whether the person knows that it was taken back before.
    pub again: bool,
    /// Whether the person knows that something else was delivered over it.
    pub over: bool,
    pub by: Person,
}

impl Jobs {
    /// Goes on with a job that is over; returns once that is durable.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when it cannot go on, with the reason; [`EngineError::NotFound`], [`EngineError::Journal`].
    pub fn reopen(self: &Arc<Self>, id: &JobId, request: ReopenRequest) -> Pending<'static, JobView, EngineError> {
        let (jobs, id) = (Arc::clone(self), id.clone());
        self.to_its_end(async move {
            let ReopenRequest { what, takes_plan, budget_usd, by } = request;
            if budget_usd.is_some_and(|budget| !(budget > 0.0 && budget.is_finite())) {
                return Err(EngineError::refused("a budget must be a positive number"));
            }
            if let Again::Nothing { reason, .. } = &what {
                if reason.trim().is_empty() {
                    return Err(EngineError::refused("say why the result is accepted"));
                }
                if !by.how.is_proof() {
                    return Err(EngineError::refused(format!("{by} cannot accept a result: it needs a person")));
                }
            }
            let now = if takes_plan { jobs.plan_now(&id).await? } else { None };
            let event = |state: &JobState| {
                let (mut restart, mut check, mut accept) = (Vec::new(), Vec::new(), None);
                let reopen = match what {
                    Again::Unfinished => state.to_reopen(&Reopen::Unfinished).map(|(reopen, _)| reopen),
                    Again::Phase(phase) => state.to_reopen(&Reopen::Phase(phase)).map(|found| {
                        restart = found.1;
                        found.0
                    }),
                    Again::Gates(phase) => state.to_check(phase.as_ref()).map(|found| {
                        check = found.1;
                        found.0
                    }),
                    Again::Nothing { phase, reason } => state.to_accept(&phase).inspect(|_| {
                        check = vec![phase];
                        accept = Some(reason);
                    }),
                };
                let reopen = reopen.map_err(EngineError::refused)?;
                let changed = |(plan, gate_files): (Plan, _)| -> Result<_, EngineError> {
                    let phases = state.to_replan(&plan, &restart).map_err(EngineError::refused)?;
                    Ok((!phases.is_empty()).then(|| Box::new(ChangedPlan { phases, gate_files })))
                };
                let plan = now.map(changed).transpose()?.flatten();
                Ok(JobEvent::JobResumed { by, reopen, restart, budget_usd, check, accept, plan })
            };
            jobs.take_up(&id, event).await
        })
    }

    /// The plan of a job as its file is now, with the files that its gates read as the job's base has them; `None` if the file is gone.
    async fn plan_now(&self, id: &JobId) -> Result<Option<(Plan, BTreeMap<String, String>)>, EngineError> {
        let spec = match job_record::state(self.services.journal().as_ref(), id).await?.active() {
            Some(active) => Arc::clone(&active.spec),
            None => return Ok(None),
        };
        let path = PathBuf::from(&spec.plan_path);
        if !tokio::fs::try_exists(&path).await.map_err(EngineError::environment)? {
            return Ok(None);
        }
        let request = SubmitRequest {
            project: Some(PathBuf::from(&spec.repo.path)),
            venv: spec.venv.as_ref().map(PathBuf::from),
            replaced: spec.replaced.clone(),
            is_confined: true,
            ..SubmitRequest::new(path, spec.origin.clone())
        };
        let go_on = "correct it, or go on with the plan of the job (`--keep-plan`)";
        let refused = |why: SubmitError| EngineError::refused(format!("the plan file cannot be taken: {why}; {go_on}"));
        let inspection = self.projects.inspect(&request, &Site::Repository, &[]).await.map_err(refused)?;
        let plan = inspection.job().map_err(refused)?.plan;
        let (git, of, base) = (self.projects.git.clone(), plan.clone(), spec.repo.base.clone());
        let top = PathBuf::from(&spec.repo.path);
        let files = helix_process::spawn_blocking(move || {
            let repository = Repository::open(&top, git).map_err(EngineError::environment)?;
            helix_gates::gate_files(&of, &repository, &base).map_err(EngineError::environment)
        });
        let files = files.await.map_err(EngineError::environment)??;
        Ok(Some((plan, files)))
    }

    /// Takes a delivery of a job that is over back; returns once that it is wanted is durable.
    ///
    /// # Errors
    /// As for [`Jobs::reopen`].
    pub fn roll_back(self: &Arc<Self>, id: &JobId, request: RollbackRequest) -> Pending<'static, JobView, EngineError> {
        let (jobs, id) = (Arc::clone(self), id.clone());
        self.to_its_end(async move {
            let RollbackRequest { phase, again, over, by } = request;
            if !over {
                jobs.check_newest(&id, phase.as_ref()).await?;
            }
            let event = |state: &JobState| {
                let found = state.to_roll_back(phase.as_ref(), again).map_err(EngineError::refused)?;
                let (phase, attempt, gate) = found;
                Ok(JobEvent::RollbackRequested { phase, attempt, gate, by, again, over })
            };
            jobs.take_up(&id, event).await
        })
    }

    /// Refuses to take back what another job has delivered over since: that would be lost without a word.
    async fn check_newest(&self, id: &JobId, phase: Option<&PhaseId>) -> Result<(), EngineError> {
        let view = self.get(id.as_str()).await?;
        let meant = view.deliveries.iter().filter(|one| phase.is_none_or(|phase| one.phase == *phase));
        let Some(meant) = meant.max_by_key(|one| one.at) else { return Ok(()) };
        let over = self.effects.delivered_over(&Target::of_view(&view, meant), meant.at).await;
        over.map_err(EngineError::of_fault)?.map_or(Ok(()), |why| Err(EngineError::refused(why)))
    }

    /// Does something to its end, also where the caller stops waiting for it: between what is done and its record nobody's
    /// connection counts.
    pub(super) fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Pending<'static, T, EngineError> {
        let task = self.services.tasks.spawn(work);
        Box::pin(async move { task.await.map_err(EngineError::environment)? })
    }

    /// Records an event of a job that is over, and carries it on.
    async fn take_up(
        self: &Arc<Self>,
        id: &JobId,
        event: impl FnOnce(&JobState) -> Result<JobEvent, EngineError> + Send,
    ) -> Result<JobView, EngineError> {
        let _turn = self.reopening.lock().await;
        let state = self.settled(id).await?;
        let event = event(&state).map_err(|refused| refused.of_job(id))?;
        // The person who resumes a job may just have repaired the agent's configuration.
        let (root, job, config) = (self.services.state.root().to_path_buf(), id.clone(), Arc::clone(&self.config));
        let top = state.active().map(|active| PathBuf::from(&active.spec.repo.path));
        let renewed = helix_process::spawn_blocking(move || {
            let workspace = top.map_or(Ok(Workspace::default()), |top| workspace_of(&config.workspaces, &top));
            let workspace = workspace.map_err(|refusal| EngineError::refused(refusal.to_string()))?;
            let now = Configured { agents: config.agents.clone(), workspace };
            renew_configured(&root, &job, now).map_err(EngineError::journal)
        });
        renewed.await.map_err(EngineError::journal)??;
        let log = self.record_over(id, state, event).await?;
        self.start_loop(id.clone(), log.state, HashMap::new());
        self.get(id.as_str()).await
    }

    /// A job that is over and cleaned up; the caller holds [`Jobs::reopening`].
    pub(super) async fn settled(&self, id: &JobId) -> Result<JobState, EngineError> {
        let view = self.get(id.as_str()).await?;
        // The loop of a job that has just ended removes its worktrees first.
        loop {
            let settled = self.settled.notified();
            let Some(handle) = self.handle(id) else { break };
            if let Some(broken) = handle.broken() {
                return Err(EngineError::refused(broken.line()));
            }
            if !view.status.is_final() {
                return Err(EngineError::refused(ReopenError::Running).of_job(id));
            }
            settled.await;
        }
        job_record::state(self.services.journal().as_ref(), &view.id).await
    }

    /// Records an event of a job that has no loop.
    pub(super) async fn record_over(
        &self,
        id: &JobId,
        state: JobState,
        event: JobEvent,
    ) -> Result<JobLog, EngineError> {
        let mut log = JobLog::new(id.clone(), state, self.services.writer.clone());
        match log.record(event, &self.services.closing).await.map_err(EngineError::journal)? {
            Record::Done => Ok(log),
            Record::Stale(illegal) => Err(EngineError::refused(illegal.why)),
        }
    }
}
