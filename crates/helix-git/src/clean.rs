//! Branches of Helix's own in a user's repository that nobody needs any more.
//!
//! Must not remove work: a branch goes only where Helix left it there as it is and another branch has all of it.

use helix_core::ids::{CommitId, JobId};

use super::error::GitError;
use super::repository::Repository;

/// A branch that a job left beside its target, and that can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentBranch {
    pub name: String,
    pub tip: CommitId,
}

/// Where Helix notes what it has left on branches of its own.
const LEFT: &str = "refs/helix/beside/";

impl Repository {
    /// The branches that a job left, whose commits are on another branch.
    ///
    /// # Errors
    /// Git failed.
    pub fn spent_branches(&self, job: &JobId) -> Result<Vec<SpentBranch>, GitError> {
        let user = self.user();
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", LEFT];
        let left = user.git(user.top(), args).run()?.text();
        let mut spent = Vec::new();
        for (tip, name) in left.lines().filter_map(|line| line.split_once(' ')) {
            let Some(name) = name.strip_prefix(LEFT).filter(|name| is_of(name, job)) else { continue };
            let Ok(tip) = CommitId::new(tip) else { continue };
            let is_as_left = self.branch_tip(name)?.as_ref() == Some(&tip);
            if is_as_left && !self.is_in_use(name)? && self.is_elsewhere(name, &tip)? {
                spent.push(SpentBranch { name: name.to_owned(), tip });
            }
        }
        Ok(spent)
    }

    /// Removes such a branch, if it is still as it was; whether it did.
    ///
    /// # Errors
    /// Git failed.
    pub fn remove_spent(&self, SpentBranch { name, tip }: &SpentBranch) -> Result<bool, GitError> {
        let lines = format!("delete refs/heads/{name} {tip}\ndelete {LEFT}{name} {tip}\n");
        self.update_references(lines, name, Some(tip))
    }

    /// Whether another branch, here or of a remote, has the commit.
    fn is_elsewhere(&self, name: &str, tip: &CommitId) -> Result<bool, GitError> {
        let user = self.user();
        let args = ["for-each-ref", "--format=%(refname)", "--contains", tip.as_str(), "refs/heads", "refs/remotes"];
        let holders = user.git(user.top(), args).run()?.text();
        let own = format!("refs/heads/{name}");
        Ok(holders.lines().any(|holder| holder != own && !holder.starts_with("refs/heads/helix/")))
    }
}

/// Whether a branch is called after a job: `helix/<name>-<job>`, with a number where there were several.
fn is_of(name: &str, job: &JobId) -> bool {
    let Some((_, rest)) = name.rsplit_once(job.as_str()) else { return false };
    name.starts_with("helix/")
        && (rest.is_empty() || rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok()))
}
