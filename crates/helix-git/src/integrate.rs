//! Bringing a job's result to the user: into the target branch if that is safe, onto a branch beside it otherwise.
//!
//! Must not touch uncommitted work: nothing is stashed, reset or overwritten. One merge commit, so that one revert undoes it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use helix_core::evidence::{IntegrationTarget, Land};
use helix_core::ids::{CommitId, JobId, TreeId};
use helix_core::said::Words;
use helix_core::slug::slug;
use helix_language::{RECORD, recorded};

use super::base::MergedTree;
use super::disk;
use super::error::GitError;
use super::objects::CommitObject;
use super::repository::{Operation, Repository};
use super::result::CommitText;
use super::snapshot::MergeSnapshot;

/// What to do when git stopped in the middle of an update and did not say why.
const UNWRITABLE: &str = "the files are unchanged; make sure that the disk has space and the files are writable, then run `helix jobs resume JOB`";

/// What is to be brought where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegrationRequest {
    pub job: JobId,
    /// Name of its plan.
    pub name: String,
    /// The commit the job started from.
    pub base: CommitId,
    /// The combined result of its phases.
    pub result: CommitId,
    /// Branch that gets it; `None` when the repository was at a detached head.
    pub branch: Option<String>,
    /// How it gets there.
    pub land: Land,
    /// What was done, for the commit that brings it.
    pub text: CommitText,
}

impl IntegrationRequest {
    /// Branch that keeps the result when the target cannot be moved: `helix/<name>-<job>`.
    pub fn beside(&self) -> String {
        beside(&self.name, &self.job)
    }

    /// The message of the commit that brings the result, which it names: without a merge nothing else leads to it.
    fn message(&self) -> String {
        let mut text = self.text.clone();
        let undo = match self.land {
            Land::Merge | Land::Branch => "git revert -m 1",
            Land::Squash => "git revert",
        };
        text.body = format!("{}\n\nUndo it all with `{undo}` of this commit.", text.body.trim()).trim().to_owned();
        text.with_trailers(&format!("Helix-Job: {}\n{}\n", self.job, self.names_result()))
    }

    fn names_result(&self) -> String {
        format!("{RESULT}{}", self.result)
    }
}

/// Names the result of a job in the commit that brings it to a branch.
const RESULT: &str = "Helix-Result: ";

impl CommitObject {
    /// Whether this commit brought the result of a job to a branch: a merge, or one commit that names it.
    pub(crate) fn brings_result(&self) -> bool {
        self.parents.len() > 1 || self.message.lines().any(|line| line.starts_with(RESULT))
    }
}

/// Branch that keeps what is made under this name for a job.
pub(crate) fn beside(name: &str, job: &JobId) -> String {
    let name = slug(name, 48);
    if name.is_empty() { format!("helix/result-{job}") } else { format!("helix/{name}-{job}") }
}

/// How a result would be integrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integration {
    /// The result is what the job started from.
    Nothing,
    /// The target has it already, from before a crash.
    Already {
        /// The commit that brought it.
        commit: CommitObject,
        /// The branch that has it.
        branch: String,
    },
    /// A commit is ready to be landed.
    Ready(PreparedMerge),
    /// The result is to stay on a branch of its own.
    OwnBranch,
    /// The target has moved on and conflicts with the result.
    Conflict {
        paths: Vec<String>,
        /// The target's tip that it contradicts.
        onto: CommitId,
    },
}

/// A commit that brings a result to the target and that no branch holds yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedMerge {
    pub commit: CommitId,
    pub tree: TreeId,
    /// Tip of the target that it was made for.
    pub onto: CommitId,
    /// Whether the tree is another than the result's, because the target has moved: its gates must run again.
    pub unvalidated: bool,
}

/// What landing a prepared merge gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    Landed(IntegrationTarget),
    /// The target has moved meanwhile: prepare again.
    Moved,
}

impl Repository {
    /// Prepares the integration of a job's result. Moves nothing.
    ///
    /// # Errors
    /// Git failed.
    pub fn prepare_integration(&self, request: &IntegrationRequest) -> Result<Integration, GitError> {
        if request.result == request.base {
            return Ok(Integration::Nothing);
        }
        if request.land == Land::Branch {
            return Ok(Integration::OwnBranch);
        }
        let mut onto = request.base.clone();
        if let Some(branch) = &request.branch
            && let Some(tip) = self.branch_tip(branch)?
        {
            if tip != request.base && self.is_ancestor(&request.result, &tip)? {
                let commit = self.bringer(&request.result, &tip)?;
                return Ok(Integration::Already { commit, branch: branch.clone() });
            }
            if let Some(commit) = self.landed(request, &tip)? {
                return Ok(Integration::Already { commit, branch: branch.clone() });
            }
            onto = tip;
        }
        let (head, result) = (self.commit(onto.as_str())?, self.commit(request.result.as_str())?);
        let tree = if onto == request.base {
            result.tree.clone()
        } else {
            match self.merge_trees(&head.id, &result.id)? {
                MergedTree::Clean(tree) => tree,
                MergedTree::Conflict { paths, .. } => return Ok(Integration::Conflict { paths, onto }),
            }
        };
        let unvalidated = tree != result.tree;
        let parents = if request.land == Land::Squash { vec![&head] } else { vec![&head, &result] };
        let commit = self.dated_commit(&tree, &parents, [&head, &result], &request.message())?;
        Ok(Integration::Ready(PreparedMerge { commit: commit.id, tree, onto, unvalidated }))
    }

