//! A repository, the user's or the host's own beside it: found, judged, and asked. Cheap to clone.
//!
//! Must not change anything in the user's work tree; the one exception is [`Repository::init`], which is asked for.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use helix_core::evidence::ChangedFile;
use helix_core::ids::{CommitId, TreeId};
use helix_process::bounded::read_text;
use sha2::{Digest, Sha256};

use super::batch::Batch;
use super::environment::GitEnvironment;
use super::error::{GitError, OpenError};
use super::files::read;
use super::objects::{
    CommitObject, DIFFER, EntryKind, READER, RawChange, TreeListing, contents, empty_tree, escape_path, info,
    parse_commit, raw_changes,
};
use super::settings::{Identity, Settings};
use super::spawn::Call;

/// Listings that are kept: base, result, and those of a neighbouring phase.
const KEPT_LISTINGS: usize = 4;

/// A repository with a work tree.
#[derive(Clone)]
pub struct Repository {
    inner: Arc<Inner>,
}

struct Inner {
    git: GitEnvironment,
    top: PathBuf,
    common: PathBuf,
    own: PathBuf,
    /// The common directory itself, whatever is at its path by now. Held open, so that no other directory gets its number.
    anchor: File,
    warnings: Vec<OpenWarning>,
    reader: Batch,
    differ: Batch,
    listings: Mutex<VecDeque<(TreeId, Arc<TreeListing>)>>,
    /// What the host's own repository knows of the user's one.
    hosted: Option<Hosted>,
}

/// What the host's repository knows of the user's one.
pub(super) struct Hosted {
    pub(super) user: Repository,
    pub(super) settings: Settings,
    pub(super) authors: OnceLock<[Identity; 2]>,
}

impl Hosted {
    /// Author and committer.
    pub(super) fn authors(&self) -> Result<&[Identity; 2], GitError> {
        if let Some(known) = self.authors.get() {
            return Ok(known);
        }
        let found = self.user.identities()?;
        Ok(self.authors.get_or_init(|| found))
    }
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("top", &self.inner.top).finish_non_exhaustive()
    }
}

/// Where HEAD of the user's work tree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// On a branch with at least one commit.
    Branch {
        /// Its name without `refs/heads/`.
        branch: String,
        commit: CommitId,
    },
    /// On a branch that has no commit yet.
    Unborn { branch: String },
    /// On a commit directly.
    Detached { commit: CommitId },
}

/// Something that the user has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "git's own words")]
pub enum Operation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

impl Operation {
    /// The word users know.
    pub fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// What is in progress in a work tree with this private git directory.
    pub(crate) fn in_progress(own: &Path) -> Option<Self> {
        [
            ("MERGE_HEAD", Self::Merge),
            ("rebase-merge", Self::Rebase),
            ("rebase-apply", Self::Rebase),
            ("CHERRY_PICK_HEAD", Self::CherryPick),
            ("REVERT_HEAD", Self::Revert),
            ("BISECT_LOG", Self::Bisect),
        ]
        .into_iter()
        .find(|(file, _)| own.join(file).exists())
        .map(|(_, operation)| operation)
    }

    /// What is in progress in a work tree with this private git directory and will set the branch when it ends, although the
    /// branch is not checked out meanwhile: a rebase (also one that carries other branches along) or a bisection.
    ///
    /// # Errors
    /// The disk refused.
    pub(crate) fn sets(own: &Path, branch: &str) -> Result<Option<Self>, GitError> {
        let full = format!("refs/heads/{branch}");
        let places = [
            ("rebase-merge/head-name", Self::Rebase),
            ("rebase-apply/head-name", Self::Rebase),
            ("rebase-merge/update-refs", Self::Rebase),
            ("BISECT_START", Self::Bisect),
        ];
        for (file, operation) in places {
            let path = own.join(file);
            let text = read(&path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            if text.lines().map(str::trim).any(|line| line == full || line == branch) {
                return Ok(Some(operation));
            }
        }
        Ok(None)
    }
}

/// Most of a `.gitmodules` that is read, in bytes.
const MAX_MODULES: u64 = 1 << 20;

/// Something about a repository that does not keep Helix from working in it, but that its user should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenWarning {
    /// History ends somewhere: old bases cannot be compared with.
    Shallow,
    /// It has submodules that are not in its `.git`, and are empty in Helix's worktrees.
    Submodules,
    /// The user is in the middle of something: the result will be left on a branch beside theirs.
    InProgress(Operation),
}

