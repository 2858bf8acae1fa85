//! Worktrees of attempts and gates under one directory: made, found again after a crash, removed.
//!
//! Must not know what happens in them. Every operation may be repeated after a crash at any point of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use helix_core::ids::{CommitId, JobId};

use super::attempt::AttemptKey;
use super::error::GitError;
use super::repository::Repository;

/// File in a worktree's private git directory that says: it was made to the end.
const READY: &str = "helix-ready";

/// Directory beside those of jobs with what nobody needs any more: in the same file system, so that a move is one step. No id of a
/// job begins with a dot.
const TRASH: &str = ".trash";

/// Pauses before a worktree is added once more. Git holds the locks that another one runs into for milliseconds.
const ADD_PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1600)];

/// Touched files that are worth naming.
const MAX_TOUCHED: usize = 20;

/// The worktrees of one repository's jobs.
#[derive(Debug, Clone)]
pub struct Workspaces {
    repository: Repository,
    root: PathBuf,
    /// Held while the repository's list of worktrees changes: `git worktree add` reads what it knows of all others, and fails
    /// over one that is half made or half removed ("failed to read …/commondir").
    listing: Arc<Mutex<()>>,
}

/// Paths of a repository that who works in a worktree of it may read, and change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitPlaces {
    pub readable: Vec<PathBuf>,
    pub writable: Vec<PathBuf>,
}

/// A worktree in which an agent may work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptWorktree {
    pub path: PathBuf,
    /// The branch checked out in it.
    pub branch: String,
}

/// What [`Workspaces::set_aside`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Worktrees that no job needs any more; their files are in the trash.
    pub removed: Vec<PathBuf>,
    /// Worktrees that could not be moved, with the reason.
    pub stuck: Vec<(PathBuf, String)>,
}

