//! Numbers of ADRs: allocated one at a time, whoever asks.
//!
//! Must not know rules. The lock is on directories, so that it leaves nothing behind and ends with its holder; worktrees of one
//! repository share it, and numbers on their branches count as taken.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use helix_adr::{AdrId, Status, finalized_file_name, next_number, number_of_file_name};
use helix_core::diagnostic::Diagnostic;
use rustix::fs::FlockOperation;

use super::{AdrDirectory, AdrFileError, CheckedAdr, INDEX, id_of, number, relative};
use helix_git::{GitEnvironment, OpenError, Repository};

/// Branches whose numbers count, the youngest first: enough for all that are being worked on.
const BRANCHES: usize = 50;

/// A finalized ADR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finalized {
    pub number: u32,
    /// Its file, relative to the project's root.
    pub path: String,
    /// The index, relative to the project's root.
    pub index: String,
    /// What is worth knowing and blocks nothing.
    pub warnings: Vec<Diagnostic>,
}

/// Held by the one who allocates numbers; released when it is dropped, or when its process dies.
pub(super) struct Lock {
    _files: Vec<File>,
}

/// Waits for its turn to write `adr/`, which is made if it is not there.
pub(super) fn lock(root: &Path) -> Result<Lock, AdrFileError> {
    let directory = root.join("adr");
    std::fs::create_dir_all(&directory).map_err(disk("create", &directory))?;
    let mut files = Vec::new();
    // Always in this order: who waits for the second holds the first, and nobody waits in a circle.
    for path in repository(root).iter().map(|repository| repository.common_dir().to_path_buf()).chain([directory]) {
        let file = File::open(&path).map_err(disk("open", &path))?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive).map_err(|error| disk("lock", &path)(error.into()))?;
        files.push(file);
    }
    Ok(Lock { _files: files })
}

pub(super) fn disk(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> AdrFileError {
    let path = path.to_path_buf();
    move |source| AdrFileError::Disk { action, path, source }
}

/// The repository that a project lies in; without one, only the directory counts.
pub(super) fn repository(root: &Path) -> Option<Repository> {
    match Repository::open(root, GitEnvironment::from_process()) {
        Ok(repository) => Some(repository),
        Err(OpenError::NoRepository { .. } | OpenError::NoDirectory { .. }) => None,
        Err(error) => {
            tracing::warn!(%error, "numbers of ADRs on other branches are not known");
            None
        }
    }
}

/// Numbers that are taken on other branches and in other worktrees of the repository.
pub(super) fn taken_elsewhere(root: &Path) -> Vec<u32> {
    let Some(repository) = repository(root) else { return Vec::new() };
    let mut taken = Vec::new();
    let count = format!("--count={BRANCHES}");
    let refs =
        ["for-each-ref", "--sort=-committerdate", &count, "--format=%(objectname)", "refs/heads", "refs/remotes"];
    match repository.git(root, refs).run() {
        Ok(output) => {
            let text = output.text();
            let mut commits: Vec<&str> = text.lines().collect();
            commits.sort_unstable();
            commits.dedup();
            for commit in commits {
                match repository.git(root, ["ls-tree", "-z", "--name-only", commit, "adr/"]).accept(&[0, 128]).run() {
                    Ok(output) => {
                        let names = String::from_utf8_lossy(&output.stdout).into_owned();
                        taken.extend(names.split('\0').filter_map(number_of_file_name));
                    }
                    Err(error) => tracing::warn!(%error, commit, "the ADRs of a branch cannot be listed"),
                }
            }
        }
        Err(error) => tracing::warn!(%error, "the branches cannot be listed"),
    }
    let own = root.strip_prefix(repository.top()).unwrap_or(Path::new(""));
    match repository.git(root, ["worktree", "list", "--porcelain", "-z"]).accept(&[0, 128, 129]).run() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            for place in text.split('\0').filter_map(|line| line.strip_prefix("worktree ")) {
                let directory = Path::new(place).join(own).join("adr");
                // A worktree without ADRs, or one whose directory is gone, takes no number.
                let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
                taken.extend(names.filter_map(|entry| number_of_file_name(&entry.file_name().to_string_lossy())));
            }
        }
        Err(error) => tracing::warn!(%error, "the worktrees cannot be listed"),
    }
    taken
}