    /// Brings a prepared merge to the target branch, or beside it when the user's work is in the way.
    ///
    /// # Errors
    /// Git failed.
    pub fn land(&self, request: &IntegrationRequest, merge: &PreparedMerge) -> Result<Landing, GitError> {
        let _exclusive = self.landing_lock()?;
        let beside = |why: Words| self.land_beside(request, &merge.commit, why).map(Landing::Landed);
        let Some(branch) = &request.branch else {
            return beside(recorded!("beside-detached"));
        };
        let Some(tip) = self.branch_tip(branch)? else {
            return beside(recorded!("beside-no-branch", branch = branch));
        };
        let landed = Landing::Landed(IntegrationTarget::Branch { branch: branch.clone() });
        if tip == merge.commit {
            return Ok(landed);
        }
        if tip != merge.onto {
            return Ok(Landing::Moved);
        }
        if let Some((operation, place)) = self.taken_by(branch)? {
            let (operation, place) = (operation.word(), place.display().to_string());
            return beside(recorded!("beside-busy-branch", operation = operation, branch = branch, place = place));
        }
        let user = self.user();
        let Some((work_tree, own)) = self.checked_out(branch)? else {
            self.hand_over(&merge.commit)?;
            self.note_landing(&request.job, &merge.commit)?;
            let name = format!("refs/heads/{branch}");
            let why = format!("helix: merge job {}", request.job);
            let args = ["update-ref", "-m", &why, &name, merge.commit.as_str(), tip.as_str()];
            return match user.git(user.top(), args).run() {
                Ok(_) => Ok(landed),
                // Somebody was faster: git compares and sets in one step.
                Err(error) => match self.branch_tip(branch)? {
                    Some(now) if now == tip => Err(error),
                    Some(_) | None => Ok(Landing::Moved),
                },
            };
        };
        if let Some(operation) = Operation::in_progress(&own) {
            let (operation, place) = (operation.word(), work_tree.display().to_string());
            return beside(recorded!("beside-busy", operation = operation, place = place));
        }
        let snapshot = MergeSnapshot::take(self, &work_tree, &self.commit(tip.as_str())?.tree, &merge.tree)?;
        // As with git, files that the result does not touch may have changes.
        let dirty = snapshot.overlap(user)?;
        if let Some(first) = dirty.first() {
            let (more, place) = (dirty.len() - 1, work_tree.display().to_string());
            return beside(recorded!("beside-dirty", file = first.to_string(), more = more, place = place));
        }
        self.hand_over(&merge.commit)?;
        self.note_landing(&request.job, &merge.commit)?;
        self.step(|| "a result is handed over".into());
        let args = ["merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-stat", merge.commit.as_str()];
        let output = user.git(&work_tree, args).accept(&[0, 1, 2, 128]).in_users_tree().run()?;
        if output.code == 0 {
            // Git moves what is checked out, which another command may have changed since it was looked at.
            if let Some(tip) = self.branch_tip(branch)?
                && self.is_ancestor(&merge.commit, &tip)?
            {
                self.step(|| "a result has landed".into());
                return Ok(landed);
            }
            let (place, holders) = (work_tree.display().to_string(), self.holders(&merge.commit)?);
            return beside(recorded!("beside-elsewhere", branch = branch, place = place, holders = holders));
        }
        if self.branch_tip(branch)?.as_ref() != Some(&tip) {
            return Ok(Landing::Moved);
        }
        // Asked before anything is taken back, which makes room.
        let full = disk::trouble([work_tree.as_path(), user.common_dir()]);
        // A work tree that git could not write to is no matter of what lies in it: the result belongs there once it can.
        if snapshot.take_back(user)? || full.is_some() {
            let code = Some(output.code);
            let mut error = GitError::failed("git merge --ff-only", &work_tree, code, output.stderr, full);
            if let GitError::Failed { hint, .. } = &mut error {
                hint.get_or_insert(UNWRITABLE.into());
            }
            return Err(error);
        }
        let said = output.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        beside(recorded!("beside-refused", place = work_tree.display().to_string(), said = said))
    }

