//! A decision gets another number, with everything that names it: what is left to do when two branches chose the same one.
//!
//! Must not know how texts are rewritten: that is `helix_adr`. Nothing is deleted before what replaces it is on disk, and
//! what was interrupted is carried on by doing it again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_adr::{Adr, AdrId, ByNumber, Renamed, Renumbering};
use serde::Serialize;

use super::numbers::number_of;
use super::writing::{disk, replace, repository, update_index};
use super::{AdrDirectory, AdrFileError, relative};
use crate::file_kind::SavedKind;
use helix_git::{GitError, Repository};
use helix_process::bounded::read_text;

/// Branches that work is merged into, the most telling first.
const BASES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];
/// Largest file that is searched for the decision's name, in bytes.
const MAX_TEXT: u64 = 8 << 20;

/// A decision that got another number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renumbered {
    pub from: u32,
    pub to: u32,
    /// Its file before, relative to the project's root.
    pub old_path: String,
    pub path: String,
    /// Other files that named it and were changed.
    pub changed: Vec<String>,
    /// Places that name the number alone, or that are neither decision nor page nor plan: what they mean is for a person to say.
    pub left: Vec<Mention>,
}

/// A place that names a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mention {
    /// The file, relative to the project's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Why decisions cannot be renumbered.
#[derive(Debug, thiserror::Error)]
pub enum RenumberError {
    /// A file cannot be read or written, or the directory cannot.
    #[error(transparent)]
    File(#[from] AdrFileError),
    /// The file is no decision with a number.
    #[error("{file} has no number that could be changed")]
    NoNumber { file: String },
    /// Nothing tells which of two is the later one.
    #[error("cannot determine which of {} is the later one", files.join(" and "))]
    Undecided { files: Vec<String> },
    /// There is no such branch.
    #[error("no commit {name}")]
    NoBase {
        /// What was asked for.
        name: String,
    },
    #[error("git cannot determine which decision came first")]
    Git(#[from] GitError),
}

impl AdrDirectory {
    /// Gives decisions another number: this one, or of all that share a number those that are not in the branch that work is merged
    /// into; where all are in it, those that came into it later. A decision whose file name and front matter differ is
    /// renamed. File name, front matter, links in other decisions, plans and pages, and the index follow.
    ///
    /// # Errors
    /// [`RenumberError`]; a decision that was begun with is carried on by the next call.
    pub fn renumber(root: &Path, which: Option<&Path>, base: Option<&str>) -> Result<Vec<Renumbered>, RenumberError> {
        let (_lock, known) = Self::locked(root)?;
        let history = History::read(root, base)?;
        let later: Vec<String> = match which {
            Some(path) => {
                let path = path.canonicalize().map_err(disk("find", path))?;
                let root = root.canonicalize().map_err(disk("find", root))?;
                vec![relative(&root, &path)]
            }
            None => history.later_ones(&known)?,
        };
        let mut done = Vec::new();
        for file in later {
            // What was done before may have changed this one, and taken a number.
            done.push(Self::open(root)?.give_another_number(&file, &history)?);
        }
        if !done.is_empty() {
            update_index(root, &known.place)?;
        }
        Ok(done)
    }

    fn give_another_number(&self, file: &str, history: &History) -> Result<Renumbered, RenumberError> {
        let no_number = || RenumberError::NoNumber { file: file.to_owned() };
        let adr = self.by_file(file).ok_or_else(no_number)?;
        let name = file.rsplit('/').next().unwrap_or(file);
        let named = number_of(file).ok_or_else(no_number)?;
        let own = adr.number().ok_or_else(no_number)?;
        // A number that only this one has, in another file name: it was being renumbered, or its file was named by hand.
        let is_own = named != own && self.known.files(&AdrId::Number(own)).len() == 1;
        let to = if is_own { own } else { self.next_number() };
        let renumbering = Renumbering::new(name, to).ok_or_else(no_number)?.numbered(if is_own { named } else { own });
        let old_path = self.root.join(file);
        let path = old_path.with_file_name(renumbering.new_name());
        if path.exists() {
            let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the file exists already");
            return Err(disk("write", &path)(taken).into());
        }
        let (changed, left) = self.rename_in_others(file, &renumbering, history)?;
        let Renamed { text, .. } = renumbering.own(adr);
        replace(&old_path, &text).map_err(disk("write", &old_path))?;
        // Nobody else writes the directory: what was not there is not there.
        std::fs::rename(&old_path, &path).map_err(disk("rename", &old_path))?;
        let path = relative(&self.root, &path);
        Ok(Renumbered { from: renumbering.from(), to, old_path: file.to_owned(), path, changed, left })
    }

    /// Changes what names the decision; gives the files, and the places that are left.
    fn rename_in_others(
        &self,
        file: &str,
        renumbering: &Renumbering,
        history: &History,
    ) -> Result<(Vec<String>, Vec<Mention>), RenumberError> {
        let (mut changed, mut left) = (Vec::new(), Vec::new());
        let mine = history.is_in_base(file);
        let own = Some(renumbering.from());
        let has_number = |adr: &Adr| adr.number() == own || number_of(&adr.file) == own;
        let is_shared = self.adrs.iter().any(|adr| adr.file != file && has_number(adr));
        for (other, text) in self.texts_that_may_name(renumbering, history)? {
            if other == file {
                continue;
            }
            // Outside of the base branch it was written where the other decision was not known yet.
            let follows = !is_shared || mine == Some(false) && history.is_in_base(&other) == Some(false);
            let by_number = if follows { ByNumber::Follows } else { ByNumber::Stays };
            let path = self.root.join(&other);
            let kind = SavedKind::detect(Path::new(&other), &text);
            // What stands in the base branch word for word was written about the decision that is there.
            let is_as_in_base = || mine == Some(false) && history.is_as_in_base(&other, &text);
            let renamed = match self.by_file(&other) {
                Some(adr) => renumbering.in_adr(adr, by_number),
                None if kind.is_some() || other.ends_with(".md") => renumbering.in_text(&text, by_number),
                None => {
                    let follows = renumbering.in_text(&text, ByNumber::Follows);
                    let lines = text.lines().zip(follows.text.lines()).zip(1..);
                    let differ: Vec<u32> = lines.filter(|((old, new), _)| old != new).map(|(_, line)| line).collect();
                    Renamed { text: follows.text, changed: 0, left: differ }
                }
            };
            if !renamed.left.is_empty() && !is_as_in_base() {
                left.extend(renamed.left.iter().map(|line| Mention { file: other.clone(), line: *line }));
            }
            if renamed.changed > 0 {
                replace(&path, &renamed.text).map_err(disk("write", &path))?;
                changed.push(other);
            }
        }
        changed.sort();
        left.sort();
        Ok((changed, left))
    }

    /// Files that could name it, with their text: all decisions, and what git finds.
    fn texts_that_may_name(
        &self,
        renumbering: &Renumbering,
        history: &History,
    ) -> Result<BTreeMap<String, String>, RenumberError> {
        let mut texts: BTreeMap<String, String> =
            self.adrs.iter().map(|adr| (adr.file.clone(), adr.source.clone())).collect();
        let index = format!("{}/{}", self.place.directory, super::INDEX);
        for file in history.files_with_number(renumbering.from())? {
            let path = self.root.join(&file);
            if file == index || texts.contains_key(&file) {
                continue;
            }
            match read_text(Some(&self.root), &path, MAX_TEXT) {
                Ok(text) => texts.extend(text.map(|text| (file, text))),
                // What is no text names nothing.
                Err(error) if matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidData) => {}
                Err(error) => return Err(disk("read", &path)(error).into()),
            }
        }
        Ok(texts)
    }
}

/// What git knows of a project's files.
struct History {
    root: PathBuf,
    repository: Option<Repository>,
    /// The branch that work is merged into, with its files.
    base: Option<(String, BTreeSet<String>)>,
}

impl History {
    fn read(root: &Path, base: Option<&str>) -> Result<Self, RenumberError> {
        let mut history = Self { root: root.to_path_buf(), repository: repository(root), base: None };
        let Some(repository) = &history.repository else { return Ok(history) };
        for name in base.map_or_else(|| BASES.to_vec(), |base| vec![base]) {
            let commit = format!("{name}^{{commit}}");
            let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
            let found = repository.git(root, asked).accept(&[0, 1, 128]).run()?;
            if found.code == 0 {
                let commit = found.text().trim().to_owned();
                let listed = repository.git(root, ["ls-tree", "-r", "-z", "--name-only", &commit]).run();
                let names = String::from_utf8_lossy(&listed?.stdout).into_owned();
                history.base = Some((commit, names.split('\0').map(str::to_owned).collect()));
                break;
            }
        }
        match (base, &history.base) {
            (Some(name), None) => Err(RenumberError::NoBase { name: name.to_owned() }),
            (Some(_) | None, _) => Ok(history),
        }
    }

