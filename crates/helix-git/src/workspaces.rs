//! Work places of attempts, gates and reviewers under one directory: made, found again after a crash, removed.
//!
//! Must not know what happens in them. Every operation may be repeated after a crash at any point of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{CommitId, JobId};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::attempt::AttemptKey;
use super::error::GitError;
use super::files::{list, remove_tree};
use super::repository::Repository;
use super::spawn::LIMIT;

/// Directory beside those of jobs with what nobody needs any more: in the same file system, so that a move is one step. No id of a
/// job begins with a dot.
const TRASH: &str = ".trash";

/// How long git may look through a work place before it is asked what keeps it.
const QUICKLY: Duration = Duration::from_secs(5);
/// Longest call among an agent's files: patterns that never come to an end must not hold up the host.
pub(crate) const WITHIN_PLACE: Duration = Duration::from_secs(180);

/// Most memory of a git process that looks at files of a work place, in bytes: it reads `.gitignore` whole, however long that is.
pub(crate) const MEMORY: u64 = 4 << 30;

/// Touched files that are worth naming.
const MAX_TOUCHED: usize = 20;

/// The work places of one repository's jobs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspaces {
    inner: Arc<Inner>,
    cancel: CancellationToken,
}

#[derive(Debug)]
struct Inner {
    repository: Repository,
    /// Has a directory for each job, with its work places.
    root: PathBuf,
    /// Has a directory for each job, with what only the host knows of its work places.
    records: PathBuf,
}

/// A place in which somebody works: a directory with files and a clone of its own in it, whose `.git` is the worker's to change.
/// The host looks at the files by its own repository and its own index, which lie elsewhere.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) index: PathBuf,
    /// The user's references when it was made.
    references: PathBuf,
    /// How the user's repository was then.
    pub(crate) watched: PathBuf,
}

/// A worktree in which an agent may work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptWorktree {
    pub path: PathBuf,
    /// The branch that is checked out in it, and keeps its result.
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

impl Place {
    pub(crate) fn new(path: PathBuf, index: PathBuf, references: PathBuf, watched: PathBuf) -> Self {
        Self { path, index, references, watched }
    }

    /// The indexes of its submodules.
    pub(crate) fn submodules(&self) -> PathBuf {
        self.index.with_extension("submodules")
    }

    /// The record of its files of LFS.
    pub(crate) fn lfs(&self) -> PathBuf {
        self.index.with_extension("apart")
    }
}

impl Workspaces {
    /// Uses a state directory for work places in a user's repository: `worktrees/` in it for the places, `git/` for the host's own
    /// repository and what it knows of the places.
    ///
    /// # Errors
    /// A directory cannot be made, or git failed.
    pub fn new(user: Repository, state: &Path) -> Result<Self, GitError> {
        let root = Self::root_of(state);
        fs::create_dir_all(&root).map_err(GitError::disk("create", &root))?;
        let root = root.canonicalize().map_err(GitError::disk("resolve", root))?;
        let repository = Repository::hosted(user, state)?;
        let records = records_of(state);
        fs::create_dir_all(&records).map_err(GitError::disk("create", &records))?;
        let records = records.canonicalize().map_err(GitError::disk("resolve", &records))?;
        Ok(Self { inner: Arc::new(Inner { repository, root, records }), cancel: CancellationToken::new() })
    }

    /// The same, whose long copies end with [`GitError::Cancelled`] once nobody wants them any more.
    #[must_use]
    pub fn until(&self, cancel: &CancellationToken) -> Self {
        Self { inner: Arc::clone(&self.inner), cancel: cancel.clone() }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Where the work places of all jobs are, below a state directory.
    fn root_of(state: &Path) -> PathBuf {
        state.join("worktrees")
    }

    /// Whether the two are clones of one another.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether another clone of this is in use.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.inner) > 1
    }

    /// The host's own repository: it has all objects of the user's one, and moves the user's branches when something lands.
    pub fn repository(&self) -> &Repository {
        &self.inner.repository
    }

