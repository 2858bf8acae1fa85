//! Lays out what agents read on demand: skills, and rules that are too long for a prompt, as they are in the commit.
//!
//! Must not write where an agent may: the directory is Helix's, and is named after what is in it.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use helix_git::{EntryKind, Repository};
use helix_process::bounded::read_bytes_beneath;
use sha2::{Digest as _, Sha256};

use super::ProjectRules;

/// Largest file that is laid out, and most bytes of all.
const LARGEST: usize = 4 << 20;
const MOST_BYTES: usize = 32 << 20;

impl ProjectRules {
    /// Lays the files out below this directory and says where they are, if there are any. What is there already, as it should be, is
    /// left: its path is the same for all runs from commits that have the same files.
    ///
    /// # Errors
    /// Git failed, or the disk refused.
    pub fn lay_out(&self, repository: &Repository, below: &Path) -> std::io::Result<Option<PathBuf>> {
        if self.copies.is_empty() {
            return Ok(None);
        }
        let (mut files, mut room) = (Vec::new(), MOST_BYTES);
        let mut digest = Sha256::new();
        for (path, entry) in &self.copies {
            // A tree that no git would have made can hold any names.
            if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
                continue;
            }
            let size = repository.size(&entry.object).map_err(std::io::Error::other)?;
            if size > LARGEST || size > room {
                continue;
            }
            room -= size;
            let bytes = repository.blob(&entry.object).map_err(std::io::Error::other)?;
            digest.update(format!("{path}\0{:?}\0{:x}\0", entry.kind, Sha256::digest(&bytes)));
            files.push((path, entry.kind, bytes));
        }
        let directory = below.join(format!("rules-{:.32}", format!("{:x}", digest.finalize())));
        let is_there = |(path, _, bytes): &(&String, EntryKind, Vec<u8>)| {
            read_bytes_beneath(&directory, &directory.join(path), LARGEST as u64).is_ok_and(|found| found == *bytes)
        };
        if files.iter().all(is_there) {
            return Ok(Some(directory));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(below)?;
        let site = tempfile::Builder::new().prefix(".rules-").tempdir_in(below)?;
        for (path, kind, bytes) in &files {
            let file = site.path().join(path);
            DirBuilder::new().recursive(true).mode(0o700).create(file.parent().unwrap_or(site.path()))?;
            let mode = if *kind == EntryKind::Executable { 0o700 } else { 0o600 };
            std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&file)?.write_all(bytes)?;
        }
        match std::fs::rename(site.path(), &directory) {
            Ok(()) => drop(site.keep()),
            // Somebody was faster, or has changed it since: the next run looks again.
            Err(error) if directory.exists() => {
                if !files.iter().all(is_there) {
                    helix_process::remove_tree(&directory)?;
                    std::fs::rename(site.path(), &directory).map_err(|_| error)?;
                    drop(site.keep());
                }
            }
            Err(error) => return Err(error),
        }
        Ok(Some(directory))
    }
}