impl std::fmt::Display for OpenWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shallow => f.write_str("the clone is shallow; `git fetch --unshallow` makes it whole"),
            Self::Submodules => f.write_str(
                "submodules are not here; `git submodule update --init --recursive` brings them, \
                 `git submodule absorbgitdirs` those with a `.git` directory of their own",
            ),
            Self::InProgress(operation) => {
                write!(f, "a {} is in progress; the result will be left on a branch of its own", operation.word())
            }
        }
    }
}

impl Repository {
    /// Opens the repository that a directory is in.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the directory.
    pub fn open(path: &Path, environment: GitEnvironment) -> Result<Self, OpenError> {
        if path.to_str().is_none() {
            return Err(OpenError::NotText { path: path.into() });
        }
        if !path.is_dir() {
            return Err(OpenError::NoDirectory { path: path.into() });
        }
        let args = [
            "rev-parse",
            "--path-format=absolute",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--git-common-dir",
            "--absolute-git-dir",
            "--show-toplevel",
        ];
        let failed = |source| OpenError::Git { path: path.into(), source: Box::new(source) };
        let output = environment.call(path, args).accept(&[0, 128]).run().map_err(failed)?;
        let text = output.text();
        let lines: Vec<&str> = text.lines().collect();
        if lines.first() == Some(&"true") {
            return Err(OpenError::Bare { path: path.into() });
        }
        let [_, shallow, common, own, top] = lines.as_slice() else {
            return Err(judge(path, &output.stderr));
        };
        let (top, common, own) = (PathBuf::from(top), PathBuf::from(common), PathBuf::from(own));
        let anchor = File::open(&common).map_err(GitError::disk("open", &common)).map_err(failed)?;
        let mut warnings = Vec::new();
        if *shallow == "true" {
            warnings.push(OpenWarning::Shallow);
        }
        let modules = read_text(Some(&top), &top.join(".gitmodules"), MAX_MODULES).ok().flatten().unwrap_or_default();
        if module_paths(&modules).any(|path| top.join(path).is_dir() && !top.join(path).join(".git").is_file()) {
            warnings.push(OpenWarning::Submodules);
        }
        warnings.extend(Operation::in_progress(&own).map(OpenWarning::InProgress));
        Ok(Self::assembled(environment, [top, common, own], anchor, warnings, None))
    }

    /// The host's own repository, which lies at its path already.
    pub(crate) fn at(environment: GitEnvironment, path: PathBuf, hosted: Option<Hosted>) -> Result<Self, GitError> {
        let anchor = File::open(&path).map_err(GitError::disk("open", &path))?;
        let paths = [path.clone(), path.clone(), path];
        Ok(Self::assembled(environment, paths, anchor, Vec::new(), hosted))
    }

    fn assembled(
        git: GitEnvironment,
        [top, common, own]: [PathBuf; 3],
        anchor: File,
        warnings: Vec<OpenWarning>,
        hosted: Option<Hosted>,
    ) -> Self {
        let inner = Inner {
            reader: Batch::new(git.clone(), top.clone(), &READER),
            differ: Batch::new(git.clone(), top.clone(), &DIFFER),
            listings: Mutex::new(VecDeque::new()),
            git,
            top,
            common,
            own,
            anchor,
            warnings,
            hosted,
        };
        Self { inner: Arc::new(inner) }
    }

    pub(super) fn hosting(&self) -> Option<&Hosted> {
        self.inner.hosted.as_ref()
    }

    pub(super) fn environment(&self) -> &GitEnvironment {
        &self.inner.git
    }

    /// Tells who listens that a part of an operation is done.
    pub fn step(&self, name: impl FnOnce() -> String) {
        self.environment().step(name);
    }

