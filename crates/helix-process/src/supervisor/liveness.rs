//! Waits for the death of a keeper that may be nobody's child here.
//!
//! Must not know what follows from it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use helix_core::error_chain;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::run_dir::{RunDir, RunDirError};

/// How often the lock is asked where processes cannot be watched.
const FALLBACK_INTERVAL: Duration = Duration::from_millis(200);

fn no_access(directory: &RunDir) -> impl FnOnce(io::Error) -> RunDirError {
    RunDirError::io("reach the keeper of", directory.path())
}

/// Opens the keeper that holds the lock right now. `None` if nobody holds it.
fn open_keeper(directory: &RunDir) -> Result<Option<OwnedFd>, RunDirError> {
    let Some(holder) = directory.lock_holder()? else { return Ok(None) };
    let foreign = || io::Error::other("it runs in another process namespace");
    let pid = Pid::from_raw(holder).filter(|_| holder > 0).ok_or_else(foreign).map_err(no_access(directory))?;
    let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(rustix::io::Errno::SRCH) => return Ok(None),
        Err(errno) => return Err(no_access(directory)(errno.into())),
    };
    // The number may have been given away between the two calls above; a holder that still has it has not ended.
    Ok((directory.lock_holder()? == Some(holder)).then_some(descriptor))
}

#[expect(unsafe_code, reason = "tokio asks for a promise about the descriptor that the type cannot give")]
fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor until it is dropped, which the `AsyncFd` that owns it does last.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }.map_err(io::Error::from)
}

/// Returns when the keeper is gone (or was never there).
pub(super) async fn keeper_gone(directory: &RunDir) {
    match open_keeper(directory) {
        Ok(None) => return,
        Ok(Some(descriptor)) => {
            if let Ok(descriptor) = register(descriptor)
                && descriptor.readable().await.is_ok()
            {
                return;
            }
        }
        Err(error) => tracing::warn!(
            error = error_chain(&error),
            "a keeper cannot be watched: its lock is asked five times a second instead"
        ),
    }
    let mut interval = tokio::time::interval(FALLBACK_INTERVAL);
    loop {
        interval.tick().await;
        match directory.lock_holder() {
            Ok(None) => return,
            // There is nothing left to ask.
            Err(RunDirError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return,
            // That the lock cannot be asked at the moment says nothing about its holder.
            Ok(Some(_)) | Err(_) => {}
        }
    }
}

/// As [`nudge`], where nobody waits for the answer.
pub(super) fn remind(directory: &RunDir) {
    if let Err(error) = nudge(directory) {
        tracing::warn!(error = error_chain(&error), "a keeper cannot be told of the stop that is recorded for its run");
    }
}

/// Tells the keeper to look at what is recorded. Nobody being there is fine: a keeper that is about to start looks
/// before it executes anything, and for one that is gone there is nothing to stop.
pub(crate) fn nudge(directory: &RunDir) -> Result<(), RunDirError> {
    let Some(keeper) = open_keeper(directory)? else { return Ok(()) };
    match pidfd_send_signal(keeper, Signal::TERM) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(errno) => Err(no_access(directory)(errno.into())),
    }
}