    /// Makes the attempt's work place at `start`, on the attempt's branch. Called only before the attempt is recorded as begun: no
    /// agent has been there, so that what is found of a former call (before a crash, or from another start) is made anew.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn prepare_attempt(&self, key: &AttemptKey, start: &CommitId) -> Result<AttemptWorktree, GitError> {
        let (place, branch) = (self.place_of(key), key.branch());
        self.discard(&place)?;
        let references = self.fill(&place, start)?;
        self.repository().step(|| format!("a work place of {}/{} is filled", key.phase, key.attempt));
        self.repository().note_watched(&references, &place.watched)?;
        self.make_private(&place, &format!("ref: refs/heads/{branch}\n"))?;
        let reference = place.path.join(".git/refs/heads").join(&branch);
        let written = reference.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| fs::write(&reference, format!("{start}\n")));
        written.map_err(GitError::disk("write", reference))?;
        self.repository().step(|| format!("a clone of {}/{} is made", key.phase, key.attempt));
        Ok(AttemptWorktree { path: place.path, branch })
    }

    /// Where the job's gate checkout is.
    pub fn gate_directory(&self, job: &JobId) -> PathBuf {
        self.place(job, "gate").path
    }

    /// Brings the job's gate checkout to a commit, without anything that is not in it. The caller sees to it that only
    /// one gate uses it at a time.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn gate_checkout(&self, job: &JobId, commit: &CommitId) -> Result<PathBuf, GitError> {
        self.checkout(&self.place(job, "gate"), commit)
    }

    /// Makes a checkout of a commit for somebody who only looks at it, under a name of its own; made anew if it is there.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn checkout_to_read(&self, job: &JobId, name: &str, commit: &CommitId) -> Result<PathBuf, GitError> {
        self.checkout(&self.place(job, &format!("look.{name}")), commit)
    }

    pub(crate) fn checkout(&self, place: &Place, commit: &CommitId) -> Result<PathBuf, GitError> {
        // Git writes the index when all files are there.
        let mut filled = false;
        if place.index.exists() && is_directory(&place.path) {
            match self.renew(place, commit) {
                Ok(()) => filled = true,
                Err(GitError::Cancelled) => return Err(GitError::Cancelled),
                Err(error) => tracing::warn!(%error, path = ?place.path, "the checkout is damaged and is made anew"),
            }
        }
        if !filled {
            self.discard(place)?;
            self.fill(place, commit)?;
        }
        self.make_private(place, &format!("{commit}\n"))?;
        Ok(place.path.clone())
    }

    /// Files of a checkout that are not as the commit has them, at most a handful; empty when nothing was touched.
    ///
    /// # Errors
    /// Git failed, or the checkout is gone.
    pub fn touched(&self, path: &Path) -> Result<Vec<String>, GitError> {
        let place = self.place_at(path)?;
        if !place.index.exists() || !is_directory(&place.path) {
            return Err(GitError::NoObject { name: path.display().to_string(), repository: self.root().into() });
        }
        let changed = self.changed_files(&place)?;
        Ok(changed.into_iter().take(MAX_TOUCHED).map(|path| super::objects::escape_path(&path)).collect())
    }

    /// Files of a work place that are not as its index has them, and those that are not ignored and not in it; a directory that is
    /// a repository of its own ends with a slash.
    pub(crate) fn changed_files(&self, place: &Place) -> Result<Vec<Vec<u8>>, GitError> {
        let args = ["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate"];
        let mut args = args.map(str::to_owned).to_vec();
        args.extend(place.without_fitting()?);
        let output = match self.inside(place, &args).limit(QUICKLY).run() {
            // Git waits at a pipe that is called like a file of its own; no pipe is part of a result.
            Err(GitError::TimedOut { .. }) => {
                remove_specials(&place.path, &[])?;
                self.inside(place, &args).run()?
            }
            output => output?,
        };
        let is_lfs_as_put = place.is_lfs_as_put()?;
        Ok(output.names().filter(|path| !is_lfs_as_put(path)).map(<[u8]>::to_vec).collect())
    }

    /// Fills an empty place; the user's references at that time.
    fn fill(&self, place: &Place, commit: &CommitId) -> Result<Vec<u8>, GitError> {
        for directory in [Some(place.path.as_path()), place.index.parent()].into_iter().flatten() {
            fs::create_dir_all(directory).map_err(GitError::disk("create", directory))?;
        }
        let references = self.repository().references()?;
        fs::write(&place.references, &references).map_err(GitError::disk("write", &place.references))?;
        // No file of an agent's is in it: a big tree may take as long as anywhere else.
        self.inside(place, ["read-tree", "--reset", "-u", commit.as_str()]).limit(LIMIT).run()?;
        self.complete(place, commit)?;
        Ok(references)
    }

    fn renew(&self, place: &Place, commit: &CommitId) -> Result<(), GitError> {
        remove_stale_lock(&place.index)?;
        // No tree can hold one: git leaves it where it is.
        remove_specials(&place.path, &[".git"])?;
        self.keep_lfs(place)?;
        self.inside(place, ["read-tree", "--reset", "-u", commit.as_str()]).run()?;
        self.inside(place, ["clean", "--quiet", "-xffd"]).run()?;
        self.complete(place, commit)
    }

    /// What a commit names and does not hold: files of submodules, and of LFS.
    fn complete(&self, place: &Place, commit: &CommitId) -> Result<(), GitError> {
        self.fill_submodules(place, commit)?;
        self.put_lfs(place, &*self.repository().listing(&self.repository().commit(commit.as_str())?.tree)?)
    }

    fn make_private(&self, place: &Place, head: &str) -> Result<(), GitError> {
        let references = fs::read(&place.references).unwrap_or_default();
        self.repository().make_private(&place.path, head, &references, &place.index)?;
        self.hide_lfs(place)
    }

    pub(crate) fn place_of(&self, key: &AttemptKey) -> Place {
        self.place(&key.job, &format!("{}.{}", key.phase, key.attempt))
    }

    pub(crate) fn place(&self, job: &JobId, name: &str) -> Place {
        let record = |what: &str| self.inner.records.join(job.as_str()).join(format!("{name}.{what}"));
        let path = self.inner.root.join(job.as_str()).join(name);
        Place::new(path, record("index"), record("references"), record("watched"))
    }

    /// Removes the worktrees of a job but those of the attempts named, whose work is nowhere else; its branches stay.
    ///
    /// # Errors
    /// The disk refused.
    pub fn remove_job(&self, job: &JobId, unsaved: &[AttemptKey]) -> Result<(), GitError> {
        let directory = self.root().join(job.as_str());
        let kept: Vec<PathBuf> = unsaved.iter().map(|key| key.directory(self.root())).collect();
        for entry in list(&directory)?.into_iter().filter(|entry| !kept.contains(entry)) {
            remove_tree(&entry)?;
        }
        if !list(&directory)?.is_empty() {
            return Ok(());
        }
        remove_tree(&self.inner.records.join(job.as_str()))?;
        remove_tree(&directory)
    }

    /// Jobs of which there is a directory with work places below a state directory.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn jobs(state: &Path) -> Result<Vec<JobId>, GitError> {
        let name = |path: PathBuf| path.file_name().and_then(OsStr::to_str).and_then(|name| JobId::new(name).ok());
        Ok(list(&Self::root_of(state))?.into_iter().filter_map(name).collect())
    }

    /// Moves all work places of a state directory into the trash but those of living jobs and those of attempts whose work is
    /// nowhere else, whatever repository they belong to. Called when a host starts, before any job can go on: what is in the trash
    /// can then be deleted at leisure, since no job finds its work place there.
    ///
    /// # Errors
    /// A directory cannot be read or made.
    pub fn set_aside(state: &Path, living: &BTreeSet<JobId>, unsaved: &[AttemptKey]) -> Result<SetAside, GitError> {
        let (root, is_living) = (Self::root_of(state), |name: &str| living.iter().any(|known| known.as_str() == name));
        let trash = root.join(TRASH);
        let mut done = SetAside::default();
        for job in list(&root)? {
            let name = job.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if job == trash || is_living(name) {
                continue;
            }
            fs::create_dir_all(&trash).map_err(GitError::disk("create", &trash))?;
            let kept: Vec<PathBuf> = unsaved.iter().map(|key| key.directory(&root)).collect();
            for worktree in list(&job)?.into_iter().filter(|worktree| !kept.contains(worktree)) {
                match throw(&worktree, &trash) {
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
        // What an attempt was given is known by them alone: its place is committed without that.
        let is_unsaved = |name: &str| unsaved.iter().any(|key| key.job.as_str() == name);
        for record in list(&records_of(state))? {
            let name = record.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if !is_living(name) && !is_unsaved(name) {
                remove_tree(&record)?;
            }
        }
        Ok(done)
    }

    /// Deletes what is in the trash.
    ///
    /// # Errors
    /// The first thing that could not be deleted; everything else is gone.
    pub fn empty_trash(state: &Path) -> Result<(), GitError> {
        let mut result = Ok(());
        for thrown in list(&Self::root_of(state).join(TRASH))? {
            result = result.and(remove_tree(&thrown));
        }
        result
    }

    /// Where the work places are.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// A git command on the files of a work place, by the host's own repository and index: what lies in the place's `.git` is the
    /// worker's to change and is not looked at.
    pub(crate) fn inside<'a, A: AsRef<OsStr>>(
        &'a self,
        place: &Place,
        args: impl IntoIterator<Item = A>,
    ) -> super::spawn::Call<'a> {
        let call = self.repository().git(&place.path, args);
        let call = call.env("GIT_WORK_TREE", &place.path).env("GIT_INDEX_FILE", &place.index);
        call.memory(MEMORY).limit(WITHIN_PLACE)
    }

    /// What the user's repository has of what commits only name, as a digest: objects of LFS, and of submodules. A checkout that is made
    /// anew has the same files of a tree as long as it stays the same.
    ///
    /// # Errors
    /// The disk failed.
    pub fn digest_of_named(&self) -> Result<String, GitError> {
        let user = self.repository().user();
        let (own, common) = (user.own_dir(), user.common_dir());
        let places = [common.join("lfs/objects"), common.join("modules"), own.join("modules")];
        // A copy of a repository has links to them.
        let mut open: Vec<PathBuf> = places.iter().filter_map(|place| place.canonicalize().ok()).collect();
        let mut objects = BTreeSet::new();
        while let Some(directory) = open.pop() {
            for path in list(&directory)? {
                if is_directory(&path) {
                    open.push(path);
                } else if path.iter().any(|part| part == "objects") {
                    objects.insert(path);
                }
            }
        }
        let paths = objects.iter().flat_map(|path| [path.as_os_str().as_encoded_bytes(), b"\0"]);
        Ok(format!("{:x}", paths.fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize()))
    }

    /// What who works in a work place may read besides it: the objects that its git is made of, and the files of the user's work
    /// tree, without what git keeps of it there. This is the one place that opens a repository to agents and commands; to be
    /// changed, nothing of it is.
    ///
    /// # Errors
    /// The disk failed.
    pub fn readable(&self) -> Result<Vec<PathBuf>, GitError> {
        let (own, user) = (self.repository(), self.repository().user());
        let files = list(user.top())?.into_iter().filter(|path| path.file_name() != Some(OsStr::new(".git")));
        Ok(own.object_directories()?.into_iter().chain(files).collect())
    }

    /// The same without the user's files: what git in a work place needs, for who judges what is committed.
    ///
    /// # Errors
    /// The disk failed.
    pub fn objects(&self) -> Result<Vec<PathBuf>, GitError> {
        self.repository().object_directories()
    }

    /// Removes a work place with all that the host knows of it, in whatever state it is.
    fn discard(&self, place: &Place) -> Result<(), GitError> {
        remove_tree(&place.index)?;
        remove_stale_lock(&place.index)?;
        remove_tree(&place.watched)?;
        for record in [place.fitting(), place.layers(), place.submodules(), place.lfs(), place.lfs_kept()] {
            remove_tree(&record)?;
        }
        remove_tree(&place.path)
    }
}

