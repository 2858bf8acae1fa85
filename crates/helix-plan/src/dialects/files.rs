//! The files that a phase of an older plan reads and writes: their shapes, and the conventions for their paths.
//!
//! Must not know which files exist. Files of one name that lay in the folders of different phases stay there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use helix_core::document::{Node, Value};

use super::super::codes;
use super::table::{OWN_FOLDER, PHASE_FOLDERS, REPOSITORY_FOLDERS};
use super::{Rewriter, modern_id, references};

/// The phase that files belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Owner {
    /// Its place in the plan.
    pub(super) number: usize,
    /// Its id in the modern form, where it has a readable one.
    pub(super) id: Option<String>,
}

/// Who first claimed a file, and how.
pub(super) struct Claim {
    phase: usize,
    /// The phase in whose folder it was kept; `None` for a file of the repository.
    folder: Option<String>,
    written: String,
    line: usize,
}

/// What the phases write, by path in the repository.
pub(super) type Claims = HashMap<String, Claim>;

/// Paths in the repository at which files from different folders would meet.
pub(super) type Meeting = HashSet<String>;

/// Which way files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Read; a mapping may also name phases.
    Read,
    Written,
}

impl Rewriter<'_, '_> {
    /// Reads files in any of their shapes (a text, a list, or a mapping), and the phases that a mapping names.
    pub(super) fn files(&mut self, value: &Node, what: &str, direction: Direction) -> (Option<Node>, Vec<Node>) {
        let Value::Mapping(_) = &value.value else { return (Some(self.paths(value, direction)), Vec::new()) };
        let Some(mut fields) = self.reader.open(value, what) else { return (None, Vec::new()) };
        let listed = fields.entry("files");
        // Nothing is written from a phase, so that key is unknown there.
        let from = if direction == Direction::Read { fields.entry("from") } else { None };
        let from = from.map(|entry| references(&entry.value)).unwrap_or_default();
        let (directory, expected) = (fields.entry("directory"), fields.entry("expected_files"));
        fields.finish(self.reader);
        if listed.or(directory).or(expected).is_none() {
            return (None, from);
        }
        let mut all: Vec<Node> = listed.map(|entry| entry.value.items().to_vec()).unwrap_or_default();
        let above = directory.and_then(|entry| entry.value.as_text()).map(|text| text.trim_end_matches('/'));
        match (directory, above) {
            (Some(directory), Some(above)) if expected.is_none() => {
                all.push(Node::text(format!("{above}/"), &directory.value.range));
            }
            // The directory is not text, and is reported as a path.
            (Some(directory), None) => all.push(directory.value.clone()),
            (Some(_), Some(_)) | (None, _) => {}
        }
        for item in expected.into_iter().flat_map(|entry| entry.value.items()) {
            let (Some(directory), Some(above), Some(name)) = (directory, above, item.as_text()) else {
                all.push(item.clone());
                continue;
            };
            if !self.may_copy(std::slice::from_ref(&directory.value), &directory.key_range) {
                break;
            }
            all.push(Node::text(format!("{above}/{name}"), &item.range));
        }
        (Some(self.paths(&Node::list(all, &value.range), direction)), from)
    }

    /// Undoes the old conventions for paths.
    pub(super) fn paths(&mut self, list: &Node, direction: Direction) -> Node {
        let mut read = Vec::with_capacity(list.items().len());
        for item in list.items() {
            let Some(written) = item.as_text() else {
                read.push(item.clone());
                continue;
            };
            let (path, folder) = self.modern_path(written);
            if path.is_empty() {
                let message = format!("`{written}` is a folder of the older layout");
                let help = "name the files in it, such as src/app.py";
                self.reader.error(codes::BAD_PATH, &item.range, message, help);
                continue;
            }
            if direction == Direction::Written {
                self.claim(&path, folder, written, &item.range);
            }
            read.push(if path == written { item.clone() } else { Node::text(path, &item.range) });
        }
        Node::list(read, &list.range)
    }

    /// A path in the modern form, and the phase in whose folder the file was kept, unless it stays there.
    fn modern_path<'p>(&self, written: &'p str) -> (Cow<'p, str>, Option<String>) {
        match located(written, &self.owner) {
            (path, Some(folder)) if self.meeting.contains(plain(path)) => {
                let (before, behind) = PHASE_FOLDERS;
                (format!("{before}{folder}/{behind}{path}").into(), None)
            }
            (path, folder) => (path.into(), folder),
        }
    }

    /// Remembers that the phase writes a file, and reports one that is written in two ways.
    pub(super) fn claim(&mut self, path: &str, folder: Option<String>, written: &str, range: &Range<usize>) {
        let path = plain(path);
        let line = self.reader.source.line_of(range.start);
        let Some(first) = self.claims.get(path) else {
            let claim = Claim { phase: self.owner.number, folder, written: written.to_owned(), line };
            self.claims.insert(path.to_owned(), claim);
            return;
        };
        if first.folder == folder && (first.phase != self.owner.number || first.written == written) {
            return;
        }
        if first.folder != folder {
            self.met.insert(path.to_owned());
        }
        let message =
            format!("`{written}` and `{}` in line {} would be the same file: `{path}`", first.written, first.line);
        let help = "write it once under `outputs`, or two files with different paths";
        self.reader.error(codes::FILES_MERGE, range, message, help);
    }
}

fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// A path without the folders of the older layout, and the phase in whose folder it was kept.
fn located<'p>(written: &'p str, owner: &Owner) -> (&'p str, Option<String>) {
    let plain = plain(written);
    let of_repository = |path: &'p str| REPOSITORY_FOLDERS.iter().find_map(|folder| path.strip_prefix(folder));
    // Also within the folder of a phase, they say that it is a file of the repository.
    let in_folder =
        |path: &'p str, folder: String| of_repository(path).map_or((path, Some(folder)), |path| (path, None));
    if let Some(path) = of_repository(plain) {
        return (path, None);
    }
    if let Some(path) = plain.strip_prefix(OWN_FOLDER) {
        return in_folder(path, owner.id.clone().unwrap_or_else(|| format!("#{}", owner.number)));
    }
    let (before, behind) = PHASE_FOLDERS;
    let named = plain.strip_prefix(before).and_then(|rest| rest.split_once('/'));
    match named.and_then(|(id, rest)| Some((id, rest.strip_prefix(behind)?))) {
        Some((id, path)) => in_folder(path, modern_id(id).unwrap_or_else(|| id.to_owned())),
        None => (written, None),
    }
}
