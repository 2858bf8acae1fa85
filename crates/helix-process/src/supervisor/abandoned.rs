//! Runs whose keeper died without a record: ends what is left of them and seals them, so that all agree from then on.
//!
//! Must not know whether anybody follows the run.

use std::fs;
use std::io;
use std::time::Duration;

use helix_core::ids::RunId;
use helix_core::run::Ending;
use jiff::Timestamp;

use crate::invocation::RunEnd;
use crate::keeper::cgroup;
use crate::proc::{boot_id, kill_until_gone, marked_with};
use crate::run_dir::{RunDir, RunDirError, RunRecord, name, publish_once, to_json};

/// How long processes that a lost run left behind are killed.
const KILL_LIMIT: Duration = Duration::from_secs(30);

/// Settles a run that is claimed, that nobody keeps, and that has no record of its end. Blocks; returns what is
/// recorded in the end, which another supervisor may have written first.
pub(super) fn settle(directory: &RunDir, run: &RunId) -> Result<RunEnd, RunDirError> {
    let record = directory.read_record().unwrap_or_else(|error| {
        tracing::warn!(%run, %error, "the record of a lost run is unreadable");
        None
    });
    let killed = end_processes(directory, run, record.as_ref());
    forget_environment(directory, run);
    crate::secrets::mask_record(directory)?;
    if let Err(error) = directory.remove_private() {
        tracing::warn!(%run, error = %helix_core::error_chain(&error), "the temporary files of a lost run stay");
    }
    let stopped = directory.read_stop().unwrap_or_else(|error| {
        tracing::warn!(%run, %error, "the stop request of a lost run is unreadable");
        None
    });
    let (started_at, walls) =
        record.map_or_else(|| (Timestamp::now(), None), |record| (record.claimed_at, record.walls));
    let end = directory.end(Ending::Unknown, stopped.map(|stop| stop.cause), started_at, killed);
    let end = RunEnd { walls, ..end };
    let path = directory.file(name::EXIT);
    publish_once(&path, &to_json(&path, &end)?, &directory.file(name::EXIT_RESERVE))?;
    Ok(directory.read_exit()?.unwrap_or(end))
}

/// Ends every process of a run that nobody keeps; returns how many there were. Processes that removed the mark from
/// their environment are reached through the control group only.
fn end_processes(directory: &RunDir, run: &RunId, record: Option<&RunRecord>) -> u32 {
    // Groups of an earlier boot are somebody else's by now, and those in a copied record always were.
    let own = |record: &&RunRecord| record.boot_id == boot_id() && record.directory == directory.path();
    let group = record.filter(own).and_then(|record| record.cgroup.as_deref());
    let killed = kill_until_gone(KILL_LIMIT, || {
        let mut seen = marked_with(directory.path())?;
        if let Some(group) = group.filter(|group| group.exists()) {
            seen.alive.extend(cgroup::members(group).unwrap_or_default());
            if let Err(error) = cgroup::kill(group) {
                tracing::warn!(%run, %error, "cannot kill the control group of a lost run");
            }
        }
        Ok(seen)
    });
    if let Some(group) = group.filter(|group| group.exists())
        && let Err(error) = cgroup::remove(group)
    {
        tracing::warn!(%run, %error, "cannot remove the control group of a lost run");
    }
    killed
}

fn forget_environment(directory: &RunDir, run: &RunId) {
    match fs::remove_file(directory.file(name::ENVIRONMENT)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::error!(%run, %error, "the environment of a lost run, which may hold secrets, stays"),
    }
}
