//! Takes the merged results of a job out of the branch again, by one commit, and reopens its decision in that commit.
//!
//! Must not touch uncommitted work, nor what a conflict leaves unclear.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_adr::{Adr, index_markdown, is_generated_index};
use helix_core::ids::{CommitId, JobId, TreeId};
use helix_git::{EntryKind, GitError, Landing, Repository, Revert, RevertRequest, TreeEntry};
use helix_job::{Active, IntegrationTarget, JobEvent, JobView, Person, Reverted};
use helix_store::Pending;
use jiff::Timestamp;

use super::Jobs;
use crate::error::EngineError;
use crate::job::blocking;

/// How often a branch that moves meanwhile is followed.
const CHASES: usize = 5;

/// What to do about a revert.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// Make and land it.
    By(Person),
    /// Only find the one that was landed before.
    Found,
}

impl Jobs {
    /// Makes the revert commit of a merged job, and goes on to the end also where nobody waits for it any more. A second call
    /// takes out what stands in the branch by then: mostly nothing, and the job's view says what was done.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when there is nothing to revert, or the branch contradicts it; [`EngineError::LeftToPerson`] when its
    /// commit had to stay beside the branch. The branch is as it was then. [`EngineError::NotFound`], [`EngineError::Journal`], [`EngineError::Environment`].
    pub fn revert(self: &Arc<Self>, id: &JobId, by: Person) -> Pending<'static, JobView, EngineError> {
        let (jobs, id) = (Arc::clone(self), id.clone());
        self.to_its_end(async move { jobs.record_revert(&id, Wanted::By(by)).await })
    }

    /// Records the reverts that are in their branches and not in the journal: a host died between the two, or a person has taken
    /// what lay beside.
    pub(super) async fn record_reverts(self: Arc<Self>) {
        let Ok(mut wanted) = tokio::fs::read_dir(self.wanted_reverts()).await else { return };
        while let Ok(Some(entry)) = wanted.next_entry().await {
            let Ok(id) = JobId::new(entry.file_name().to_string_lossy()) else { continue };
            match self.record_revert(&id, Wanted::Found).await {
                Ok(_) => {}
                Err(EngineError::Refused { message, .. } | EngineError::LeftToPerson { message }) => {
                    tracing::debug!(job = %id, message, "no revert of it was found");
                }
                Err(error) => {
                    let error = helix_core::error_chain(&error);
                    tracing::warn!(job = %id, error, "whether it was reverted cannot be found out");
                }
            }
        }
    }

    async fn record_revert(&self, id: &JobId, wanted: Wanted) -> Result<JobView, EngineError> {
        let _turn = self.reopening.lock().await;
        let state = self.settled(id).await?;
        let active = state.active().ok_or_else(|| EngineError::not_found("job", id))?;
        // Says to the next host that there may be a commit which is not on record.
        let note = self.wanted_reverts().join(id.as_str());
        let before = active.reverted.clone();
        let request = request(id, active, &wanted).map_err(EngineError::refused)?;
        let decision = active.spec.adr.as_ref().map(|adr| Decision {
            submitted: Adr::parse(&adr.path, &adr.text),
            note: format!(
                "Reopened on {}: helix job {id} was reverted by {}.",
                Timestamp::now().strftime("%F"),
                request.by
            ),
        });
        let spaces = self.workspaces(&active.spec).await.map_err(EngineError::of_fault)?;
        if wanted != Wanted::Found {
            let (directory, note) = (self.wanted_reverts(), note.clone());
            let written = helix_process::spawn_blocking(move || leave(&directory, &note)).await;
            written.map_err(EngineError::environment)?.map_err(EngineError::environment)?;
        }
        let _landing = self.effects.landing(&active.spec).await;
        let known = before.clone();
        let made = blocking(move || {
            let repository = spaces.repository();
            let made = revert(repository, &request, decision.as_ref(), &wanted, known.as_ref())?;
            Ok((made, repository.has_waiting_revert(&request)?))
        });
        let (made, waits) = made.await.map_err(EngineError::of_fault)?;
        let refused = match made {
            Ok(reverted) if before.is_some_and(|before| before.commit == reverted.commit) => None,
            Ok(reverted) => {
                self.record_over(id, state, JobEvent::Reverted(reverted)).await?;
                None
            }
            // A commit lies beside the branch, by this call or an earlier one, and somebody can take it: the next host looks again.
            Err(message) if waits => return Err(EngineError::LeftToPerson { message }),
            Err(why) => Some(why),
        };
        if let Err(error) = tokio::fs::remove_file(&note).await
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, "{} is left", note.display());
        }
        match refused {
            Some(why) => Err(EngineError::refused(why)),
            None => self.get(id.as_str()).await,
        }
    }

    /// Has an empty file for each job whose revert was wanted and is not on record.
    fn wanted_reverts(&self) -> PathBuf {
        self.services.state.root().join("reverts")
    }
}

