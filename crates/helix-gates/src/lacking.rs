//! Files of the user's work tree that git ignores: what a clean checkout lacks. They are laid into a checkout to see whether a command
//! that fails there would not fail for the user, and named with what brings them into every checkout.
//!
//! Must not lay anything into a checkout in which a result is judged.

use std::path::{Path, PathBuf};

use super::GateContext;
use super::judgement::Trouble;
use helix_core::said::Words;
use helix_git::TreeListing;
use helix_language::recorded;
use helix_process::bounded::read_bytes_beneath;
use helix_project::survey::quoted;

/// Most that are tried.
const MOST: usize = 40;
/// Largest file that is copied.
const LARGEST: u64 = 16 << 20;
/// What tools leave behind and make again, besides directories that say so themselves (`CACHEDIR.TAG`).
const LEFT_BEHIND: [&str; 10] = [
    ".pyc",
    ".pyo",
    ".log",
    ".swp",
    ".egg-info",
    "__pycache__",
    ".DS_Store",
    ".coverage",
    ".eslintcache",
    ".tsbuildinfo",
];

/// The ignored files and directories of the user's work tree that a command might need, relative to it.
pub(crate) fn ignored(context: &GateContext) -> Result<Vec<String>, Trouble> {
    let all = context.repository().user().ignored()?;
    let is_worth_it = |path: &String| {
        let path = path.trim_end_matches('/');
        !LEFT_BEHIND.iter().any(|ending| path.ends_with(ending))
            && !context.users_tree.join(path).join("CACHEDIR.TAG").exists()
            && context.users_tree.join(path).exists()
    };
    let mut found: Vec<String> = all.into_iter().filter(is_worth_it).collect();
    // What decides most often comes first: settings, then what is installed.
    found.sort_by_key(|path| (path.ends_with('/'), path.matches('/').count(), path.clone()));
    found.truncate(MOST);
    Ok(found)
}

/// Lays them into a checkout, unless it has something in their place; what the command may read for that. Files are copied, directories
/// are linked to.
pub(crate) fn lay(users: &Path, names: &[String], checkout: &Path) -> std::io::Result<Vec<PathBuf>> {
    let users = users.canonicalize()?;
    let mut readable = Vec::new();
    for name in names {
        let name = name.trim_end_matches('/');
        let (from, to) = (users.join(name), checkout.join(name));
        // A link may lead out of the work tree, which nobody has opened.
        let Ok(real) = from.canonicalize() else { continue };
        if !real.starts_with(&users) || to.symlink_metadata().is_ok() {
            continue;
        }
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        if real.is_dir() {
            std::os::unix::fs::symlink(&real, &to)?;
            readable.push(real);
        } else if let Ok(content) = read_bytes_beneath(&users, &real, LARGEST) {
            std::fs::write(&to, content)?;
        }
    }
    Ok(readable)
}

/// What has a lock file's packages installed as they are locked.
const INSTALLERS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("package-lock.json", "npm ci"),
    ("package.json", "npm install"),
];

/// A command in a directory: set-ups start in the root, without a shell.
fn in_directory(directory: &str, command: &str) -> String {
    format!("sh -c {}", quoted(&format!("cd {} && {command}", quoted(directory))))
}

/// What brings these ignored files into every checkout.
pub(crate) fn remedy(names: &[String], files: &TreeListing, users: &Path) -> Words {
    let (mut setup, mut copy, mut more): (Vec<String>, Vec<String>, Vec<Words>) = Default::default();
    for name in names {
        let (path, is_directory) = (name.trim_end_matches('/'), name.ends_with('/'));
        let (above, last) = path.rsplit_once('/').unwrap_or(("", path));
        if last == "node_modules" {
            let beside = |file: &str| if above.is_empty() { file.to_owned() } else { format!("{above}/{file}") };
            let known = INSTALLERS.iter().find(|(file, _)| files.contains_key(&beside(file)));
            let install = known.map_or("npm install", |(_, command)| command);
            setup.push(if above.is_empty() { install.to_owned() } else { in_directory(above, install) });
        } else if users.join(path).join("pyvenv.cfg").is_file() {
            more.push(recorded!("gate-lacks-venv", path = path));
        } else if is_directory {
            more.push(recorded!("gate-lacks-directory", path = path));
        } else {
            copy.push(path.to_owned());
        }
    }
    let list = |key: &str, values: Vec<String>| {
        (!values.is_empty()).then(|| format!("{key} = {}", serde_json::to_string(&values).unwrap_or_default()))
    };
    match (list("setup", setup), list("copy", copy)) {
        (None, None) => {}
        (Some(keys), None) | (None, Some(keys)) => more.insert(0, recorded!("gate-lacks", keys = keys)),
        (Some(setup), Some(copy)) => more.insert(0, recorded!("gate-lacks-both", setup = setup, copy = copy)),
    }
    more.into_iter().reduce(|all, one| all.and("; ").and(one)).unwrap_or_default()
}

#[cfg(test)]
#[path = "lacking_test.rs"]
mod tests;
