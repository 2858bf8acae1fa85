//! What proves that a job's phases passed, looked at again: the journal's records compared with the files and commits that
//! they name; and what a job, a phase or an attempt changed.
//!
//! Must not take a record's word for what can be checked, and changes nothing.

use std::path::{Path, PathBuf};

use helix_core::finding::Verdict;
use helix_core::ids::{CommitId, JobId, PhaseId, RunId, TreeId};
use helix_core::job::{
    Active, Committed, GateReport, Integration, IntegrationTarget, JobState, PhaseProgress, PhaseState, Review, Try,
    describe,
};
use helix_core::plan::Approval;
use helix_core::question::{APPROVE, About, Answer, QuestionStatus};
use helix_core::run::{Outcome, RunFacts};
use helix_store::Journal;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::engine::{Engine, EngineError, journal_error};
use crate::git::{GitEnvironment, Repository};

/// Most of a difference that is given, in bytes.
const MAX_PATCH: usize = 8 << 20;

/// The evidence of a whole job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobEvidence {
    /// Which job.
    pub job: JobId,
    /// Name of its plan.
    pub name: String,
    /// The commit that it started from.
    pub base: CommitId,
    /// All phases, in the plan's order.
    pub phases: Vec<PhaseEvidence>,
    /// Where the results went, if they were brought together.
    pub integration: Option<IntegrationEvidence>,
    /// Whether every phase that is said to have passed is proved, and the integrated commit is there.
    pub proved: bool,
}

/// The evidence of one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseEvidence {
    /// Which phase.
    pub phase: PhaseId,
    /// Whether it has passed, and whether that is proved.
    pub standing: Standing,
    /// What is missing of the proof, or contradicts it; empty unless it passed without proof.
    pub missing: Vec<String>,
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
    /// What reviewers said of this attempt, in order.
    pub reviews: Vec<ReviewEvidence>,
    /// What persons said of this phase, in order.
    pub answers: Vec<PersonEvidence>,
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
    pub outcome: String,
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

/// Where the results went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationEvidence {
    /// The commit with everything.
    pub result: ResultEvidence,
    /// The branch.
    pub target: IntegrationTarget,
}

/// Which difference is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffSelection {
    /// A phase; the whole job where absent.
    pub phase: Option<PhaseId>,
    /// One of its attempts, from 1: what it changed since the attempt before it, or since the phase's base.
    pub attempt: Option<u32>,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Which job.
    pub job: JobId,
    /// Which phase, if not the whole job.
    pub phase: Option<PhaseId>,
    /// Which attempt of it.
    pub attempt: Option<u32>,
    /// From this commit.
    pub from: CommitId,
    /// To this one.
    pub to: CommitId,
    /// In git's form, cut at a line's end where it is very large.
    pub patch: String,
    /// Bytes that were cut off.
    pub cut: usize,
}

/// What was recorded, read with a journal alone: no host is needed for it.
pub struct Archive<'a> {
    /// The journal.
    pub journal: &'a dyn Journal,
    /// The state directory.
    pub state_dir: &'a Path,
    /// How git is called.
    pub git: GitEnvironment,
}

impl Engine {
    /// What proves a job's phases, checked again now.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], [`EngineError::Journal`], [`EngineError::Environment`] when the repository is gone.
    pub async fn evidence(&self, id: &str) -> Result<JobEvidence, EngineError> {
        self.archive().evidence(id).await
    }

    /// What a job, a phase or an attempt changed.
    ///
    /// # Errors
    /// As for [`Engine::evidence`], and [`EngineError::Refused`] when there is no such result (yet).
    pub async fn diff(&self, id: &str, selection: DiffSelection) -> Result<Difference, EngineError> {
        self.archive().diff(id, selection).await
    }

    fn archive(&self) -> Archive<'_> {
        Archive {
            journal: self.inner.journal.as_ref(),
            state_dir: self.inner.state.root(),
            git: self.inner.git.clone(),
        }
    }
}

