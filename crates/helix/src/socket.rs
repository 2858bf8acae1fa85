//! The socket at which the terminal reaches its host: in the state directory, where the kernel says who connects.
//!
//! Must not know what is sent. It has a directory of its own, so that the walls around runs can hide it: Landlock does not keep anybody
//! from connecting. A socket's address has at most 108 bytes and a state directory may have more, so that it is named through
//! an open directory.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use helix_store::StateDir;
use rustix::fs::{Mode, OFlags, open};
use tokio::net::UnixListener;

/// Its name in [`StateDir::terminal`].
const NAME: &str = "host.sock";

/// The socket of a state directory as an address; it leads there as long as the directory is open.
pub(crate) fn address(state: &StateDir) -> io::Result<(OwnedFd, PathBuf)> {
    let directory = open(state.root(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let below = state.terminal();
    let below = below.strip_prefix(state.root()).unwrap_or(&below);
    let path = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(below).join(NAME);
    Ok((directory, path))
}

/// Listens there. A former host's socket is in the way; only the holder of the directory's lock removes it.
pub(crate) fn bind(state: &StateDir) -> io::Result<UnixListener> {
    let directory = state.terminal();
    DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
    match std::fs::remove_file(directory.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let (_directory, path) = address(state)?;
    UnixListener::bind(path)
}