    /// Makes a directory a repository with a first commit of everything in it; a repository that has one already stays as it
    /// is. Doing it again after a crash gives the same result.
    ///
    /// # Errors
    /// [`OpenError`], also when nobody is named as author.
    pub fn init(path: &Path, environment: GitEnvironment) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Git { path: path.into(), source: Box::new(source) };
        std::fs::create_dir_all(path).map_err(GitError::disk("create", path)).map_err(failed)?;
        let repository = match Self::open(path, environment.clone()) {
            Err(OpenError::NoRepository { .. }) => {
                environment.call(path, ["init", "--quiet", "--initial-branch=main"]).run().map_err(failed)?;
                Self::open(path, environment)?
            }
            other => other?,
        };
        if let Head::Unborn { .. } = repository.head().map_err(failed)? {
            repository.identity().map_err(failed)?;
            let top = repository.top();
            repository.git(top, ["add", "--all"]).run().map_err(failed)?;
            let commit = ["commit", "--quiet", "--no-verify", "--allow-empty", "--message=Start of the project"];
            repository.git(top, commit).run().map_err(failed)?;
        }
        Ok(repository)
    }

    /// Commits just these files of the user's work tree; whatever else is staged or changed stays as it is.
    ///
    /// # Errors
    /// Git failed, or nobody is named as author.
    pub fn commit_files(&self, paths: &[String], message: &str) -> Result<(), GitError> {
        self.identity()?;
        let top = self.top();
        let named = || ["--".to_owned()].into_iter().chain(paths.iter().cloned());
        self.git(top, ["add".to_owned()].into_iter().chain(named())).in_users_tree().run()?;
        // Done before, by somebody who did not hear of it: there is nothing to commit. Without any commit there is everything.
        let differ = ["diff", "--cached", "--quiet", "HEAD"].map(str::to_owned);
        if self.git(top, differ.into_iter().chain(named())).accept(&[0, 1, 128]).run()?.code == 0 {
            return Ok(());
        }
        let commit = ["commit", "--quiet", "--no-verify", "--only"].map(str::to_owned);
        let message = [format!("--message={message}")];
        self.git(top, commit.into_iter().chain(message).chain(named())).in_users_tree().run()?;
        Ok(())
    }

    /// What lies in the user's work tree and is ignored, a directory as a whole with `/` at its end. Names that are no text are left out.
    ///
    /// # Errors
    /// Git failed.
    pub fn ignored(&self) -> Result<Vec<String>, GitError> {
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let output = self.git(self.top(), args).run()?;
        Ok(output.names().filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// Root of the user's work tree; of the host's own repository its directory.
    pub fn top(&self) -> &Path {
        &self.inner.top
    }

    /// Whether this is still the repository at its path: one that was deleted, or made anew there, is not, and its long-lived git
    /// processes would answer for what is no more.
    pub fn is_still_there(&self) -> bool {
        let is = |found: std::io::Result<Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
        let (opened, there) = (is(self.inner.anchor.metadata()), is(std::fs::metadata(&self.inner.common)));
        opened.is_some() && opened == there && self.hosting().is_none_or(|hosted| hosted.user.is_still_there())
    }

    /// What its user should know.
    pub fn warnings(&self) -> &[OpenWarning] {
        &self.inner.warnings
    }

    /// Where HEAD stands now.
    ///
    /// # Errors
    /// Git failed.
    pub fn head(&self) -> Result<Head, GitError> {
        let branch = self.head_branch(&self.inner.own, &self.inner.top)?;
        let commit = self.find_commit("HEAD")?.map(|commit| commit.id);
        match (branch, commit) {
            (Some(branch), Some(commit)) => Ok(Head::Branch { branch, commit }),
            (Some(branch), None) => Ok(Head::Unborn { branch }),
            (None, Some(commit)) => Ok(Head::Detached { commit }),
            (None, None) => Err(self.missing("HEAD")),
        }
    }

    /// Branch of the work tree with this private git directory; `None` when its HEAD is detached.
    pub(crate) fn head_branch(&self, own: &Path, work_tree: &Path) -> Result<Option<String>, GitError> {
        let file = own.join("HEAD");
        let text = std::fs::read_to_string(&file).map_err(GitError::disk("read", &file))?;
        let Some(name) = text.trim_end().strip_prefix("ref: ") else { return Ok(None) };
        // Repositories with reftable storage keep a placeholder in the file.
        if name.ends_with("/.invalid") {
            let output = self.git(work_tree, ["symbolic-ref", "--quiet", "HEAD"]).accept(&[0, 1]).run()?;
            return Ok(output.text().strip_prefix("refs/heads/").map(str::to_owned));
        }
        Ok(name.strip_prefix("refs/heads/").map(str::to_owned))
    }

    /// Tip of a branch of the user's; `None` when there is no such branch.
    ///
    /// # Errors
    /// Git failed.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        Ok(self.user().find_commit(&format!("refs/heads/{branch}"))?.map(|commit| commit.id))
    }

    /// Who makes commits here. Asked at submit, so that a missing identity is not found in the middle of a run.
    ///
    /// # Errors
    /// [`GitError::NoIdentity`] with the remedy.
    pub fn identity(&self) -> Result<Identity, GitError> {
        let [_, committer] = self.identities()?;
        Ok(committer)
    }

    /// Author and committer.
    pub(super) fn identities(&self) -> Result<[Identity; 2], GitError> {
        let ask = |variable: &str| {
            let args = ["-c", "user.useConfigOnly=true", "var", variable];
            let output = self.git(self.top(), args).accept(&[0, 1, 128]).run()?;
            let text = output.text();
            let parts = text.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
            match (output.code, parts) {
                (0, Some((name, email))) => Ok(Identity { name: name.into(), email: email.into() }),
                (code, _) => {
                    let words = output.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                    let missing = if words.is_empty() { format!("exit {code}") } else { words.to_owned() };
                    Err(GitError::NoIdentity { repository: self.inner.top.clone(), missing })
                }
            }
        };
        Ok([ask("GIT_AUTHOR_IDENT")?, ask("GIT_COMMITTER_IDENT")?])
    }

    /// The remotes with the addresses that git fetches from, as its configuration rewrites them.
    ///
    /// # Errors
    /// Git failed.
    pub fn remotes(&self) -> Result<Vec<(String, String)>, GitError> {
        let output = self.git(self.top(), ["remote", "--verbose"]).run()?;
        let text = output.text();
        let fetched = text.lines().filter_map(|line| line.split_once(" (fetch)")?.0.split_once('\t'));
        Ok(fetched.map(|(name, address)| (name.to_owned(), address.to_owned())).collect())
    }

    /// How many files of a commit are not here: a partial clone fetches them when they are first read, which the host's own
    /// repository cannot do.
    ///
    /// # Errors
    /// Git failed.
    pub fn missing_files(&self, commit: &CommitId) -> Result<usize, GitError> {
        let mut packs = std::fs::read_dir(self.inner.common.join("objects/pack")).into_iter().flatten().flatten();
        if !packs.any(|entry| entry.path().extension() == Some(OsStr::new("promisor"))) {
            return Ok(0);
        }
        let args = ["rev-list", "--objects", "--no-walk", "--missing=print", commit.as_str()];
        let output = self.git(self.top(), args).run()?;
        Ok(output.text().lines().filter(|line| line.starts_with('?')).count())
    }

    /// Whether `ancestor` is in the history of `commit`, or is it.
    ///
    /// # Errors
    /// Git failed.
    pub fn is_ancestor(&self, ancestor: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        if ancestor == commit {
            return Ok(true);
        }
        let args = ["merge-base", "--is-ancestor", ancestor.as_str(), commit.as_str()];
        Ok(self.git(self.top(), args).accept(&[0, 1]).run()?.code == 0)
    }

    /// Directory that all work trees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.inner.common
    }

    /// Directory of git's for this work tree alone.
    pub(crate) fn own_dir(&self) -> &Path {
        &self.inner.own
    }

    pub fn git<'a, A: AsRef<OsStr>>(&'a self, directory: &Path, args: impl IntoIterator<Item = A>) -> Call<'a> {
        self.inner.git.call(directory, args)
    }

    pub(crate) fn missing(&self, name: &str) -> GitError {
        GitError::NoObject { name: name.to_owned(), repository: self.top().to_path_buf() }
    }

    /// Names a commit by a reference, so that git keeps it whatever becomes of the branches.
    ///
    /// # Errors
    /// Git failed.
    pub fn keep(&self, reference: &str, commit: &CommitId) -> Result<(), GitError> {
        self.git(self.top(), ["update-ref", reference, commit.as_str()]).run().map(drop)
    }

    /// The same in the user's repository, for a commit that people are to find there.
    ///
    /// # Errors
    /// Git failed.
    pub fn publish(&self, reference: &str, commit: &CommitId) -> Result<(), GitError> {
        self.hand_over(commit)?;
        self.user().keep(reference, commit)
    }

    /// The commit that a name (id, branch, `HEAD`) stands for now; `None` when there is none.
    ///
    /// # Errors
    /// Git failed, or the name stands for something else than a commit.
    pub fn find_commit(&self, name: &str) -> Result<Option<CommitObject>, GitError> {
        if name.contains('\n') {
            return Err(self.missing(name));
        }
        let Some((header, bytes)) = contents(&self.inner.reader, name)? else { return Ok(None) };
        if header.kind != "commit" {
            return Err(self.missing(&format!("{name} (it is a {}, not a commit)", header.kind)));
        }
        parse_commit(&header.id, &bytes).map(Some).ok_or_else(|| GitError::Unreadable {
            command: "git cat-file --batch-command".into(),
            problem: format!("commit {} has a damaged header", header.id),
        })
    }

    /// The commit that a name stands for.
    ///
    /// # Errors
    /// Git failed, or there is no such commit.
    pub fn commit(&self, name: &str) -> Result<CommitObject, GitError> {
        self.find_commit(name)?.ok_or_else(|| self.missing(name))
    }

    /// Size of an object in bytes.
    ///
    /// # Errors
    /// Git failed, or there is no such object.
    pub fn size(&self, object: &str) -> Result<usize, GitError> {
        info(&self.inner.reader, object)?.map(|header| header.size).ok_or_else(|| self.missing(object))
    }

    /// Content of a blob.
    ///
    /// # Errors
    /// Git failed, or there is no such object.
    pub fn blob(&self, object: &str) -> Result<Vec<u8>, GitError> {
        contents(&self.inner.reader, object)?.map(|(_, bytes)| bytes).ok_or_else(|| self.missing(object))
    }

    /// Every file of a tree. Kept for the few trees asked for last.
    ///
    /// # Errors
    /// Git failed.
    pub fn listing(&self, tree: &TreeId) -> Result<Arc<TreeListing>, GitError> {
        let kept = || self.inner.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept().iter().find(|(known, _)| known == tree) {
            return Ok(known.clone());
        }
        let entries = raw_changes(&self.inner.differ, empty_tree(tree), tree.as_str())?;
        let listing: TreeListing =
            entries.into_iter().filter_map(|change| Some((escape_path(&change.path), change.new?))).collect();
        let listing = Arc::new(listing);
        let mut kept = kept();
        if kept.len() >= KEPT_LISTINGS {
            kept.pop_front();
        }
        kept.push_back((tree.clone(), listing.clone()));
        Ok(listing)
    }

    /// SHA-256 over the files of a tree, hex: of each, by path, its mode, SHA-256 of its content (of a submodule, its commit) and its
    /// path, `MODE SHA256 PATH` and a NUL byte. It says what is in the files where git's own ids rest on SHA-1.
    ///
    /// # Errors
    /// Git failed.
    pub fn content_digest(&self, tree: &TreeId) -> Result<String, GitError> {
        let mut all = Sha256::new();
        for (path, entry) in self.listing(tree)?.iter() {
            let content = match entry.kind {
                EntryKind::Submodule => entry.object.clone(),
                EntryKind::File | EntryKind::Executable | EntryKind::Symlink => {
                    format!("{:x}", Sha256::digest(self.blob(&entry.object)?))
                }
            };
            all.update(format!("{} {content} {path}\0", entry.kind.mode()));
        }
        Ok(format!("{:x}", all.finalize()))
    }

    /// What differs between two trees, in path order.
    ///
    /// # Errors
    /// Git failed.
    pub fn changes(&self, old: &TreeId, new: &TreeId) -> Result<Vec<ChangedFile>, GitError> {
        Ok(self.raw_changes(old, new)?.iter().map(RawChange::changed_file).collect())
    }

    pub(crate) fn raw_changes(&self, old: &TreeId, new: &TreeId) -> Result<Vec<RawChange>, GitError> {
        if old == new {
            return Ok(Vec::new());
        }
        raw_changes(&self.inner.differ, old.as_str(), new.as_str())
    }
}

/// Where a `.gitmodules` has submodules.
pub(crate) fn module_paths(modules: &str) -> impl Iterator<Item = &str> {
    modules.lines().filter_map(|line| Some(line.trim().strip_prefix("path")?.trim_start().strip_prefix('=')?.trim()))
}

fn judge(path: &Path, stderr: &str) -> OpenError {
    let path = path.to_path_buf();
    if stderr.contains("dubious ownership") {
        return OpenError::ForeignOwner { path };
    }
    if stderr.contains("not a git repository") {
        return OpenError::NoRepository { path };
    }
    // `rev-parse` inside the `.git` directory itself: there is a repository, but no work tree to stand in.
    if stderr.contains("must be run in a work tree") {
        return OpenError::Bare { path };
    }
    let source = GitError::failed("git rev-parse --show-toplevel", &path, Some(128), stderr.to_owned(), None);
    OpenError::Git { path, source: Box::new(source) }
}
