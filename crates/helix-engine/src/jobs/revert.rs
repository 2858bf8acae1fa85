//! Takes the merged result of a job out of the branch again, by one commit, and reopens its decision in that commit.
//!
//! Must not touch uncommitted work, nor what a conflict leaves unclear.

use std::sync::Arc;

use helix_adr::{Adr, index_markdown, is_generated_index};
use helix_core::ids::{CommitId, JobId, TreeId};
use helix_git::{EntryKind, GitError, Landing, Repository, Revert, RevertRequest, TreeEntry};
use helix_job::{Active, Integrated, Integration, IntegrationTarget, JobEvent, JobView, Reverted};
use helix_store::Pending;
use jiff::Timestamp;

use super::Jobs;
use crate::error::EngineError;
use crate::job::blocking;

/// How often a branch that moves meanwhile is followed.
const CHASES: usize = 5;

impl Jobs {
    /// Makes the revert commit of a merged job. A second call changes nothing: the job's view says what was done.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when there is nothing to revert, or the branch contradicts it; nothing was changed then.
    /// [`EngineError::NotFound`], [`EngineError::Journal`], [`EngineError::Environment`].
    pub fn revert<'a>(self: &'a Arc<Self>, id: &'a JobId, by: String) -> Pending<'a, JobView, EngineError> {
        Box::pin(async move {
            let _turn = self.reopening.lock().await;
            let state = self.settled(id).await?;
            let active = state.active().ok_or_else(|| EngineError::not_found("job", id))?;
            if active.reverted.is_some() {
                return self.get(id.as_str()).await;
            }
            let request = request(id, active, &by).map_err(EngineError::refused)?;
            let decision = active.spec.adr.as_ref().map(|adr| Decision {
                submitted: Adr::parse(&adr.path, &adr.text),
                note: format!("Reopened on {}: helix job {id} was reverted by {by}.", Timestamp::now().strftime("%F")),
            });
            let spaces = self.workspaces(&active.spec).await.map_err(EngineError::of_fault)?;
            let _landing = self.effects.landing(&active.spec).await;
            let made = blocking(move || revert(spaces.repository(), &request, decision.as_ref())).await;
            let Made { commit, target, adr } = made.map_err(EngineError::of_fault)?.map_err(EngineError::refused)?;
            let event = JobEvent::Reverted(Reverted { by, commit, target, adr });
            self.record_over(id, state, event).await?;
            self.get(id.as_str()).await
        })
    }
}

/// The decision of a job as it was at submit, and what is noted in it.
struct Decision {
    submitted: Adr,
    note: String,
}

/// A revert commit, where it is, and the decision that it reopens.
struct Made {
    commit: CommitId,
    target: IntegrationTarget,
    adr: Option<String>,
}

/// Files by path, with what they hold.
type Files = Vec<(String, Vec<u8>)>;

/// What is to be reverted, or why nothing is.
fn request(id: &JobId, active: &Active, by: &str) -> Result<RevertRequest, String> {
    let Integration::Done(Integrated { result, target, .. }) = &active.integration else {
        return Err("nothing to revert: the result of the job is not merged".to_owned());
    };
    let branch = match target {
        IntegrationTarget::Branch { branch } => branch.clone(),
        IntegrationTarget::Beside { branch, .. } => {
            return Err(format!(
                "nothing to revert: Helix left the result on branch {branch}; if you merged it, revert that commit with git"
            ));
        }
        IntegrationTarget::Nowhere => return Err("nothing to revert: the job changed nothing".to_owned()),
    };
    let (name, merged) = (active.spec.plan.name.clone(), result.commit.clone());
    // What the decision says of its criteria since is not taken back: it is opened again.
    let keep = active.spec.adr.iter().flat_map(|adr| [adr.path.clone(), index_beside(&adr.path)]).collect();
    Ok(RevertRequest { job: id.clone(), name, by: by.to_owned(), merged, branch, keep })
}

/// The index of the decisions in a decision's directory.
fn index_beside(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| "INDEX.md".to_owned(), |(directory, _)| format!("{directory}/INDEX.md"))
}

/// Makes and lands the commit, or says why not.
fn revert(
    repository: &Repository,
    request: &RevertRequest,
    decision: Option<&Decision>,
) -> Result<Result<Made, String>, GitError> {
    for _ in 0..CHASES {
        let (onto, tree) = match repository.prepare_revert(request)? {
            Revert::Absent => {
                let (branch, merged) = (&request.branch, &request.merged);
                return Ok(Err(format!("nothing to revert: {branch} does not have the merge commit {merged}")));
            }
            Revert::Conflict { paths } => {
                return Ok(Err(format!(
                    "later commits on {} changed the same lines of {}; `git revert -m 1 {}` lets you resolve that",
                    request.branch,
                    paths.join(", "),
                    request.merged
                )));
            }
            // A host that died had landed it, and had no time to say so.
            Revert::Already { commit } => {
                let files = repository.listing(&repository.commit(commit.as_str())?.tree)?;
                let adr = decision.map(|one| one.submitted.file.clone()).filter(|file| files.contains_key(file));
                let target = IntegrationTarget::Branch { branch: request.branch.clone() };
                return Ok(Ok(Made { commit, target, adr }));
            }
            Revert::Ready { onto, tree } => (onto, tree),
        };
        let reopened = decision.map(|decision| reopen(repository, &tree, decision)).transpose()?.flatten();
        let files = reopened.as_deref().unwrap_or_default();
        let (commit, landing) = repository.land_revert(request, &onto, &tree, files)?;
        if let Landing::Landed(target) = landing {
            let adr = decision.filter(|_| reopened.is_some()).map(|one| one.submitted.file.clone());
            return Ok(Ok(Made { commit, target, adr }));
        }
    }
    Ok(Err(format!("{} keeps moving: try again when it is not changing", request.branch)))
}

/// The files of the tree that say how the decision stands, as they are when it is open again; `None` if it is not there.
fn reopen(repository: &Repository, tree: &TreeId, decision: &Decision) -> Result<Option<Files>, GitError> {
    let listing = repository.listing(tree)?;
    let text = |path: &str| -> Result<Option<String>, GitError> {
        let is_file = |entry: &&TreeEntry| matches!(entry.kind, EntryKind::File | EntryKind::Executable);
        let Some(entry) = listing.get(path).filter(is_file) else { return Ok(None) };
        // What is not UTF-8 stays as it is.
        Ok(String::from_utf8(repository.blob(&entry.object)?).ok())
    };
    let path = &decision.submitted.file;
    let Some(now) = text(path)? else { return Ok(None) };
    let reopened = Adr::parse(path, &now).reopened(&decision.submitted, &decision.note);
    let mut files = vec![(path.clone(), reopened.clone().into_bytes())];
    let index = index_beside(path);
    let directory = index.trim_end_matches("INDEX.md");
    if text(&index)?.is_some_and(|now| is_generated_index(&now)) {
        let mut adrs = vec![Adr::parse(path, &reopened)];
        let other = |name: &&String| {
            *name != path
                && **name != index
                && name.strip_prefix(directory).is_some_and(|rest| !rest.contains('/') && rest.ends_with(".md"))
        };
        for name in listing.keys().filter(other) {
            adrs.extend(text(name)?.map(|text| Adr::parse(name, &text)));
        }
        files.push((index, index_markdown(&adrs).into_bytes()));
    }
    Ok(Some(files))
}
