//! The host's own repository beside a user's one: results are made, compared, checked and merged there. Objects of the user's are
//! read by way of `objects/info/alternates`; nothing else of that repository counts but a few settings that are listed here.
//!
//! Must not write anything to the user's repository but objects, in [`Repository::hand_over`].

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use helix_core::ids::CommitId;
use helix_core::slug::slug;

use super::environment::PROTOCOLS;
use super::error::GitError;
use super::files::{copied, hash_of, put, read, remove_tree};
use super::repository::{Hosted, Repository};
use super::settings::Settings;
use super::spawn::Call;

/// Directory of the host's repositories, below the state directory.
pub(crate) const DIRECTORY: &str = "git";

/// Directories of objects that are asked what they borrow.
const MAX_BORROWED: usize = 20;

/// Attributes that outrank those of a tree: nothing but line ends is converted, so that what is on the disk is what is judged; and
/// what a difference shows is for its content to say. A filter has no effect here, since no program is configured for it.
const ATTRIBUTES: &str = "* -ident -working-tree-encoding !diff\n";

/// No part of a result, also where nobody has written a `.gitignore`: what Python makes of each module that it reads, and the environment
/// that set-ups install into, which is kept for being ignored. All other names may be somebody's work. A `.gitignore` outranks it.
const NO_WORK: &str = "**/__pycache__/*.pyc\n.venv/\n";

impl Repository {
    /// The host's own repository for a user's one, below its state directory; made if it is not there.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub fn hosted(user: Self, state: &Path) -> Result<Self, GitError> {
        let settings = settings_of(&user)?;
        let place = state.join(DIRECTORY);
        fs::create_dir_all(&place).map_err(GitError::disk("create", &place))?;
        let place = place.canonicalize().map_err(GitError::disk("resolve", &place))?.join(name_of(&user)?);
        put_bare(&place, &user.object_directories()?, &settings)?;
        put(&place.join("info/exclude"), &settings.exclude)?;
        settings.put_shallow(&place)?;
        let environment = user.environment().closed(&place);
        Self::at(environment, place, Some(Hosted { user, settings, authors: OnceLock::new() }))
    }

    /// A repository of the host's own that has nothing but the objects of these directories; made if it is not there.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn beside(&self, place: &Path, objects: &[PathBuf]) -> Result<Self, GitError> {
        let settings = self.hosting().map(|hosted| hosted.settings.clone()).unwrap_or_default();
        put_bare(place, objects, &settings)?;
        Self::at(self.environment().closed(place), place.to_path_buf(), None)
    }

    /// The repository whose branches are moved: the user's one.
    pub fn user(&self) -> &Self {
        self.hosting().map_or(self, |hosted| &hosted.user)
    }

    /// Names of the programs by which the user's repository converts files; none of them runs here.
    pub(crate) fn filters(&self) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.hosting().map_or(&NONE, |hosted| &hosted.settings.filters)
    }

    /// Who makes commits, for the command that makes one: the configuration that names them does not count here.
    pub(crate) fn by_user<'a>(&self, call: Call<'a>) -> Result<Call<'a>, GitError> {
        let Some(hosted) = self.hosting() else { return Ok(call) };
        let [author, committer] = hosted.authors()?;
        Ok(call
            .env("GIT_AUTHOR_NAME", &author.name)
            .env("GIT_AUTHOR_EMAIL", &author.email)
            .env("GIT_COMMITTER_NAME", &committer.name)
            .env("GIT_COMMITTER_EMAIL", &committer.email))
    }

    /// Gives the user's repository a commit with all that it consists of. No reference names it there yet.
    ///
    /// # Errors
    /// Git failed; then nothing refers to what is there already.
    pub(crate) fn hand_over(&self, commit: &CommitId) -> Result<(), GitError> {
        let Some(hosted) = self.hosting() else { return Ok(()) };
        // Git looks whether all of it is there, not only the commit: what a killed process has left half done is done again.
        let args = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-show-forced-updates",
            "--update-shallow",
            "--refmap=",
        ];
        let args = args.map(OsStr::new).into_iter().chain([self.common_dir().as_os_str(), OsStr::new(commit.as_str())]);
        hosted.user.git(hosted.user.top(), args).env(PROTOCOLS, "file").run().map(drop)
    }

    /// Makes the private git directory of a work place anew: a repository of its own with the references of the user's one, whose
    /// objects are those of this one and can only be read. Nobody outside of the work place reads what becomes of it.
    ///
    /// # Errors
    /// The disk refused.
    pub(crate) fn make_private(
        &self,
        place: &Path,
        head: &str,
        references: &[u8],
        index: &Path,
    ) -> Result<(), GitError> {
        let own = place.join(".git");
        remove_tree(&own)?;
        make_directories(&own)?;
        let write = |name: &str, content: &[u8]| {
            let file = own.join(name);
            fs::write(&file, content).map_err(GitError::disk("write", file))
        };
        let known = format!("{}\n", self.common_dir().join("objects").display());
        write("objects/info/alternates", known.as_bytes())?;
        write("packed-refs", &packed(references))?;
        if let Some(hosted) = self.hosting() {
            write("info/exclude", &hosted.settings.exclude)?;
            // Where no commit is made, no name is needed.
            write("config", hosted.settings.config(false, hosted.authors().ok()).as_bytes())?;
            hosted.settings.put_shallow(&own)?;
        }
        copied(index, &own.join("index")).map_err(GitError::disk("copy", index))?;
        write("HEAD", head.as_bytes())
    }

    /// Directories with the objects that are read here: its own, and those that it borrows, directly or by way of another.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn object_directories(&self) -> Result<Vec<PathBuf>, GitError> {
        object_directories(self.common_dir().join("objects"))
    }

    /// The references of the user's repository, a line `<id> <name>` for each.
    ///
    /// # Errors
    /// Git failed.
    pub(crate) fn references(&self) -> Result<Vec<u8>, GitError> {
        let user = self.user();
        let kinds = ["refs/heads", "refs/remotes", "refs/replace", "refs/tags"];
        let args = ["for-each-ref", "--format=%(objectname) %(refname)"].into_iter().chain(kinds);
        Ok(user.git(user.top(), args).run()?.stdout)
    }
}

