//! The files of a commit, through its links as long as they stay in the repository.
//!
//! Must not know what the files are for.

use std::collections::BTreeSet;
use std::sync::Arc;

use helix_git::{EntryKind, GitError, Repository, TreeEntry, TreeListing, link_target};

use super::{LARGEST, MOST_SKILL_FILES, NAMES, RULE_DIRECTORY, SKILL_DIRECTORIES};

/// Links that are followed one after the other, as many as systems do at least.
const LINKS: usize = 40;
/// Directories of other people's code, with rules for its own agents.
const FOREIGN: [&str; 2] = ["node_modules", "vendor"];

pub(super) struct Tree<'a> {
    repository: &'a Repository,
    listing: Arc<TreeListing>,
}

impl<'a> Tree<'a> {
    pub(super) fn read(repository: &'a Repository, commit: &str) -> Result<Self, GitError> {
        let listing = repository.listing(&repository.commit(commit)?.tree)?;
        Ok(Self { repository, listing })
    }

    /// Directories in which something lies for agents, those above first; the root is an empty text.
    pub(super) fn directories(&self) -> Vec<String> {
        let names: Vec<&str> = NAMES.concat();
        let below = [RULE_DIRECTORY].into_iter().chain(SKILL_DIRECTORIES);
        let places: Vec<String> = below.map(|place| format!("/{place}/")).collect();
        let mut found = BTreeSet::from([(0, String::new())]);
        for path in self.listing.keys().filter(|path| !path.split('/').any(|part| FOREIGN.contains(&part))) {
            let rooted = format!("/{path}");
            let named = names.iter().find_map(|name| rooted.strip_suffix(&format!("/{name}")));
            // A link stands for the directory itself.
            let inside = || places.iter().find_map(|place| Some(&rooted[..format!("{rooted}/").find(place)?]));
            let Some(directory) = named.or_else(inside).map(|directory| directory.trim_start_matches('/')) else {
                continue;
            };
            // What lies among a skill's own files is the skill's.
            if !format!("/{directory}/").contains("/.claude/") && !format!("/{directory}/").contains("/.agents/") {
                let depth = if directory.is_empty() { 0 } else { directory.split('/').count() };
                found.insert((depth, directory.to_owned()));
            }
        }
        found.into_iter().map(|(_, directory)| directory).collect()
    }

    /// The file that a path leads to, with its own name.
    pub(super) fn file(&self, path: &str) -> Result<Option<(String, &TreeEntry)>, GitError> {
        let Some(real) = self.real(path)? else { return Ok(None) };
        let entry = self.entry(&real).filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Executable));
        Ok(entry.map(|entry| (real, entry)))
    }

    pub(super) fn entry(&self, real: &str) -> Option<&TreeEntry> {
        self.listing.get(real)
    }

    /// The text of a file, or why there is none to tell.
    pub(super) fn text(&self, real: &str) -> Result<Result<String, String>, GitError> {
        let Some(entry) = self.entry(real) else { return Ok(Err("is not there".into())) };
        let size = self.repository.size(&entry.object)?;
        if size > LARGEST {
            return Ok(Err(format!("has {} KiB; a file with rules may have {}", size >> 10, LARGEST >> 10)));
        }
        let text = String::from_utf8(self.repository.blob(&entry.object)?);
        Ok(text.map(|text| text.trim_start_matches('\u{feff}').to_owned()).map_err(|_| "is not UTF-8".into()))
    }

    /// Files in a directory and below: the path that each has there, and its own name.
    pub(super) fn files_below(&self, directory: &str) -> Result<Vec<(String, String)>, GitError> {
        let Some(real) = self.real(directory)? else { return Ok(Vec::new()) };
        let prefix = format!("{real}/");
        let mut found = Vec::new();
        for (path, _) in self.listing.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix)) {
            if found.len() == MOST_SKILL_FILES {
                break;
            }
            let shown = format!("{directory}/{}", &path[prefix.len()..]);
            found.extend(self.file(path)?.map(|(real, _)| (shown, real)));
        }
        Ok(found)
    }

    /// Names directly in a directory.
    pub(super) fn names_in(&self, directory: &str) -> Result<BTreeSet<String>, GitError> {
        let Some(real) = self.real(directory)? else { return Ok(BTreeSet::new()) };
        let prefix = format!("{real}/");
        let inside = self.listing.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let name = |(path, _): (&String, _)| path[prefix.len()..].split('/').next().map(str::to_owned);
        Ok(inside.filter_map(name).collect())
    }

    /// Where a path leads; `None` where that is not in the repository.
    fn real(&self, path: &str) -> Result<Option<String>, GitError> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
            let is_link =
                |end: &usize| self.listing.get(&path[..*end]).is_some_and(|entry| entry.kind == EntryKind::Symlink);
            let Some(end) = ends.into_iter().find(is_link) else { return Ok(Some(path)) };
            let (link, rest) = path.split_at(end);
            let Some(entry) = self.entry(link) else { return Ok(None) };
            let target = String::from_utf8_lossy(&self.repository.blob(&entry.object)?).into_owned();
            match link_target(link, &target) {
                Some(target) => path = format!("{target}{rest}"),
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}
