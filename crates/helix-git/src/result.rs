//! Whatever an attempt left in its work place becomes one commit on the attempt's branch, good or not: lost output is worse than
//! bad output. The host's git makes it of the files as they are on the disk.
//!
//! Must not judge the work. What the agent did to the git of its work place (commits, branches, configuration, hooks, marks in its
//! index) is not looked at.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use helix_core::evidence::{Committed, SelfRunning};
use helix_core::finding::Finding;
use helix_core::ids::{CommitId, TreeId};
use helix_core::said::Words;
use helix_language::{finding, recorded};
use helix_process::secrets::{clean, first_in_file, held};

use super::admissible::{MAX_FILE, MAX_FILES, MAX_SIZE, inadmissible, is_storable, refused};
use super::attempt::AttemptKey;
use super::error::GitError;
use super::files::{read, remove_tree};
use super::objects::{CommitObject, RawChange, escape_path};
use super::repository::module_paths;
use super::runs_itself::self_running;
use super::workspaces::{Place, Workspaces, is_directory, remove_stale_lock};

/// How often repositories inside a work place are looked for: each look finds those that the one before has uncovered.
const LOOKS: usize = 20;

/// Files that are named in a note; more are only counted.
const NAMED: usize = 5;

/// The words of a result commit; trailers are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitText {
    pub subject: String,
    /// The rest, may be empty.
    pub body: String,
    /// Who made it: lines `Key: value`.
    pub trailers: Vec<String>,
}

impl CommitText {
    /// The whole message; these trailers stand before its own.
    pub(crate) fn with_trailers(&self, first: &str) -> String {
        let subject = self.subject.trim().replace('\n', " ");
        let body = self.body.trim();
        let body = if body.is_empty() { String::new() } else { format!("{body}\n\n") };
        let own: String = self.trailers.iter().map(|line| format!("{}\n", line.trim().replace('\n', " "))).collect();
        format!("{subject}\n\n{body}{first}{own}")
    }
}

/// A result commit and what had to be fixed to make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptCommit {
    pub committed: Committed,
    /// What was fixed and what the result lacks, for people.
    pub repairs: Vec<Words>,
    /// What may not be in a result at all, whatever its checks would say.
    pub findings: Vec<Finding>,
    /// Files that run by themselves where the result gets to.
    pub runs_by_itself: Vec<SelfRunning>,
}

/// One attempt's work place while its result is made.
struct Harvest<'a> {
    spaces: &'a Workspaces,
    place: Place,
    repairs: Vec<Words>,
    findings: Vec<Finding>,
    runs_by_itself: Vec<SelfRunning>,
    /// Files of LFS, with their pointers.
    lfs: HashMap<Vec<u8>, String>,
    /// Bytes in the files that are taken.
    size: u64,
}

