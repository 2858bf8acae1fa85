//! What proves that a job's phases passed, looked at again: the journal's records compared with the files and commits that
//! they name; and what a job, a phase or an attempt changed.
//!
//! Must not take a record's word for what can be checked, and changes nothing.

mod bundle;
mod compare;
mod decision;
mod difference;
mod envelope;
mod examiner;
mod integration;
mod look;
mod output;
mod place;
mod text;

use async_recursion::async_recursion as boxed;
use std::path::Path;

use helix_core::finding::Finding;
use helix_core::ids::{CommitId, JobId, PhaseId, RunId, TreeId};
use helix_core::run::RunFacts;
use helix_core::said::Words;
use helix_job::phrases::Sign;
use helix_job::question::Answer;
use helix_job::{Active, Conflict, DeliveryView, GateReport, IntegrationTarget, JobState, Reverted, Review};
use helix_language::{Language, say};
use helix_store::Journal;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bundle::{BundleError, Statement, Verified, verify};
pub use compare::compare;
pub use decision::DecisionEvidence;
pub use difference::{ChangedText, DiffSelection, Difference};
pub use envelope::{EvidenceKey, PublicKey, public_keys};
pub use look::{FileDigest, Seen, Sight};
pub use output::{GateOutput, OutputSelection};
pub use place::ResultPlace;

use crate::error::EngineError;
use crate::job_record;
use examiner::Examiner;
use helix_git::{GitEnvironment, Repository};
use look::Live;

/// The evidence of a whole job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobEvidence {
    /// Which job.
    pub job: JobId,
    /// Name of its plan.
    pub name: String,
    /// The commit that it started from.
    pub base: CommitId,
    /// Virtual environment of Python in which its agents and gates ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venv: Option<String>,
    /// All phases, in the plan's order.
    pub phases: Vec<PhaseEvidence>,
    /// Results that contradicted each other, and the phases that brought them together.
    pub conflicts: Vec<Conflict>,
    /// Where the results went, if they were brought together.
    pub integration: Option<IntegrationEvidence>,
    /// Why they were not, if that was tried and not possible.
    pub refusal: Option<RefusalEvidence>,
    /// What the job delivered, when, and how it was taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveryView>,
    /// The gate reports of health checks and rollbacks, with their outputs looked at again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rollbacks: Vec<GateEvidence>,
    /// How the merged result was taken out of the branch again, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverted: Option<Reverted>,
    /// Whether the job succeeded, every phase that passed is proved, and so is the integrated result.
    pub proved: bool,
    /// Why it is not proved; empty where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "helix_language::english")]
    #[schemars(with = "Vec<String>")]
    pub lacking: Vec<Words>,
}

/// The evidence of one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEvidence {
    /// Which phase.
    pub phase: PhaseId,
    /// Whether it has passed, and whether that is proved.
    pub standing: Standing,
    /// What is missing of the proof, or contradicts it; empty unless it passed without proof, or failed and the plan let the job go on.
    #[serde(with = "helix_language::english")]
    #[schemars(with = "Vec<String>")]
    pub missing: Vec<Words>,
    /// The attempt that counts, from 1.
    pub attempt: Option<u32>,
    /// Where the phase started.
    pub base: Option<CommitId>,
    /// Its result.
    pub result: Option<ResultEvidence>,
    /// The agent's run.
    pub run: Option<RunEvidence>,
    /// Its gates.
    pub gates: Vec<GateEvidence>,
    /// Gates of the phases before that were made on what this phase delivered, before it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<GateEvidence>,
    /// What reviewers said of this attempt, in order.
    pub reviews: Vec<ReviewEvidence>,
    /// What persons said of this phase, in order.
    pub answers: Vec<PersonEvidence>,
    /// All attempts, the ones that were not accepted too, oldest first.
    pub attempts: Vec<AttemptEvidence>,
}

