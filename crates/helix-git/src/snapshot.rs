//! The user's work tree around a fast-forward: what it is about to change there, and how that is taken back when git stops in the
//! middle, as it does on a full disk.
//!
//! Must not touch anything that the fast-forward does not: whatever else lies there is the user's.

use std::fs;
use std::path::{Path, PathBuf};

use helix_core::ids::TreeId;

use super::error::GitError;
use super::repository::Repository;

/// What a fast-forward changes in a work tree whose tracked files are as their commit has them.
pub(super) struct MergeSnapshot {
    work_tree: PathBuf,
    /// Files that are there and will be others, or none.
    tracked: Vec<Vec<u8>>,
    /// Files that are not there yet.
    new: Vec<PathBuf>,
}

impl MergeSnapshot {
    pub(super) fn of(repository: &Repository, work_tree: &Path, from: &TreeId, to: &TreeId) -> Result<Self, GitError> {
        let (mut tracked, mut new) = (Vec::new(), Vec::new());
        for change in repository.raw_changes(from, to)? {
            if change.old.is_some() {
                tracked.push(change.path);
                continue;
            }
            let path = work_tree.join(bytes_path(&change.path));
            if fs::symlink_metadata(&path).is_err() {
                new.push(path);
            }
        }
        Ok(Self { work_tree: work_tree.into(), tracked, new })
    }

    /// Takes back what a fast-forward that failed has left: new files first, which makes room for the old ones. Whether there was
    /// anything: otherwise git had refused before it changed anything.
    ///
    /// # Errors
    /// Git or the disk failed; then something of it is left.
    pub(super) fn take_back(&self, repository: &Repository) -> Result<bool, GitError> {
        let mut undone = false;
        for path in &self.new {
            match fs::remove_file(path) {
                Ok(()) => undone = true,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                // A directory in its place is nothing that git would have put there.
                Err(_) if path.is_dir() => continue,
                Err(error) => return Err(GitError::disk("remove", path)(error)),
            }
            self.remove_empty_above(path);
        }
        let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no"];
        let dirty = repository.git(&self.work_tree, status).run()?.stdout;
        let touched: Vec<u8> = dirty
            .split(|byte| *byte == 0)
            .filter(|entry| entry.len() > 3)
            .map(|entry| &entry[3..])
            .filter(|path| self.tracked.iter().any(|known| known == path))
            .flat_map(|path| path.iter().copied().chain([0]))
            .collect();
        if touched.is_empty() {
            return Ok(undone);
        }
        // The index is still that of the commit: git writes it last.
        let args = ["checkout-index", "--force", "-z", "--stdin"];
        repository.git(&self.work_tree, args).stdin(touched).run()?;
        Ok(true)
    }

    /// Removes directories that held nothing but a file that is gone.
    fn remove_empty_above(&self, path: &Path) {
        let mut directory = path.parent();
        while let Some(this) = directory.filter(|this| *this != self.work_tree && this.starts_with(&self.work_tree)) {
            if fs::remove_dir(this).is_err() {
                // It holds something else: then it is not ours.
                return;
            }
            directory = this.parent();
        }
    }
}

fn bytes_path(path: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(path))
}
