//! Taking the merged result of a job out of a branch again: one commit on top of it, landed as a merge is.
//!
//! Must not touch uncommitted work; what contradicts it changes nothing.

use helix_core::ids::{CommitId, JobId, TreeId};

use super::base::MergedTree;
use super::error::GitError;
use super::integrate::{IntegrationRequest, Landing, PreparedMerge};
use super::objects::{EntryKind, TreeEntry};
use super::repository::Repository;

/// What is to be taken out of which branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertRequest {
    pub job: JobId,
    /// Name of its plan.
    pub name: String,
    /// Who wants it.
    pub by: String,
    /// The merge commit that brought the result.
    pub merged: CommitId,
    pub branch: String,
    /// Files that stay as the branch has them, whatever the job did to them.
    pub keep: Vec<String>,
}

/// How a result would be reverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revert {
    /// The branch does not have it, or not by a merge.
    Absent,
    /// It was reverted before, by this commit.
    Already { commit: CommitId },
    /// The branch has moved on and contradicts it.
    Conflict { paths: Vec<String> },
    /// The tree without it, for this tip of the branch.
    Ready { onto: CommitId, tree: TreeId },
}

impl RevertRequest {
    fn trailer(&self) -> String {
        format!("Helix-Reverts: {}", self.job)
    }
}

impl Repository {
    /// Finds out how a job's result is reverted. Moves nothing.
    ///
    /// # Errors
    /// Git failed.
    pub fn prepare_revert(&self, request: &RevertRequest) -> Result<Revert, GitError> {
        let Some(onto) = self.branch_tip(&request.branch)? else { return Ok(Revert::Absent) };
        if self.find_commit(request.merged.as_str())?.is_none() || !self.is_ancestor(&request.merged, &onto)? {
            return Ok(Revert::Absent);
        }
        let (pattern, range) = (format!("--grep=^{}$", request.trailer()), format!("{}..{onto}", request.merged));
        let args = ["log", "--first-parent", "--format=%H", "--max-count=1", &pattern, &range];
        if let Ok(commit) = CommitId::new(self.git(self.top(), args).run()?.text()) {
            return Ok(Revert::Already { commit });
        }
        let merged = self.commit(request.merged.as_str())?;
        let [before, _, ..] = merged.parents.as_slice() else { return Ok(Revert::Absent) };
        let before = self.commit(before.as_str())?;
        // What undoes the merge, right behind it: to merge that with the tip is to revert the merge there.
        let files = self.listing(&merged.tree)?;
        let kept = request.keep.iter().filter_map(|path| Some((path.as_str(), files.get(path)?.clone())));
        let tree = self.with_entries(&before.tree, kept.collect())?;
        let args = ["commit-tree", tree.as_str(), "-p", merged.id.as_str(), "-m", "undone"];
        let undone = self.commit(&self.git(self.top(), args).run()?.text())?;
        Ok(match self.merge_trees(&onto, &undone.id)? {
            MergedTree::Clean(tree) => Revert::Ready { onto, tree },
            MergedTree::Conflict { paths, .. } => Revert::Conflict { paths },
        })
    }

    /// Commits the tree with these files in it on top of the branch's tip, and brings it there, or beside when the user's work is
    /// in the way.
    ///
    /// # Errors
    /// Git failed.
    pub fn land_revert(
        &self,
        request: &RevertRequest,
        onto: &CommitId,
        tree: &TreeId,
        files: &[(String, Vec<u8>)],
    ) -> Result<(CommitId, Landing), GitError> {
        let listing = self.listing(tree)?;
        let written = files.iter().map(|(path, content)| {
            let object = self.git(self.top(), ["hash-object", "-w", "--stdin"]).stdin(content.clone()).run()?.text();
            let kind = listing.get(path).map_or(EntryKind::File, |entry| entry.kind);
            Ok((path.as_str(), TreeEntry { kind, object }))
        });
        let tree = self.with_entries(tree, written.collect::<Result<_, GitError>>()?)?;
        let RevertRequest { job, name, by, merged, branch, .. } = request;
        let name = name.trim().replace('\n', " ");
        let trailer = request.trailer();
        let message =
            format!("Revert helix job {job}: {name}\n\nThis reverts commit {merged}, as {by} wants.\n\n{trailer}\n");
        let args = ["commit-tree", tree.as_str(), "-p", onto.as_str(), "-F", "-"];
        let commit = self.commit(&self.git(self.top(), args).stdin(message).run()?.text())?.id;
        let landing = IntegrationRequest {
            job: job.clone(),
            name: format!("revert of {name}"),
            base: onto.clone(),
            result: commit.clone(),
            branch: Some(branch.clone()),
        };
        let prepared = PreparedMerge { commit: commit.clone(), tree, onto: onto.clone(), unvalidated: true };
        let landed = self.land(&landing, &prepared)?;
        Ok((commit, landed))
    }

    /// The tree with these entries instead of its own.
    fn with_entries(&self, tree: &TreeId, entries: Vec<(&str, TreeEntry)>) -> Result<TreeId, GitError> {
        if entries.is_empty() {
            return Ok(tree.clone());
        }
        let directory = tempfile::tempdir().map_err(GitError::disk("create", "a temporary directory"))?;
        let index = directory.path().join("index");
        let git = |args: &[&str]| self.git(self.top(), args).env("GIT_INDEX_FILE", &index);
        git(&["read-tree", tree.as_str()]).run()?;
        let line = |(path, entry): (&str, TreeEntry)| format!("{} {}\t{path}\0", entry.kind.mode(), entry.object);
        let lines = entries.into_iter().map(line).collect::<String>();
        git(&["update-index", "-z", "--index-info"]).stdin(lines).run()?;
        let written = git(&["write-tree"]).run()?.text();
        TreeId::new(written)
            .map_err(|error| GitError::Unreadable { command: "git write-tree".into(), problem: error.to_string() })
    }
}
