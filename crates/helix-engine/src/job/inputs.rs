//! Whether what a phase needs is in the commit that it starts from.
//!
//! Must not know the disk: a file exists when the commit has it.

use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::CommitId;
use helix_language::{fault, recorded};

use helix_gates::Pattern;
use helix_git::{Repository, TreeListing};

/// The inputs that a tree does not hold.
pub(crate) fn missing_inputs<'i>(listing: &TreeListing, inputs: &'i [String]) -> Vec<&'i str> {
    let missing = inputs.iter().filter(|input| {
        let pattern = Pattern::new(input);
        !listing.keys().any(|path| pattern.matches(path))
    });
    missing.map(String::as_str).collect()
}

/// The fault that keeps an attempt from starting on a commit without some of its inputs.
pub(super) fn check_inputs(repository: &Repository, commit: &CommitId, inputs: &[String]) -> Result<(), Fault> {
    if inputs.is_empty() {
        return Ok(());
    }
    let listing = repository.commit(commit.as_str()).and_then(|commit| repository.listing(&commit.tree));
    let listing = listing.map_err(|error| error.fault())?;
    let missing = missing_inputs(&listing, inputs);
    if missing.is_empty() {
        return Ok(());
    }
    Err(fault(FaultKind::NothingChecked, recorded!("fault-inputs", paths = missing.join(", "))))
}
