//! Whatever an attempt left in its worktree becomes a commit on the attempt's branch, good or not: lost output is worse than
//! bad output.
//!
//! Must not judge the work. What the agent did to git itself (moved HEAD, rewrote history, began a merge, made a repository
//! inside) is repaired and named.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_core::evidence::Committed;
use helix_core::ids::{CommitId, TreeId};

use super::attempt::AttemptKey;
use super::disk;
use super::error::{GitError, is_unwritable};
use super::objects::{CommitObject, EntryKind, RawChange, escape_path};
use super::workspaces::{Workspaces, remove_stale_locks, remove_tree};

/// The words of a result commit; trailers are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitText {
    pub subject: String,
    /// The rest, may be empty.
    pub body: String,
}

/// A result commit and what had to be fixed to make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptCommit {
    pub committed: Committed,
    /// What was fixed, for the attempt's record.
    pub repairs: Vec<Repair>,
}

/// Something the agent did to git that was put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// HEAD was not on the attempt's branch.
    HeadMoved { found: String },
    /// The branch no longer held the commit that the attempt started from.
    HistoryRewritten,
    /// A merge, rebase or the like was not ended; what the files hold was committed.
    OperationEnded,
    /// A lock of a git process that is no more was in the way.
    LockRemoved,
    /// A directory was a repository of its own; its files were taken, its history was set aside.
    NestedRepository { path: String },
    /// The worktree was gone; what the agent had committed to the branch is the result.
    WorktreeGone,
    /// Some files could not be read and are not in the result.
    FilesUnreadable { detail: String },
    /// A file's name is not UTF-8.
    NameNotText {
        /// The name, its odd bytes as `\xNN`.
        path: String,
    },
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::HeadMoved { found } => write!(f, "the agent had left its branch for {found}; it was put back"),
            Self::HistoryRewritten => {
                f.write_str("the agent had rewritten history; its files were committed on the start")
            }
            Self::OperationEnded => {
                f.write_str("the agent had left a merge or rebase unfinished; its files were committed")
            }
            Self::LockRemoved => f.write_str("a stale git lock was removed"),
            Self::NestedRepository { path } => {
                write!(f, "{path} was a repository of its own; its files were taken, its history set aside")
            }
            Self::WorktreeGone => f.write_str("the worktree was gone; only what had been committed before is left"),
            Self::FilesUnreadable { detail } => write!(f, "some files could not be read and are missing: {detail}"),
            Self::NameNotText { path } => write!(f, "the name of {path} is not UTF-8"),
        }
    }
}

/// State files of operations that an agent may leave unfinished.
const OPERATIONS: [&str; 10] = [
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// One attempt's worktree while its result is made.
struct Harvest<'a> {
    spaces: &'a Workspaces,
    key: &'a AttemptKey,
    branch: String,
    path: PathBuf,
    own: PathBuf,
    repairs: Vec<Repair>,
}

impl Workspaces {
    /// Commits all that the attempt's worktree holds, on the attempt's branch. Called when nothing of the run is alive any
    /// more. Without changes the result is the commit the attempt started from. Doing it twice gives the same result.
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
        let (branch, path) = (key.branch(), key.directory(self.root()));
        let base = self.repository().commit(base.as_str())?;
        let start = if start == &base.id { base.clone() } else { self.repository().commit(start.as_str())? };
        let Some(own) = self.find_ready(&path)? else {
            let tip = self.repository().find_commit(&format!("refs/heads/{branch}"))?.unwrap_or_else(|| start.clone());
            let changes = self.repository().raw_changes(&base.tree, &tip.tree)?;
            // A former call made it of all that the worktree held.
            let whole = tip.id != start.id && tip.message.ends_with(&key.trailers());
            let repairs = if whole { Vec::new() } else { vec![Repair::WorktreeGone] };
            return Ok(AttemptCommit { committed: committed(tip, branch, &changes, &start), repairs });
        };
        let mut harvest = Harvest { spaces: self, key, branch, path, own, repairs: Vec::new() };
        harvest.settle(&start)?;
        harvest.add()?;
        let mut tip = harvest.commit(&start, text)?;
        let mut changes = self.repository().raw_changes(&base.tree, &tip.tree)?;
        if harvest.absorb_recorded(&changes, &tip.tree)? {
            harvest.add()?;
            tip = harvest.commit(&start, text)?;
            changes = self.repository().raw_changes(&base.tree, &tip.tree)?;
        }
        let odd = changes.iter().filter(|change| std::str::from_utf8(&change.path).is_err());
        harvest.repairs.extend(odd.map(|change| Repair::NameNotText { path: escape_path(&change.path) }));
        let committed = committed(tip, harvest.branch, &changes, &start);
        Ok(AttemptCommit { committed, repairs: harvest.repairs })
    }
}