/// An attempt, whatever became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptEvidence {
    /// From 1.
    pub attempt: u32,
    /// Its run.
    pub run: RunId,
    /// How the run ended and what stopped the attempt, one line.
    #[serde(with = "helix_language::english::one")]
    #[schemars(with = "String")]
    pub summary: Words,
    /// What it left, kept on a branch of its own.
    pub result: Option<ResultEvidence>,
}

/// Whether a phase passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It passed, and all that proves it was found again.
    Proved,
    /// It is said to have passed, and something of the proof is missing or has changed.
    Unproved,
    /// It has not passed: there is nothing to prove.
    NotPassed,
}

impl Standing {
    /// It as a sign, and in words.
    pub fn said(self, language: Language) -> (Sign, String) {
        match self {
            Self::Proved => (Sign::Passed, say!(language, "evidence-proved")),
            Self::Unproved => (Sign::Failed, say!(language, "evidence-unproved")),
            Self::NotPassed => (Sign::Pending, say!(language, "evidence-not-passed")),
        }
    }
}

/// A commit, looked up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultEvidence {
    /// The commit.
    pub commit: CommitId,
    /// The tree that was judged.
    pub tree: TreeId,
    /// Branch that kept it.
    pub branch: String,
    /// How many files changed since the base.
    pub changed_files: usize,
    /// Whether the repository still has this commit with this tree.
    pub found: bool,
}

/// A run and its record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvidence {
    /// Which run.
    pub run: RunId,
    /// What it amounts to.
    #[serde(with = "helix_language::english::one")]
    #[schemars(with = "String")]
    pub outcome: Words,
    /// Whether that is a completed run.
    pub completed: bool,
    /// Directory of its record.
    pub record: String,
    /// Whether the record is still there.
    pub found: bool,
    /// What the outcome was derived from.
    pub facts: Option<Box<RunFacts>>,
}

/// A gate's answer with its output, looked at again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateEvidence {
    /// The recorded answer: command, exit code, digest, counts.
    #[serde(flatten)]
    pub report: GateReport,
    /// Its output file, for gates that ran a command.
    pub output: Option<OutputEvidence>,
    /// The output files of the commands that its steps ran, for gates that act outside of the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_outputs: Vec<OutputEvidence>,
}

/// A file of output, hashed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutputEvidence {
    /// Absolute path.
    pub file: String,
    /// Whether its digest is still the recorded one.
    pub state: OutputState,
    /// SHA-256 of what the file holds now, hex.
    pub sha256_now: Option<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputState {
    /// The digests match.
    Intact,
    /// They do not: the file was changed after the gate ran.
    Changed,
    /// The file is gone or cannot be read.
    Missing,
}

/// A reviewer's answer with its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewEvidence {
    /// Who asked for it: `verify`, or the gate.
    pub asked_by: String,
    /// The recorded answer.
    #[serde(flatten)]
    pub review: Review,
    /// Directory of the run's record.
    pub record: String,
    /// Whether the record is still there.
    pub found: bool,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PersonEvidence {
    /// What was asked.
    pub question: String,
    /// The answer, with who gave it.
    #[serde(flatten)]
    pub answer: Answer,
    /// When.
    pub at: Timestamp,
}

/// Where the results went, and what proves that they are good together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationEvidence {
    /// The commit with everything.
    pub result: ResultEvidence,
    /// The branch.
    pub target: IntegrationTarget,
    /// Whether it is proved.
    pub standing: Standing,
    /// What is missing of the proof, or contradicts it.
    #[serde(with = "helix_language::english")]
    #[schemars(with = "Vec<String>")]
    pub missing: Vec<Words>,
    /// A phase that was validated on exactly this tree, if one was: then its gates prove it.
    pub validated_by: Option<PhaseId>,
    /// The gates that ran on this tree: the union of the phases' gates, where no phase was validated on it.
    pub gates: Vec<GateEvidence>,
}

/// Why the results were not brought together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusalEvidence {
    /// What was found.
    pub findings: Vec<Finding>,
    /// The gates that ran on the combined tree, the one that failed last.
    pub gates: Vec<GateEvidence>,
}

