//! What a new host does with the worktrees that former ones have left: those that no job needs are out of the way before any job
//! goes on, and deleted beside the work.
//!
//! Must not touch the worktree of a job that is not over, nor the only copy of what an attempt has done.

use std::collections::BTreeSet;

use helix_core::ids::JobId;
use helix_job::JobState;

use crate::engine::{Engine, EngineError, environment_error, journal_error};
use helix_git::{AttemptKey, Workspaces};

impl Engine {
    /// Moves the worktrees of jobs that are over out of the way, and deletes them beside the work. What cannot be removed is no
    /// reason not to start.
    pub(crate) async fn set_worktrees_aside(&self, living: BTreeSet<JobId>) {
        let root = self.inner.state.worktrees();
        let set_aside = async {
            let unsaved = self.unsaved_attempts(&root, &living).await?;
            let worktrees = root.clone();
            let set_aside = move || Workspaces::set_aside(&worktrees, &living, &unsaved).map_err(environment_error);
            tokio::task::spawn_blocking(set_aside).await.map_err(environment_error)?
        };
        match set_aside.await {
            Ok(done) if done.removed.is_empty() && done.stuck.is_empty() => {}
            Ok(done) => tracing::info!(?done, "removed worktrees of jobs that are over"),
            Err(error) => tracing::warn!(%error, "worktrees of jobs that are over are left"),
        }
        self.inner.tasks.spawn_blocking(move || {
            if let Err(error) = Workspaces::empty_trash(&root) {
                tracing::warn!(%error, "worktrees of jobs that are over are left in the trash");
            }
        });
    }

    /// Attempts of jobs that are over whose work may be in no commit.
    async fn unsaved_attempts(
        &self,
        root: &std::path::Path,
        living: &BTreeSet<JobId>,
    ) -> Result<Vec<AttemptKey>, EngineError> {
        let mut unsaved = Vec::new();
        for job in Workspaces::jobs(root).map_err(environment_error)?.into_iter().filter(|job| !living.contains(job)) {
            let events = helix_store::job_events(self.inner.journal.as_ref(), &job, 0).await.map_err(journal_error)?;
            // A job that is not in this journal, or whose record contradicts itself, is none that could go on.
            let Ok(state) = JobState::fold(&events) else { continue };
            for progress in state.active().into_iter().flat_map(|active| &active.phases) {
                let key = |attempt| AttemptKey { job: job.clone(), phase: progress.id.clone(), attempt };
                unsaved.extend(progress.unsaved().map(|one| key(one.number)));
            }
        }
        Ok(unsaved)
    }
}
