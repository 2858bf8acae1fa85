//! Commits that differ from another one in a few files: to see what a check says then. No branch keeps them.
//!
//! Must not touch a work tree, an index of the user's, or a reference.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use helix_core::ids::CommitId;

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

/// Who makes such commits, and when: the same files give the same commit.
const MAKER: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Helix"),
    ("GIT_AUTHOR_EMAIL", "helix@localhost"),
    ("GIT_AUTHOR_DATE", "@1000000000 +0000"),
    ("GIT_COMMITTER_NAME", "Helix"),
    ("GIT_COMMITTER_EMAIL", "helix@localhost"),
    ("GIT_COMMITTER_DATE", "@1000000000 +0000"),
];

/// Tells the index files of this process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Repository {
    /// A commit with the files of `of`, but for these paths. Made again, it has the same id.
    ///
    /// # Errors
    /// Git failed, or a path is no path of a tree.
    pub fn variant(&self, of: &CommitId, files: &BTreeMap<String, VariantFile>) -> Result<CommitId, GitError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let index = self.common_dir().join(format!("helix-variant-{}-{number}", std::process::id()));
        let made = self.variant_with(of, files, &index);
        // Git leaves a lock beside it where it was killed; neither has a meaning for anybody.
        if let Err(error) = std::fs::remove_file(&index)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(?index, %error, "an index that nobody needs is left");
        }
        made
    }

    fn variant_with(
        &self,
        of: &CommitId,
        files: &BTreeMap<String, VariantFile>,
        index: &std::path::Path,
    ) -> Result<CommitId, GitError> {
        let git = |args: &[&str]| self.git(self.top(), args).env("GIT_INDEX_FILE", index);
        git(&["read-tree", of.as_str()]).run()?;
        let none = "0".repeat(of.as_str().len());
        let mut lines = Vec::new();
        for (path, file) in files {
            let (mode, object) = match file {
                VariantFile::Removed => ("0", none.clone()),
                VariantFile::Kept(entry) => (entry.kind.mode(), entry.object.clone()),
                VariantFile::Written(kind, bytes) => {
                    let written = git(&["hash-object", "-w", "--stdin"]).stdin(bytes.clone()).run()?;
                    (kind.mode(), written.text())
                }
            };
            lines.extend_from_slice(format!("{mode} {object}\t{path}\0").as_bytes());
        }
        git(&["update-index", "-z", "--index-info"]).stdin(lines).run()?;
        let tree = git(&["write-tree"]).run()?.text();
        let call = git(&["commit-tree", &tree, "-p", of.as_str(), "-m", "A variant to be checked"]);
        let commit = MAKER.into_iter().fold(call, |call, (name, value)| call.env(name, value)).run()?.text();
        let unreadable = |_| GitError::Unreadable { command: "git commit-tree".into(), problem: commit.clone() };
        CommitId::new(commit.clone()).map_err(unreadable)
    }
}
