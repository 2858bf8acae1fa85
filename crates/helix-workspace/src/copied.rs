//! What comes from the user's own work tree: ignored files that are copied, paths that are linked.
//!
//! Must not follow a link out of the work tree, nor take what git tracks.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use helix_core::finding::{Fault, FaultKind};
use helix_core::said::Words;
use helix_git::Workspaces;
use helix_language::{fault, recorded};
use helix_process::bounded::{open_plain_beneath, read_text};
use sha2::{Digest as _, Sha256};

use super::key::key_of;
use super::settings::{Workspace, is_below};

/// Names files to copy as other tools read it, in the user's work tree.
const INCLUDE_FILE: &str = ".worktreeinclude";
/// Most of that file that is read, in bytes.
const MAX_INCLUDE: u64 = 64 << 10;
/// Most files that are copied, and most bytes in them.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 256 << 20;

/// What is copied and linked, and what it is known by.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    files: Vec<String>,
    links: Vec<String>,
    pub(crate) digest: String,
}

impl Copied {
    /// Looks into the user's work tree.
    ///
    /// # Errors
    /// Something that is named cannot be taken.
    pub(crate) fn find(spaces: &Workspaces, workspace: &Workspace) -> Result<Self, Fault> {
        let top = workspace.repository.as_path();
        if top.as_os_str().is_empty() {
            return Ok(Self::default());
        }
        let included = read_text(Some(top), &top.join(INCLUDE_FILE), MAX_INCLUDE);
        let included = included.map_err(|error| refused(INCLUDE_FILE, &error))?.unwrap_or_default();
        let lines = included.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let patterns: Vec<String> = workspace.copy.iter().cloned().chain(lines.map(str::to_owned)).collect();
        let files = spaces.ignored_by_user(top, &patterns).map_err(|error| error.fault())?;
        if files.len() > MAX_FILES {
            return Err(too_much(recorded!("workspace-copy-files", files = files.len())));
        }
        let (mut hash, mut left) = (Sha256::new(), MAX_BYTES);
        for file in &files {
            let mut content = Sha256::new();
            let opened = open_plain_beneath(top, &top.join(file)).map_err(|error| refused(file, &error))?;
            let read = io::copy(&mut opened.take(left + 1), &mut content).map_err(|error| refused(file, &error))?;
            left = left
                .checked_sub(read)
                .ok_or_else(|| too_much(recorded!("workspace-copy-size", size = MAX_BYTES >> 20)))?;
            hash.update(format!("{file}\0{:x}\0", content.finalize()));
        }
        for link in &workspace.link {
            if !is_below(link) || !top.join(link).exists() {
                let (link, top) = (format!("{link:?}"), top.display().to_string());
                return Err(fault(FaultKind::Environment, recorded!("workspace-link", link = link, directory = top)));
            }
        }
        Ok(Self { files, links: workspace.link.clone(), digest: format!("{:x}", hash.finalize()) })
    }

    /// Whether there is nothing to take.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.links.is_empty()
    }

    /// Paths of all that is put.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.files.iter().chain(&self.links)
    }

    /// Puts everything into a checkout, in which nobody has been yet.
    ///
    /// # Errors
    /// Something cannot be read or written.
    pub(crate) fn put(&self, top: &Path, tree: &Path) -> Result<(), Fault> {
        for file in &self.files {
            let copied = open_plain_beneath(top, &top.join(file)).and_then(|mut from| {
                let to = below(tree, file)?;
                let mode = from.metadata()?.permissions().mode() & 0o777;
                let mut to = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
                io::copy(&mut from, &mut to).map(drop)
            });
            copied.map_err(|error| refused(file, &error))?;
        }
        for link in &self.links {
            let linked = below(tree, link).and_then(|to| std::os::unix::fs::symlink(top.join(link), to));
            linked.map_err(|error| refused(link, &error))?;
        }
        Ok(())
    }
}

impl Workspace {
    /// What it is known by beside the files of a commit: itself, and what is copied.
    pub fn digest(&self, spaces: &Workspaces) -> String {
        // What cannot be copied stops the preparation, which says why.
        let copied = Copied::find(spaces, self).map(|copied| copied.digest).unwrap_or_default();
        key_of(&[&serde_json::to_string(self).unwrap_or_default(), &copied])
    }
}

/// A path in a checkout, whose directories are made; they may not be links.
fn below(tree: &Path, path: &str) -> io::Result<PathBuf> {
    let target = tree.join(path);
    let parent = target.parent().unwrap_or(tree);
    if !is_below(path) {
        return Err(io::Error::other("it is not below the repository's root"));
    }
    fs::create_dir_all(parent)?;
    if parent.canonicalize()? != parent {
        return Err(io::Error::other("the way to it leads through a link"));
    }
    Ok(target)
}

fn refused(what: &str, error: &io::Error) -> Fault {
    fault(FaultKind::Environment, recorded!("workspace-not-copied", path = what, error = error.to_string()))
}

fn too_much(what: Words) -> Fault {
    fault(FaultKind::Environment, recorded!("workspace-copy-much", what = what))
}
