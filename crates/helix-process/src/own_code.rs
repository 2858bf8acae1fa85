//! What of an environment leads into the user's work tree, and how it is led to another tree of the same project: who looks at a commit
//! must not be given the code of the user's files.
//!
//! Must not change anything on the disk, and starts nothing: which packages are installed from where is read from Python's own files.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use crate::bounded::read_bytes;
use crate::command::ToolEnvironment;
use crate::program::find_program;

/// Variables in which tools look for code, programs and libraries.
const LEADING: [&str; 9] =
    ["PATH", "PYTHONPATH", "NODE_PATH", "GOFLAGS", "GOPATH", "GOWORK", "LD_LIBRARY_PATH", "RUSTFLAGS", "PERL5LIB"];

/// Largest file of an installation that says where a package is.
const LARGEST: u64 = 1 << 20;

/// `PYTHONPATH` with the code of a work tree before everything else; `None` for a directory that cannot stand in it, and without a virtual
/// environment, where nothing is installed over it, unless the tree's package lies in `src` and would not be found at all.
pub fn own_code(venv: Option<&str>, now: Option<&str>, directory: &Path) -> Option<String> {
    python_path(&[], venv.is_some(), now, directory)
}

/// The same with further roots of code, relative to the work tree, in front.
fn python_path(roots: &[PathBuf], in_venv: bool, now: Option<&str>, directory: &Path) -> Option<String> {
    let has_src = || directory.join("src").is_dir() && directory.join("pyproject.toml").is_file();
    let is_wanted = in_venv || !roots.is_empty() || has_src();
    let tree = directory.to_str().filter(|tree| is_wanted && !tree.contains(':'))?;
    let usual = [PathBuf::from("src"), PathBuf::new()];
    let mut parts: Vec<String> = Vec::new();
    for root in roots.iter().chain(&usual) {
        let part = match root.to_str() {
            Some("") => tree.to_owned(),
            Some(root) if !root.contains(':') && directory.join(root).is_dir() => format!("{tree}/{root}"),
            Some(_) | None => continue,
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.extend(now.filter(|now| !now.is_empty()).map(str::to_owned));
    Some(parts.join(":"))
}

impl ToolEnvironment {
    /// The same in which tools take the code of this work tree and not that of the user's, from which it was made: variables that
    /// name what both have lead here, and Python takes the code of the tree before what is installed, since an editable install
    /// leads to the user's. Looks at the disk.
    #[must_use]
    pub fn with_own_code(mut self, tree: &Path, users: &Path) -> Self {
        let users = users.canonicalize().unwrap_or_else(|_| users.to_owned());
        for name in LEADING {
            if let Some(led) = self.get(name).and_then(|value| led_into(value, &users, tree)) {
                self = self.with(name, led);
            }
        }
        let roots = installed_from(&users, &self);
        match python_path(&roots, self.get("VIRTUAL_ENV").is_some(), self.get("PYTHONPATH"), tree) {
            Some(path) => self.with("PYTHONPATH", path),
            None => self,
        }
    }
}

/// A text in which paths of what a tree has, too, lead there; `None` where nothing changes.
fn led_into(value: &str, users: &Path, tree: &Path) -> Option<String> {
    let (mut led, mut at) = (String::new(), 0);
    for range in paths_in(value) {
        let here = below(Path::new(&value[range.clone()]), users)
            .map(|inside| tree.join(inside))
            .filter(|path| path.exists())
            .and_then(|path| path.into_os_string().into_string().ok());
        if let Some(here) = here {
            led.push_str(&value[at..range.start]);
            led.push_str(here.trim_end_matches('/'));
            at = range.end;
        }
    }
    (at > 0).then(|| format!("{led}{}", &value[at..]))
}

/// A path as one below a directory, links resolved as far as they exist.
pub fn below(path: &Path, directory: &Path) -> Option<PathBuf> {
    let plain = !path.components().any(|part| part == Component::ParentDir);
    let written = path.strip_prefix(directory).ok().filter(|_| plain).map(Path::to_owned);
    written.or_else(|| path.canonicalize().ok()?.strip_prefix(directory).ok().map(Path::to_owned))
}

/// Where absolute paths stand in a text.
pub fn paths_in(text: &str) -> Vec<Range<usize>> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || ":;,\"'`()[]{}<>|".contains(c);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('/').map(|index| index + at) {
        let end = text[start..].find(ends).map_or(text.len(), |index| index + start);
        // `a/b` is none, `--file=/a/b` has one.
        let begins = text[..start].chars().next_back().is_none_or(|before| ends(before) || before == '=');
        if begins {
            found.push(start..end);
        }
        at = end;
    }
    found
}

/// Directories of the user's work tree from which Python imports what is installed there as editable, relative to it: those that are
/// named in its path, and those above packages that a finder names or a link leads to.
fn installed_from(users: &Path, environment: &ToolEnvironment) -> Vec<PathBuf> {
    let venv = environment.get("VIRTUAL_ENV").map(PathBuf::from);
    let mut roots = BTreeSet::new();
    for packages in package_directories(venv.as_deref(), environment) {
        let entries = std::fs::read_dir(&packages).into_iter().flatten().flatten();
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_finder = name.starts_with("__editable__") && name.ends_with(".py");
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                let target = path.canonicalize().ok().filter(|target| target.is_dir());
                roots.extend(target.and_then(|target| above(target.strip_prefix(users).ok()?, 1)));
            } else if is_finder || name.ends_with(".pth") || name.ends_with(".egg-link") {
                let text = read_bytes(&path, LARGEST).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).into_owned();
                roots.extend(if is_finder { found_by(&text, users) } else { listed_in(&text, users) });
            }
        }
    }
    // The environment itself may lie there.
    roots.retain(|root| venv.as_deref().is_none_or(|venv| !users.join(root).starts_with(venv)));
    roots.into_iter().collect()
}

