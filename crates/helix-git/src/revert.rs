//! Taking the merged results of a job out of a branch again: one commit on top of it, landed as a merge is.
//!
//! Must not touch uncommitted work; what contradicts it changes nothing.

use helix_core::evidence::Land;
use helix_core::ids::{CommitId, JobId, TreeId};

use super::base::MergedTree;
use super::error::GitError;
use super::integrate::{IntegrationRequest, Landing, PreparedMerge, beside};
use super::objects::{CommitObject, EntryKind};
use super::repository::Repository;
use super::result::CommitText;

/// Who wanted a revert, in its commit.
const BY: &str = "Helix-Requested-By: ";

/// What is to be taken out of which branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertRequest {
    pub job: JobId,
    /// Name of its plan.
    pub name: String,
    /// Who wants it.
    pub by: String,
    /// The commits that brought its results, oldest first.
    pub merges: Vec<CommitId>,
    pub branch: String,
    /// Files that stay as the branch has them, whatever the job did to them.
    pub keep: Vec<String>,
}

/// How results would be reverted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revert {
    /// The branch has none of them, or not by a merge.
    Absent,
    /// All that it has were reverted before, the last one by this commit.
    Already {
        commit: CommitId,
        by: Option<String>,
    },
    /// The branch has moved on and contradicts it.
    Conflict {
        merge: CommitId,
        paths: Vec<String>,
    },
    Ready(PreparedRevert),
}

/// The tree of a branch without the results, for this tip of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRevert {
    pub onto: CommitId,
    pub tree: TreeId,
    /// The merges that are taken out of it.
    pub merges: Vec<CommitId>,
}

impl RevertRequest {
    /// Names a merge that a commit takes out. It is the merge and not only the job: a job may be merged again.
    fn trailer(&self, merge: &str) -> String {
        format!("Helix-Reverts: {} {merge}", self.job)
    }

    fn title(&self) -> String {
        format!("revert of {}", one_line(&self.name))
    }

    fn landing(&self, onto: &CommitId, commit: &CommitId) -> IntegrationRequest {
        IntegrationRequest {
            job: self.job.clone(),
            name: self.title(),
            base: onto.clone(),
            result: commit.clone(),
            branch: Some(self.branch.clone()),
            land: Land::Merge,
            text: CommitText { subject: self.title(), body: String::new(), trailers: Vec::new() },
        }
    }

    fn message(&self, merges: &[CommitId]) -> String {
        let (job, name, by) = (&self.job, one_line(&self.name), one_line(&self.by));
        let named = merges.iter().map(CommitId::as_str).collect::<Vec<_>>().join(" and ");
        let trailers = merges.iter().map(|merge| self.trailer(merge.as_str()) + "\n").collect::<String>();
        format!("Revert helix job {job}: {name}\n\nThis reverts commit {named}, as {by} wants.\n\n{trailers}{BY}{by}\n")
    }
}

fn one_line(text: &str) -> String {
    text.trim().replace('\n', " ")
}

impl Repository {
    /// Finds out how a job's results are reverted. Moves nothing.
    ///
    /// # Errors
    /// Git failed.
    pub fn prepare_revert(&self, request: &RevertRequest) -> Result<Revert, GitError> {
        let Some(onto) = self.branch_tip(&request.branch)? else { return Ok(Revert::Absent) };
        let mut merges = Vec::new();
        for merge in &request.merges {
            // What is neither a merge nor names its result did not come by Helix: somebody has moved the branch to the result itself.
            if let Some(found) = self.find_commit(merge.as_str())?
                && found.brings_result()
                && self.is_ancestor(merge, &onto)?
            {
                merges.push(found);
            }
        }
        let Some(first) = merges.first() else { return Ok(Revert::Absent) };
        let mut reverts = Vec::new();
        for (commit, message) in self.reverts(request, &first.id, &onto)? {
            if !self.is_taken_back(&commit, &onto)? {
                reverts.push((commit, message));
            }
        }
        let names = |message: &String, merge: &CommitObject| {
            message.lines().any(|line| line == request.trailer(merge.id.as_str()))
        };
        merges.retain(|merge| !reverts.iter().any(|(_, message)| names(message, merge)));
        if let (true, Some((commit, message))) = (merges.is_empty(), reverts.into_iter().next()) {
            let by = message.lines().find_map(|line| line.strip_prefix(BY)).map(str::to_owned);
            return Ok(Revert::Already { commit, by });
        }
        let (mut tip, mut tree) = (onto.clone(), self.commit(onto.as_str())?.tree);
        for merge in merges.iter().rev() {
            let Some(before) = merge.parents.first() else { return Ok(Revert::Absent) };
            let before = self.commit(before.as_str())?;
            // What undoes the merge, right behind it: to merge that with the tip is to revert the merge there.
            let files = self.listing(&merge.tree)?;
            let kept = request.keep.iter().filter_map(|path| Some((path.as_str(), Some(files.get(path)?.clone()))));
            let undone = self.tree_with(before.tree.as_str(), kept)?;
            let undone = self.commit_tree(&undone, [&merge.id], "undone", None)?.id;
            tree = match self.merge_trees(&tip, &undone)? {
                MergedTree::Clean(tree) => tree,
                MergedTree::Conflict { paths, .. } => return Ok(Revert::Conflict { merge: merge.id.clone(), paths }),
            };
            tip = self.commit_tree(&tree, [&tip], "undone", None)?.id;
        }
        Ok(Revert::Ready(PreparedRevert { onto, tree, merges: merges.into_iter().map(|merge| merge.id).collect() }))
    }

