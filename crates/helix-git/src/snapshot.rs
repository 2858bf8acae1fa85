//! The user's work tree around a fast-forward: what it is about to change there, and how that is taken back when git stops in the
//! middle, as it does on a full disk.
//!
//! Must not touch anything that the fast-forward does not: whatever else lies there is the user's.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use helix_core::ids::TreeId;

use super::error::GitError;
use super::objects::escape_path;
use super::repository::Repository;

/// What a fast-forward changes in a work tree; those of these files that are tracked are as their commit has them, or it is not begun.
pub(super) struct MergeSnapshot {
    work_tree: PathBuf,
    /// Files that are there and will be others, or none.
    tracked: Vec<Vec<u8>>,
    /// Files that are not there yet.
    new: Vec<PathBuf>,
    /// New files in whose place there is something already.
    taken: Vec<Vec<u8>>,
}

impl MergeSnapshot {
    pub(super) fn take(
        repository: &Repository,
        work_tree: &Path,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<Self, GitError> {
        let (mut tracked, mut new, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for change in repository.raw_changes(from, to)? {
            if change.old.is_some() {
                tracked.push(change.path);
                continue;
            }
            let path = work_tree.join(bytes_path(&change.path));
            if fs::symlink_metadata(&path).is_err() {
                new.push(path);
            } else {
                taken.push(change.path);
            }
        }
        Ok(Self { work_tree: work_tree.into(), tracked, new, taken })
    }

    /// Files that the fast-forward would change and that have uncommitted changes.
    ///
    /// # Errors
    /// Git failed.
    pub(super) fn overlap(&self, repository: &Repository) -> Result<Vec<String>, GitError> {
        Ok(self.changed(repository)?.iter().map(|path| escape_path(path)).collect())
    }

    /// Files of the user's that git does not know, in the place of new ones: it writes over none of them.
    ///
    /// # Errors
    /// Git failed.
    pub(super) fn in_the_way(&self, repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
        if self.taken.is_empty() {
            return Ok(Vec::new());
        }
        let known = repository.git(&self.work_tree, ["ls-files", "-z"]).run()?;
        let known: HashSet<&[u8]> = known.names().collect();
        let unknown = self.taken.iter().filter(|path| !known.contains(path.as_slice()));
        Ok(unknown.map(|path| self.work_tree.join(bytes_path(path))).collect())
    }

    /// Those of its tracked files that are not as the commit has them.
    fn changed(&self, repository: &Repository) -> Result<Vec<Vec<u8>>, GitError> {
        let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no"];
        let dirty = repository.git(&self.work_tree, status).run()?.stdout;
        let paths = dirty.split(|byte| *byte == 0).filter(|entry| entry.len() > 3).map(|entry| &entry[3..]);
        Ok(paths.filter(|path| self.touches(path)).map(<[u8]>::to_vec).collect())
    }

    /// Whether the fast-forward changes this tracked file.
    fn touches(&self, path: &[u8]) -> bool {
        self.tracked.iter().any(|known| known == path)
            || self.new.iter().any(|new| *new == self.work_tree.join(bytes_path(path)))
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
        let changed = self.changed(repository)?;
        if changed.is_empty() {
            return Ok(undone);
        }
        // The index is still that of the commit: git writes it last.
        let args = ["checkout-index", "--force", "-z", "--stdin"];
        repository.git(&self.work_tree, args).paths(changed.iter().map(Vec::as_slice)).run()?;
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
