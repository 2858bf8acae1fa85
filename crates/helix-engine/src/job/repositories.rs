//! The repositories that jobs work in, each with one set of long-lived git processes as long as something needs them, and what of
//! them is open to whoever works in them.
//!
//! Must not know what is done in them.

use std::path::PathBuf;

use helix_agents::Walls;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::CommitId;
use helix_job::{Active, Committed, JobSpec};
use helix_plan::Phase;

use super::effects::{EffectRunner, blocking, blocking_fault};
use crate::mutex::lock;
use crate::work_gates::committed;
use helix_git::{Repository, Workspaces};

impl EffectRunner {
    /// The worktrees of a job's repository, as it is at its path now.
    pub(crate) async fn workspaces(&self, spec: &JobSpec) -> Result<Workspaces, Fault> {
        self.workspaces_at(PathBuf::from(&spec.repo.path)).await
    }

    /// The worktrees of the repository at a path.
    pub(super) async fn workspaces_at(&self, path: PathBuf) -> Result<Workspaces, Fault> {
        let known = lock(&self.shared.workspaces).get(&path).cloned();
        let (environment, state) = (self.shared.git.clone(), self.state().root().to_path_buf());
        let spaces = blocking_fault({
            let (path, known) = (path.clone(), known.clone());
            move || {
                if let Some(known) = known.filter(|known| known.repository().is_still_there()) {
                    return Ok(known);
                }
                let repository = Repository::open(&path, environment).map_err(|error| Fault {
                    kind: FaultKind::Environment,
                    message: error.to_string(),
                    hint: error.hint(),
                    said: None,
                })?;
                Workspaces::new(repository, &state).map_err(|error| error.fault())
            }
        })
        .await?;
        let is_known = |other: &Workspaces| known.as_ref().is_some_and(|known| known.is(other));
        if is_known(&spaces) {
            return Ok(spaces);
        }
        let mut all = lock(&self.shared.workspaces);
        if let Some(faster) = all.get(&path).filter(|other| !is_known(other)) {
            return Ok(faster.clone());
        }
        all.insert(path, spaces.clone());
        Ok(spaces)
    }

    /// Ends the long-lived git processes of a repository unless something works in it at this moment; they are started again when
    /// they are needed.
    pub(super) async fn let_go(&self, spec: &JobSpec) {
        let unused = {
            let mut all = lock(&self.shared.workspaces);
            let path = PathBuf::from(&spec.repo.path);
            let unused = all.get(&path).is_some_and(|spaces| !spaces.is_shared());
            unused.then(|| all.remove(&path)).flatten()
        };
        // Waits for the processes' end.
        if let Err(error) = helix_process::spawn_blocking(move || drop(unused)).await {
            tracing::warn!(%error, "git processes of a repository may be left");
        }
    }

    /// A commit as the result of work that began at another one.
    pub(super) async fn committed(
        &self,
        active: &Active,
        base: &CommitId,
        commit: &CommitId,
        branch: String,
    ) -> Result<Committed, Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let (base, commit) = (base.clone(), commit.clone());
        blocking(move || committed(spaces.repository(), &base, &commit, branch)).await
    }

    /// What who works for this phase may reach of the repository and the network, besides its own work place.
    pub(super) async fn walls(&self, active: &Active, phase: &Phase) -> Result<Walls, Fault> {
        let spaces = self.workspaces(&active.spec).await?;
        let readable = blocking(move || spaces.readable()).await?;
        let network = phase.network.unwrap_or_else(|| self.runner().supervisor().sandbox().network).into();
        Ok(Walls { readable, network, ..Walls::default() })
    }
}