impl Workspaces {
    /// Commits all that the attempt's work place holds, on the attempt's branch in the host's own repository. Called when nothing
    /// of the run is alive any more. The commit stands on the phase's base: attempts before it are not part of its history, nor is a
    /// base with conflict markers, whose parents it has instead. Without changes the result is the commit the attempt started from.
    /// Doing it twice gives the same result.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn commit_attempt(
        &self,
        key: &AttemptKey,
        base: &CommitId,
        start: &CommitId,
        text: &CommitText,
    ) -> Result<AttemptCommit, GitError> {
        let (repository, branch, place) = (self.repository(), key.branch(), self.place_of(key));
        let base = repository.commit(base.as_str())?;
        let start = if start == &base.id { base.clone() } else { repository.commit(start.as_str())? };
        let message = text.with_trailers(&key.trailers());
        let reference = format!("refs/heads/{branch}");
        // Made by a former call.
        let former = repository.find_commit(&reference)?;
        let parents = if base.has_markers() { base.parents.clone() } else { vec![base.id.clone()] };
        let former = former.filter(|one| one.parents == parents && one.message == message);
        let (repairs, findings, runs_by_itself, lfs) = (vec![], vec![], vec![], HashMap::new());
        let mut harvest = Harvest { spaces: self, place, repairs, findings, runs_by_itself, lfs, size: 0 };
        let tip = if is_directory(&harvest.place.path) {
            let tree = harvest.tree(&start)?;
            repository.step(|| format!("the files of {}/{} are taken", key.phase, key.attempt));
            match former {
                _ if tree == start.tree => start.clone(),
                Some(made) if made.tree == tree => made,
                Some(_) | None => {
                    let commit = repository.commit_tree(&tree, &parents, &message, None)?;
                    // A git process that was killed has left it; nobody else sets this reference.
                    remove_stale_lock(&repository.common_dir().join(&reference))?;
                    repository.step(|| format!("a commit of {}/{} is made", key.phase, key.attempt));
                    repository.keep(&reference, &commit.id)?;
                    commit
                }
            }
        } else {
            if former.is_none() {
                harvest.repairs.push(recorded!("repair-worktree-gone"));
            }
            former.unwrap_or_else(|| start.clone())
        };
        let changes = repository.raw_changes(&base.tree, &tip.tree)?;
        harvest.look_at(&changes, &tip)?;
        let Harvest { place, mut repairs, findings, runs_by_itself, .. } = harvest;
        repairs.extend(repository.watched_changes(&place.watched)?);
        let changed = changes.iter().map(RawChange::changed_file).collect();
        let moved = tip.tree != start.tree;
        let committed = Committed { moved, commit: tip.id, tree: tip.tree, branch, changed };
        Ok(AttemptCommit { committed, repairs, findings, runs_by_itself })
    }

    /// Commits what an attempt has left whose job is over, if it left anything.
    ///
    /// # Errors
    /// As for [`Workspaces::commit_attempt`]: then the work place holds the only copy.
    pub fn rescue_attempt(
        &self,
        key: &AttemptKey,
        base: &CommitId,
        start: &CommitId,
        text: &CommitText,
    ) -> Result<(), GitError> {
        if is_directory(&key.directory(self.root())) {
            self.commit_attempt(key, base, start, text)?;
        }
        Ok(())
    }
}

/// What becomes of a path that is not as the index has it.
enum Fate {
    /// Its content is taken, or its absence.
    Taken,
    /// It is named by its pointer.
    Lfs,
    /// It is no file any more.
    Dropped,
    Unreadable,
    /// It is not taken, since it may not be in a result; it has its finding.
    Refused,
}

