//! Files that tools pass over because a file of the tree names them: `.gitignore`, `.ignore`, `.eslintignore` and the like.
//!
//! Must not know which tool reads which.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobMatcher};
use helix_core::evidence::ChangeKind;
use helix_core::finding::Finding;
use helix_git::{GitError, TreeListing};
use helix_language::recorded;

use super::WorkOf;
use crate::GateContext;
use crate::code::MAX_SOURCE;
use crate::judgement::finding;

/// These say what is packed or sent, not what is checked.
const OF_PACKAGES: [&str; 10] = [
    ".dockerignore",
    ".npmignore",
    ".helmignore",
    ".gcloudignore",
    ".vercelignore",
    ".slugignore",
    ".cfignore",
    ".ebignore",
    ".vscodeignore",
    ".containerignore",
];

/// Most lines of one such file that are read: each is compiled, and compared with each change.
const MOST_LINES: usize = 1_000;

/// What a file is taken to hide in which nobody knows what stands.
const EVERYTHING: &str = "*";

/// A line of such a file.
struct Rule {
    glob: GlobMatcher,
    /// Takes back what others ignore.
    is_negated: bool,
    only_directories: bool,
    line: u32,
}

/// The files of one name in a tree, by the directory that each is about; empty or with a `/` at its end.
struct Ignored<'n> {
    name: &'n str,
    by_place: BTreeMap<String, Vec<Rule>>,
}

/// Findings of files that the job changed and that what it wrote into such a file hides now from tools that look for files themselves.
pub(crate) fn hidden(context: &GateContext) -> Result<Vec<Finding>, GitError> {
    if context.claims.of == WorkOf::Branch {
        return Ok(Vec::new());
    }
    let origin = context.repository().commit(context.origin.as_str())?.tree;
    let changed = context.repository().changes(&origin, &context.result.tree)?;
    let names: BTreeSet<&str> = changed.iter().filter_map(|file| ignoring(&file.path)).collect();
    let mut findings = Vec::new();
    for name in names {
        let (before, files) = (context.files_at(&context.origin)?, context.files()?);
        let (before, now) = (Ignored::read(context, &before, name)?, Ignored::read(context, &files, name)?);
        for file in changed.iter().filter(|file| file.how != ChangeKind::Deleted && ignoring(&file.path).is_none()) {
            let Some((by, line)) = now.hides(&file.path) else { continue };
            if before.hides(&file.path).is_some() || context.claims.decide_by_path(&by) {
                continue;
            }
            let message = recorded!("gate-hides", by = &by, path = &file.path);
            findings.push(finding("gate.hidden", message).at(&by, Some(line), None));
        }
    }
    Ok(findings)
}

/// The name of a file that makes tools pass over others.
fn ignoring(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    (name.starts_with('.') && name.ends_with("ignore") && !OF_PACKAGES.contains(&name)).then_some(name)
}

impl<'n> Ignored<'n> {
    fn read(context: &GateContext, files: &TreeListing, name: &'n str) -> Result<Self, GitError> {
        let mut by_place = BTreeMap::new();
        for (path, entry) in files.iter().filter(|(path, entry)| ignoring(path) == Some(name) && entry.kind.is_file()) {
            let place = path[..path.len() - name.len()].to_owned();
            let is_read = context.repository().size(&entry.object)? <= MAX_SOURCE;
            let text = if is_read { context.text(files, path)? } else { None };
            by_place.insert(place, rules(text.as_deref().unwrap_or(EVERYTHING)));
        }
        Ok(Self { name, by_place })
    }

    /// The file, and its line from 1, that hides a path or a directory above it.
    fn hides(&self, path: &str) -> Option<(String, u32)> {
        let ends = path.match_indices('/').map(|(end, _)| (end, true)).chain([(path.len(), false)]);
        ends.filter_map(|(end, is_directory)| self.last(&path[..end], is_directory))
            .find_map(|(place, rule)| (!rule.is_negated).then(|| (format!("{place}{}", self.name), rule.line)))
    }

    /// What is said last of a path: by the file that is nearest to it, at its end.
    fn last(&self, path: &str, is_directory: bool) -> Option<(&str, &Rule)> {
        let above =
            self.by_place.iter().filter_map(|(place, rules)| Some((place, rules, path.strip_prefix(place.as_str())?)));
        above.rev().find_map(|(place, rules, rest)| {
            let matches = |rule: &&Rule| (is_directory || !rule.only_directories) && rule.glob.is_match(rest);
            Some((place.as_str(), rules.iter().rev().find(matches)?))
        })
    }
}

/// The lines of such a file, as git reads them.
fn rules(text: &str) -> Vec<Rule> {
    let text = if text.lines().count() > MOST_LINES { EVERYTHING } else { text };
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_end();
        let (is_negated, text) = text.strip_prefix('!').map_or((false, text), |text| (true, text));
        let (only_directories, text) = text.strip_suffix('/').map_or((false, text), |text| (true, text));
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        // Without a `/` it is a name, wherever it lies.
        let glob = if text.contains('/') { text.trim_start_matches('/').to_owned() } else { format!("**/{text}") };
        if let Ok(glob) = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build() {
            found.push(Rule { glob: glob.compile_matcher(), is_negated, only_directories, line });
        }
    }
    found
}

#[cfg(test)]
#[path = "hidden_test.rs"]
mod tests;
