//! Whether what a phase needs is in the commit that it starts from.
//!
//! Must not know the disk: a file exists when the commit has it.

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::CommitId;

use helix_gates::Pattern;
use helix_git::{GitError, Repository};

/// The inputs that a commit does not hold.
pub(crate) fn missing_inputs(
    repository: &Repository,
    commit: &CommitId,
    inputs: &[String],
) -> Result<Vec<String>, GitError> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let listing = repository.listing(&repository.commit(commit.as_str())?.tree)?;
    let missing = inputs.iter().filter(|input| {
        let pattern = Pattern::new(input);
        !listing.keys().any(|path| pattern.matches(path))
    });
    Ok(missing.cloned().collect())
}

/// As [`missing_inputs`], as the fault that keeps an attempt from starting.
pub(crate) fn check_inputs(repository: &Repository, commit: &CommitId, inputs: &[String]) -> Result<(), Fault> {
    let missing = missing_inputs(repository, commit, inputs).map_err(|error| error.fault())?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault {
        kind: FaultKind::NothingChecked,
        message: format!("inputs are missing from the commit the phase starts from: {}", missing.join(", ")),
        hint: Some("let an earlier phase claim them as outputs, or commit them first".into()),
    })
}
