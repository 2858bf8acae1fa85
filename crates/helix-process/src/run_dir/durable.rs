//! Files that are either whole or absent, whatever is killed while they are written.
//!
//! Must not know what is in them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::RunDirError;

/// Only the owner may read: prompts and outputs are private.
pub(crate) const PRIVATE: u32 = 0o600;

/// Replaces the file in one step. Not forced to disk: for records that mean nothing after a power cut.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), RunDirError> {
    let temporary = temporary_beside(path);
    write_new(&temporary, bytes)?;
    fs::rename(&temporary, path).map_err(RunDirError::io("replace", path))
}

/// Replaces a file that only its owner may read, in one step: nobody ever reads half of it, also after a power cut.
///
/// # Errors
/// It cannot be written; what was there before is.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Under a name that nobody foresees: neither a killed process of the same number nor an agent has put something there.
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes the file in one step unless it is there already: the first writer wins, and what it wrote is on disk.
pub(crate) fn write_once(path: &Path, bytes: &[u8]) -> Result<(), RunDirError> {
    let temporary = temporary_beside(path);
    write_new(&temporary, bytes)?;
    link_once(&temporary, path)
}

/// As [`write_once`], in the space of the file `reserve` if that is still there, so that a full disk does not matter.
pub(crate) fn publish_once(path: &Path, bytes: &[u8], reserve: &Path) -> Result<(), RunDirError> {
    let temporary = temporary_beside(path);
    // Taken by renaming, so that two writers never share it.
    match fs::rename(reserve, &temporary) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return write_once(path, bytes),
        Err(error) => return Err(RunDirError::io("take", reserve)(error)),
    }
    let mut file = OpenOptions::new().write(true).open(&temporary).map_err(RunDirError::io("open", &temporary))?;
    file.write_all(bytes).map_err(RunDirError::io("write", &temporary))?;
    file.set_len(bytes.len() as u64).map_err(RunDirError::io("shorten", &temporary))?;
    link_once(&temporary, path)
}

/// Gives a finished file its name unless that is taken, and removes the temporary one.
fn link_once(temporary: &Path, path: &Path) -> Result<(), RunDirError> {
    File::open(temporary).and_then(|file| file.sync_all()).map_err(RunDirError::io("force to disk", temporary))?;
    let linked = fs::hard_link(temporary, path);
    fs::remove_file(temporary).map_err(RunDirError::io("remove", temporary))?;
    match linked {
        Ok(()) => path.parent().map_or(Ok(()), sync_directory),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(RunDirError::io("write", path)(error)),
    }
}

/// Creates a private file that must not exist yet.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), RunDirError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(path)
        .map_err(RunDirError::io("create", path))?;
    file.write_all(bytes).map_err(RunDirError::io("write", path))
}

/// Forces names made or changed in a directory to disk.
pub(crate) fn sync_directory(path: &Path) -> Result<(), RunDirError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(RunDirError::io("force to disk", path))
}

/// A name nobody else uses at the moment: process id and a counter.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

#[cfg(test)]
#[path = "durable_test.rs"]
mod tests;
