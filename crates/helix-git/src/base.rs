//! Combining commits without a work tree: the base of a phase with several dependencies, and a job's result.
//!
//! Must not move any branch. The same commits give the same merge commit, whenever and however often that is done.

use std::collections::BTreeSet;

use helix_core::evidence::Tip;
use helix_core::ids::{CommitId, PhaseId, TreeId};
use helix_core::said::Words;
use helix_language::recorded;

use super::error::GitError;
use super::objects::{CommitObject, escape_path};
use super::repository::Repository;

/// The answer of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// One of the commits holds all others.
    Contained(CommitObject),
    /// A merge commit was made. Its tree is one that nobody has validated yet.
    Combined(CommitObject),
    /// They contradict each other.
    Conflict(MergeConflict),
}

/// Two results that change the same lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    pub paths: Vec<String>,
    /// Phases that were combined before the trouble.
    pub ours: Vec<PhaseId>,
    /// The phase that does not fit.
    pub theirs: PhaseId,
}

impl MergeConflict {
    pub fn words(&self) -> Words {
        let ours: Vec<&str> = self.ours.iter().map(PhaseId::as_str).collect();
        let (ours, theirs, paths) = (ours.join(", "), self.theirs.as_str(), self.paths.join(", "));
        recorded!("result-conflict", ours = ours, theirs = theirs, paths = paths)
    }
}

/// Two trees put together, or the files that keep them apart.
pub(crate) enum MergedTree {
    Clean(TreeId),
    /// Files in conflict, and the tree that holds them with conflict markers.
    Conflict {
        paths: Vec<String>,
        marked: TreeId,
    },
}

/// Marks a commit whose files hold conflict markers.
const MARKERS: &str = "Helix-Conflict: markers";

impl CommitObject {
    /// Whether its files hold the conflict markers of [`Repository::merge_marked`].
    pub(crate) fn has_markers(&self) -> bool {
        self.message.lines().any(|line| line == MARKERS)
    }
}

impl Repository {
    /// Combines phases' results in the order given. Results that are part of another one are dropped first.
    ///
    /// # Errors
    /// Git failed, or there is no tip at all ([`GitError::NoObject`]).
    pub fn merge_tips(&self, tips: &[Tip], message: &str) -> Result<Merged, GitError> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Tip> = tips.iter().filter(|tip| seen.insert(tip.commit.clone())).collect();
        if open.len() > 1 {
            let args = ["merge-base", "--independent"].into_iter().chain(open.iter().map(|tip| tip.commit.as_str()));
            let text = self.git(self.top(), args).run()?.text();
            let needed: BTreeSet<&str> = text.lines().collect();
            open.retain(|tip| needed.contains(tip.commit.as_str()));
        }
        let mut tips = open.into_iter();
        let Some(first) = tips.next() else {
            return Err(self.missing("a commit to start from"));
        };
        let mut sum = self.commit(first.commit.as_str())?;
        let mut phases = vec![first.phase.clone()];
        for tip in tips {
            let next = self.commit(tip.commit.as_str())?;
            match self.merge_trees(&sum.id, &next.id)? {
                MergedTree::Clean(tree) => sum = self.merge_commit(&tree, &sum, &next, message)?,
                MergedTree::Conflict { paths, .. } => {
                    return Ok(Merged::Conflict(MergeConflict { paths, ours: phases, theirs: tip.phase.clone() }));
                }
            }
            phases.push(tip.phase.clone());
        }
        Ok(if phases.len() == 1 { Merged::Contained(sum) } else { Merged::Combined(sum) })
    }

    /// A commit that has all these results as its ancestors; where they contradict each other its files hold conflict
    /// markers. For an agent that is to resolve them.
    ///
    /// # Errors
    /// Git failed, or there is no tip at all ([`GitError::NoObject`]).
    pub fn merge_marked(&self, tips: &[Tip], message: &str) -> Result<CommitObject, GitError> {
        let Some((first, others)) = tips.split_first() else {
            return Err(self.missing("a commit to start from"));
        };
        let mut sum = self.commit(first.commit.as_str())?;
        for tip in others {
            let next = self.commit(tip.commit.as_str())?;
            sum = match self.merge_trees(&sum.id, &next.id)? {
                MergedTree::Clean(tree) => self.merge_commit(&tree, &sum, &next, message)?,
                MergedTree::Conflict { marked, .. } => {
                    self.merge_commit(&marked, &sum, &next, &format!("{message}\n\n{MARKERS}\n"))?
                }
            };
        }
        Ok(sum)
    }

    /// Merges two commits' trees with git's own merge, in the object store only.
    pub(crate) fn merge_trees(&self, ours: &CommitId, theirs: &CommitId) -> Result<MergedTree, GitError> {
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours.as_str(), theirs.as_str()];
        // How lines are put together is for the side to say that the other one joins; git before 2.41 takes no notice.
        let output = self.git(self.top(), args).env("GIT_ATTR_SOURCE", ours.as_str()).accept(&[0, 1]).run()?;
        let tree = output.tree()?;
        if output.code != 0 {
            // A file is named once for each stage that it has.
            let paths: BTreeSet<String> = output.names().skip(1).map(escape_path).collect();
            return Ok(MergedTree::Conflict { paths: paths.into_iter().collect(), marked: tree });
        }
        Ok(MergedTree::Clean(tree))
    }

    /// Makes a merge commit dated like the later of its parents, so that making it again gives the same id.
    pub(crate) fn merge_commit(
        &self,
        tree: &TreeId,
        first: &CommitObject,
        second: &CommitObject,
        message: &str,
    ) -> Result<CommitObject, GitError> {
        self.dated_commit(tree, &[first, second], [first, second], message)
    }

    /// Makes a commit dated like the later of two others, so that making it again gives the same id.
    pub(crate) fn dated_commit(
        &self,
        tree: &TreeId,
        parents: &[&CommitObject],
        [first, second]: [&CommitObject; 2],
        message: &str,
    ) -> Result<CommitObject, GitError> {
        let seconds = |commit: &CommitObject| -> u64 {
            commit.committed_at.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or_default()
        };
        let date = if seconds(first) > seconds(second) { &first.committed_at } else { &second.committed_at };
        self.commit_tree(tree, parents.iter().map(|parent| &parent.id), message, Some(date))
    }

    /// Makes a commit by the user, of now or of `date`.
    pub(crate) fn commit_tree<'p>(
        &self,
        tree: &TreeId,
        parents: impl IntoIterator<Item = &'p CommitId>,
        message: &str,
        date: Option<&str>,
    ) -> Result<CommitObject, GitError> {
        let parents = parents.into_iter().flat_map(|parent| ["-p", parent.as_str()]);
        let args = ["commit-tree", tree.as_str(), "-F", "-"].into_iter().chain(parents);
        let call = self.by_user(self.git(self.top(), args))?.stdin(message);
        let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].into_iter().zip(date.into_iter().cycle());
        self.commit(&dates.fold(call, |call, (name, date)| call.env(name, date)).run()?.text())
    }
}
