//! Commits that differ from another one in a few files: to see what a check says then. No branch keeps them.
//!
//! Must not touch a work tree, an index of the user's, or a reference.

use std::collections::BTreeMap;

use helix_core::ids::{CommitId, TreeId};

use super::error::GitError;
use super::objects::{EntryKind, TreeEntry};
use super::repository::Repository;

/// What a file of a variant is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariantFile {
    /// As it is in another commit.
    Kept(TreeEntry),
    /// These bytes.
    Written(EntryKind, Vec<u8>),
    /// Not there.
    Removed,
}

/// When such commits are made: the same files give the same commit.
const DATES: [(&str, &str); 2] =
    [("GIT_AUTHOR_DATE", "@1000000000 +0000"), ("GIT_COMMITTER_DATE", "@1000000000 +0000")];

/// Who makes commits that no user asked for.
pub(crate) const HELIX: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Helix"),
    ("GIT_AUTHOR_EMAIL", "helix@localhost"),
    ("GIT_COMMITTER_NAME", "Helix"),
    ("GIT_COMMITTER_EMAIL", "helix@localhost"),
];

impl Repository {
    /// A commit with the files of `of`, but for these paths. Made again, it has the same id.
    ///
    /// # Errors
    /// Git failed, or a path is no path of a tree.
    pub fn variant(&self, of: &CommitId, files: &BTreeMap<String, VariantFile>) -> Result<CommitId, GitError> {
        let mut entries = Vec::new();
        for (path, file) in files {
            let entry = match file {
                VariantFile::Removed => None,
                VariantFile::Kept(entry) => Some(entry.clone()),
                VariantFile::Written(kind, bytes) => Some(self.written(*kind, bytes)?),
            };
            entries.push((path.as_str(), entry));
        }
        let tree = self.tree_with(of.as_str(), entries)?;
        let args = ["commit-tree", tree.as_str(), "-p", of.as_str(), "-m", "A variant to be checked"];
        let call = self.git(self.top(), args);
        let call = HELIX.into_iter().chain(DATES).fold(call, |call, (name, value)| call.env(name, value));
        call.run()?.commit()
    }

    /// Stores what a file holds, and gives the entry for it.
    pub(crate) fn written(&self, kind: EntryKind, bytes: &[u8]) -> Result<TreeEntry, GitError> {
        let written = self.git(self.top(), ["hash-object", "-w", "--stdin"]).stdin(bytes).run()?;
        Ok(TreeEntry { kind, object: written.text() })
    }

    /// The tree of a commit, or a tree, with these entries instead of its own; `None` stands for one that is removed.
    pub(crate) fn tree_with<'p>(
        &self,
        of: &str,
        entries: impl IntoIterator<Item = (&'p str, Option<TreeEntry>)>,
    ) -> Result<TreeId, GitError> {
        // Nothing of a git process that was killed is in the way of the next one.
        let directory = tempfile::tempdir().map_err(GitError::disk("create", "a temporary directory"))?;
        let index = directory.path().join("index");
        let git = |args: &[&str]| self.git(self.top(), args).env("GIT_INDEX_FILE", &index);
        git(&["read-tree", of]).run()?;
        let none = "0".repeat(of.len());
        let line = |(path, entry): (&str, Option<TreeEntry>)| match entry {
            Some(TreeEntry { kind, object }) => format!("{} {object}\t{path}\0", kind.mode()),
            None => format!("0 {none}\t{path}\0"),
        };
        let lines = entries.into_iter().map(line).collect::<String>();
        git(&["update-index", "-z", "--index-info"]).stdin(lines).run()?;
        git(&["write-tree"]).run()?.tree()
    }
}
