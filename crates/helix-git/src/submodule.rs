//! The files of submodules in work places: what the user's repository has of them is put there, nothing is fetched.
//!
//! Must not look at anything of a submodule's own repository but its objects: its configuration, hooks and filters are those of others.
//! Where a submodule lies is said by the tree; `.gitmodules` only says its name, and may say anything.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use helix_core::ids::{CommitId, TreeId};

use super::error::GitError;
use super::files::{hash_of, remove_tree};
use super::objects::{CommitObject, EntryKind, RawChange, empty_tree, escape_path};
use super::own::object_directories;
use super::repository::Repository;
use super::spawn::LIMIT;
use super::workspaces::{MEMORY, Place, WITHIN_PLACE, Workspaces, is_directory};

/// Most submodules that are filled, and how deep they may lie in each other.
const MOST: usize = 200;
const DEEPEST: usize = 5;
/// Most of a `.gitmodules` that is read, in bytes.
const MAX_READ: usize = 1 << 20;

/// Below the host's own repository.
const DIRECTORY: &str = "modules";

/// A repository with submodules.
struct Level<'a> {
    /// The host's own one, whose settings count for all of them.
    host: &'a Repository,
    repository: &'a Repository,
    tree: TreeId,
    /// Where git keeps the repositories of its submodules, by their names.
    kept: Vec<PathBuf>,
    /// Where it lies in the work place.
    at: &'a Path,
    depth: usize,
}

/// A submodule as the user has it.
struct Found {
    repository: Repository,
    commit: CommitObject,
    kept: PathBuf,
}

impl Workspaces {
    /// Fills the directories of submodules of a commit that is checked out. One that the user has not got is empty, whatever was there.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub(crate) fn fill_submodules(&self, place: &Place, commit: &CommitId) -> Result<(), GitError> {
        let tree = self.repository().commit(commit.as_str())?.tree;
        let mut left = MOST;
        self.level(tree).fill(place, &mut left)
    }

    /// Submodules that changes bring to commits which the user has not got, by their paths; `tree` is what they lead to.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub(crate) fn unknown_submodules(&self, changes: &[RawChange], tree: &TreeId) -> Result<Vec<String>, GitError> {
        let of = |change: &RawChange| change.new.clone().filter(|new| new.kind == EntryKind::Submodule);
        let changed: Vec<_> = changes.iter().filter_map(|change| Some((&change.path, of(change)?.object))).collect();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let (level, names, mut left) = (self.level(tree.clone()), self.repository().submodule_names(tree)?, MOST);
        let mut unknown = Vec::new();
        for (path, commit) in changed {
            if level.find(names.get(Path::new(OsStr::from_bytes(path))), &commit, &mut left)?.is_none() {
                unknown.push(escape_path(path));
            }
        }
        Ok(unknown)
    }

    fn level(&self, tree: TreeId) -> Level<'_> {
        let (repository, user) = (self.repository(), self.repository().user());
        let kept = [user.own_dir(), user.common_dir()].map(|directory| directory.join(DIRECTORY)).to_vec();
        Level { host: repository, repository, tree, kept, at: Path::new(""), depth: 0 }
    }
}

impl Level<'_> {
    /// One after the other, with those in it: no more repositories are open than lie in each other.
    fn fill(&self, place: &Place, left: &mut usize) -> Result<(), GitError> {
        let submodules = self.repository.submodules(&self.tree)?;
        if submodules.is_empty() {
            return Ok(());
        }
        let names = if self.depth > DEEPEST { BTreeMap::new() } else { self.repository.submodule_names(&self.tree)? };
        for (path, commit) in submodules {
            let at = self.at.join(&path);
            match self.find(names.get(&path), &commit, left)? {
                None => empty(place, &at)?,
                Some(Found { repository, commit, kept }) => {
                    fill(&repository, place, &at, &commit.id)?;
                    let (kept, depth) = (vec![kept.join(DIRECTORY)], self.depth + 1);
                    let (host, repository) = (self.host, &repository);
                    Level { host, repository, tree: commit.tree, kept, at: &at, depth }.fill(place, left)?;
                }
            }
        }
        Ok(())
    }

    /// One of its submodules, if it has a name, the user has it, and it may be looked for still.
    fn find(&self, name: Option<&String>, commit: &str, left: &mut usize) -> Result<Option<Found>, GitError> {
        let kept = name.and_then(|name| self.kept.iter().find_map(|kept| kept_in(kept, name)));
        let Some(kept) = kept else { return Ok(None) };
        let Some(fewer) = left.checked_sub(1) else {
            tracing::warn!(name, "there are more submodules than are looked for: this one counts as absent");
            return Ok(None);
        };
        *left = fewer;
        let repository = self.host.lent(&kept)?;
        let commit = repository.find_commit(commit).ok().flatten();
        Ok(commit.map(|commit| Found { repository, commit, kept }))
    }
}