/// Where the environment's Python keeps packages.
fn package_directories(venv: Option<&Path>, environment: &ToolEnvironment) -> Vec<PathBuf> {
    let search = environment.get("PATH").unwrap_or_default();
    let python = find_program(Path::new("python3"), search, Path::new("/")).ok();
    let prefix = python.as_deref().and_then(Path::parent).and_then(Path::parent);
    let home = environment.get("HOME").map(|home| Path::new(home).join(".local"));
    let prefixes: BTreeSet<PathBuf> =
        venv.into_iter().chain(prefix).map(Path::to_owned).chain(home).map(|prefix| prefix.join("lib")).collect();
    let versions = prefixes.iter().flat_map(|lib| std::fs::read_dir(lib).into_iter().flatten().flatten());
    let versions = versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"));
    versions.flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.path().join(name))).collect()
}

/// The lines of a `.pth` or `.egg-link` file that are directories of the user's work tree.
fn listed_in(text: &str, users: &Path) -> Vec<PathBuf> {
    let lines = text.lines().map(|line| Path::new(line.trim())).filter(|path| path.is_absolute());
    lines.filter_map(|path| below(path, users)).collect()
}

/// The roots of packages that a finder of setuptools maps to directories: `{'a.b': '/…/src/a/b'}` is `src`.
fn found_by(text: &str, users: &Path) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for range in paths_in(text) {
        let Some(inside) = below(Path::new(&text[range.clone()]), users) else { continue };
        let name = text[..range.start].trim_end_matches(['\'', '"', ' ', ':']).rsplit(['\'', '"']).next();
        let parts: PathBuf = name.unwrap_or_default().split('.').collect();
        if inside.with_extension("").ends_with(&parts) {
            roots.extend(above(&inside, parts.components().count()));
        }
    }
    roots
}

fn above(path: &Path, steps: usize) -> Option<PathBuf> {
    path.ancestors().nth(steps).map(Path::to_owned)
}

#[cfg(test)]
#[path = "own_code_test.rs"]
mod tests;