impl Harvest<'_> {
    /// The tree of all that is not ignored, as it is on the disk.
    fn tree(&mut self, start: &CommitObject) -> Result<TreeId, GitError> {
        remove_stale_lock(&self.place.index)?;
        let looked = if self.place.index.exists() { Some(self.without_nested()) } else { None };
        let changed = match looked {
            // It was removed, or a power cut has left half of it: without it, git reads every file.
            None | Some(Err(GitError::Failed { .. })) => {
                remove_tree(&self.place.index)?;
                if let Some(records) = self.place.index.parent() {
                    fs::create_dir_all(records).map_err(GitError::disk("create", records))?;
                }
                self.spaces.inside(&self.place, ["read-tree", start.tree.as_str()]).run()?;
                self.without_nested()?
            }
            Some(changed) => changed?,
        };
        self.size = 0;
        let count = changed.len();
        // What is of LFS, the attributes of the result say.
        let is_attributes = |path: &Vec<u8>| path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        let (attributes, others): (Vec<_>, Vec<_>) = changed.into_iter().partition(is_attributes);
        let none = "0".repeat(start.tree.as_str().len());
        if self.take(&attributes, count, &none)? {
            self.lfs = self.spaces.lfs_pointers(&self.place, &others)?;
            self.take(&others, count, &none)?;
        }
        self.spaces.inside(&self.place, ["write-tree"]).run()?.tree()
    }

    /// Takes changed paths, of so many, into the index; whether they are not too many or too large. `none` is the id of no object.
    fn take(&mut self, changed: &[Vec<u8>], count: usize, none: &str) -> Result<bool, GitError> {
        let (mut taken, mut dropped, mut unreadable, mut lfs) = (vec![], vec![], vec![], HashMap::new());
        for path in changed.iter().take(MAX_FILES + 1) {
            if self.size > MAX_SIZE {
                break;
            }
            match self.fate(path) {
                Fate::Taken => taken.extend(path.strip_suffix(b"/").unwrap_or(path).iter().copied().chain([0])),
                Fate::Lfs => lfs.extend(self.lfs.remove_entry(path)),
                Fate::Dropped => {
                    dropped.extend(format!("0 {none}\t").bytes().chain(path.iter().copied()).chain([0]));
                }
                Fate::Unreadable => unreadable.push(escape_path(path)),
                Fate::Refused => {}
            }
        }
        let is_too_much = count > MAX_FILES || self.size > MAX_SIZE;
        if is_too_much {
            let size = self.size >> 20;
            let most_size = MAX_SIZE >> 20;
            let message =
                recorded!("result-too-much", files = count, size = size, most = MAX_FILES, most_size = most_size);
            self.findings.push(finding("result.too_much", message));
            (taken, dropped, lfs) = Default::default();
        }
        if !dropped.is_empty() {
            self.spaces.inside(&self.place, ["update-index", "-z", "--index-info"]).stdin(dropped).run()?;
        }
        if !taken.is_empty() {
            let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
            self.spaces.inside(&self.place, args).stdin(taken).run()?;
        }
        self.spaces.add_lfs_pointers(&self.place, &lfs)?;
        if !unreadable.is_empty() {
            self.repairs.push(recorded!("repair-unreadable", files = some_of(&unreadable)));
        }
        Ok(!is_too_much)
    }

    /// What differs from the index, after repositories inside that the project does not declare as submodules have become plain
    /// directories.
    fn without_nested(&mut self) -> Result<Vec<Vec<u8>>, GitError> {
        for _ in 0..LOOKS {
            let changed = self.spaces.changed_files(&self.place)?;
            let mut nested = changed.iter().filter_map(|path| path.strip_suffix(b"/")).peekable();
            if nested.peek().is_none() {
                return Ok(changed);
            }
            let modules = self.place.path.join(".gitmodules");
            let is_file = fs::symlink_metadata(&modules).is_ok_and(|found| found.is_file());
            let modules = if is_file { read(&modules)?.unwrap_or_default() } else { Vec::new() };
            let modules = String::from_utf8_lossy(&modules);
            let mut uncovered = false;
            for path in nested {
                let name = escape_path(path);
                if !module_paths(&modules).any(|declared| declared == name) {
                    remove_tree(&self.place.path.join(OsStr::from_bytes(path)).join(".git"))?;
                    self.repairs.push(recorded!("repair-nested", path = name));
                    uncovered = true;
                }
            }
            if !uncovered {
                return Ok(changed);
            }
        }
        Err(GitError::Unreadable {
            command: "git ls-files --others".into(),
            problem: format!("there are repositories inside of each other, more than {LOOKS} deep"),
        })
    }

    fn fate(&mut self, path: &[u8]) -> Fate {
        if !is_storable(path) {
            let name = escape_path(path);
            let message = recorded!("result-git-name", name = format!("{name:?}"));
            self.findings.push(refused("result.git_name", &name, message));
            return Fate::Refused;
        }
        let relative = Path::new(OsStr::from_bytes(path));
        let above = relative.ancestors().skip(1).map(|directory| self.place.path.join(directory));
        if above.take_while(|directory| *directory != self.place.path).any(|directory| directory.is_symlink()) {
            // It lies elsewhere.
            return Fate::Dropped;
        }
        let file = self.place.path.join(relative);
        let found = fs::symlink_metadata(&file);
        if let (true, Some(secret)) = (found.is_ok(), first_secret(path)) {
            return self.with_secret(path, &secret);
        }
        match found {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Fate::Taken,
            Err(_) => Fate::Unreadable,
            Ok(found) if found.is_file() && self.lfs.contains_key(path) => Fate::Lfs,
            Ok(found) if found.is_file() && found.len() > MAX_FILE => {
                let name = escape_path(path);
                let (size, most) = (found.len() >> 20, MAX_FILE >> 20);
                let message = recorded!("result-huge", name = format!("{name:?}"), size = size, most = most);
                self.findings.push(refused("result.huge", &name, message));
                Fate::Refused
            }
            Ok(found) if found.is_file() => match first_in_file(&file) {
                Ok(None) => {
                    self.size += found.len();
                    Fate::Taken
                }
                Ok(Some(secret)) => self.with_secret(path, &secret),
                Err(_) => Fate::Unreadable,
            },
            Ok(found) if found.is_symlink() => {
                let Ok(target) = fs::read_link(&file) else { return Fate::Unreadable };
                match first_secret(target.as_os_str().as_bytes()) {
                    Some(secret) => self.with_secret(path, &secret),
                    None => {
                        self.size += found.len();
                        Fate::Taken
                    }
                }
            }
            // A submodule.
            Ok(found) if found.is_dir() && file.join(".git").exists() => Fate::Taken,
            // A directory with files of its own, a pipe, a socket or a device.
            Ok(_) => Fate::Dropped,
        }
    }

    /// A file holds a value that nobody may read: it stays where it is, and gets into no commit.
    fn with_secret(&mut self, path: &[u8], secret: &str) -> Fate {
        let name = clean(&escape_path(path));
        let message = recorded!("result-secret", name = format!("{name:?}"), secret = secret);
        self.findings.push(refused("result.secret", &name, message));
        Fate::Refused
    }

    /// Notes and findings about what the result changes since where its phase began.
    fn look_at(&mut self, changes: &[RawChange], tip: &CommitObject) -> Result<(), GitError> {
        let repository = self.spaces.repository();
        let odd = changes.iter().filter(|change| std::str::from_utf8(&change.path).is_err());
        self.repairs.extend(odd.map(|change| recorded!("repair-name", path = escape_path(&change.path))));
        self.findings.extend(inadmissible(repository, changes, &tip.tree)?);
        let (found, too_many) = self_running(repository, changes, &tip.tree)?;
        self.runs_by_itself = found;
        self.findings.extend(too_many);
        let unknown = self.spaces.unknown_submodules(changes, &tip.tree)?;
        // Whatever has judged this result has seen an empty directory there.
        self.findings.extend(
            unknown.iter().take(NAMED).map(|name| {
                refused("result.submodule", name, recorded!("result-submodule", name = format!("{name:?}")))
            }),
        );
        // A pointer is as its filter would have it.
        let pointers = self.place.pointers()?;
        let is_converted = |change: &&RawChange| change.new.as_ref().is_some_and(|new| !pointers.contains(&new.object));
        let written = changes.iter().filter(is_converted);
        let written: Vec<&[u8]> = written.map(|change| &*change.path).collect();
        if written.is_empty() || repository.filters().is_empty() {
            return Ok(());
        }
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let call = repository.git(repository.top(), args).env("GIT_ATTR_SOURCE", tip.tree.as_str());
        let output = call.paths(written).run()?;
        let fields: Vec<String> = output.stdout.split(|byte| *byte == 0).map(escape_path).collect();
        let converted = fields.chunks_exact(3).filter(|field| repository.filters().contains(&field[2]));
        let converted: Vec<String> = converted.map(|field| format!("{} (filter {})", field[0], field[2])).collect();
        if !converted.is_empty() {
            self.repairs.push(recorded!("repair-unfiltered", files = some_of(&converted)));
        }
        Ok(())
    }
}

/// The name of a secret that a text holds.
fn first_secret(text: &[u8]) -> Option<String> {
    held().first_in(text).map(str::to_owned)
}

fn some_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
