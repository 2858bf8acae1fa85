//! A place to look at a result with one's own programs: a copy of it that nobody else uses.
//!
//! Must not give anybody the work place of an agent: what an agent wrote into its git runs for whoever enters it.

use std::path::{Path, PathBuf};

use helix_core::ids::{CommitId, JobId, PhaseId};
use helix_git::{Repository, Workspaces};
use helix_job::Active;

use super::DiffSelection;
use super::difference::ends;
use crate::error::EngineError;

/// A copy of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPlace {
    pub path: PathBuf,
    pub commit: CommitId,
}

/// Makes a copy of the last result of a phase, or of one of its attempts; anew if it is there.
///
/// # Errors
/// There is no such result (yet), or git failed.
pub(super) fn result_place(
    job: &JobId,
    active: &Active,
    repository: &Repository,
    state: &Path,
    (phase, attempt): (PhaseId, Option<u32>),
) -> Result<ResultPlace, EngineError> {
    let name = format!("shell.{phase}");
    let (_, commit) = ends(active, &DiffSelection { phase: Some(phase), attempt })?;
    let spaces = Workspaces::new(repository.user().clone(), state).map_err(EngineError::environment)?;
    let path = spaces.checkout_to_read(job, &name, &commit).map_err(EngineError::environment)?;
    Ok(ResultPlace { path, commit })
}
