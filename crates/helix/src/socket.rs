//! The socket at which the terminal reaches its host: in the state directory, where the kernel says who connects.
//!
//! Must not know what is sent. A socket's address has at most 108 bytes and a state directory may have more, so that it is named through
//! an open directory.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use tokio::net::UnixListener;

/// Its name in the state directory.
const NAME: &str = "host.sock";

/// The socket of a state directory as an address; it leads there as long as the directory is open.
pub(crate) fn address(state: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let directory = open(state, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{NAME}", directory.as_raw_fd()));
    Ok((directory, path))
}

/// Listens there. A former host's socket is in the way; whoever holds the directory's lock is the only one who removes it.
pub(crate) fn bind(state: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(state.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let (_directory, path) = address(state)?;
    UnixListener::bind(path)
}
