//! Commits what attempts leave in their worktrees, and removes these when the job is over.
//!
//! Must not remove the only copy of anything: a worktree whose work is in no commit stays.

use helix_core::evidence::Committed;
use helix_core::finding::{Fault, FaultKind, Finding};
use helix_core::ids::JobId;
use helix_job::{JobEvent, JobState};
use helix_language::{RECORD, fault, finding, recorded};
use helix_plan::Phase;

use super::effects::{AttemptContext, EffectRunner, blocking};
use super::unsaved::{commit_text, kept_in, unsaved};
use helix_git::{AttemptCommit, GitError};

/// Most files that are named to an agent that was to change none.
const MOST_UNASKED: usize = 20;

impl EffectRunner {
    /// Removes the worktrees of a job that is over; its branches stay. Nothing of the job may be under way any more. What an
    /// attempt has left that could not be committed is committed now; where that still cannot be, its worktree stays.
    pub(super) async fn remove_worktrees(&self, job: &JobId, state: &JobState) {
        let Some(active) = state.active() else { return };
        self.shared.checkouts.end(job, None).await;
        let removed = async {
            let spaces = self.workspaces(&active.spec).await?;
            let unsaved = unsaved(job, active);
            let job = job.clone();
            blocking(move || {
                let mut kept = Vec::new();
                for one in unsaved {
                    if let Err(error) = spaces.rescue_attempt(&one.key, &one.base, &one.start, &one.text) {
                        let worktree = one.key.directory(spaces.root());
                        tracing::warn!(%error, ?worktree, "what an attempt has left cannot be committed: it stays where it is");
                        kept.push(one.key);
                    }
                }
                spaces.remove_job(&job, &kept)
            })
            .await
        };
        if let Err(error) = removed.await {
            tracing::warn!(%job, message = error.message, "worktrees are left");
        }
        self.let_go(&active.spec).await;
    }

    pub(super) async fn commit_result(&self, at: AttemptContext<'_>) -> Result<JobEvent, Fault> {
        match self.try_commit(at).await {
            Ok(AttemptCommit { committed: result, repairs, mut findings, runs_by_itself }) => {
                findings.extend(unasked(at.phase, &result));
                Ok(JobEvent::ResultCommitted {
                    phase: at.phase.id.clone(),
                    attempt: at.attempt.begin.attempt,
                    result,
                    repairs: repairs.iter().map(|one| RECORD.words(one)).collect(),
                    repairs_said: repairs,
                    findings,
                    runs_by_itself,
                })
            }
            Err(fault) => {
                let worktree = at.key().directory(&self.state().worktrees());
                Err(if worktree.exists() { kept_in(&worktree, fault) } else { fault })
            }
        }
    }

    async fn try_commit(&self, at: AttemptContext<'_>) -> Result<AttemptCommit, Fault> {
        let (key, this) = (at.key(), at.attempt);
        let spaces = self.workspaces(&at.active.spec).await?;
        let (text, base, start) =
            (commit_text(at.phase, &at.active.spec), this.begin.base.clone(), this.begin.start.clone());
        let path = key.directory(spaces.root());
        let made = blocking(move || spaces.commit_attempt(&key, &base, &start, &text)).await?;
        let is_gone = made.repairs.iter().any(|one| one.says("repair-worktree-gone"));
        if this.taken_up && is_gone {
            return Err(fault(FaultKind::Environment, recorded!("fault-work-gone")));
        }
        // Nothing that the agent did is left: that is no result, not even one without changes.
        if is_gone && made.committed.commit == this.begin.start {
            return Err(GitError::WorktreeGone { path }.fault());
        }
        Ok(made)
    }
}

/// Files of a phase that is to answer with phases alone: nothing would look at them.
fn unasked(phase: &Phase, result: &Committed) -> Vec<Finding> {
    let is_checked = !phase.outputs.is_empty() || !phase.gates.is_empty() || phase.verify.is_some();
    if phase.generates_phases.is_none() || is_checked {
        return Vec::new();
    }
    let unasked = |path: &str| {
        let message = recorded!("result-unasked", path = path);
        finding("outputs.outside", message).at(path, None, None)
    };
    result.changed.iter().take(MOST_UNASKED).map(|file| unasked(&file.path)).collect()
}
