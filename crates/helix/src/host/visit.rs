//! Who is at a terminal and counts on the host: as long as somebody is, a host that would leave by itself stays.
//!
//! Must not know what they do. A lock that the system takes away with its process needs no clearing up.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use helix_store::StateDir;
use rustix::fs::{FlockOperation, flock};

/// The file that visitors share a lock on.
const FILE: &str = "visitors";

/// Somebody counts on the host until this is dropped.
#[derive(Debug)]
pub(crate) struct Visit(#[expect(dead_code, reason = "it holds a lock")] File);

impl Visit {
    /// Says that somebody is here.
    ///
    /// # Errors
    /// The state directory cannot be written.
    pub(crate) fn begin(state: &StateDir) -> std::io::Result<Self> {
        let file = open(state)?;
        flock(&file, FlockOperation::LockShared)?;
        Ok(Self(file))
    }
}

/// Whether somebody counts on the host of this directory; where that cannot be seen, nobody does.
pub(super) fn is_visited(state: &StateDir) -> bool {
    let Ok(file) = open(state) else { return false };
    // A visitor who comes now waits for as long as this looks.
    flock(&file, FlockOperation::NonBlockingLockExclusive).is_err_and(|error| error == rustix::io::Errno::WOULDBLOCK)
}

fn open(state: &StateDir) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(state.root().join(FILE))
}

#[cfg(test)]
#[path = "visit_test.rs"]
mod tests;