    /// Whether a later commit reverts this one, as `git revert` says it.
    fn is_taken_back(&self, commit: &CommitId, onto: &CommitId) -> Result<bool, GitError> {
        let (pattern, range) = (format!("--grep=This reverts commit {commit}"), format!("{commit}..{onto}"));
        let flags = ["rev-list", "--max-count=1", "--fixed-strings", "--encoding=UTF-8"];
        Ok(!self.git(self.top(), flags.into_iter().chain([pattern.as_str(), &range])).run()?.text().is_empty())
    }

    /// The commits after `first` that take results of the job out, newest first, with their messages; on whichever line of the
    /// branch's history, since somebody may have merged them.
    fn reverts(
        &self,
        request: &RevertRequest,
        first: &CommitId,
        onto: &CommitId,
    ) -> Result<Vec<(CommitId, String)>, GitError> {
        // Neither what patterns nor what logs are by the user's configuration counts here.
        let (pattern, range) = (format!("--grep={}", request.trailer("")), format!("{first}..{onto}"));
        let flags = ["rev-list", "--topo-order", "--fixed-strings", "--encoding=UTF-8", "--format=%x00%H%n%B"];
        let output = self.git(self.top(), flags.into_iter().chain([pattern.as_str(), &range])).run()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let commit = |record: &str| {
            let (id, message) = record.split_once('\n')?;
            Some((CommitId::new(id).ok()?, message.to_owned()))
        };
        Ok(text.split('\0').filter_map(commit).collect())
    }

    /// Commits the tree with these files in it on top of the branch's tip, and brings it there, or beside when the user's work is
    /// in the way. Gives its branch, or where it is beside that.
    ///
    /// # Errors
    /// Git failed.
    pub fn land_revert(
        &self,
        request: &RevertRequest,
        prepared: &PreparedRevert,
        files: &[(String, Vec<u8>)],
    ) -> Result<(CommitId, Landing), GitError> {
        let PreparedRevert { onto, tree, merges } = prepared;
        let listing = self.listing(tree)?;
        let written = files.iter().map(|(path, content)| {
            let kind = listing.get(path).map_or(EntryKind::File, |entry| entry.kind);
            Ok((path.as_str(), Some(self.written(kind, content)?)))
        });
        let tree = self.tree_with(tree.as_str(), written.collect::<Result<Vec<_>, GitError>>()?)?;
        let message = request.message(merges);
        // The one that waits beside the branch is taken again as long as it is the same.
        let waiting = self.branch_tip(&beside(&request.title(), &request.job))?;
        let waiting = waiting.map(|tip| self.commit(tip.as_str())).transpose()?;
        let same = |one: &CommitObject| one.parents == [onto.clone()] && one.tree == tree && one.message == message;
        let commit = match waiting.filter(same) {
            Some(made) => made.id,
            None => self.commit_tree(&tree, [onto], &message, None)?.id,
        };
        let prepared = PreparedMerge { commit: commit.clone(), tree, onto: onto.clone(), unvalidated: true };
        let landed = self.land(&request.landing(onto, &commit), &prepared)?;
        Ok((commit, landed))
    }

    /// Whether a revert of these results lies on a branch beside the one that they are in.
    ///
    /// # Errors
    /// Git failed.
    pub fn has_waiting_revert(&self, request: &RevertRequest) -> Result<bool, GitError> {
        let branch = format!("refs/heads/{}", beside(&request.title(), &request.job));
        let more = format!("{branch}-*");
        let user = self.user();
        Ok(!user.git(user.top(), ["for-each-ref", "--count=1", &branch, &more]).run()?.text().is_empty())
    }
}
