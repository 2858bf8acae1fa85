//! What a job, a phase or an attempt changed: between which commits that lies, and the patch.
//!
//! Must not judge anything.

use helix_core::ids::{CommitId, JobId, PhaseId, TreeId};
use helix_job::{Active, Integration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::examiner::judged;
use crate::error::EngineError;
use helix_git::{GitError, Repository};

/// Most of a difference that is given, in bytes.
const MAX_PATCH: usize = 8 << 20;

/// Which difference is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffSelection {
    /// A phase; the whole job where absent.
    pub phase: Option<PhaseId>,
    /// One of its attempts, from 1: what it changed since the attempt before it, or since the phase's base.
    pub attempt: Option<u32>,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Which job.
    pub job: JobId,
    /// Which phase, if not the whole job.
    pub phase: Option<PhaseId>,
    /// Which attempt of it.
    pub attempt: Option<u32>,
    /// From this commit.
    pub from: CommitId,
    /// To this one.
    pub to: CommitId,
    /// In git's form, cut at a line's end where it is very large.
    pub patch: String,
    /// Bytes that were cut off.
    pub cut: usize,
}

/// A file that a job changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    pub path: String,
    /// Its text before; `None` where it was not there.
    pub old: Option<String>,
    /// Its text now; `None` where it is gone.
    pub new: Option<String>,
}

/// Text files that a job as a whole changed, in path order: at most so many, and none larger than so many bytes. And how many changed
/// files are not among them.
///
/// # Errors
/// There is no result, or git failed.
pub(super) fn texts(
    active: &Active,
    repository: &Repository,
    most: usize,
    largest: usize,
) -> Result<(Vec<ChangedText>, usize), EngineError> {
    let (from, to) = ends(active, &DiffSelection::default())?;
    let tree = |commit: &CommitId| repository.commit(commit.as_str()).map(|commit| commit.tree);
    let (from, to) = (tree(&from).map_err(EngineError::environment)?, tree(&to).map_err(EngineError::environment)?);
    let changes = repository.changes(&from, &to).map_err(EngineError::environment)?;
    let (all, mut found) = (changes.len(), Vec::new());
    for changed in changes {
        if found.len() == most {
            break;
        }
        let text = |tree: &TreeId| text(repository, tree, &changed.path, largest).map_err(EngineError::environment);
        if let (Some(old), Some(new)) = (text(&from)?, text(&to)?) {
            found.push(ChangedText { path: changed.path, old, new });
        }
    }
    let left_out = all - found.len();
    Ok((found, left_out))
}

/// What a file of a tree holds, if it is there; `None` where it is no text, or too large.
fn text(
    repository: &Repository,
    tree: &TreeId,
    path: &str,
    largest: usize,
) -> Result<Option<Option<String>>, GitError> {
    let listing = repository.listing(tree)?;
    let Some(entry) = listing.get(path) else { return Ok(Some(None)) };
    if !entry.kind.is_file() || repository.size(&entry.object)? > largest {
        return Ok(None);
    }
    let text = String::from_utf8(repository.blob(&entry.object)?).ok();
    Ok(text.filter(|text| !text.contains('\0')).map(Some))
}

/// The difference that is selected.
///
/// # Errors
/// There is no such result (yet), or git failed.
pub(super) fn between(
    job: &JobId,
    active: &Active,
    repository: &Repository,
    selection: DiffSelection,
) -> Result<Difference, EngineError> {
    let (from, to) = ends(active, &selection)?;
    let patch = repository.patch(&from, &to, &[], MAX_PATCH).map_err(EngineError::environment)?;
    let DiffSelection { phase, attempt } = selection;
    Ok(Difference { job: job.clone(), phase, attempt, from, to, patch: patch.text, cut: patch.cut })
}

/// The commits between which a selection lies.
pub(super) fn ends(active: &Active, selection: &DiffSelection) -> Result<(CommitId, CommitId), EngineError> {
    let Some(id) = &selection.phase else {
        return match (&active.integration, selection.attempt) {
            (_, Some(_)) => Err(EngineError::refused("an attempt belongs to a phase: name the phase too")),
            (Integration::Done(done), None) => Ok((active.spec.repo.base.clone(), done.result.commit.clone())),
            (Integration::Open | Integration::Failed(_), None) => Err(EngineError::refused(
                "the job has no result as a whole (yet): name a phase to see what that changed",
            )),
        };
    };
    let progress = active.progress(id).ok_or_else(|| {
        let phases = active.phases.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
        EngineError::refused(format!("the job has no phase {id}; it has: {phases}"))
    })?;
    let Some(attempt) = selection.attempt else {
        let (this, result) = judged(progress)
            .or_else(|| progress.attempts.iter().rev().find_map(|one| Some((one, one.result.as_ref()?))))
            .ok_or_else(|| EngineError::refused(format!("phase {id} has no result (yet)")))?;
        return Ok((this.begin.base.clone(), result.commit.clone()));
    };
    let this = progress.attempts.iter().find(|one| one.begin.attempt == attempt).ok_or_else(|| {
        let numbers = progress.attempts.iter().map(|one| one.begin.attempt.to_string()).collect::<Vec<_>>().join(", ");
        EngineError::refused(format!("phase {id} has no attempt {attempt}; it has: {numbers}"))
    })?;
    let result = this
        .result
        .as_ref()
        .ok_or_else(|| EngineError::refused(format!("attempt {attempt} of phase {id} has no result (yet)")))?;
    let before = progress
        .attempts
        .iter()
        .take_while(|one| one.begin.attempt < attempt)
        .filter(|one| one.begin.base == this.begin.base);
    let before = before.filter_map(|one| one.result.as_ref()).last().map(|result| result.commit.clone());
    Ok((before.unwrap_or_else(|| this.begin.base.clone()), result.commit.clone()))
}
