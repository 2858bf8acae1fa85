//! What Helix leaves in a run directory for the keeper: the request, its environment, its stdin.
//!
//! Must not know who claims it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use helix_core::ids::RunId;
use helix_core::secrets::Secret;

use super::durable::write_new;
use super::{EXIT_RESERVE, RunDir, RunDirError, RunSeal, name, to_json};
use crate::invocation::RunRequest;
use crate::proc::ProcessIdentity;

/// Directories that are being filled start so; run ids never start with a dot.
const STAGING_PREFIX: &str = ".new-";

/// Directories of runs' names that no host has made are kept under names that begin so, for whoever looks into it.
const FOREIGN_PREFIX: &str = ".foreign-";

/// How often somebody may put another directory in the way of a run.
const MAX_FOREIGN: usize = 5;

/// A number for each temporary name.
fn next() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// Held while a run directory is looked at and then moved or made: of two that start one run at the same moment, neither moves the
/// other's directory away. Of two processes only one is the host.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a run directory in place, whole or not at all: it is filled under another name and renamed. If a host has made it
/// already (another supervisor was faster, or an earlier one), that one stays; anything else goes out of the way.
pub(crate) fn publish(
    runs: &Path,
    request: &RunRequest,
    secrets: &[Secret],
    seal: &RunSeal,
) -> Result<RunDir, RunDirError> {
    let directory = RunDir::for_run(runs, &request.run);
    let _alone = alone();
    for _ in 0..MAX_FOREIGN {
        if directory.is_of(&request.run, seal)? {
            return Ok(directory);
        }
        move_away(&directory)?;
        if put(runs, request, secrets, seal, &directory)? {
            return Ok(directory);
        }
    }
    let busy = io::Error::new(io::ErrorKind::AlreadyExists, "something else puts directories of this name there");
    Err(RunDirError::io("publish", directory.path())(busy))
}

/// Moves what lies in the place of a run out of the way unless a host has made it; whether nothing is there now.
pub(crate) fn set_aside(directory: &RunDir, run: &RunId, seal: &RunSeal) -> Result<bool, RunDirError> {
    let _alone = alone();
    if directory.is_of(run, seal)? {
        return Ok(false);
    }
    move_away(directory).map(|()| true)
}

fn move_away(directory: &RunDir) -> Result<(), RunDirError> {
    // The number of a process comes again, in a container with each start: the moment does not.
    let aside = format!("{FOREIGN_PREFIX}{}-{}", jiff::Timestamp::now().as_nanosecond(), next());
    let aside = directory.path().with_file_name(aside);
    match fs::rename(directory.path(), &aside) {
        Ok(()) => {
            let (path, aside) = (directory.path().display(), aside.display());
            tracing::warn!(%path, %aside, "no host has made this run directory: it was set aside");
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(RunDirError::io("set aside", directory.path())(error)),
    }
}

/// Fills a directory and renames it; whether nothing was in its way.
fn put(
    runs: &Path,
    request: &RunRequest,
    secrets: &[Secret],
    seal: &RunSeal,
    directory: &RunDir,
) -> Result<bool, RunDirError> {
    let own = i32::try_from(std::process::id()).ok().and_then(ProcessIdentity::read);
    let (pid, ticks) = own.map_or((0, 0), |own| (own.pid, own.start_ticks));
    let staging = RunDir::at(runs.join(format!("{STAGING_PREFIX}{pid}-{ticks}-{}", next())));
    let mark = staging.file(&seal.file_name(&request.run));
    let filled = fill(&staging, request, secrets).and_then(|()| write_new(&mark, b""));
    let published = filled.and_then(|()| match fs::rename(staging.path(), directory.path()) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
            ) =>
        {
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
    published
}

fn fill(staging: &RunDir, request: &RunRequest, secrets: &[Secret]) -> Result<(), RunDirError> {
    DirBuilder::new().mode(0o700).create(staging.path()).map_err(RunDirError::io("create", staging.path()))?;
    write_new(&staging.file(name::REQUEST), &to_json(&staging.file(name::REQUEST), request)?)?;
    write_new(&staging.file(name::ENVIRONMENT), &to_json(&staging.file(name::ENVIRONMENT), &request.invocation.env)?)?;
    if !secrets.is_empty() {
        write_new(&staging.file(name::SECRETS), &to_json(&staging.file(name::SECRETS), &secrets)?)?;
    }
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