impl Archive<'_> {
    /// As [`Engine::evidence`].
    ///
    /// # Errors
    /// As there.
    pub async fn evidence(&self, id: &str) -> Result<JobEvidence, EngineError> {
        let (job, state) = self.state(id).await?;
        let (git, state_dir) = (self.git.clone(), self.state_dir.to_path_buf());
        blocking(move || {
            let active = state.active().ok_or_else(|| unknown(job.as_str()))?;
            let repository = open(active, git)?;
            Ok(Examiner { repository, state_dir }.job(&job, active))
        })
        .await
    }

    /// As [`Engine::diff`].
    ///
    /// # Errors
    /// As there.
    pub async fn diff(&self, id: &str, selection: DiffSelection) -> Result<Difference, EngineError> {
        let (job, state) = self.state(id).await?;
        let git = self.git.clone();
        blocking(move || {
            let active = state.active().ok_or_else(|| unknown(job.as_str()))?;
            let (from, to) = ends(active, &selection)?;
            let patch = open(active, git)?.patch(&from, &to, &[], MAX_PATCH).map_err(|error| surroundings(&error))?;
            let DiffSelection { phase, attempt } = selection;
            Ok(Difference { job, phase, attempt, from, to, patch: patch.text, cut: patch.cut })
        })
        .await
    }

    async fn state(&self, id: &str) -> Result<(JobId, JobState), EngineError> {
        let view = self.journal.job(id.to_owned()).await.map_err(journal_error)?.ok_or_else(|| unknown(id))?;
        let events = helix_store::job_events(self.journal, &view.id, 0).await.map_err(journal_error)?;
        Ok((view.id, JobState::fold(&events).map_err(journal_error)?))
    }
}

fn unknown(id: &str) -> EngineError {
    EngineError::NotFound { kind: "job", id: id.to_owned() }
}

fn surroundings(error: &dyn std::error::Error) -> EngineError {
    let fault = crate::job::environment(error);
    EngineError::Environment { message: fault.message, hint: fault.hint }
}

fn open(active: &Active, git: GitEnvironment) -> Result<Repository, EngineError> {
    Repository::open(Path::new(&active.spec.repo.path), git).map_err(|error| surroundings(&error))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| surroundings(&error))?
}

/// The commits between which a selection lies.
fn ends(active: &Active, selection: &DiffSelection) -> Result<(CommitId, CommitId), EngineError> {
    let refused = |message: String| EngineError::Refused { message };
    let Some(id) = &selection.phase else {
        return match (&active.integration, selection.attempt) {
            (_, Some(_)) => Err(refused("an attempt belongs to a phase: name the phase too".into())),
            (Integration::Done { result, .. }, None) => Ok((active.spec.repo.base.clone(), result.commit.clone())),
            (Integration::Open | Integration::Failed { .. }, None) => {
                Err(refused("the job has no result as a whole (yet): name a phase to see what that changed".into()))
            }
        };
    };
    let progress =
        active.progress(id).ok_or_else(|| EngineError::NotFound { kind: "phase of this job", id: id.to_string() })?;
    let Some(attempt) = selection.attempt else {
        let (this, result) = judged(progress)
            .or_else(|| progress.tries.iter().rev().find_map(|one| Some((one, one.result.as_ref()?))))
            .ok_or_else(|| refused(format!("phase {id} has no result (yet)")))?;
        return Ok((this.base.clone(), result.commit.clone()));
    };
    let this = progress
        .tries
        .iter()
        .find(|one| one.number == attempt)
        .ok_or_else(|| EngineError::NotFound { kind: "attempt of this phase", id: attempt.to_string() })?;
    let result =
        this.result.as_ref().ok_or_else(|| refused(format!("attempt {attempt} of phase {id} has no result (yet)")))?;
    let before = progress.tries.iter().take_while(|one| one.number < attempt).filter(|one| one.base == this.base);
    let before = before.filter_map(|one| one.result.as_ref()).last().map(|result| result.commit.clone());
    Ok((before.unwrap_or_else(|| this.base.clone()), result.commit.clone()))
}

/// The attempt whose result counts, with that result.
fn judged(progress: &PhaseProgress) -> Option<(&Try, &Committed)> {
    let PhaseState::Passed { result, .. } = &progress.state else { return None };
    let this =
        progress.tries.iter().rev().find(|one| one.result.as_ref().is_some_and(|own| own.commit == result.commit));
    Some((this?, result))
}