    /// Whether the base branch has a file; `None` when there is no such branch.
    fn is_in_base(&self, file: &str) -> Option<bool> {
        self.base.as_ref().map(|(_, files)| files.contains(file))
    }

    fn is_as_in_base(&self, file: &str, text: &str) -> bool {
        let (Some(repository), Some((base, files))) = (&self.repository, &self.base) else { return false };
        if !files.contains(file) {
            return false;
        }
        match repository.git(&self.root, ["cat-file", "blob", &format!("{base}:./{file}")]).run() {
            Ok(output) => output.stdout == text.as_bytes(),
            Err(error) => {
                tracing::warn!(%error, file, "a file of the base branch cannot be read");
                false
            }
        }
    }

    /// Of each number that several decisions have, all but the one that stays; and decisions whose file name and front matter differ.
    fn later_ones(&self, known: &AdrDirectory) -> Result<Vec<String>, RenumberError> {
        let mut later = Vec::new();
        for (_, files) in known.known.collisions() {
            let (inside, outside): (Vec<String>, Vec<String>) =
                files.iter().cloned().partition(|file| self.is_in_base(file) == Some(true));
            if inside.len() == 1 {
                later.extend(outside);
                continue;
            }
            // All in it, or none: who came first stays.
            let rivals = if inside.is_empty() { outside.clone() } else { inside.clone() };
            let mut ages = Vec::new();
            for file in rivals {
                ages.push((self.arrived(&file)?, file));
            }
            ages.sort();
            if ages.first().map(|(age, _)| *age) == ages.get(1).map(|(age, _)| *age) {
                return Err(RenumberError::Undecided { files });
            }
            later.extend(ages.into_iter().skip(1).map(|(_, file)| file));
            later.extend(if inside.is_empty() { Vec::new() } else { outside });
        }
        for adr in &known.adrs {
            let misnamed = adr.number().zip(number_of(&adr.file)).is_some_and(|(own, named)| own != named);
            if misnamed && !later.contains(&adr.file) {
                later.push(adr.file.clone());
            }
        }
        Ok(later)
    }