/// Where the host keeps what it knows of work places, below a state directory.
fn records_of(state: &Path) -> PathBuf {
    state.join(super::own::DIRECTORY).join("places")
}

/// Whether a path is a directory itself, not a link to one.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Removes pipes, sockets and devices: git does not see them, or waits at them. And what has one of these names.
fn remove_specials(path: &Path, names: &[&str]) -> Result<(), GitError> {
    let mut open = vec![path.to_path_buf()];
    while let Some(directory) = open.pop() {
        // What cannot be listed holds nothing that git could open.
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(_) if entry.file_name().to_str().is_some_and(|name| names.contains(&name)) => {
                    remove_tree(&entry.path())?;
                }
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if !kind.is_file() && !kind.is_symlink() => remove_tree(&entry.path())?,
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Removes the lock that a git process which was killed has left on a file. Only where nothing uses it any more.
pub(crate) fn remove_stale_lock(file: &Path) -> Result<(), GitError> {
    remove_tree(&file.with_added_extension("lock"))
}

/// Moves something into the trash, under a name that nothing there has.
fn throw(path: &Path, trash: &Path) -> Result<(), GitError> {
    fs::rename(path, trash.join(uuid::Uuid::now_v7().to_string())).map_err(GitError::disk("move to the trash", path))
}
