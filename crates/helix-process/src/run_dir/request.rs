//! What Helix leaves in a run directory for the keeper: the request, its environment, its stdin.
//!
//! Must not know who claims it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::durable::write_new;
use super::{EXIT_RESERVE, RunDir, RunDirError, name, to_json};
use crate::invocation::RunRequest;
use crate::proc::ProcessIdentity;

/// Directories that are being filled start so; run ids never start with a dot.
const STAGING_PREFIX: &str = ".new-";

/// Puts a run directory in place, whole or not at all: it is filled under another name and renamed. If it exists
/// already (another supervisor was faster, or an earlier one), that one stays.
pub(crate) fn publish(runs: &Path, request: &RunRequest) -> Result<RunDir, RunDirError> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let directory = RunDir::of(runs, &request.run);
    if directory.exists(directory.path())? {
        return Ok(directory);
    }
    let own = i32::try_from(std::process::id()).ok().and_then(ProcessIdentity::of);
    let (pid, ticks) = own.map_or((0, 0), |own| (own.pid, own.start_ticks));
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let staging = RunDir::at(runs.join(format!("{STAGING_PREFIX}{pid}-{ticks}-{number}")));
    let published = fill(&staging, request).and_then(|()| match fs::rename(staging.path(), directory.path()) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists) => {
            Ok(false)
        }
        Err(error) => Err(RunDirError::io("publish", directory.path())(error)),
    });
    // Half a directory is of no use to anybody, nor is a second one.
    if !matches!(published, Ok(true))
        && let Err(error) = fs::remove_dir_all(staging.path())
    {
        tracing::warn!(path = %staging.path().display(), %error, "a half-made run directory stays");
    }
    published.map(|_| directory)
}

fn fill(staging: &RunDir, request: &RunRequest) -> Result<(), RunDirError> {
    DirBuilder::new().mode(0o700).create(staging.path()).map_err(RunDirError::io("create", staging.path()))?;
    write_new(&staging.file(name::REQUEST), &to_json(&staging.file(name::REQUEST), request)?)?;
    write_new(&staging.file(name::ENVIRONMENT), &to_json(&staging.file(name::ENVIRONMENT), &request.invocation.env)?)?;
    write_new(&staging.file(name::STDIN), &request.invocation.stdin)?;
    for empty in [staging.stdout(), staging.file(name::STDERR), staging.file(name::LOCK)] {
        write_new(&empty, b"")?;
    }
    write_new(&staging.file(name::EXIT_RESERVE), &vec![b' '; EXIT_RESERVE])?;
    Ok(())
}

/// Whether this is the name of a directory that was being filled.
pub(crate) fn is_staging_name(name: &str) -> bool {
    name.starts_with(STAGING_PREFIX)
}

/// Who was filling it, from its name.
pub(crate) fn staging_owner(name: &str) -> Option<ProcessIdentity> {
    let mut parts = name.strip_prefix(STAGING_PREFIX)?.split('-');
    Some(ProcessIdentity { pid: parts.next()?.parse().ok()?, start_ticks: parts.next()?.parse().ok()? })
}