    /// Notes where Helix is about to move a branch to: that is nobody else's doing, also if the host dies right after it.
    fn note_landing(&self, job: &JobId, commit: &CommitId) -> Result<(), GitError> {
        if self.hosting().is_some() { self.keep(&format!("{LANDED}/{job}"), commit) } else { Ok(()) }
    }

    /// Whether a commit has the work of another one: as its ancestor, or by the result that it names and brings as one commit.
    ///
    /// # Errors
    /// Git failed.
    pub fn carries(&self, commit: &CommitId, other: &CommitId) -> Result<bool, GitError> {
        if self.is_ancestor(other, commit)? {
            return Ok(true);
        }
        let message = self.commit(commit.as_str())?.message;
        let named = message.lines().find_map(|line| line.strip_prefix(RESULT)).map(|id| self.find_commit(id));
        match named.transpose()?.flatten() {
            Some(result) => self.is_ancestor(other, &result.id),
            None => Ok(false),
        }
    }

    /// The commit that brought this very result to the target before, if the target has it.
    fn landed(&self, request: &IntegrationRequest, tip: &CommitId) -> Result<Option<CommitObject>, GitError> {
        let Some(landed) = self.find_commit(&format!("{LANDED}/{}", request.job))? else { return Ok(None) };
        let names = landed.message.lines().any(|line| line == request.names_result());
        Ok(if names && self.is_ancestor(&landed.id, tip)? { Some(landed) } else { None })
    }

    /// Whether Helix itself brings this commit to branches.
    pub(crate) fn lands(&self, commit: &str) -> Result<bool, GitError> {
        let args = ["for-each-ref", "--count=1", "--points-at", commit, LANDED];
        Ok(!self.git(self.top(), args).run()?.stdout.is_empty())
    }

    /// One landing at a time in a repository, whichever job, thread or host it is of: of two `git merge` in one work tree, the
    /// second can take its files over after the first has written its own and before the branch has moved, and leave them
    /// behind as changes of the user's. Released with the file, also when the host dies.
    fn landing_lock(&self) -> Result<File, GitError> {
        let path = self.user().common_dir().join("helix-landing.lock");
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(GitError::disk("open", &path))?;
        file.lock().map_err(GitError::disk("lock", path))?;
        Ok(file)
    }

    /// Leaves a commit on the job's own branch, with the command that takes it; on another one beside that where somebody has
    /// gone on with it.
    ///
    /// # Errors
    /// Git failed.
    pub fn land_beside(
        &self,
        request: &IntegrationRequest,
        commit: &CommitId,
        why: Words,
    ) -> Result<IntegrationTarget, GitError> {
        self.hand_over(commit)?;
        let (wanted, mut number) = (request.beside(), 1_u32);
        let branch = loop {
            let branch = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
            if self.set_beside(&branch, commit)? {
                break branch;
            }
            number += 1;
        };
        let command = self.taking(request.branch.as_deref(), &branch, commit)?;
        Ok(IntegrationTarget::Beside { branch, why: RECORD.words(&why), said: why.own(), command })
    }

    /// The command that brings a branch with this commit into the target from where the user has it: what git refuses while something
    /// is changed or checked out elsewhere must not be in it, and what it would not write over is moved away first.
    fn taking(&self, target: Option<&str>, branch: &str, commit: &CommitId) -> Result<String, GitError> {
        let git = |place: &Path| format!("git -C {}", quoted(place));
        let top = self.user().top();
        let merge = |place: &Path| format!("{} merge --autostash {branch}", git(place));
        let Some(target) = target else { return Ok(merge(top)) };
        let named = quoted(Path::new(target));
        let Some(tip) = self.branch_tip(target)? else {
            return Ok(format!("{} branch {named} {branch}", git(top)));
        };
        if let Some((work_tree, _)) = self.checked_out(target)? {
            let (from, to) = (self.commit(tip.as_str())?.tree, self.commit(commit.as_str())?.tree);
            let in_the_way = MergeSnapshot::take(self, &work_tree, &from, &to)?.in_the_way(self.user())?;
            let moved = in_the_way.iter().map(|path| {
                let (path, away) = (quoted(path), quoted(Path::new(&format!("{}.mine", path.display()))));
                format!("mv -n {path} {away} && ")
            });
            return Ok(moved.chain([merge(&work_tree)]).collect());
        }
        // It is checked out again when what has taken it is over.
        if let Some((_, place)) = self.taken_by(target)? {
            return Ok(merge(&place));
        }
        Ok(format!("{} switch {named} && {}", git(top), merge(top)))
    }

