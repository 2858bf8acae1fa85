//! Commits, trees, blobs and differences, read through the long-lived processes.
//!
//! Must not know branches or work trees: everything here is named by object id and never changes.

use std::collections::BTreeMap;

use helix_core::evidence::{ChangeKind, ChangedFile};
use helix_core::ids::{CommitId, TreeId};

use super::batch::{Batch, Live};
use super::error::GitError;

/// A commit's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitObject {
    pub id: CommitId,
    pub tree: TreeId,
    /// Its parents, first parent first.
    pub parents: Vec<CommitId>,
    /// Committer's time as git writes it: seconds and zone.
    pub committed_at: String,
    pub message: String,
}

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; the blob is its target.
    Symlink,
    /// A commit of another repository (submodule).
    Submodule,
}

impl EntryKind {
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    fn from_mode(mode: &str) -> Option<Self> {
        match mode {
            "100644" | "100664" => Some(Self::File),
            "100755" => Some(Self::Executable),
            "120000" => Some(Self::Symlink),
            "160000" => Some(Self::Submodule),
            _ => None,
        }
    }

    /// As git writes it.
    pub(crate) fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// A file in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    pub kind: EntryKind,
    /// Object id of its content.
    pub object: String,
}

/// Every file of a tree, by path.
pub type TreeListing = BTreeMap<String, TreeEntry>;

/// One difference between two trees, as git reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawChange {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<TreeEntry>,
    pub(crate) new: Option<TreeEntry>,
}

impl RawChange {
    pub(crate) fn changed_file(&self) -> ChangedFile {
        let how = match (&self.old, &self.new) {
            (_, None) => ChangeKind::Deleted,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        ChangedFile { path: escape_path(&self.path), how }
    }
}

/// Writes a path as text. Bytes that are not UTF-8 become `\xNN`, so that such a file is named and never confused.
pub fn escape_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Id of the tree without files, which every repository knows, in the repository's hash.
pub(crate) fn empty_tree(like: &TreeId) -> &'static str {
    if like.as_str().len() == 64 {
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    } else {
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    }
}

pub(crate) const READER: [&str; 2] = ["cat-file", "--batch-command"];
pub(crate) const DIFFER: [&str; 7] = ["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff"];

pub(crate) struct Header {
    pub(crate) id: String,
    pub(crate) size: usize,
    pub(crate) kind: String,
}

/// Reads `<id> <type> <size>`; `None` when there is no such object.
fn header(line: &str) -> std::io::Result<Option<Header>> {
    if line.ends_with(" missing") || line.ends_with(" ambiguous") {
        return Ok(None);
    }
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next().map(str::parse)) {
        (Some(id), Some(kind), Some(Ok(size))) => Ok(Some(Header { id: id.into(), kind: kind.into(), size })),
        _ => Err(std::io::Error::other(format!("not an object header: {line:?}"))),
    }
}

pub(crate) fn info(batch: &Batch, name: &str) -> Result<Option<Header>, GitError> {
    batch.ask(|live| {
        live.send(format!("info {name}\n").as_bytes())?;
        header(&live.line()?)
    })
}

pub(crate) fn contents(batch: &Batch, name: &str) -> Result<Option<(Header, Vec<u8>)>, GitError> {
    batch.ask(|live| {
        live.send(format!("contents {name}\n").as_bytes())?;
        let Some(header) = header(&live.line()?)? else { return Ok(None) };
        let bytes = live.exactly(header.size)?;
        if live.exactly(1)? != b"\n" {
            return Err(std::io::Error::other("the object is longer than announced"));
        }
        Ok(Some((header, bytes)))
    })
}

pub(crate) fn parse_commit(id: &str, bytes: &[u8]) -> Option<CommitObject> {
    let text = String::from_utf8_lossy(bytes);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut tree = None;
    let mut parents = Vec::new();
    let mut committed_at = String::new();
    for line in head.lines() {
        if let Some(id) = line.strip_prefix("tree ") {
            tree = TreeId::new(id).ok();
        } else if let Some(id) = line.strip_prefix("parent ") {
            parents.push(CommitId::new(id).ok()?);
        } else if let Some(committer) = line.strip_prefix("committer ") {
            committed_at = committer.rsplit_once("> ").map(|(_, time)| time.to_owned()).unwrap_or_default();
        }
    }
    Some(CommitObject { id: CommitId::new(id).ok()?, tree: tree?, parents, committed_at, message: message.to_owned() })
}

pub(crate) fn raw_changes(batch: &Batch, old: &str, new: &str) -> Result<Vec<RawChange>, GitError> {
    batch.ask(|live| {
        // A line that is no object id is echoed and flushed: it marks the end of the answer.
        let mark = format!("end-of-answer-{}", live.asked);
        live.send(format!("{old} {new}\n{mark}\n").as_bytes())?;
        let first = live.line()?;
        if first != format!("{old} {new}") {
            return Err(std::io::Error::other(format!("unexpected answer {first:?}")));
        }
        let mut changes = Vec::new();
        while live.peek()? == b':' {
            changes.push(raw_change(live)?);
        }
        match live.line()? {
            line if line == mark => Ok(changes),
            line => Err(std::io::Error::other(format!("unexpected end of answer {line:?}"))),
        }
    })
}

/// Reads `:<old mode> <new mode> <old id> <new id> <status>` NUL `<path>` NUL.
fn raw_change(live: &mut Live) -> std::io::Result<RawChange> {
    let meta = String::from_utf8_lossy(&live.until(0)?).into_owned();
    let path = live.until(0)?;
    let words: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
    let [old_mode, new_mode, old, new, _] = words.as_slice() else {
        return Err(std::io::Error::other(format!("not a raw difference: {meta:?}")));
    };
    let entry =
        |mode, object: &str| EntryKind::from_mode(mode).map(|kind| TreeEntry { kind, object: object.to_owned() });
    Ok(RawChange { path, old: entry(old_mode, old), new: entry(new_mode, new) })
}

#[cfg(test)]
#[path = "objects_test.rs"]
mod tests;
