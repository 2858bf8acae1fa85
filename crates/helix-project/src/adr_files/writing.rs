//! Writing into the directory of decisions: one process at a time, and every file whole or not at all.
//!
//! Must not know numbers or rules. The lock is on directories, so that it leaves nothing behind and ends with its holder;
//! worktrees of one repository share it.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use helix_git::{GitEnvironment, OpenError, Repository};
use rustix::fs::FlockOperation;
use tempfile::NamedTempFile;

use helix_adr::{AdrForm, is_generated_index};
use helix_process::bounded::read_text;

pub(super) use super::error::disk;
use super::{AdrDirectory, AdrFileError, INDEX, MAX_ADR, Place, relative};

/// Held by the one who allocates numbers; released when it is dropped, or when its process dies.
pub(super) struct Lock {
    _files: Vec<File>,
}

/// Waits for its turn to write the directory, which is made if it is not there. One that leads out of the project is not written.
pub(super) fn lock(root: &Path, place: &Place) -> Result<Lock, AdrFileError> {
    let directory = root.join(&place.directory);
    std::fs::create_dir_all(&directory).map_err(disk("create", &directory))?;
    let real = |path: &Path| path.canonicalize().map_err(disk("find", path));
    if !real(&directory)?.starts_with(real(root)?) {
        return Err(AdrFileError::Place {
            message: format!("{} leads out of the project", place.directory),
            hint: "make it a directory of the project, not a link to another place".into(),
        });
    }
    let mut files = Vec::new();
    // Always in this order: who waits for the second holds the first, and nobody waits in a cycle.
    for path in repository(root).iter().map(|repository| repository.common_dir().to_path_buf()).chain([directory]) {
        let file = File::open(&path).map_err(disk("open", &path))?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive).map_err(|error| disk("lock", &path)(error.into()))?;
        files.push(file);
    }
    Ok(Lock { _files: files })
}

impl AdrDirectory {
    /// The decisions of a project that nobody else changes as long as the lock is held.
    pub(super) fn locked(root: &Path) -> Result<(Lock, Self), AdrFileError> {
        let place = Place::find(root)?;
        Ok((lock(root, &place)?, Self::open_in(root, &place)?))
    }
}

/// The repository that a project lies in; without one, only the directory counts.
pub(super) fn repository(root: &Path) -> Option<Repository> {
    match Repository::open(root, GitEnvironment::from_process()) {
        Ok(repository) => Some(repository),
        Err(OpenError::NoRepository { .. } | OpenError::NoDirectory { .. }) => None,
        Err(error) => {
            tracing::warn!(%error, "numbers of ADRs on other branches are not known");
            None
        }
    }
}

/// Writes the index; the caller holds the lock.
pub(super) fn write_index(root: &Path, place: &Place) -> Result<PathBuf, AdrFileError> {
    let index = root.join(&place.directory).join(INDEX);
    let text = AdrDirectory::open_in(root, place)?.index();
    replace(&index, &text).map_err(disk("write", &index))?;
    Ok(index)
}

/// Keeps the index as the decisions are; the caller holds the lock. Gives its place relative to the root. Where decisions have the
/// form of another tool, there is one only after `helix adr index`.
pub(super) fn update_index(root: &Path, place: &Place) -> Result<Option<String>, AdrFileError> {
    let own = AdrDirectory::open_in(root, place)?.style().form == AdrForm::Helix;
    if !own && !is_own_index(root, &root.join(&place.directory).join(INDEX))? {
        return Ok(None);
    }
    write_index(root, place).map(|index| Some(relative(root, &index)))
}

/// Whether a file is an index that Helix has written.
pub(super) fn is_own_index(root: &Path, path: &Path) -> Result<bool, AdrFileError> {
    let text = read_text(Some(root), path, MAX_ADR).map_err(disk("read", path))?;
    Ok(text.is_some_and(|text| is_generated_index(&text)))
}

/// Writes a file that must not exist, whole or not at all.
pub(super) fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    written(path, text)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Replaces a file, whole or not at all.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let file = written(path, text)?;
    if let Ok(before) = std::fs::metadata(path) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A temporary file beside the one that it will be; it is gone where it does not become that.
fn written(path: &Path, text: &str) -> std::io::Result<NamedTempFile> {
    let open = std::fs::Permissions::from_mode(0o666);
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".").permissions(open).tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}
