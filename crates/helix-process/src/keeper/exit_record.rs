//! The last thing a keeper does: the record of the end, whole or absent, in space that was set aside before the start.
//!
//! Must not know how the run was kept.

use std::fs::{self, OpenOptions};
use std::io::Write;

use super::complain;
use super::fault::KeeperFault;
use crate::invocation::{RunEnd, RunKind};
use crate::run_dir::{RunDir, RunDirError, name, sync_directory, to_json};

/// Writes `exit.json`: into the reserve, to disk, renamed, and the name to disk, as far as the run is kept there.
pub(crate) fn write(directory: &RunDir, end: RunEnd, kind: RunKind) -> Result<(), KeeperFault> {
    let reserve = directory.file(name::EXIT_RESERVE);
    let bytes = to_json(&reserve, &end)?;
    // Not truncated at opening: that would give the reserved space back before it is used.
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&reserve)
        .map_err(RunDirError::io("open", &reserve))?;
    file.write_all(&bytes).map_err(RunDirError::io("write", &reserve))?;
    if let Err(error) = file.set_len(bytes.len() as u64) {
        // What remains of the reserve is blanks, which the reader of JSON skips.
        complain(&format!("cannot shorten {}: {error}", reserve.display()));
    }
    if kind == RunKind::Work {
        file.sync_all().map_err(RunDirError::io("force to disk", &reserve))?;
    }
    let path = directory.file(name::EXIT);
    fs::rename(&reserve, &path).map_err(RunDirError::io("publish", &path))?;
    if kind == RunKind::Work { Ok(sync_directory(directory.path())?) } else { Ok(()) }
}
