//! What may not be in a result at all: links that lead out of it, names that another system takes for something else,
//! files that no repository should hold.
//!
//! Must not look at anything that the result does not change: what was there before is the user's.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use helix_core::finding::Finding;
use helix_core::ids::TreeId;
use helix_core::said::Words;
use helix_language::{finding, recorded};
use unicode_normalization::UnicodeNormalization;

use super::error::GitError;
use super::objects::{EntryKind, RawChange, TreeEntry, escape_path};
use super::repository::Repository;

/// Largest file of a result, in bytes: what common hosts of repositories take.
pub(crate) const MAX_FILE: u64 = 100 << 20;

/// Most files that a result changes, and most bytes in them: more is generated, and would take the disk of everybody who clones it.
pub(crate) const MAX_FILES: usize = 50_000;
pub(crate) const MAX_SIZE: u64 = 2 << 30;

/// Findings of one rule that are listed.
const LISTED: usize = 20;

/// Characters that macOS leaves out when it compares names.
const IGNORED_ON_MAC: [std::ops::RangeInclusive<char>; 4] =
    ['\u{200c}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{206a}'..='\u{206f}', '\u{feff}'..='\u{feff}'];

/// A finding about a file of a result.
pub(crate) fn refused(rule: &str, name: &str, message: Words) -> Finding {
    finding(rule, message).at(name, None, None)
}

/// What speaks against the changes that lead to a tree.
///
/// # Errors
/// Git failed.
pub(crate) fn inadmissible(
    repository: &Repository,
    changes: &[RawChange],
    tree: &TreeId,
) -> Result<Vec<Finding>, GitError> {
    let mut findings = Vec::new();
    for change in changes {
        let Some(new) = &change.new else { continue };
        let name = escape_path(&change.path);
        if change.old.is_none() && name.chars().any(char::is_control) {
            let message = recorded!("result-control-characters", name = format!("{name:?}"));
            findings.push(refused("result.control_characters", &name, message));
        }
        if new.kind == EntryKind::Symlink {
            let target = String::from_utf8_lossy(&repository.blob(&new.object)?).into_owned();
            if !stays_inside(&name, &target) {
                let (link, target) = (format!("{name:?}"), format!("{target:?}"));
                findings.push(refused("result.link", &name, recorded!("result-link", name = link, target = target)));
            }
        }
        if matches!(new.kind, EntryKind::File | EntryKind::Executable) && replaces_source(repository, new, &name)? {
            let message = recorded!("result-compiled", name = format!("{name:?}"));
            findings.push(refused("result.compiled", &name, message));
        }
        if findings.len() >= LISTED {
            return Ok(findings);
        }
    }
    findings.extend(collisions(repository, changes, tree)?);
    Ok(findings)
}

/// Whether Python runs a compiled file without asking whether its source is as old as it says: one that names a hash (PEP 552). Others do
/// not outlive a checkout, which gives the source another time.
fn replaces_source(repository: &Repository, entry: &TreeEntry, name: &str) -> Result<bool, GitError> {
    const FLAGS: usize = 4;
    const MAX_READ: usize = 100 << 20;
    if !name.to_ascii_lowercase().ends_with(".pyc") || repository.size(&entry.object)? > MAX_READ {
        return Ok(false);
    }
    Ok(repository.blob(&entry.object)?.get(FLAGS).is_some_and(|flags| flags & 1 == 1))
}

/// Names that are added and that a system which does not tell `A` from `a`, or two spellings of `é`, takes for another one.
fn collisions(repository: &Repository, changes: &[RawChange], tree: &TreeId) -> Result<Vec<Finding>, GitError> {
    let is_added = |change: &&RawChange| change.old.is_none() && change.new.is_some();
    let added: Vec<String> = changes.iter().filter(is_added).map(|change| escape_path(&change.path)).collect();
    if added.is_empty() {
        return Ok(Vec::new());
    }
    let mut spelled: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for path in &added {
        for part in parts(path) {
            spelled.entry(folded(part).into_owned()).or_default().insert(part);
        }
    }
    let listing = repository.listing(tree)?;
    for path in listing.keys() {
        let key = folded(path);
        // Both have their slashes at the same places, unless a character has become more than one.
        for (key, part) in parts(&key).zip(parts(path)) {
            if let Some(known) = spelled.get_mut(key) {
                known.insert(part);
            }
        }
    }
    let colliding = spelled.into_values().filter(|names| names.len() > 1).take(LISTED);
    let finding = |names: BTreeSet<&str>| {
        let named = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let name = names.iter().find(|name| added.iter().any(|path| path == *name)).or(names.first());
        refused("result.same_name", name.copied().unwrap_or_default(), recorded!("result-same-name", names = named))
    };
    Ok(colliding.map(finding).collect())
}

/// A path and the directories above it: `a`, `a/b`, `a/b/c`.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end]).chain([path])
}

/// A name as systems compare it that do not tell large letters from small ones.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            name.to_ascii_lowercase().into()
        } else {
            name.into()
        };
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect::<String>().into()
}

/// Whether no part of a path is a name that git, or a file system, takes for the directory `.git`.
pub(crate) fn is_storable(path: &[u8]) -> bool {
    !path.split(|byte| matches!(byte, b'/' | b'\\')).any(is_git)
}

fn is_git(part: &[u8]) -> bool {
    let Ok(part) = std::str::from_utf8(part) else { return false };
    let seen = seen(part);
    // Its short name on Windows.
    seen.eq_ignore_ascii_case(".git") || seen.eq_ignore_ascii_case("git~1")
}

/// A name as file systems read it that leave out some characters, a stream's name, and dots and spaces at the end.
pub(crate) fn seen(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !IGNORED_ON_MAC.iter().any(|range| range.contains(c))).collect();
    seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a link leads to a place in the tree, as far as its own words say.
fn stays_inside(link: &str, target: &str) -> bool {
    let inside = format!("./{target}/x");
    !target.starts_with('/') && is_storable(target.as_bytes()) && target_of(link, &inside).is_some()
}

/// What a link leads to, from the root of its tree.
///
/// `None` if that is not below it.
pub fn target_of(link: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    (!target.starts_with('/') && !parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
#[path = "admissible_test.rs"]
mod tests;
