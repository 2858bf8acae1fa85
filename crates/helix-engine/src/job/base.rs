//! Where a phase starts: the results that it builds on put together, and what is made of those that contradict each other.
//!
//! Must not know what the phase does there.

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{CommitId, PhaseId};
use helix_job::{Active, Conflict, JobEvent, Tip};
use helix_language::{fault_with_hint, recorded};

use helix_git::{MergeConflict, Merged, Repository};

/// Conflicts of one job that are brought together by agents; more means that the plan's phases overlap everywhere.
const MAX_CONFLICTS: usize = 10;

/// What is recorded of a conflict; `None` when it is one that was to be resolved already, or one too many. A phase may meet one
/// that another phase has met: both then wait for the same resolution.
pub(super) fn conflict_event(active: &Active, phase: Option<&PhaseId>, conflict: &MergeConflict) -> Option<JobEvent> {
    let between: Vec<PhaseId> = conflict.ours.iter().chain([&conflict.theirs]).cloned().collect();
    let resolves = match active.conflicts.iter().find(|known| known.between == between) {
        None => active.conflicts.len() < MAX_CONFLICTS,
        Some(known) => phase
            .and_then(|phase| active.spec.plan.phase(phase))
            .is_some_and(|phase| !phase.depends_on.contains(&known.phase)),
    };
    if !resolves || active.cancel.is_some() {
        return None;
    }
    Some(JobEvent::ConflictFound { phase: phase.cloned(), between, paths: conflict.paths.clone() })
}

pub(super) fn unresolved(phase: &PhaseId, conflict: &MergeConflict) -> Fault {
    let words = conflict.words();
    let message = recorded!("result-cannot-start", phase = phase.as_str(), why = &words);
    fault_with_hint(FaultKind::NothingChecked, message, words.hint())
}

/// Where the phase that resolves a conflict starts: a merge with conflict markers.
pub(super) fn marked_base(repository: &Repository, conflict: &Conflict, parents: &[Tip]) -> Result<CommitId, Fault> {
    let tip = |id: &PhaseId| parents.iter().find(|tip| &tip.phase == id).cloned();
    let tips: Vec<Tip> = conflict.between.iter().filter_map(tip).collect();
    let message = format!("Merge conflicting results (conflicts resolved by {})", conflict.phase);
    Ok(repository.merge_marked(&tips, &message).map_err(|error| error.fault())?.id)
}

/// Where a phase starts: the job's base, or its dependencies' results put together.
pub(super) fn base_of(
    repository: &Repository,
    phase: &PhaseId,
    parents: &[Tip],
    origin: CommitId,
) -> Result<Result<CommitId, MergeConflict>, Fault> {
    if parents.is_empty() {
        return Ok(Ok(origin));
    }
    let message = format!("Combine what {phase} builds on");
    match repository.merge_tips(parents, &message).map_err(|error| error.fault())? {
        Merged::Contained(commit) | Merged::Combined(commit) => Ok(Ok(commit.id)),
        Merged::Conflict(conflict) => Ok(Err(conflict)),
    }
}