impl AdrDirectory {
    /// The number that the next ADR gets, after all that are taken here, on other branches and in other worktrees.
    pub fn next_number(&self) -> u32 {
        let mut taken: Vec<u32> = self.adrs.iter().filter_map(number).collect();
        taken.extend(self.unreadable.iter().filter_map(|(path, _)| number_of_file_name(&path.to_string_lossy())));
        taken.extend(taken_elsewhere(&self.root));
        next_number(&taken)
    }

    /// Gives a draft the next number and its place, and writes the index. Two at once get two numbers. A draft that lies
    /// in `adr/` itself is moved; any other stays where it is. A draft whose finalizing was interrupted gets the number that
    /// it was given then.
    ///
    /// # Errors
    /// [`AdrFileError`]; nothing was changed.
    pub fn finalize(root: &Path, draft: &Path) -> Result<Finalized, AdrFileError> {
        let _lock = lock(root)?;
        let directory = root.join("adr");
        let known = Self::open(root)?;
        let CheckedAdr { adr, diagnostics } = known.check_as_decision(draft)?;
        let file = adr.file.clone();
        if let Some(id @ AdrId::Number(_)) = id_of(&adr) {
            return Err(AdrFileError::Numbered { file, id });
        }
        let before = known.adrs.iter().find_map(|other| match id_of(other) {
            Some(AdrId::Number(number)) if other.body() == adr.body() && other.title() == adr.title() => {
                Some((number, root.join(&other.file)))
            }
            Some(_) | None => None,
        });
        let (number, path) = match before {
            Some(done) => done,
            None => {
                if diagnostics.iter().any(Diagnostic::is_error) {
                    return Err(AdrFileError::Invalid { file, source_text: adr.source, diagnostics });
                }
                let number = known.next_number();
                let status = match adr.front.as_ref().and_then(|front| front.status.as_ref()).map(|status| status.value)
                {
                    Some(Status::Proposed) | None => Status::Accepted,
                    Some(other) => other,
                };
                let text = adr
                    .with_id_and_status(AdrId::Number(number), status)
                    .map_err(|source| AdrFileError::Rewrite { file, source })?;
                let path = directory.join(finalized_file_name(number, adr.title()));
                write_new(&path, &text).map_err(disk("write", &path))?;
                (number, path)
            }
        };
        if draft.parent().and_then(|parent| parent.canonicalize().ok()) == directory.canonicalize().ok() {
            std::fs::remove_file(draft).map_err(disk("remove", draft))?;
        }
        let index = write_index(root)?;
        Ok(Finalized { number, path: relative(root, &path), index: relative(root, &index), warnings: diagnostics })
    }

    /// Writes the index whole or not at all, waiting for whoever writes the directory; gives its place.
    ///
    /// # Errors
    /// [`AdrFileError`] when the directory cannot be read or written.
    pub fn regenerate_index(root: &Path) -> Result<PathBuf, AdrFileError> {
        let _lock = lock(root)?;
        write_index(root)
    }
}

/// Writes the index; the caller holds the lock.
pub(super) fn write_index(root: &Path) -> Result<PathBuf, AdrFileError> {
    let index = root.join("adr").join(INDEX);
    let text = AdrDirectory::open(root)?.index();
    replace(&index, &text).map_err(disk("write", &index))?;
    Ok(index)
}

/// Writes a file that must not exist, whole or not at all.
pub(super) fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = write_beside(path, text)?;
    // A hard link never replaces: a file that exists already is an error, not lost.
    let linked = std::fs::hard_link(&temporary, path);
    std::fs::remove_file(&temporary)?;
    linked
}

/// Replaces a file, whole or not at all.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = write_beside(path, text)?;
    if let Ok(before) = std::fs::metadata(path) {
        std::fs::set_permissions(&temporary, before.permissions())?;
    }
    std::fs::rename(temporary, path)
}

fn write_beside(path: &Path, text: &str) -> std::io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(temporary)
}
