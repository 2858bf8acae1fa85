//! The last thing a keeper does: the record of the end, whole or absent, in space that was set aside before the start.
//!
//! Must not know how the run was kept.

use std::fs::{self, OpenOptions};
use std::io::Write;

use helix_core::run::{Ending, StopCause};
use jiff::Timestamp;
use nix::sys::resource::{UsageWho, getrusage};

use super::complain;
use super::fault::KeeperFault;
use crate::invocation::RunEnd;
use crate::run_dir::{RunDir, sync_directory, to_json};

/// Longest reason that is recorded for a run that did not start, in bytes.
const MAX_REASON: usize = 2 * 1024;

/// What the keeper itself knows of the end; the rest is read from the files and the system.
pub(crate) struct ExitRecord {
    pub(crate) ending: Ending,
    pub(crate) stopped: Option<StopCause>,
    pub(crate) started_at: Timestamp,
    pub(crate) leftovers: u32,
}

impl ExitRecord {
    pub(crate) fn not_started(
        mut reason: String,
        errno: Option<i32>,
        stopped: Option<StopCause>,
        at: Timestamp,
    ) -> Self {
        if reason.len() > MAX_REASON {
            let end = (0..=MAX_REASON).rev().find(|index| reason.is_char_boundary(*index)).unwrap_or(0);
            reason.truncate(end);
        }
        Self { ending: Ending::NotStarted { reason, errno }, stopped, started_at: at, leftovers: 0 }
    }

    /// Writes `exit.json`: into the reserve, to disk, renamed, and the name to disk.
    pub(crate) fn write(self, directory: &RunDir) -> Result<(), KeeperFault> {
        let end = RunEnd {
            ending: self.ending,
            stopped: self.stopped,
            stderr_tail: directory.stderr_tail(),
            started_at: self.started_at,
            ended_at: Timestamp::now(),
            peak_rss_kib: peak_rss_kib(),
            stdout_bytes: directory.stdout_bytes(),
            leftovers_killed: self.leftovers,
        };
        let reserve = directory.exit_reserve();
        let bytes = to_json(&reserve, &end)?;
        // Not truncated at opening: that would give the reserved space back before it is used.
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&reserve)
            .map_err(KeeperFault::file("open", &reserve))?;
        file.write_all(&bytes).map_err(KeeperFault::file("write", &reserve))?;
        if let Err(error) = file.set_len(bytes.len() as u64) {
            // What remains of the reserve is blanks, which the reader of JSON skips.
            complain(&format!("cannot shorten {}: {error}", reserve.display()));
        }
        file.sync_all().map_err(KeeperFault::file("force to disk", &reserve))?;
        let path = directory.exit();
        fs::rename(&reserve, &path).map_err(KeeperFault::file("publish", &path))?;
        sync_directory(directory.path())?;
        Ok(())
    }
}

/// Of the largest process that was reaped. 0 if the system does not say.
fn peak_rss_kib() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).ok().and_then(|usage| u64::try_from(usage.max_rss()).ok()).unwrap_or(0)
}