    /// When a file came into the branch that is checked out, and when it was written: earlier ones are smaller. What is not
    /// committed is later than everything.
    fn arrived(&self, file: &str) -> Result<Arrived, GitError> {
        let Some(repository) = &self.repository else { return Ok(Arrived::NOT_YET) };
        let first = |more: &[&str]| -> Result<Option<String>, GitError> {
            let args =
                ["log", "--diff-filter=A", "--reverse"].into_iter().chain(more.iter().copied()).chain(["--", file]);
            let output = repository.git(&self.root, args).accept(&[0, 128]).run()?;
            Ok(output.text().lines().next().map(str::to_owned).filter(|_| output.code == 0))
        };
        let Some(merged) = first(&["--first-parent", "-m", "--format=%H"])? else { return Ok(Arrived::NOT_YET) };
        let count = repository.git(&self.root, ["rev-list", "--first-parent", "--count", &merged]).run()?;
        let written = first(&["--format=%at"])?;
        let number = |text: &str| text.trim().parse::<u64>().unwrap_or(u64::MAX);
        Ok(Arrived { merged: number(&count.text()), written: written.as_deref().map_or(u64::MAX, number) })
    }

    /// Files, committed or not, in which a decision of this number could be named.
    fn files_with_number(&self, number: u32) -> Result<Vec<String>, GitError> {
        let Some(repository) = &self.repository else { return Ok(Vec::new()) };
        let (by_number, by_name) = (format!("adr[^0-9a-z]?0*{number}"), format!("0*{number}-[^/ ]*\\.md"));
        let args = ["grep", "-I", "-l", "-z", "--untracked", "-i", "-E", "-e", &by_number, "-e", &by_name];
        let found = repository.git(&self.root, args).accept(&[0, 1]).run()?;
        let names = String::from_utf8_lossy(&found.stdout).into_owned();
        Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

/// When a file came. Derived order: by the branch, then by its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrived {
    /// Commits of the branch up to the one that brought it.
    merged: u64,
    /// Seconds since 1970.
    written: u64,
}

impl Arrived {
    /// Of what is not committed.
    const NOT_YET: Self = Self { merged: u64::MAX, written: u64::MAX };
}