impl Workspaces {
    /// Uses `root` (`<state>/worktrees`) for worktrees of the repository.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn new(repository: Repository, root: &Path) -> Result<Self, GitError> {
        fs::create_dir_all(root).map_err(GitError::disk("create", root))?;
        // Git records resolved paths; a link in the way would make a worktree unfindable.
        let root = root.canonicalize().map_err(GitError::disk("resolve", root))?;
        Ok(Self { repository, root, listing: Arc::default() })
    }

    /// Whether the two are clones of one another, which see to it together that git's list of worktrees changes in one place at a time.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.listing, &other.listing)
    }

    /// Whether another clone of this is in use.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.listing) > 1
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Makes the attempt's worktree and branch at `start`. Called only before the attempt is recorded as begun: no agent has been
    /// there, so that what is found of a former call (before a crash, or from another start) is made anew.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn prepare_attempt(&self, key: &AttemptKey, start: &CommitId) -> Result<AttemptWorktree, GitError> {
        let (path, branch) = (key.directory(&self.root), key.branch());
        self.discard(&path)?;
        self.add(&path, &["--no-track", "-B", &branch], start)?;
        Ok(AttemptWorktree { path, branch })
    }

    /// Where the job's gate checkout is.
    pub fn gate_directory(&self, job: &JobId) -> PathBuf {
        self.root.join(job.as_str()).join("gate")
    }

    /// Brings the job's gate checkout to a commit, without anything that is not in it. The caller sees to it that only
    /// one gate uses it at a time.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn gate_checkout(&self, job: &JobId, commit: &CommitId) -> Result<PathBuf, GitError> {
        self.checkout(self.gate_directory(job), commit)
    }

    /// Makes a checkout of a commit for somebody who only looks at it, under a name of its own; made anew if it is there.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn looking_glass(&self, job: &JobId, name: &str, commit: &CommitId) -> Result<PathBuf, GitError> {
        self.checkout(self.root.join(job.as_str()).join(format!("look.{name}")), commit)
    }

    fn checkout(&self, path: PathBuf, commit: &CommitId) -> Result<PathBuf, GitError> {
        if let Some(own) = self.find_ready(&path)? {
            remove_stale_locks(&own, None)?;
            match self.renew(&path, &own, commit) {
                Ok(()) => return Ok(path),
                Err(error) => tracing::warn!(%error, ?path, "the checkout is damaged and is made anew"),
            }
        }
        self.discard(&path)?;
        self.add(&path, &["--detach"], commit)?;
        Ok(path)
    }

    /// Files of a checkout that are not as the commit has them, at most a handful; empty when nothing was touched.
    ///
    /// # Errors
    /// Git failed, or the checkout is gone.
    pub fn touched(&self, path: &Path) -> Result<Vec<String>, GitError> {
        let Some(own) = self.find_ready(path)? else {
            return Err(GitError::NoObject { name: path.display().to_string(), repository: self.root.clone() });
        };
        let args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
        let output = self.inside(path, &own, args).run()?;
        let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        Ok(entries.take(MAX_TOUCHED).map(|entry| super::objects::escape_path(&entry[3..])).collect())
    }

    fn renew(&self, path: &Path, own: &Path, commit: &CommitId) -> Result<(), GitError> {
        self.inside(path, own, ["checkout", "--quiet", "--force", "--detach", commit.as_str()]).run()?;
        self.inside(path, own, ["clean", "--quiet", "-xffd"]).run()?;
        Ok(())
    }

    /// Removes the worktrees of a job but those of the attempts named, whose work is nowhere else; its branches stay.
    ///
    /// # Errors
    /// The disk refused.
    pub fn remove_job(&self, job: &JobId, unsaved: &[AttemptKey]) -> Result<(), GitError> {
        let directory = self.root.join(job.as_str());
        let kept: Vec<PathBuf> = unsaved.iter().map(|key| key.directory(&self.root)).collect();
        for entry in list(&directory)?.into_iter().filter(|entry| !kept.contains(entry)) {
            self.discard(&entry)?;
        }
        if list(&directory)?.is_empty() { remove_tree(&directory) } else { Ok(()) }
    }

    /// Jobs of which there is a directory below `root`.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn jobs(root: &Path) -> Result<Vec<JobId>, GitError> {
        let name = |path: PathBuf| path.file_name().and_then(OsStr::to_str).and_then(|name| JobId::new(name).ok());
        Ok(list(root)?.into_iter().filter_map(name).collect())
    }

    /// Moves everything below `root` into the trash but the worktrees of living jobs and those of attempts whose work is nowhere
    /// else, whatever repository they belong to. Called when a host starts, before any job can go on: what is in the trash can
    /// then be deleted at leisure, since no job finds its worktree there.
    ///
    /// # Errors
    /// A directory cannot be read or made.
    pub fn set_aside(root: &Path, living: &BTreeSet<JobId>, unsaved: &[AttemptKey]) -> Result<SetAside, GitError> {
        let trash = root.join(TRASH);
        let mut done = SetAside::default();
        for job in list(root)? {
            let name = job.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if job == trash || living.iter().any(|known| known.as_str() == name) {
                continue;
            }
            fs::create_dir_all(&trash).map_err(GitError::disk("create", &trash))?;
            let kept: Vec<PathBuf> = unsaved.iter().map(|key| key.directory(root)).collect();
            for worktree in list(&job)?.into_iter().filter(|worktree| !kept.contains(worktree)) {
                let own = claimed_directory(&worktree);
                match throw(&worktree, &trash).and_then(|()| own.map_or(Ok(()), |own| remove_tree(&own))) {
                    Ok(()) => done.removed.push(worktree),
                    Err(error) => done.stuck.push((worktree, error.fault().message)),
                }
            }
            if list(&job)?.is_empty()
                && let Err(error) = throw(&job, &trash)
            {
                done.stuck.push((job, error.fault().message));
            }
        }
        Ok(done)
    }

    /// Deletes what is in the trash.
    ///
    /// # Errors
    /// The first thing that could not be deleted; everything else is gone.
    pub fn empty_trash(root: &Path) -> Result<(), GitError> {
        let mut result = Ok(());
        for thrown in list(&root.join(TRASH))? {
            result = result.and(remove_tree(&thrown));
        }
        result
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A git command in a worktree, by its private git directory as the repository knows it: what the `.git` file in the
    /// worktree says is the agent's to change and is not believed.
    pub(crate) fn inside<'a, A: AsRef<OsStr>>(
        &'a self,
        path: &Path,
        own: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> super::spawn::Call<'a> {
        // What the directory itself says of its repository may be an agent's word.
        let call = self.repository.git(path, args).env("GIT_DIR", own).env("GIT_WORK_TREE", path);
        call.env("GIT_COMMON_DIR", self.repository.common_dir()).in_own_worktree()
    }

    /// What git needs of the user's repository in a linked worktree. This is the one place that opens a repository to who works in a
    /// worktree of it: read, all of it; changed, what a commit on the attempt's own branch changes.
    ///
    /// # Errors
    /// The disk failed.
    pub fn git_places(&self, path: &Path, commits: Option<&AttemptKey>) -> Result<GitPlaces, GitError> {
        let common = self.repository.common_dir();
        let readable = vec![common.to_owned(), self.repository.top().to_owned()];
        let Some(key) = commits else { return Ok(GitPlaces { readable, writable: Vec::new() }) };
        let branch = key.branch();
        let above = branch.rsplit_once('/').map_or(branch.as_str(), |(above, _)| above);
        let mut writable = vec![common.join("objects")];
        for directory in ["refs/heads", "logs/refs/heads"] {
            let directory = common.join(directory).join(above);
            fs::create_dir_all(&directory).map_err(GitError::disk("create", &directory))?;
            writable.push(directory);
        }
        writable.extend(self.find_own(path)?);
        Ok(GitPlaces { readable, writable })
    }

    /// The private git directory of a worktree that was made to its end and is still there.
    pub(crate) fn find_ready(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let own = self.find_own(path)?;
        Ok(own.filter(|own| path.is_dir() && own.join(READY).exists()))
    }

    /// The private git directory that the repository keeps for a worktree, whether or not the worktree is there.
    fn find_own(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let all = self.repository.common_dir().join("worktrees");
        let belongs = |own: &Path| {
            fs::read_to_string(own.join("gitdir")).is_ok_and(|text| Path::new(text.trim_end()) == path.join(".git"))
        };
        // Git names it after the worktree unless that name is taken.
        if let Some(name) = path.file_name()
            && belongs(&all.join(name))
        {
            return Ok(Some(all.join(name)));
        }
        Ok(list(&all)?.into_iter().find(|own| belongs(own)))
    }

    fn add(&self, path: &Path, how: &[&str], commit: &CommitId) -> Result<(), GitError> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(GitError::disk("create", parent))?;
        }
        let args = ["worktree", "add", "--quiet"].iter().chain(how).map(OsStr::new);
        let args: Vec<&OsStr> = args.chain([path.as_os_str(), OsStr::new(commit.as_str())]).collect();
        self.add_patiently(path, &args)?;
        let own = self.find_own(path)?.ok_or_else(|| GitError::Unreadable {
            command: "git worktree add".into(),
            problem: format!("the repository does not know {path:?} afterwards"),
        })?;
        let ready = own.join(READY);
        fs::write(&ready, b"").map_err(GitError::disk("write", ready))
    }

    /// Adds a worktree, more than once if need be: another host or the user at work in the same repository at that moment makes git
    /// refuse, and is no reason to give a job up.
    fn add_patiently(&self, path: &Path, args: &[&OsStr]) -> Result<(), GitError> {
        let mut pauses = ADD_PAUSES.iter();
        loop {
            let added = {
                let _alone = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
                self.repository.git(self.repository.top(), args).in_own_worktree().run()
            };
            match (added, pauses.next()) {
                (Ok(_), _) => return Ok(()),
                (Err(error @ GitError::Failed { .. }), Some(pause)) => {
                    tracing::warn!(%error, "a worktree cannot be made; trying again in {pause:?}");
                    std::thread::sleep(*pause);
                    self.discard(path)?;
                }
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// Removes a worktree with all that the repository knows of it, in whatever state it is. The same as
    /// `git worktree remove --force --force`, but also for one that is half made, locked, or gone.
    pub(crate) fn discard(&self, path: &Path) -> Result<(), GitError> {
        let own = self.find_own(path)?;
        remove_tree(path)?;
        let _alone = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        own.map_or(Ok(()), |own| remove_tree(&own))
    }
}

/// Removes what a git process that was killed left behind, the lock of `reference` with it; returns how many locks there were.
/// Only for worktrees in which nothing runs any more.
pub(crate) fn remove_stale_locks(own: &Path, reference: Option<PathBuf>) -> Result<usize, GitError> {
    let mut removed = 0;
    for file in ["index", "HEAD", "ORIG_HEAD"].map(|name| own.join(name)).into_iter().chain(reference) {
        let lock = file.with_added_extension("lock");
        match fs::remove_file(&lock) {
            Ok(()) => removed += 1,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(GitError::disk("remove", lock)(error)),
        }
    }
    Ok(removed)
}

/// The private git directory that a worktree names, if that one names the worktree too.
fn claimed_directory(worktree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(worktree.join(".git")).ok()?;
    let own = PathBuf::from(text.trim_end().strip_prefix("gitdir: ")?);
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    let same = Path::new(back.trim_end()).parent()?.canonicalize().ok()? == worktree.canonicalize().ok()?;
    same.then_some(own)
}

/// Moves something into the trash, under a name that nothing there has.
fn throw(path: &Path, trash: &Path) -> Result<(), GitError> {
    fs::rename(path, trash.join(uuid::Uuid::now_v7().to_string())).map_err(GitError::disk("move to the trash", path))
}

pub(super) fn list(directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(GitError::disk("list", directory)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(GitError::disk("list", directory))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file or directory that may not be there, also one with directories that are not writable.
pub(crate) fn remove_tree(path: &Path) -> Result<(), GitError> {
    let remove = || match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    match gone(remove()) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(path);
            gone(remove()).map_err(GitError::disk("remove", path))
        }
        other => other.map_err(GitError::disk("remove", path)),
    }
}

/// Makes every directory below writable for its owner, as tools such as Go's module cache leave them read-only.
fn open_up(directory: &Path) {
    let Ok(found) = fs::symlink_metadata(directory) else { return };
    if !found.is_dir() {
        return;
    }
    if let Err(error) = fs::set_permissions(directory, fs::Permissions::from_mode(0o700)) {
        tracing::debug!(%error, ?directory, "permissions could not be changed");
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        open_up(&entry.path());
    }
}