    /// Sets a branch of Helix's own; whether it did: not where its tip is another than Helix has left there, or it is checked out.
    fn set_beside(&self, branch: &str, commit: &CommitId) -> Result<bool, GitError> {
        let (name, left) = (format!("refs/heads/{branch}"), format!("refs/helix/beside/{branch}"));
        let tip = self.branch_tip(branch)?;
        if let Some(tip) = &tip {
            if tip == commit {
                return Ok(true);
            }
            let own = self.user().find_commit(&left)?.is_some_and(|left| left.id == *tip);
            if !own || self.is_in_use(branch)? {
                return Ok(false);
            }
        }
        // Both or none, and only if nobody was faster. Without an old value, the branch must not be there.
        let lines = match &tip {
            Some(tip) => format!("update {name} {commit} {tip}\nupdate {left} {commit}\n"),
            None => format!("create {name} {commit}\nupdate {left} {commit}\n"),
        };
        self.update_references(lines, branch, tip.as_ref())
    }

    /// Carries out lines of `git update-ref`; `false` if a branch is no longer at its tip.
    pub(crate) fn update_references(
        &self,
        lines: String,
        branch: &str,
        tip: Option<&CommitId>,
    ) -> Result<bool, GitError> {
        let user = self.user();
        match user.git(user.top(), ["update-ref", "--stdin"]).stdin(lines).run() {
            Ok(_) => Ok(true),
            Err(_) if self.branch_tip(branch)?.as_ref() != tip => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The merge on the target's own line that brought a commit in, or the commit itself.
    fn bringer(&self, result: &CommitId, tip: &CommitId) -> Result<CommitObject, GitError> {
        let range = format!("{result}..{tip}");
        let args = ["rev-list", "--first-parent", "--ancestry-path", "--merges", "--reverse", &range];
        let text = self.git(self.top(), args).run()?.text();
        self.commit(text.lines().next().unwrap_or(result.as_str()))
    }

    /// The branches whose tip is a commit, in words.
    fn holders(&self, commit: &CommitId) -> Result<Words, GitError> {
        let args = ["for-each-ref", "--format=%(refname:short)", "--points-at", commit.as_str(), "refs/heads"];
        let names = self.user().git(self.user().top(), args).run()?.text();
        let names: Vec<&str> = names.lines().collect();
        Ok(if names.is_empty() { recorded!("beside-no-holder") } else { names.join(", ").into() })
    }

    /// Whether a work tree has a branch checked out, or will set it.
    pub(crate) fn is_in_use(&self, branch: &str) -> Result<bool, GitError> {
        Ok(self.checked_out(branch)?.is_some() || self.taken_by(branch)?.is_some())
    }

    /// What is in progress in any work tree that will set a branch at its end, and where. Git lists such a work tree as one
    /// without a branch, and moving the branch meanwhile makes that end fail, or drops what was merged.
    fn taken_by(&self, branch: &str) -> Result<Option<(Operation, PathBuf)>, GitError> {
        let common = self.user().common_dir().to_path_buf();
        let linked = super::files::list(&common.join("worktrees"))?;
        for own in std::iter::once(common).chain(linked) {
            if let Some(operation) = Operation::sets(&own, branch)? {
                // A linked work tree's private directory names it; the main one is where the common directory is.
                let named = std::fs::read_to_string(own.join("gitdir")).ok().map(|text| PathBuf::from(text.trim_end()));
                let file = named.unwrap_or_else(|| own.clone());
                return Ok(Some((operation, file.parent().unwrap_or(&own).to_path_buf())));
            }
        }
        Ok(None)
    }

    /// The work tree, with its private git directory, that has a branch checked out.
    fn checked_out(&self, branch: &str) -> Result<Option<(PathBuf, PathBuf)>, GitError> {
        let wanted = format!("branch refs/heads/{branch}");
        for (path, lines) in self.work_trees()? {
            if lines.contains(&wanted) && path.is_dir() {
                let own = self.user().git(&path, ["rev-parse", "--absolute-git-dir"]).run()?.text();
                return Ok(Some((path, PathBuf::from(own))));
            }
        }
        Ok(None)
    }

    /// All work trees with what git says of each.
    fn work_trees(&self) -> Result<Vec<(PathBuf, Vec<String>)>, GitError> {
        let user = self.user();
        let output = user.git(user.top(), ["worktree", "list", "--porcelain", "-z"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let record = |record: &str| {
            let mut lines = record.split('\0').filter(|line| !line.is_empty()).map(str::to_owned);
            let path = PathBuf::from(lines.next()?.strip_prefix("worktree ")?);
            Some((path, lines.collect()))
        };
        Ok(text.split("\0\0").filter_map(record).collect())
    }
}

/// Where the host's repository keeps what jobs have brought to branches of the user's.
const LANDED: &str = "refs/helix/landed";

/// A path as a word of a shell's command line.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:@".contains(c)) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
