//! Files and directories that others may have changed, read and replaced; and trees removed, whatever is in them.
//!
//! Must not know what they are for.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use helix_process::bounded::{open_plain, read_bytes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::error::GitError;

/// Most of a file of settings that is read, in bytes.
const MAX_READ: u64 = 64 << 20;

/// A small regular file, whole; `None` if it is not there, not readable, or something else than a file.
pub(crate) fn read(file: &Path) -> Result<Option<Vec<u8>>, GitError> {
    // What is no file is refused without a number of the system.
    let none = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::PermissionDenied, ErrorKind::Other];
    let mut bytes = Vec::new();
    match open_plain(file).and_then(|opened| opened.take(MAX_READ).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if none.contains(&error.kind()) => Ok(None),
        Err(error) => Err(GitError::disk("read", file)(error)),
    }
}

/// Replaces a file in one step, unless it is so already.
pub(crate) fn put(file: &Path, content: &[u8]) -> Result<(), GitError> {
    if read(file).is_ok_and(|known| known.as_deref() == Some(content)) {
        return Ok(());
    }
    let written = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(file)).and_then(|mut temporary| {
        temporary.write_all(content)?;
        temporary.persist(file).map_err(|error| error.error)
    });
    written.map(drop).map_err(GitError::disk("write", file))
}

/// A record, or the empty one where there is no file.
pub(crate) fn read_record<T: DeserializeOwned + Default>(file: &Path, most: u64) -> Result<T, GitError> {
    match read_bytes(file, most) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| GitError::disk("read", file)(error.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(GitError::disk("read", file)(error)),
    }
}

pub(crate) fn put_record(file: &Path, record: &impl Serialize) -> Result<(), GitError> {
    let text = serde_json::to_vec(record).map_err(|error| GitError::disk("write", file)(error.into()))?;
    put(file, &text)
}

/// A short name for a path.
pub(crate) fn hash_of(path: &Path) -> String {
    format!("{:.16x}", Sha256::digest(path.as_os_str().as_encoded_bytes()))
}

/// What is in a directory, in order; nothing where there is none.
pub(crate) fn list(directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(GitError::disk("list", directory)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(GitError::disk("list", directory))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file or directory that may not be there, however deep it is, also one with directories that are not writable.
pub(crate) fn remove_tree(path: &Path) -> Result<(), GitError> {
    helix_process::remove_tree(path).map_err(GitError::disk("remove", path))
}

/// Copies an index with its time: git reads every file again that may have changed since the index was written, and tells by that
/// time which those are.
pub(crate) fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    let written = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(written)
}