/// Compares records with what they name.
struct Examiner {
    repository: Repository,
    state_dir: PathBuf,
}

impl Examiner {
    fn job(&self, job: &JobId, active: &Active) -> JobEvidence {
        let phases: Vec<PhaseEvidence> = active
            .pairs()
            .map(|(phase, progress)| {
                let gates: Vec<&'static str> = phase.gates.iter().map(|gate| gate.name()).collect();
                let asked = Asked { gates: &gates, verified: phase.verify.is_some(), approval: phase.approval };
                self.phase(progress, &asked)
            })
            .collect();
        let integration = match &active.integration {
            Integration::Done { result, target } => {
                Some(IntegrationEvidence { result: self.result(result), target: target.clone() })
            }
            Integration::Open | Integration::Failed { .. } => None,
        };
        let proved = phases.iter().all(|phase| phase.standing != Standing::Unproved)
            && integration.as_ref().is_none_or(|integration| integration.result.found);
        JobEvidence {
            job: job.clone(),
            name: active.spec.plan.name.clone(),
            base: active.spec.repo.base.clone(),
            phases,
            integration,
            proved,
        }
    }

    fn phase(&self, progress: &PhaseProgress, asked: &Asked<'_>) -> PhaseEvidence {
        let passed = matches!(progress.state, PhaseState::Passed { .. });
        let this = judged(progress).map(|(this, _)| this).or_else(|| progress.last_try().filter(|_| !passed));
        let mut evidence = PhaseEvidence {
            phase: progress.id.clone(),
            standing: Standing::NotPassed,
            missing: Vec::new(),
            attempt: this.map(|this| this.number),
            base: this.map(|this| this.base.clone()),
            result: this.and_then(|this| this.result.as_ref()).map(|result| self.result(result)),
            run: this.map(|this| self.run(this)),
            gates: this.map(|this| this.gates.iter().map(|report| self.gate(report)).collect()).unwrap_or_default(),
            reviews: this.map(|this| self.reviews(this, asked.gates)).unwrap_or_default(),
            answers: answers(progress),
        };
        if passed {
            evidence.missing = missing(&evidence, asked, this);
            evidence.standing = if evidence.missing.is_empty() { Standing::Proved } else { Standing::Unproved };
        }
        evidence
    }

    fn result(&self, result: &Committed) -> ResultEvidence {
        let found = match self.repository.find_commit(result.commit.as_str()) {
            Ok(Some(commit)) => commit.tree == result.tree,
            Ok(None) => false,
            Err(error) => {
                tracing::warn!(commit = %result.commit, %error, "a result cannot be looked up");
                false
            }
        };
        ResultEvidence {
            commit: result.commit.clone(),
            tree: result.tree.clone(),
            branch: result.branch.clone(),
            changed_files: result.changed.len(),
            found,
        }
    }

    fn record(&self, run: &RunId) -> (String, bool) {
        let directory = self.state_dir.join("runs").join(run.as_str());
        let found = directory.join("stdout.jsonl").is_file();
        (directory.to_string_lossy().into_owned(), found)
    }

    fn run(&self, this: &Try) -> RunEvidence {
        let (record, found) = self.record(&this.run);
        let outcome = this.run_end.as_ref().map(|end| &end.outcome);
        RunEvidence {
            run: this.run.clone(),
            outcome: outcome.map_or_else(|| "its end is not recorded".into(), describe),
            completed: outcome
                .is_some_and(|outcome| matches!(outcome, Outcome::Completed(_) | Outcome::CompletedWithDenials(_))),
            record,
            found,
            facts: this.run_end.as_ref().map(|end| end.facts.clone()),
        }
    }

    fn gate(&self, report: &GateReport) -> GateEvidence {
        let output = report.command.as_ref().map(|command| {
            let file = self.state_dir.join(&command.output_file);
            let now = digest(&file);
            let state = match &now {
                Ok(now) if *now == command.output_sha256 => OutputState::Intact,
                Ok(_) => OutputState::Changed,
                Err(_) => OutputState::Missing,
            };
            OutputEvidence { file: file.to_string_lossy().into_owned(), state, sha256_now: now.ok() }
        });
        GateEvidence { report: report.clone(), output }
    }