impl Repository {
    /// The names that a `.gitmodules` gives submodules, by their paths.
    fn submodule_names(&self, tree: &TreeId) -> Result<BTreeMap<PathBuf, String>, GitError> {
        let files = self.listing(tree)?;
        let entry = files.get(".gitmodules").filter(|entry| entry.kind.is_file());
        let Some(entry) = entry.filter(|entry| self.size(&entry.object).is_ok_and(|size| size <= MAX_READ)) else {
            return Ok(BTreeMap::new());
        };
        // Of a blob, git follows no `include`.
        let args = ["config", "-z", "--no-includes", "--blob", &entry.object, "--get-regexp", r"^submodule\..*\.path$"];
        // One that cannot be read, or that names none, is one of no submodule.
        let Ok(output) = self.git(self.top(), args).accept(&[0, 1]).run() else { return Ok(BTreeMap::new()) };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut names = BTreeMap::new();
        for (key, path) in text.split('\0').filter_map(|entry| entry.split_once('\n')) {
            if let Some(name) = key.strip_prefix("submodule.").and_then(|name| name.strip_suffix(".path")) {
                names.entry(path.trim_end_matches('/').into()).or_insert_with(|| name.to_owned());
            }
        }
        Ok(names)
    }

    /// Submodules of a tree: their paths, as they are, and commits.
    fn submodules(&self, tree: &TreeId) -> Result<Vec<(PathBuf, String)>, GitError> {
        if !self.listing(tree)?.values().any(|entry| entry.kind == EntryKind::Submodule) {
            return Ok(Vec::new());
        }
        let none = TreeId::new(empty_tree(tree))
            .map_err(|error| GitError::Unreadable { command: "git diff-tree".into(), problem: error.to_string() })?;
        let entries = self.raw_changes(&none, tree)?.into_iter().filter_map(|change| Some((change.path, change.new?)));
        let submodules = entries.filter(|(_, entry)| entry.kind == EntryKind::Submodule);
        Ok(submodules.map(|(path, entry)| (OsString::from_vec(path).into(), entry.object)).collect())
    }

    /// A repository of the host's own with the objects that lie in a directory of git's: nothing else of that counts.
    fn lent(&self, from: &Path) -> Result<Self, GitError> {
        let objects = object_directories(from.join("objects"))?;
        self.beside(&self.common_dir().join(DIRECTORY).join(hash_of(from)), &objects)
    }
}

/// Where git keeps the repository of a submodule with this name: below the directory for that, whatever the name says, and on no way
/// that leads out of it.
fn kept_in(kept: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let (root, found) = (kept.canonicalize().ok()?, kept.join(name).canonicalize().ok()?);
    (is_plain && !name.is_empty() && found != root && found.starts_with(&root) && found.join("objects").is_dir())
        .then_some(found)
}

/// Brings a directory of a work place to a submodule's commit.
fn fill(lent: &Repository, place: &Place, at: &Path, commit: &CommitId) -> Result<(), GitError> {
    let target = own_directory(&place.path, at)?;
    let (records, index) = (place.submodules(), index_of(place, at));
    fs::create_dir_all(&records).map_err(GitError::disk("create", &records))?;
    // Whoever was here before may have changed everything in it.
    let is_known = index.exists();
    if !is_known {
        remove_tree(&target)?;
        own_directory(&place.path, at)?;
    }
    super::workspaces::remove_stale_lock(&index)?;
    let git = |args: &[&str]| {
        let call = lent.git(&target, args).env("GIT_WORK_TREE", &target).env("GIT_INDEX_FILE", &index);
        call.memory(MEMORY).limit(if is_known { WITHIN_PLACE } else { LIMIT }).run()
    };
    git(&["read-tree", "--reset", "-u", commit.as_str()])?;
    git(&["clean", "--quiet", "-xffd"]).map(drop)
}

/// Leaves nothing in the directory of a submodule.
fn empty(place: &Place, at: &Path) -> Result<(), GitError> {
    remove_tree(&index_of(place, at))?;
    remove_tree(&own_directory(&place.path, at)?)?;
    own_directory(&place.path, at).map(drop)
}

/// The index of a submodule in a work place.
fn index_of(place: &Place, at: &Path) -> PathBuf {
    place.submodules().join(hash_of(at))
}

/// A directory of a work place, made if it is not there; what stands in its way is removed, links above all.
fn own_directory(top: &Path, at: &Path) -> Result<PathBuf, GitError> {
    let mut path = top.to_path_buf();
    for part in at.components() {
        let Component::Normal(name) = part else {
            return Err(GitError::NoObject { name: at.display().to_string(), repository: top.into() });
        };
        path.push(name);
        if !is_directory(&path) {
            remove_tree(&path)?;
            fs::create_dir(&path).map_err(GitError::disk("create", &path))?;
        }
    }
    Ok(path)
}
