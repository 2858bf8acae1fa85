//! What of the user's repository changed while an agent worked beside it: branches, hooks, configuration. Nothing of that is undone,
//! and none of it goes by without a word.
//!
//! Must not know who changed it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use helix_core::said::Words;
use helix_language::recorded;
use sha2::{Digest, Sha256};

use super::error::GitError;
use super::files::{list, read};
use super::repository::Repository;

/// Changes that are named; more are only counted.
const NAMED: usize = 5;

/// Files in the common git directory that say what git does there, and what it shows in place of commits.
const FILES: [&str; 4] = ["config", "config.worktree", "info/attributes", "info/grafts"];

/// What is compared: values by name.
type Watched = BTreeMap<String, String>;

impl Repository {
    /// Notes how the user's repository is before an agent begins.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub(crate) fn note_watched(&self, references: &[u8], record: &Path) -> Result<(), GitError> {
        let text: String =
            self.watched(references)?.into_iter().map(|(name, value)| format!("{value} {name}\n")).collect();
        fs::write(record, text).map_err(GitError::disk("write", record))
    }

    /// What is not as it was noted; nothing where nothing was noted. What Helix has merged itself is left out.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub(crate) fn watched_changes(&self, record: &Path) -> Result<Option<Words>, GitError> {
        let Ok(before) = fs::read(record) else { return Ok(None) };
        let before = String::from_utf8_lossy(&before).into_owned();
        let before: Watched = before
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(value, name)| (name.into(), value.into()))
            .collect();
        let now = self.watched(&self.references()?)?;
        let mut changed = Vec::new();
        for name in before.keys().chain(now.keys().filter(|name| !before.contains_key(*name))) {
            let (old, new) = (before.get(name), now.get(name));
            if old == new || name.starts_with("refs/heads/helix/") {
                continue;
            }
            let Some(branch) = name.strip_prefix("refs/heads/") else {
                changed.push(recorded!("watched-file", name = name));
                continue;
            };
            if new.map_or(Ok(false), |new| self.lands(new))? {
                continue;
            }
            let short = |value: Option<&String>| value.and_then(|id| id.get(..12)).unwrap_or("–").to_owned();
            changed.push(recorded!("watched-branch", branch = branch, old = short(old), new = short(new)));
        }
        if changed.len() > NAMED {
            let more = changed.len() - NAMED;
            changed.truncate(NAMED);
            changed.push(recorded!("watched-more", more = more));
        }
        let listed = changed.into_iter().reduce(|all, one| all.and(", ").and(one));
        Ok(listed.map(|changes| recorded!("repair-watched", changes = changes)))
    }

    /// How it is now, with these references.
    fn watched(&self, references: &[u8]) -> Result<Watched, GitError> {
        let user = self.user();
        let text = String::from_utf8_lossy(references);
        let refs = text.lines().filter_map(|line| line.split_once(' '));
        let refs = refs.filter(|(_, name)| name.starts_with("refs/heads/") || name.starts_with("refs/replace/"));
        let mut all: Watched = refs.map(|(id, name)| (name.to_owned(), id.to_owned())).collect();
        let hooks = list(&user.common_dir().join("hooks"))?;
        let hooks = hooks.into_iter().filter(|hook| hook.extension().is_none_or(|ending| ending != "sample"));
        for file in FILES.iter().map(|name| user.common_dir().join(name)).chain(hooks) {
            let Some(content) = read(&file)? else { continue };
            let name = file.strip_prefix(user.common_dir()).unwrap_or(&file).to_string_lossy().replace('\n', " ");
            let mode = fs::metadata(&file).map(|found| found.permissions().mode() & 0o777).unwrap_or_default();
            all.insert(name, format!("{:.32x}-{mode:o}", Sha256::digest(&content)));
        }
        Ok(all)
    }
}