    fn reviews(&self, this: &Try, gates: &[&'static str]) -> Vec<ReviewEvidence> {
        let evidence = |(gate, review): &(Option<usize>, Review)| {
            let (record, found) = self.record(&review.run);
            let asked_by = gate.map_or("verify", |gate| gates.get(gate).copied().unwrap_or("review_approved"));
            ReviewEvidence { asked_by: asked_by.to_owned(), review: review.clone(), record, found }
        };
        this.reviews.iter().map(evidence).collect()
    }
}

fn answers(progress: &PhaseProgress) -> Vec<PersonEvidence> {
    // What an agent asked proves nothing about its result.
    let about_result = progress.questions.iter().filter(|asked| asked.question.about != About::Agent);
    let answered = about_result.filter_map(|asked| match &asked.status {
        QuestionStatus::Answered { answer, at } => {
            Some(PersonEvidence { question: asked.question.text.clone(), answer: answer.clone(), at: *at })
        }
        QuestionStatus::Open | QuestionStatus::Expired { .. } | QuestionStatus::Closed => None,
    });
    answered.collect()
}

/// What a plan asks of a phase's result.
struct Asked<'a> {
    gates: &'a [&'static str],
    verified: bool,
    approval: Option<Approval>,
}

/// What is missing of a passed phase's proof, for people.
fn missing(evidence: &PhaseEvidence, asked: &Asked<'_>, this: Option<&Try>) -> Vec<String> {
    let gates = asked.gates;
    let mut missing = Vec::new();
    match &evidence.result {
        None => missing.push("no attempt of this phase has the result that counts".to_owned()),
        Some(result) if !result.found => {
            missing.push(format!("the repository has no commit {} with tree {}", result.commit, result.tree))
        }
        Some(_) => {}
    }
    match &evidence.run {
        None => missing.push("there is no run".to_owned()),
        Some(run) => {
            if !run.completed {
                missing.push(format!("run {} did not complete: {}", run.run, run.outcome));
            }
            if !run.found {
                missing.push(format!("the record of run {} is gone: {}", run.run, run.record));
            }
        }
    }
    let tree = evidence.result.as_ref().map(|result| &result.tree);
    for name in gates {
        let asked = gates.iter().filter(|other| *other == name).count();
        let passed = |one: &&GateEvidence| one.report.gate == *name && one.report.verdict.passed();
        if evidence.gates.iter().filter(passed).count() < asked {
            let what = format!("gate {name} has no recorded pass");
            if !missing.contains(&what) {
                missing.push(what);
            }
        }
    }
    for gate in &evidence.gates {
        if Some(&gate.report.tree) != tree {
            missing.push(format!("gate {} looked at tree {}, not at the result", gate.report.gate, gate.report.tree));
        }
        match gate.output.as_ref().map(|output| (output.state, &output.file)) {
            None | Some((OutputState::Intact, _)) => {}
            Some((OutputState::Changed, file)) => {
                missing.push(format!("the output of gate {} was changed after it ran: {file}", gate.report.gate));
            }
            Some((OutputState::Missing, file)) => {
                missing.push(format!("the output of gate {} cannot be read: {file}", gate.report.gate));
            }
        }
    }
    let approving = |review: &ReviewEvidence| review.asked_by == "verify" && review.review.verdict == Verdict::Pass;
    if asked.verified && !evidence.reviews.iter().any(approving) {
        missing.push("the verifier has not approved this result".to_owned());
    }
    for review in evidence.reviews.iter().filter(|review| review.review.verdict == Verdict::Pass && !review.found) {
        missing.push(format!("the record of the reviewer's run {} is gone: {}", review.review.run, review.record));
    }
    // An approval of the result is one of this result, not of an attempt before it.
    let since = this.map(|this| this.started_at).filter(|_| asked.approval == Some(Approval::After));
    let said_yes = |one: &PersonEvidence| {
        one.answer.choice.as_deref() == Some(APPROVE) && since.is_none_or(|since| one.at >= since)
    };
    if asked.approval.is_some() && !evidence.answers.iter().any(said_yes) {
        missing.push("no person has approved it".to_owned());
    }
    missing
}

/// SHA-256 of a file, hex, read in pieces.
fn digest(file: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut std::fs::File::open(file)?, &mut HashWriter(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
