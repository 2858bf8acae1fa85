//! What a work place has besides its own files: directories that were filled once, shown to each run as if they were its own.
//!
//! A run changes an overlay of its own, never what others see. Where the system has no overlays, or no walls were asked for, the files are copied.
//! Must not know how they were filled.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::program::{NoProgram, find_program};
use crate::remove_tree::remove_tree;

/// Name of the variable that says to the command `with-services` of Helix what it starts before it becomes the program that it is given.
pub const SERVICES_VARIABLE: &str = "HELIX_SERVICES";
/// That command.
pub const WITH_SERVICES: &str = "with-services";

/// What a work place has besides its own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// The work place.
    pub place: PathBuf,
    /// Where the directories were filled. A run finds its work place there, too: programs that were installed know that path.
    pub made_at: PathBuf,
    pub layers: Vec<Layer>,
    /// What runs beside each program in it, in the words of whoever starts that ([`SERVICES_VARIABLE`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<String>,
}

/// A directory of a work place that was filled once for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Its files, which nobody changes.
    pub below: PathBuf,
    /// Keeps what runs in this work place change of it; theirs alone, and out of their reach.
    pub over: PathBuf,
    /// The directory in the work place.
    pub at: PathBuf,
}

impl Layer {
    /// What the kernel is told to show: `None` where it could not be told.
    pub(crate) fn options(&self) -> Option<String> {
        let path = |path: &Path| path.to_str().filter(|path| !path.contains([',', ':', '\\', '"'])).map(str::to_owned);
        let (below, over) = (path(&self.below)?, path(&self.over)?);
        let options = format!("userxattr,lowerdir={below},upperdir={over}/upper,workdir={over}/work");
        // The kernel takes one page.
        (options.len() < 4000).then_some(options)
    }

    /// Makes what an overlay needs. False where its place is no directory of the work place: what lies there stays what it is.
    pub(crate) fn is_ready(&self) -> io::Result<bool> {
        if !is_own_directory(&self.at) || !self.below.is_dir() {
            return Ok(false);
        }
        for name in ["upper", "work"] {
            DirBuilder::new().recursive(true).mode(0o700).create(self.over.join(name))?;
        }
        // The directory itself has the rights of the one below it.
        fs::set_permissions(self.over.join("upper"), fs::metadata(&self.below)?.permissions())?;
        Ok(true)
    }

    /// Copies the files, unless they are there already: whole or not at all.
    fn copy(&self) -> io::Result<()> {
        if !is_own_directory(&self.at) || fs::read_dir(&self.at)?.next().is_some() {
            return Ok(());
        }
        let copy = self.over.join("copy");
        remove_tree(&copy)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.over)?;
        copy_tree(&self.below, &copy)?;
        fs::rename(&copy, &self.at)
    }
}

impl Prepared {
    /// The same with what runs beside each program.
    #[must_use]
    pub fn beside(self, services: Option<String>) -> Self {
        Self { services, ..self }
    }

    /// The virtual environment of Python in it, by the path that its programs know.
    pub fn venv(&self) -> Option<String> {
        let venv = self.made_at.join(".venv");
        let is_there = self.layers.iter().any(|layer| layer.below == venv) && venv.join("bin/python").exists();
        venv.to_str().filter(|path| is_there && !path.contains(':')).map(str::to_owned)
    }

    /// Copies all directories into the work place, for runs that see the machine as it is.
    pub(crate) fn copy(&self) -> io::Result<()> {
        self.layers.iter().try_for_each(Layer::copy)
    }

    /// Finds a program as [`find_program`] does: one that was installed when the work place was prepared is there for its runs alone.
    pub(crate) fn find_program(
        prepared: Option<&Self>,
        program: &Path,
        search: &str,
        directory: &Path,
    ) -> Result<PathBuf, NoProgram> {
        let found = find_program(program, search, directory);
        let Some(prepared) = prepared.filter(|_| matches!(found, Err(NoProgram::Missing(_)))) else { return found };
        let Ok(below) = directory.strip_prefix(&prepared.place) else { return found };
        find_program(program, search, &prepared.made_at.join(below)).or(found)
    }
}

/// Whether a path is a directory, and no link is on the way to it.
fn is_own_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) && path.canonicalize().is_ok_and(|real| real == path)
}

/// Copies a directory with its links, rights and times; file systems that can share the blocks of files do.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mut open = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = open.pop() {
        DirBuilder::new().mode(0o700).create(&to)?;
        for entry in fs::read_dir(&from)? {
            let (entry, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            let target = to.join(entry.file_name().unwrap_or_default());
            if kind.is_dir() {
                open.push((entry, target));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&entry)?, target)?;
            } else if kind.is_file() {
                fs::copy(&entry, &target)?;
                let written = fs::metadata(&entry)?.modified()?;
                // Of a file that may not be written, the time stays that of the copy.
                drop(fs::File::open(&target).and_then(|file| file.set_modified(written)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "prepared_test.rs"]
mod tests;
