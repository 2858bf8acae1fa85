//! What a new host does with the jobs of former ones: carries them on, and removes the worktrees that none of them needs.
//!
//! Must not touch the worktree of a job that is not over, nor the only copy of what an attempt has done.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{JobId, RunId};
use helix_git::{AttemptKey, Workspaces, wait_for_leftovers};
use helix_job::{JobState, PhaseProgress, PhaseState, Stage};
use helix_store::JobFilter;

use super::Jobs;
use crate::error::EngineError;
use crate::job::side_runs;
use crate::job_record;

/// How long a new host waits for git processes of a dead one.
const GIT_LEFTOVER_LIMIT: Duration = Duration::from_secs(30);

impl Jobs {
    /// Folds every unfinished job and carries it on; removes what no job needs any more. `others` are runs that are not of jobs
    /// and may be under way.
    pub(crate) async fn recover(self: &Arc<Self>, others: Vec<RunId>) -> Result<(), EngineError> {
        // Git processes of a dead host are let finish: half of what they began is worse than waiting for it.
        let root = self.services.state.root().to_path_buf();
        let waited = helix_process::spawn_blocking(move || wait_for_leftovers(&root, GIT_LEFTOVER_LIMIT));
        let left = waited.await.map_err(EngineError::environment)?;
        if left > 0 {
            tracing::warn!(left, "git processes of a former host do not end; going on beside them");
        }
        let (mut living, mut states) = (BTreeSet::new(), Vec::new());
        let unfinished = self.list(JobFilter::unfinished()).await?;
        for job in &unfinished.unreadable {
            tracing::error!(%job, "this job's record cannot be read; it is left alone");
            living.insert(job.clone());
            self.effects.leave_alone(job);
        }
        for view in unfinished.jobs {
            living.insert(view.id.clone());
            match job_record::state(self.services.journal().as_ref(), &view.id).await {
                Ok(state) => {
                    tracing::info!(job = %view.id, events = view.last_event, "carrying on");
                    states.push((view.id, state));
                }
                Err(EngineError::Contradiction { job, source }) => {
                    tracing::error!(%job, error = %source, "this job's record contradicts itself; it is left alone");
                    self.effects.leave_alone(&job);
                }
                Err(error) if error.is_of_one_record() => {
                    let error = helix_core::error_chain(&error);
                    tracing::error!(job = %view.id, error, "this job's record cannot be read; it is left alone");
                    self.effects.leave_alone(&view.id);
                }
                Err(error) => return Err(error),
            }
        }
        let mut runs = others;
        for (id, state) in &states {
            runs.extend(open_runs(state));
            runs.extend(open_side_runs(id, state));
            runs.push(RunId::for_gates(id));
        }
        match self.services.runner.sweep(&runs).await {
            Ok(report) => tracing::debug!(?report, "swept runs that nobody keeps"),
            Err(error) => tracing::warn!(%error, "runs that nobody keeps may be left"),
        }
        // Before anybody can go on with a job: what is resumed in a moment must not find its worktree half deleted.
        self.set_worktrees_aside(living).await;
        // All of them before any begins: who comes first must not take the place of an agent that lives.
        let places: Vec<_> = states.iter().map(|(id, state)| self.effects.occupied(id, state)).collect();
        for ((id, state), places) in states.into_iter().zip(places) {
            self.start_loop(id, state, places);
        }
        self.services.tasks.spawn(Arc::clone(self).record_reverts());
        Ok(())
    }

    /// Moves the worktrees of jobs that are over out of the way, and deletes them beside the work. What cannot be removed is no
    /// reason not to start.
    async fn set_worktrees_aside(&self, living: BTreeSet<JobId>) {
        let root = self.services.state.root().to_path_buf();
        let set_aside = async {
            let unsaved = self.unsaved_attempts(&root, &living).await?;
            let state = root.clone();
            let set_aside = move || Workspaces::set_aside(&state, &living, &unsaved).map_err(EngineError::environment);
            helix_process::spawn_blocking(set_aside).await.map_err(EngineError::environment)?
        };
        match set_aside.await {
            Ok(done) if done.removed.is_empty() && done.stuck.is_empty() => {}
            Ok(done) => tracing::info!(?done, "removed worktrees of jobs that are over"),
            Err(error) => tracing::warn!(%error, "worktrees of jobs that are over are left"),
        }
        self.services.tasks.spawn_blocking(move || {
            if let Err(error) = Workspaces::empty_trash(&root) {
                tracing::warn!(%error, "worktrees of jobs that are over are left in the trash");
            }
        });
    }

    /// Attempts of jobs that are over whose work may be in no commit.
    async fn unsaved_attempts(&self, root: &Path, living: &BTreeSet<JobId>) -> Result<Vec<AttemptKey>, EngineError> {
        let mut unsaved = Vec::new();
        for job in
            Workspaces::jobs(root).map_err(EngineError::environment)?.into_iter().filter(|job| !living.contains(job))
        {
            let state = match job_record::state(self.services.journal().as_ref(), &job).await {
                Ok(state) => state,
                // A job whose record contradicts itself is none that could go on.
                Err(EngineError::Contradiction { .. }) => continue,
                Err(error) => return Err(error),
            };
            let of_job = state.active().into_iter().flat_map(|active| crate::job::unsaved(&job, active));
            unsaved.extend(of_job.map(|one| one.key));
        }
        Ok(unsaved)
    }
}

/// Runs of a job whose end is not in the journal yet.
fn open_runs(state: &JobState) -> impl Iterator<Item = RunId> {
    let attempts = state.active().into_iter().flat_map(|active| &active.phases).flat_map(|progress| &progress.attempts);
    attempts.filter(|one| one.run_end.is_none() && one.fault.is_none()).map(|one| one.begin.run.clone())
}

/// Runs of reviewers and advisers whose answer is not in the journal yet.
fn open_side_runs(job: &JobId, state: &JobState) -> Vec<RunId> {
    let Some(active) = state.active() else { return Vec::new() };
    let first = |progress: &PhaseProgress| match progress.state {
        PhaseState::Working { stage: Stage::Reviewing { gate, round } } => {
            Some(RunId::for_review(job, &progress.id, progress.attempts.len() as u32, gate, round))
        }
        PhaseState::Escalating { round, .. } => Some(RunId::for_advice(job, &progress.id, round)),
        _ => None,
    };
    active.phases.iter().filter_map(first).flat_map(|run| side_runs(&run, &active.spec.policy)).collect()
}
