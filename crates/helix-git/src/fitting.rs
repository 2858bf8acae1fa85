//! What a work place gets besides the files of its commit: directories and files that were prepared once for many. None of it gets
//! into a result, whoever changes it there.
//!
//! Must not know how it was prepared.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use helix_core::ids::{CommitId, JobId};
use helix_process::{Layer, Prepared};
use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::files::{put_record, read_record, remove_tree};
use super::objects::escape_path;
use super::workspaces::{Place, Workspaces, is_directory};

/// Most of a record that is read, in bytes.
const MAX_RECORD: u64 = 4 << 20;

/// The tree of what is prepared, below the directory that it is kept in.
const TREE: &str = "tree";

/// What a work place gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fitting {
    /// Where it lies.
    pub tree: PathBuf,
    /// Paths in it, relative, with `/`.
    pub entries: Vec<String>,
}

impl Workspaces {
    /// Gives a work place that was just made what was prepared. What its commit has in the same place stays.
    ///
    /// # Errors
    /// The disk refused.
    pub fn fit(&self, path: &Path, fitting: &Fitting) -> Result<Prepared, GitError> {
        let place = self.place_at(path)?;
        let layers = place.layers();
        remove_tree(&layers)?;
        put_record(&place.fitting(), fitting)?;
        for entry in &fitting.entries {
            let target = path.join(entry);
            fit_one(&fitting.tree.join(entry), &target, path).map_err(GitError::disk("prepare", &target))?;
        }
        self.leave_out(path, fitting)?;
        self.repository().step(|| "a work place has what was prepared".into());
        Ok(prepared(path, &layers, fitting))
    }

    /// What a work place was given; `None` if that is nothing.
    ///
    /// # Errors
    /// It is no work place, or its record cannot be read.
    pub fn fitted(&self, path: &Path) -> Result<Option<(Prepared, Fitting)>, GitError> {
        let place = self.place_at(path)?;
        Ok(place.fitted()?.map(|fitting| (prepared(path, &place.layers(), &fitting), fitting)))
    }

    /// For an agent that asks the work place's own git what changed.
    fn leave_out(&self, path: &Path, fitting: &Fitting) -> Result<(), GitError> {
        let exclude = path.join(".git/info/exclude");
        let lines: String = fitting.entries.iter().map(|entry| format!("{}\n", pattern(entry))).collect();
        let opened = fs::OpenOptions::new().append(true).custom_flags(libc_nofollow()).open(&exclude);
        opened
            .and_then(|mut file| file.write_all(format!("\n{lines}").as_bytes()))
            .map_err(GitError::disk("write", &exclude))
    }

    /// Makes a checkout of a commit in a directory that may be filled, to be prepared; its path.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn checkout_in(&self, directory: &Path, commit: &CommitId) -> Result<PathBuf, GitError> {
        self.checkout(&place_in(directory), commit)
    }

    /// What somebody has left in such a checkout that git ignores there; whole directories where it ignores them.
    ///
    /// # Errors
    /// Git failed.
    pub fn ignored_in(&self, directory: &Path) -> Result<Vec<String>, GitError> {
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let listed = self.inside(&place_in(directory), args).run()?;
        Ok(listed.names().map(|path| escape_path(path.strip_suffix(b"/").unwrap_or(path))).collect())
    }

    /// Files of a work tree of the user's that git does not track, ignores there, and that fit patterns as in a `.gitignore`.
    ///
    /// # Errors
    /// Git failed.
    pub fn ignored_by_user(&self, top: &Path, patterns: &[String]) -> Result<Vec<String>, GitError> {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let user = self.repository().user();
        let exclude = patterns.iter().map(|pattern| format!("--exclude={pattern}"));
        let args = ["ls-files", "-z", "--others", "--ignored"].map(str::to_owned).into_iter().chain(exclude);
        let fitting = user.git(top, args).run()?.stdout;
        let ignored = user.git(top, ["check-ignore", "-z", "--stdin"]).stdin(fitting).accept(&[0, 1]).run()?;
        Ok(ignored.names().map(escape_path).collect())
    }

    pub(crate) fn place_at(&self, path: &Path) -> Result<Place, GitError> {
        let found = path.strip_prefix(self.root()).ok().and_then(|inner| {
            let (job, name) = inner.to_str()?.split_once('/')?;
            Some(self.place(&JobId::new(job).ok()?, name))
        });
        found.ok_or_else(|| GitError::NoObject { name: path.display().to_string(), repository: self.root().into() })
    }
}