/// What was recorded, read with a journal alone: no host is needed for it.
pub struct Archive<'a> {
    pub journal: &'a dyn Journal,
    pub state_dir: &'a Path,
    /// How git is called.
    pub git: GitEnvironment,
}

impl Archive<'_> {
    /// What proves a job's phases, checked again now.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`], [`EngineError::Environment`] when the repository is gone.
    #[boxed]
    pub async fn evidence(&self, id: &str) -> Result<JobEvidence, EngineError> {
        let state_dir = self.state_dir.to_path_buf();
        self.read(id, move |job, state, active, repository| {
            Examiner { look: &Live { repository, state_dir } }.job(job, state, active)
        })
        .await
    }

    /// The same as a statement for others, which `helix`, this version, makes.
    ///
    /// # Errors
    /// As for [`Archive::evidence`].
    #[boxed]
    pub async fn statement(&self, id: &str, helix: &str) -> Result<Statement, EngineError> {
        let (state_dir, helix) = (self.state_dir.to_path_buf(), helix.to_owned());
        let job = job_record::view(self.journal, id).await?.id;
        let events = job_record::texts(self.journal, &job).await?;
        self.read(job.as_str(), move |job, _, _, repository| {
            Statement::made(job.clone(), events, &helix, &Live { repository, state_dir })
        })
        .await
    }

    /// What a job, a phase or an attempt changed.
    ///
    /// # Errors
    /// As for [`Archive::evidence`], and [`EngineError::Refused`] when there is no such result (yet).
    #[boxed]
    pub async fn diff(&self, id: &str, selection: DiffSelection) -> Result<Difference, EngineError> {
        self.read(id, |job, _, active, repository| difference::between(job, active, &repository, selection)).await
    }

    /// The text files that a job changed, before and after: at most so many, none larger than so many bytes. And how many changed files
    /// are left out.
    ///
    /// # Errors
    /// As for [`Archive::diff`].
    #[boxed]
    pub async fn changed_texts(
        &self,
        id: &str,
        most: usize,
        largest: usize,
    ) -> Result<(Vec<ChangedText>, usize), EngineError> {
        self.read(id, move |_, _, active, repository| difference::texts(active, &repository, most, largest)).await
    }

    /// What the command of a gate printed.
    ///
    /// # Errors
    /// As for [`Archive::evidence`], and [`EngineError::Refused`] when there is no such output (yet).
    #[boxed]
    pub async fn gate_output(&self, id: &str, selection: OutputSelection) -> Result<GateOutput, EngineError> {
        let root = self.state_dir.to_path_buf();
        self.read(id, move |_, _, active, _| output::output(active, &root, &selection)).await
    }

    /// A copy of the last result of a phase, or of one of its attempts, for a person's own programs.
    ///
    /// # Errors
    /// As for [`Archive::diff`].
    #[boxed]
    pub async fn result_place(
        &self,
        id: &str,
        phase: PhaseId,
        attempt: Option<u32>,
    ) -> Result<ResultPlace, EngineError> {
        let state = self.state_dir.to_path_buf();
        let which = (phase, attempt);
        self.read(id, move |job, _, active, repository| place::result_place(job, active, &repository, &state, which))
            .await
    }

    /// Has something read of a job and its repository, away from the async runtime.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        id: &str,
        work: impl FnOnce(&JobId, &JobState, &Active, Repository) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let job = job_record::view(self.journal, id).await?.id;
        let (state, git) = (job_record::state(self.journal, &job).await?, self.git.clone());
        let state_dir = self.state_dir.to_path_buf();
        let reading = helix_process::spawn_blocking(move || {
            let active = state.active().ok_or_else(|| EngineError::not_found("job", &job))?;
            let repository = Repository::open(Path::new(&active.spec.repo.path), git);
            // Results of attempts are in the host's own repository beside it.
            let repository = Repository::hosted(repository.map_err(EngineError::environment)?, &state_dir);
            work(&job, &state, active, repository.map_err(EngineError::environment)?)
        });
        reading.await.map_err(EngineError::environment)?
    }
}
