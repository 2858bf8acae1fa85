//! The work in a work tree as it stands, committed or not, as a commit of a repository beside it: to check it without touching it.
//!
//! Must not write anything to the repository that the work tree belongs to, nor to the work tree.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use helix_core::ids::CommitId;

use super::environment::GitEnvironment;
use super::error::{GitError, OpenError};
use super::files::copied;
use super::own::alternates;
use super::repository::{Head, Repository};
use super::variant::HELIX;

/// The work in a work tree as it stands.
pub struct WorkCopy {
    /// A repository of its own that also has all commits of the one that the work tree belongs to.
    pub repository: Repository,
    /// Everything that is not ignored.
    pub commit: CommitId,
    /// The commit on which the work tree stands.
    pub head: CommitId,
    /// The work tree itself.
    pub top: PathBuf,
}

impl WorkCopy {
    /// Takes it of the work tree that a directory lies in; `place` is a directory that may be filled.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the directory, or what git could not do.
    pub fn take(directory: &Path, place: &Path, environment: &GitEnvironment) -> Result<Self, OpenError> {
        let source = Repository::open(directory, environment.clone())?;
        let failed = |error| OpenError::Git { path: directory.to_path_buf(), source: Box::new(error) };
        let (head, commit) = Self::fill(&source, place).map_err(failed)?;
        let top = source.top().to_owned();
        Ok(Self { repository: Repository::open(place, environment.clone())?, commit, head, top })
    }

    fn fill(source: &Repository, place: &Path) -> Result<(CommitId, CommitId), GitError> {
        let head = match source.head()? {
            Head::Branch { commit, .. } | Head::Detached { commit } => commit,
            Head::Unborn { .. } => return Err(source.missing("HEAD")),
        };
        let known = source.common_dir().join("objects");
        let own = lend(source, place, std::slice::from_ref(&known))?;
        let index = own.join("work-index");
        // What is unchanged since the last look need not be read again.
        let former = source.git(source.top(), ["rev-parse", "--path-format=absolute", "--git-path", "index"]).run()?;
        match copied(Path::new(&former.text()), &index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(GitError::disk("copy", PathBuf::from(former.text()))(error));
            }
            Ok(()) | Err(_) => {}
        }
        let variables: Vec<(&str, OsString)> = vec![
            ("GIT_INDEX_FILE", index.into()),
            ("GIT_OBJECT_DIRECTORY", own.join("objects").into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", known.into()),
        ];
        let git = |args: &[&str]| {
            let call = source.git(source.top(), args);
            let nobody = HELIX.map(|(name, value)| (name, OsString::from(value)));
            let all = variables.iter().cloned().chain(nobody);
            all.fold(call, |call, (name, value)| call.env(name, value)).run()
        };
        git(&["add", "--all"])?;
        let tree = git(&["write-tree"])?.text();
        let commit = git(&["commit-tree", &tree, "-p", head.as_str(), "-m", "Work as it stands"])?.commit()?;
        Ok((head, commit))
    }
}

impl Repository {
    /// A repository of its own at `place`, which is made, with all objects that this one can read: what is written there stays there.
    ///
    /// # Errors
    /// [`OpenError`] says what git or the disk could not do.
    pub fn shadow(&self, place: &Path) -> Result<Self, OpenError> {
        let user = self.user();
        let fill = || -> Result<(), GitError> {
            fs::create_dir_all(place).map_err(GitError::disk("create", place))?;
            lend(user, place, &self.object_directories()?).map(drop)
        };
        fill().map_err(|error| OpenError::Git { path: place.to_path_buf(), source: Box::new(error) })?;
        Self::open(place, user.environment().clone())
    }
}

/// Makes a repository that borrows objects; what commits name and do not hold is where it was: repositories of
/// submodules, and files of LFS. Gives its `.git`.
fn lend(source: &Repository, place: &Path, objects: &[PathBuf]) -> Result<PathBuf, GitError> {
    let format = source.git(source.top(), ["rev-parse", "--show-object-format"]).run()?.text();
    source.git(place, ["init", "--quiet", &format!("--object-format={format}")]).run()?;
    let own = place.join(".git");
    let file = own.join("objects/info/alternates");
    fs::write(&file, alternates(objects)).map_err(GitError::disk("write", &file))?;
    // Of a linked work tree, git keeps the submodules with it.
    let modules = [source.own_dir(), source.common_dir()].map(|directory| directory.join("modules"));
    let modules = modules.into_iter().find(|modules| modules.is_dir()).map(|modules| ("modules", modules));
    for (name, from) in modules.into_iter().chain([("lfs", source.common_dir().join("lfs"))]) {
        let to = own.join(name);
        if from.is_dir() && fs::symlink_metadata(&to).is_err() {
            std::os::unix::fs::symlink(&from, &to).map_err(GitError::disk("link", &to))?;
        }
    }
    Ok(own)
}