impl Place {
    /// The record of what it was given.
    pub(crate) fn fitting(&self) -> PathBuf {
        self.index.with_extension("fitting")
    }

    /// Keeps what its runs change of what it was given.
    pub(crate) fn layers(&self) -> PathBuf {
        self.index.with_extension("layers")
    }

    fn fitted(&self) -> Result<Option<Fitting>, GitError> {
        read_record(&self.fitting(), MAX_RECORD)
    }

    /// Arguments by which git sees nothing of what it was given, whatever its `.gitignore` says by now.
    pub(crate) fn without_fitting(&self) -> Result<Vec<String>, GitError> {
        let fitting = self.fitted()?.unwrap_or_default();
        Ok(fitting.entries.iter().map(|entry| format!("--exclude={}", pattern(entry))).collect())
    }
}

/// A checkout in a directory of its own, with the host's records beside it.
fn place_in(directory: &Path) -> Place {
    let record = |name: &str| directory.join(name);
    Place::new(directory.join(TREE), record("checkout.index"), record("checkout.references"), record("checkout.around"))
}

fn prepared(path: &Path, layers: &Path, fitting: &Fitting) -> Prepared {
    let directories = fitting.entries.iter().enumerate().filter(|(_, entry)| is_directory(&fitting.tree.join(entry)));
    let layers = directories.map(|(number, entry)| Layer {
        below: fitting.tree.join(entry),
        over: layers.join(number.to_string()),
        at: path.join(entry),
    });
    Prepared { place: path.to_owned(), made_at: fitting.tree.clone(), layers: layers.collect(), services: None }
}

/// Makes the place of a directory, or copies a file or a link. Nothing where the way there is no way of directories.
fn fit_one(from: &Path, target: &Path, top: &Path) -> std::io::Result<()> {
    let Some(parent) = target.parent().filter(|_| stays_below(target, top)) else { return Ok(()) };
    fs::create_dir_all(parent)?;
    if parent.canonicalize()? != parent {
        return Ok(());
    }
    let found = fs::symlink_metadata(from)?;
    let made = if found.is_dir() {
        fs::create_dir(target)
    } else if found.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, target)
    } else {
        let mode = found.permissions().mode();
        let opened = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(target);
        opened.and_then(|mut to| std::io::copy(&mut fs::File::open(from)?, &mut to).map(drop))
    };
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Whether what is there of a path, down from the work place, is directories alone.
fn stays_below(target: &Path, top: &Path) -> bool {
    let Ok(below) = target.strip_prefix(top) else { return false };
    let mut above = top.to_path_buf();
    let parts: Vec<Component<'_>> = below.components().collect();
    let plain = parts.iter().all(|part| matches!(part, Component::Normal(name) if *name != ".git"));
    plain
        && parts.split_last().is_some_and(|(_, parents)| {
            parents.iter().all(|part| {
                above.push(part);
                fs::symlink_metadata(&above).map_or_else(|error| error.kind() == ErrorKind::NotFound, |it| it.is_dir())
            })
        })
}

/// A path as a pattern of a `.gitignore` that fits it alone.
pub fn pattern(path: &str) -> String {
    let mut pattern = String::from("/");
    for letter in path.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '\\' | ' ' | '!' | '#') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

fn libc_nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits() as i32
}

#[cfg(test)]
#[path = "fitting_test.rs"]
mod tests;