fn make_directories(place: &Path) -> Result<(), GitError> {
    for directory in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"].map(|name| place.join(name)) {
        fs::create_dir_all(&directory).map_err(GitError::disk("create", directory))?;
    }
    Ok(())
}

/// Makes a bare repository of Helix's own that borrows objects.
fn put_bare(place: &Path, objects: &[PathBuf], settings: &Settings) -> Result<(), GitError> {
    make_directories(place)?;
    put(&place.join("objects/info/alternates"), alternates(objects).as_bytes())?;
    put(&place.join("info/attributes"), ATTRIBUTES.as_bytes())?;
    put(&place.join("config"), settings.config(true, None).as_bytes())?;
    // Without it, it is no repository: written last.
    put(&place.join("HEAD"), b"ref: refs/heads/none\n")
}

/// What `objects/info/alternates` has, to borrow from directories of objects.
///
/// Git follows relative ones only in the repository that it is asked about.
pub(crate) fn alternates(objects: &[PathBuf]) -> String {
    objects.iter().map(|directory| format!("{}\n", directory.display())).collect()
}

/// A directory with objects, and those that it borrows, directly or by way of another.
pub(crate) fn object_directories(first: PathBuf) -> Result<Vec<PathBuf>, GitError> {
    let mut found = vec![first];
    let mut looked_at = 0;
    while let Some(directory) = found.get(looked_at).filter(|_| looked_at < MAX_BORROWED).cloned() {
        looked_at += 1;
        let borrowed = read(&directory.join("info/alternates"))?.unwrap_or_default();
        let borrowed = String::from_utf8_lossy(&borrowed);
        for line in borrowed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let other = directory.join(line);
            if !found.contains(&other) {
                found.push(other);
            }
        }
    }
    Ok(found)
}

/// Those of them that a work place gets, in the form of a file `packed-refs`.
fn packed(references: &[u8]) -> Vec<u8> {
    let is_given = |line: &&[u8]| {
        let name = line.splitn(2, |byte| *byte == b' ').nth(1).unwrap_or_default();
        // A branch `helix` would be in the way of an attempt's one.
        !name.starts_with(b"refs/replace/") && name != b"refs/heads/helix\n"
    };
    references.split_inclusive(|byte| *byte == b'\n').filter(is_given).flatten().copied().collect()
}

/// What counts of a user's settings.
fn settings_of(user: &Repository) -> Result<Settings, GitError> {
    let output = user.git(user.top(), ["config", "--list", "-z"]).run()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let entries = text.split('\0').map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
    let all: BTreeMap<&str, &str> = entries.collect();
    let mut core = String::new();
    let known: [(&str, &[&str]); 3] = [
        ("autocrlf", &["true", "false", "input"]),
        ("eol", &["lf", "crlf", "native"]),
        ("filemode", &["true", "false"]),
    ];
    for (name, values) in known {
        let value = all.get(format!("core.{name}").as_str()).map(|value| value.to_ascii_lowercase());
        if let Some(value) = value.filter(|value| values.contains(&value.as_str())) {
            core.push_str(&format!("\t{name} = {value}\n"));
        }
    }
    let mut exclude = NO_WORK.as_bytes().to_vec();
    for file in ignored_everywhere(user, all.get("core.excludesfile").copied())
        .into_iter()
        .chain([user.common_dir().join("info/exclude")])
    {
        exclude.extend(read(&file)?.unwrap_or_default());
        exclude.push(b'\n');
    }
    Ok(Settings {
        core,
        format: all.get("extensions.objectformat").filter(|format| **format == "sha256").map(|&format| format.into()),
        exclude,
        shallow: read(&user.common_dir().join("shallow"))?,
        filters: all
            .keys()
            .filter_map(|key| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned()))
            .collect(),
    })
}

/// The file of names that the user's git ignores in all repositories.
fn ignored_everywhere(user: &Repository, configured: Option<&str>) -> Option<PathBuf> {
    let variables = user.environment().variables();
    let variable = |wanted: &str| {
        let found = variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value): &(OsString, OsString)| PathBuf::from(value))
    };
    match configured {
        Some(path) => match path.strip_prefix("~/") {
            Some(path) => Some(variable("HOME")?.join(path)),
            None => Some(user.top().join(path)),
        },
        None => {
            let base = variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))?;
            Some(base.join("git/ignore"))
        }
    }
}

/// Name of the host's repository for a user's one: that of its directory, for people, and a hash of its path.
fn name_of(user: &Repository) -> Result<String, GitError> {
    let common = user.common_dir();
    let path = common.canonicalize().map_err(GitError::disk("resolve", common))?;
    let name = slug(&user.top().file_name().unwrap_or_default().to_string_lossy(), 32);
    Ok(format!("{name}{}{}.git", if name.is_empty() { "" } else { "-" }, hash_of(&path)))
}