/// Leaves the note, on the disk before anything else happens.
fn leave(directory: &Path, note: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    File::create(note)?.sync_all()?;
    File::open(directory)?.sync_all()
}

/// The decision of a job as it was at submit, and what is noted in it.
struct Decision {
    submitted: Adr,
    note: String,
}

/// Files by path, with what they hold.
type Files = Vec<(String, Vec<u8>)>;

/// What is to be reverted, or why nothing is.
fn request(id: &JobId, active: &Active, wanted: &Wanted) -> Result<RevertRequest, String> {
    let (Some(branch), false) = (&active.spec.repo.branch, active.merges.is_empty()) else {
        return Err("nothing to revert: no result of the job was merged".to_owned());
    };
    // What the decision says of its criteria since is not taken back: it is opened again.
    let keep = active.spec.adr.iter().flat_map(|adr| [adr.path.clone(), index_beside(&adr.path)]).collect();
    let by = match wanted {
        Wanted::By(by) => by.to_string(),
        Wanted::Found => String::new(),
    };
    let (name, merges) = (active.spec.plan.name.clone(), active.merges.clone());
    Ok(RevertRequest { job: id.clone(), name, by, merges, branch: branch.clone(), keep })
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
    wanted: &Wanted,
    before: Option<&Reverted>,
) -> Result<Result<Reverted, String>, GitError> {
    let (job, branch) = (&request.job, &request.branch);
    let reverted = |by: String, commit: CommitId, adr: bool| {
        let adr = decision.filter(|_| adr).map(|one| one.submitted.file.clone());
        Reverted { by: by.into(), commit, branch: branch.clone(), adr }
    };
    for _ in 0..CHASES {
        let prepared = match repository.prepare_revert(request)? {
            Revert::Absent => {
                if let (Some(before), Some(tip)) = (before, repository.branch_tip(branch)?)
                    && repository.find_commit(before.commit.as_str())?.is_some()
                    && repository.is_ancestor(&before.commit, &tip)?
                {
                    return Ok(Ok(before.clone()));
                }
                return Ok(Err(format!(
                    "nothing to revert: {branch} has no merge commit of the job; if its result came there in another way, revert that with git"
                )));
            }
            Revert::Conflict { merge, paths } => {
                return Ok(Err(format!(
                    "later commits on {branch} changed the same lines of {}; `git revert -m 1 {merge}` lets you resolve that",
                    paths.join(", ")
                )));
            }
            Revert::Already { commit, by } => {
                let files = repository.listing(&repository.commit(commit.as_str())?.tree)?;
                let adr = decision.is_some_and(|one| files.contains_key(&one.submitted.file));
                return Ok(Ok(reverted(by.unwrap_or_else(|| request.by.clone()), commit, adr)));
            }
            Revert::Ready(_) if *wanted == Wanted::Found => {
                return Ok(Err(format!("{branch} has no revert of job {job}")));
            }
            Revert::Ready(prepared) => prepared,
        };
        let files = decision.map(|decision| reopen(repository, &prepared.tree, decision)).transpose()?.flatten();
        match repository.land_revert(request, &prepared, files.as_deref().unwrap_or_default())? {
            (commit, Landing::Landed(IntegrationTarget::Beside { branch: beside, why, command, .. })) => {
                return Ok(Err(format!(
                    "not reverted yet: the revert {commit} is on branch {beside}, since {why}. Take it with `{command}`, then run `helix jobs revert {job}` again: it records that"
                )));
            }
            (commit, Landing::Landed(_)) => return Ok(Ok(reverted(request.by.clone(), commit, files.is_some()))),
            (_, Landing::Moved) => {}
        }
    }
    Ok(Err(format!("{branch} keeps moving: try again when it is not changing")))
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