impl Workspaces {
    /// Commits what an attempt has left whose job is over, if it left anything.
    ///
    /// # Errors
    /// As for [`Workspaces::commit_attempt`]: then the worktree holds the only copy.
    pub fn rescue_attempt(
        &self,
        key: &AttemptKey,
        base: &CommitId,
        start: &CommitId,
        text: &CommitText,
    ) -> Result<(), GitError> {
        match self.find_ready(&key.directory(self.root()))? {
            Some(_) => self.commit_attempt(key, base, start, text).map(|_| ()),
            None => Ok(()),
        }
    }
}

fn committed(tip: CommitObject, branch: String, changes: &[RawChange], start: &CommitObject) -> Committed {
    Committed {
        moved: tip.tree != start.tree,
        commit: tip.id,
        tree: tip.tree,
        branch,
        changed: changes.iter().map(RawChange::changed_file).collect(),
    }
}

impl Harvest<'_> {
    fn git<const N: usize>(&self, args: [&str; N]) -> super::spawn::Call<'_> {
        self.spaces.inside(&self.path, &self.own, args)
    }

    fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// Puts git back into the state that a commit needs, without touching a file of the work.
    fn settle(&mut self, start: &CommitObject) -> Result<(), GitError> {
        let branch = self.spaces.repository().common_dir().join(self.reference());
        if remove_stale_locks(&self.own, Some(branch))? > 0 {
            self.repairs.push(Repair::LockRemoved);
        }
        let mut ended = false;
        for name in OPERATIONS {
            let file = self.own.join(name);
            // MERGE_MSG alone is no operation: it is left over from a commit that was edited.
            ended |= file.exists() && !name.ends_with("_MSG");
            remove_tree(&file)?;
        }
        if ended {
            self.repairs.push(Repair::OperationEnded);
        }
        let repository = self.spaces.repository();
        let tip = repository.branch_tip(&self.branch)?;
        let on = repository.head_branch(&self.own, &self.path)?;
        if on.as_deref() == Some(self.branch.as_str()) {
            if tip.is_none() {
                self.git(["update-ref", &self.reference(), start.id.as_str()]).run()?;
                self.repairs.push(Repair::HistoryRewritten);
            }
            return Ok(());
        }
        let found = self.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).accept(&[0, 1]).run()?;
        let found = CommitId::new(found.text()).ok();
        let floor = tip.clone().unwrap_or_else(|| start.id.clone());
        let forward = match &found {
            Some(commit) => repository.is_ancestor(&floor, commit)?,
            None => false,
        };
        // Commits that the agent made on top of its branch, wherever it put them, belong to its result.
        let target = if forward { found.clone().unwrap_or(floor) } else { floor };
        if tip.as_ref() != Some(&target) {
            self.git(["update-ref", &self.reference(), target.as_str()]).run()?;
        }
        self.git(["symbolic-ref", "HEAD", &self.reference()]).run()?;
        let found = match (on, found) {
            (Some(branch), _) => format!("branch {branch}"),
            (None, Some(commit)) => format!("commit {commit}"),
            (None, None) => "nowhere".into(),
        };
        self.repairs.push(Repair::HeadMoved { found });
        Ok(())
    }

    /// Puts every file that is not ignored into the index.
    fn add(&mut self) -> Result<(), GitError> {
        if self.git(["add", "--all"]).accept(&[0, 1, 128]).run()?.code == 0 {
            return Ok(());
        }
        // Most often a repository without a commit inside. The walk is for that rare case only.
        // Whatever it was: submodules that the project declares stay what they are.
        let modules = match fs::read_to_string(self.path.join(".gitmodules")) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(GitError::disk("read", self.path.join(".gitmodules"))(error)),
        };
        for nested in nested_repositories(&self.path)? {
            let name = nested.strip_prefix(&self.path).unwrap_or(&nested).to_string_lossy();
            if !declares(&modules, &name) {
                self.set_aside(&nested)?;
            }
        }
        let again = self.git(["add", "--all", "--ignore-errors"]).accept(&[0, 1]).run()?;
        let full = disk::trouble([self.own.as_path()]).filter(|_| again.code != 0);
        if again.code != 0 && (full.is_some() || is_unwritable(&again.stderr)) {
            // What cannot be stored is not left out: it is committed as soon as there is room.
            return Err(GitError::failed("git add --all", &self.path, Some(again.code), again.stderr, full));
        }
        if again.code != 0 {
            self.repairs.push(Repair::FilesUnreadable { detail: again.stderr });
        }
        Ok(())
    }

    fn commit(&mut self, start: &CommitObject, text: &CommitText) -> Result<CommitObject, GitError> {
        let message = message(self.key, text);
        let call = self.git(["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"]);
        if call.stdin(message.clone()).accept(&[0, 1]).run()?.code != 0 {
            // 1 is "nothing to commit" or trouble; an index that equals HEAD tells them apart.
            self.git(["diff-index", "--cached", "--quiet", "HEAD"]).run()?;
        }
        let tip = self.spaces.repository().commit(&self.reference())?;
        if tip.id == start.id || tip.parents.contains(&start.id) {
            return Ok(tip);
        }
        if self.spaces.repository().is_ancestor(&start.id, &tip.id)? {
            return Ok(tip);
        }
        let args = ["commit-tree", tip.tree.as_str(), "-p", start.id.as_str(), "-F", "-"];
        let new = self.git(args).stdin(message).run()?.text();
        self.git(["update-ref", &self.reference(), &new, tip.id.as_str()]).run()?;
        self.repairs.push(Repair::HistoryRewritten);
        self.spaces.repository().commit(&new)
    }

    /// Takes the files of repositories that `git add` recorded as a mere link. True when there were any.
    fn absorb_recorded(&mut self, changes: &[RawChange], tree: &TreeId) -> Result<bool, GitError> {
        let links: Vec<&RawChange> = changes
            .iter()
            .filter(|change| change.old_kind != Some(EntryKind::Submodule))
            .filter(|change| change.new.as_ref().is_some_and(|new| new.kind == EntryKind::Submodule))
            .collect();
        if links.is_empty() {
            return Ok(false);
        }
        let listing = self.spaces.repository().listing(tree)?;
        let modules = match listing.get(".gitmodules") {
            Some(entry) => String::from_utf8_lossy(&self.spaces.repository().blob(&entry.object)?).into_owned(),
            None => String::new(),
        };
        let mut absorbed = false;
        for link in links {
            let name = escape_path(&link.path);
            let nested = self.path.join(&name);
            if declares(&modules, &name) || !nested.join(".git").exists() {
                continue;
            }
            self.set_aside(&nested)?;
            self.git(["rm", "--cached", "--quiet", "--force", "--", &name]).run()?;
            absorbed = true;
        }
        Ok(absorbed)
    }

    fn set_aside(&mut self, nested: &Path) -> Result<(), GitError> {
        let shelf = self.own.join("helix-nested");
        fs::create_dir_all(&shelf).map_err(GitError::disk("create", &shelf))?;
        let from = nested.join(".git");
        let count = fs::read_dir(&shelf).map_err(GitError::disk("list", &shelf))?.count();
        let to = shelf.join(count.to_string());
        if fs::rename(&from, &to).is_err() {
            // Another file system: the history of a nested repository is not worth a copy, its files are.
            remove_tree(&from)?;
        }
        let path = nested.strip_prefix(&self.path).unwrap_or(nested).to_string_lossy().into_owned();
        self.repairs.push(Repair::NestedRepository { path });
        Ok(())
    }
}

/// Whether a `.gitmodules` declares a submodule at a path.
fn declares(modules: &str, path: &str) -> bool {
    modules.lines().any(|line| {
        line.trim().strip_prefix("path").and_then(|rest| rest.trim_start().strip_prefix('=')).map(str::trim)
            == Some(path)
    })
}

fn message(key: &AttemptKey, text: &CommitText) -> String {
    let mut message = text.subject.trim().replace('\n', " ");
    if !text.body.trim().is_empty() {
        message.push_str("\n\n");
        message.push_str(text.body.trim());
    }
    message.push_str("\n\n");
    message.push_str(&key.trailers());
    message
}

/// Directories below that have a `.git` of their own.
fn nested_repositories(root: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries {
            let entry = entry.map_err(GitError::disk("list", &directory))?;
            if entry.file_name() == ".git" {
                if directory != root {
                    found.push(directory.clone());
                }
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    Ok(found)
}
