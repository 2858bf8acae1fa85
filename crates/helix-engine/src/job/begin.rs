//! Work places: of an attempt, made before it is recorded as begun; of those who only look; and what they have besides their files.
//!
//! Must not know what is done in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::finding::Fault;
use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_job::Active;
use helix_process::{Prepared, ToolEnvironment};
use helix_workspace::{SetupFailure, Wanted, Workspace};
use tokio_util::sync::CancellationToken;

use super::base::{base_of, marked_base};
use super::effects::{Beginning, EffectRunner, Stopped, blocking, blocking_fault, phase_of};
use super::inputs::check_inputs;
use helix_git::{AttemptKey, Fitting, MergeConflict};

/// What a work place was given.
pub(super) struct Given {
    pub(super) prepared: Prepared,
    /// The same for checkouts that its agent makes itself.
    pub(super) link: Workspace,
}

impl EffectRunner {
    /// Makes an attempt's work place; the commits at which its work and its result start.
    pub(super) async fn begin_attempt(
        &self,
        job: &JobId,
        active: &Active,
        Beginning { phase, attempt, parents, after }: Beginning<'_>,
        cancel: &CancellationToken,
    ) -> Result<Result<(CommitId, CommitId), MergeConflict>, Stopped> {
        let spaces = self.workspaces(&active.spec).await?;
        let key = AttemptKey { job: job.clone(), phase: phase.clone(), attempt };
        let (origin, inputs) = (active.spec.repo.base.clone(), phase_of(active, phase)?.inputs.clone());
        let resolves = active.conflict(phase).cloned();
        let (of, id) = (spaces.clone(), phase.clone());
        let started = blocking_fault(move || {
            let (start, base) = match (after, resolves) {
                (Some((start, base)), _) => (start, base),
                (None, Some(conflict)) => {
                    let base = marked_base(of.repository(), &conflict, &parents)?;
                    (base.clone(), base)
                }
                (None, None) => match base_of(of.repository(), &id, &parents, origin)? {
                    Ok(base) => (base.clone(), base),
                    Err(conflict) => return Ok(Err(conflict)),
                },
            };
            check_inputs(of.repository(), &base, &inputs)?;
            Ok(Ok((start, base)))
        });
        let (start, base) = match started.await? {
            Ok(started) => started,
            Err(conflict) => return Ok(Err(conflict)),
        };
        // Before anything of it is recorded, and before an agent costs anything.
        let fitting = match self.preparation(job, active, phase, (&start, &base), cancel).await? {
            Ok(fitting) => fitting,
            // What the last attempt left cannot be set up, and this one is to repair that: it gets what there was before.
            Err(fault) if start == base => return Err(fault.into()),
            Err(_) => self.preparation(job, active, phase, (&base, &base), cancel).await??,
        };
        let (commit, spaces) = (start.clone(), spaces.until(cancel));
        let made = blocking(move || {
            let tree = spaces.prepare_attempt(&key, &commit)?;
            fitting.map(|fitting| spaces.fit(&tree.path, &fitting)).transpose()
        });
        match made.await {
            Err(_) if cancel.is_cancelled() => Err(Stopped::Unwanted),
            made => made.map(|_| Ok((start, base))).map_err(Stopped::Fault),
        }
    }

    /// A checkout of a commit for somebody who only looks at it, under a name of its own, with what it has besides.
    pub(super) async fn checkout_to_read(
        &self,
        job: &JobId,
        active: &Active,
        phase: &PhaseId,
        name: String,
        (commit, base): (&CommitId, &CommitId),
    ) -> Result<(PathBuf, Option<Prepared>), Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let fitting = self.preparation(job, active, phase, (commit, base), &self.shared.host.closing).await;
        let fitting = match fitting {
            Ok(Ok(fitting)) => fitting,
            // Gates judge whether the result can be set up; who only reads does so without.
            Ok(Err(fault)) | Err(Stopped::Fault(fault)) => {
                tracing::info!(%job, message = fault.message, "a reviewer looks at files that are not set up");
                None
            }
            Err(Stopped::Unwanted) => None,
        };
        let (job, commit) = (job.clone(), commit.clone());
        blocking(move || {
            let directory = spaces.checkout_to_read(&job, &name, &commit)?;
            let prepared = fitting.map(|fitting| spaces.fit(&directory, &fitting)).transpose()?;
            Ok((directory, prepared))
        })
        .await
    }

    /// What an attempt's work place was given, with what runs beside its agent.
    pub(super) async fn prepared_for(
        &self,
        job: &JobId,
        active: &Active,
        place: &Path,
    ) -> Result<Option<Given>, Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let (path, workspace) = (place.to_path_buf(), self.configured(job).await?.workspace);
        let fitted = blocking(move || spaces.fitted(&path)).await?;
        Ok(fitted.map(|(prepared, fitting)| {
            let link = workspace.seen_from(place, fitting.entries);
            Given { prepared: prepared.beside(workspace.beside()), link }
        }))
    }

    /// How work places of a job are prepared.
    pub(super) async fn workspace_of(&self, job: &JobId) -> Result<Arc<Workspace>, Fault> {
        Ok(Arc::new(self.configured(job).await?.workspace))
    }

    /// What a work place gets that has a commit, of a phase that began at another one; else why what an agent left cannot be set up.
    async fn preparation(
        &self,
        job: &JobId,
        active: &Active,
        phase: &PhaseId,
        (commit, base): (&CommitId, &CommitId),
        cancel: &CancellationToken,
    ) -> Result<Result<Option<Fitting>, Fault>, Stopped> {
        let (spaces, phase) = (self.workspaces(&active.spec).await?, phase_of(active, phase)?);
        let workspace = self.workspace_of(job).await?;
        let environment: ToolEnvironment = self.tool_environment(job, active, phase).await?;
        let prepared = self.shared.preparations.of(Wanted {
            spaces: &spaces,
            workspace: &workspace,
            commit,
            origin: &active.spec.repo.base,
            base,
            environment: environment.without_venv(),
            network: phase.network.unwrap_or_else(|| self.runner().supervisor().sandbox().network),
            cancel,
        });
        match prepared.await {
            Ok(fitting) => Ok(Ok(fitting)),
            Err(SetupFailure::Refused { fault, .. }) => Ok(Err(fault)),
            Err(SetupFailure::Fault(fault)) => Err(fault.into()),
            Err(SetupFailure::Cancelled) => Err(Stopped::Unwanted),
        }
    }
}
