//! Files of a repository that the user's own git runs or obeys: settings name them, hooks are links to them or call them.
//!
//! Must not decide what becomes of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::admissible::target_of;
use crate::error::GitError;
use crate::files::{list, read};
use crate::objects::TreeListing;
use crate::repository::Repository;

/// What is named, of the paths of a tree.
#[derive(Default)]
pub(super) struct NamedByUser {
    files: BTreeSet<String>,
    /// Where hooks are looked for.
    directories: BTreeSet<String>,
}

impl NamedByUser {
    pub(super) fn read(repository: &Repository, listing: &TreeListing) -> Result<Self, GitError> {
        let user = repository.user();
        let mut named = Self::default();
        let output = user.git(user.top(), ["config", "--list", "-z"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout);
        for (key, value) in text.split('\0').filter_map(|entry| entry.split_once('\n')) {
            // Their values are names of branches, addresses and people.
            if ["branch.", "remote.", "user.", "url."].iter().any(|section| key.starts_with(section)) {
                continue;
            }
            for place in words(value).flat_map(|word| places(user, word)) {
                if key == "core.hookspath" {
                    named.directories.insert(place);
                } else if listing.contains_key(&place) {
                    named.files.insert(place);
                }
            }
        }
        for hook in list(&user.common_dir().join("hooks"))? {
            if hook.extension().is_some_and(|ending| ending == "sample") {
                continue;
            }
            // Where it leads, and where it would if that were there.
            let real = fs::canonicalize(&hook).ok().and_then(|target| below(user, &target));
            let target = fs::read_link(&hook).ok().and_then(|target| match target.is_absolute() {
                true => below(user, &target),
                false => target_of(".git/hooks/x", target.to_str()?),
            });
            let script = read(&hook)?.unwrap_or_default();
            let script = String::from_utf8_lossy(&script);
            let called = words(&script).flat_map(|word| places(user, word));
            named
                .files
                .extend(real.into_iter().chain(target).chain(called).filter(|place| listing.contains_key(place)));
        }
        Ok(named)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let is_hook = |directory: &String| match directory.as_str() {
            "" => !path.contains('/'),
            directory => path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')),
        };
        self.files.contains(path) || self.directories.iter().any(is_hook)
    }
}

/// The words of a setting or a script that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || "\"'`;|&()<>=$!".contains(c));
    parts.filter(|word| !word.is_empty())
}

/// Where a word may lead: git works in the top directory, and takes the path of a file to include as it is in its own.
fn places(user: &Repository, word: &str) -> Vec<String> {
    if Path::new(word).is_absolute() {
        return below(user, Path::new(word)).into_iter().collect();
    }
    let top = if word.trim_end_matches('/') == "." { Some(String::new()) } else { target_of("top", word) };
    top.into_iter().chain(target_of(".git/config", word)).collect()
}

fn below(user: &Repository, path: &Path) -> Option<String> {
    Some(path.strip_prefix(user.top()).ok()?.to_str()?.to_owned())
}
