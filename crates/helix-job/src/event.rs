//! What happened to a job. The journal of these is the only truth; every status is a projection of it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::person::Person;
use super::spec::{Grant, JobSpec};
use crate::question::{Answer, Question};
use helix_core::evidence::{Committed, GateReport, IntegrationTarget, SelfRunning};
use helix_core::finding::{Correction, Fault, Finding, Verdict};
use helix_core::ids::{AgentSessionId, CommitId, JobId, PhaseId, RunId, TreeId};
use helix_core::run::{Outcome, RunFacts};
use helix_core::said::{Said, Words};
use helix_core::usage::Usage;
use helix_failure::event::FailureEvent;
use helix_plan::Phase;

/// An event with its number in the job's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded<E> {
    /// Number in the stream, from 1, without gaps.
    pub number: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: E,
}

/// An event as a journal keeps it: JSON text. Its reader is compiled here, once, not in each crate that reads a journal.
pub trait Event: Sized {
    /// # Errors
    /// The text is no such event, for example one of a newer Helix.
    fn read(text: &str) -> serde_json::Result<Self>;
}

impl Event for JobEvent {
    fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// One event of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobEvent {
    /// The job exists. Always the first event.
    JobSubmitted {
        /// All that it is to do.
        spec: Box<JobSpec>,
    },
    /// An attempt at a phase has its worktree and may run its agent.
    AttemptStarted(Box<AttemptStart>),
    /// The agent's run is over. Carries evidence; the outcome is derived from it.
    RunFinished {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// How it ended.
        #[serde(flatten)]
        end: RunEnded,
    },
    /// Whatever the attempt left in its worktree is a commit now, good or not.
    ResultCommitted {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// The commit.
        result: Committed,
        /// Repairs that were needed to make it, and what it lacks, for people.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<String>,
        /// The same as words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs_said: Vec<Words>,
        /// What may not be in a result, whatever gates would say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Finding>,
        /// Files that run by themselves where the result gets to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        runs_by_itself: Vec<SelfRunning>,
    },
    /// A gate has answered.
    GateFinished {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// Index of the gate in the phase's list, from 0.
        gate: usize,
        /// The answer and what proves it.
        report: GateReport,
    },
    /// A gate that acts outside of the repository begins now: whatever follows, it may have acted. The tree is validated.
    DeliveryBegun {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// Index of the gate in the phase's list, from 0.
        gate: usize,
        /// What it delivers.
        tree: TreeId,
        /// Gates of the phases before that were made on this tree, since they had not been.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        validation: Vec<Validated>,
        /// What its target is brought back to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        baseline: Option<Baseline>,
    },
    /// The health of what was delivered, or brought back, was watched.
    HealthChecked {
        /// Which phase.
        phase: PhaseId,
        /// What was watched.
        #[serde(flatten)]
        step: DeliveryStep,
        /// The answer: the last check and what proves it.
        report: GateReport,
    },
    /// A delivery is taken back from now on: whatever follows, commands of its rollback may have run.
    RollbackBegun {
        /// Which phase.
        phase: PhaseId,
        /// What is taken back.
        #[serde(flatten)]
        step: DeliveryStep,
    },
    /// The commands of a rollback have ended, could not begin, or nobody knows how far they came.
    RollbackFinished {
        /// Which phase.
        phase: PhaseId,
        /// What was taken back.
        #[serde(flatten)]
        step: DeliveryStep,
        /// The answer and what proves it.
        report: GateReport,
    },
    /// A person wants a delivery of a job that is over to be taken back.
    RollbackRequested {
        /// Which phase.
        phase: PhaseId,
        /// The attempt that delivered it.
        attempt: u32,
        /// Index of the gate in the phase's list, from 0.
        gate: usize,
        /// Who.
        by: Person,
        /// Whether they know that it was taken back before.
        again: bool,
        /// Whether they know that something else was delivered over it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        over: bool,
    },
    /// The merged result of a job that is over was taken out of the branch again.
    Reverted(Reverted),
    /// The phases that a planning phase returned are valid. They join the plan when that phase passes.
    PhasesProposed {
        /// The planning phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// The phases, as they will be carried out.
        phases: Vec<Phase>,
    },
    /// What a planning phase returned is no valid part of a plan.
    PhasesRejected {
        /// The planning phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// What is wrong with it.
        findings: Vec<Finding>,
    },
    /// A reviewer has answered, or could not.
    ReviewFinished {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// Index of the gate that asked for it; `None` is the phase's own `verify`.
        gate: Option<usize>,
        /// Which round, from 1.
        round: u32,
        /// The answer and what proves it.
        review: Box<Review>,
    },
    /// A person is asked; the phase waits.
    QuestionAsked {
        /// The phase that waits.
        phase: PhaseId,
        /// What is asked.
        question: Box<Question>,
    },
    /// A person has answered.
    QuestionAnswered {
        /// The phase that waits.
        phase: PhaseId,
        /// Number of the question in its phase.
        asked: u32,
        /// The answer.
        answer: Answer,
    },
    /// Not answered in time.
    QuestionExpired {
        /// The phase that waits.
        phase: PhaseId,
        /// Number of the question in its phase.
        asked: u32,
    },
    /// The adviser has proposed what to do about a phase that cannot go on, or could not.
    AdviceGiven {
        /// Which phase.
        phase: PhaseId,
        /// Which round, from 1.
        round: u32,
        /// The proposal and what proves it.
        advice: Box<Advice>,
    },
    /// Results contradict each other: a phase that brings them together joins the plan.
    ConflictFound {
        /// The phase that cannot start; `None` when it is the job's result that cannot be put together.
        phase: Option<PhaseId>,
        /// The phases whose results contradict each other, in the order in which they are combined.
        between: Vec<PhaseId>,
        /// Files in conflict.
        paths: Vec<String>,
    },
    /// Something around an attempt failed that is not the agent's doing: git, the disk, an input that is missing.
    AttemptFaulted {
        /// Which phase.
        phase: PhaseId,
        /// The attempt.
        attempt: u32,
        /// What failed.
        fault: Fault,
    },
    /// The results of all passed phases are in the target branch, or beside it.
    Integrated(Integrated),
    /// The results could not be combined or brought into the target branch.
    IntegrationFailed(NotIntegrated),
    /// A person cancels it. Final.
    CancelRequested {
        /// Who.
        by: Person,
    },
    /// The job is over. Nothing follows but [`JobEvent::JobResumed`], [`JobEvent::RollbackRequested`] and [`JobEvent::Reverted`].
    JobFinished {
        /// How it ended.
        end: JobEnd,
    },
    /// A job that had failed or was cancelled continues.
    JobResumed {
        /// Who wants it.
        by: Person,
        /// Phases that go on where they stopped.
        reopen: Vec<PhaseId>,
        /// Phases that start anew, since something that they build on is done again.
        restart: Vec<PhaseId>,
        /// A new budget for the whole job in US dollars.
        budget_usd: Option<f64>,
        /// Phases whose last result is checked again, without another attempt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        check: Vec<PhaseId>,
        /// Why the phase to be checked is accepted instead, although a gate did not pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accept: Option<String>,
        /// What of the plan is taken as its file is now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Box<ChangedPlan>>,
    },
    /// An agent, or a command of a gate, asked for what only a person may. It was refused, and moves nothing.
    AgentRefused {
        /// The run whose agent or command it was.
        run: RunId,
        /// What it asked for: a route of the API, or a tool.
        asked: String,
    },
    /// What failure intelligence has to say. It moves nothing: text never decides what a job does.
    #[serde(untagged)]
    Failure(Box<FailureEvent>),
}

impl JobEvent {
    /// The event's name in the journal: its `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JobSubmitted { .. } => "job_submitted",
            Self::AttemptStarted(_) => "attempt_started",
            Self::RunFinished { .. } => "run_finished",
            Self::ResultCommitted { .. } => "result_committed",
            Self::GateFinished { .. } => "gate_finished",
            Self::DeliveryBegun { .. } => "delivery_begun",
            Self::HealthChecked { .. } => "health_checked",
            Self::RollbackBegun { .. } => "rollback_begun",
            Self::RollbackFinished { .. } => "rollback_finished",
            Self::RollbackRequested { .. } => "rollback_requested",
            Self::Reverted(_) => "reverted",
            Self::AttemptFaulted { .. } => "attempt_faulted",
            Self::Integrated(_) => "integrated",
            Self::IntegrationFailed(_) => "integration_failed",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::JobFinished { .. } => "job_finished",
            Self::Failure(note) => note.name(),
            Self::PhasesProposed { .. } => "phases_proposed",
            Self::PhasesRejected { .. } => "phases_rejected",
            Self::ReviewFinished { .. } => "review_finished",
            Self::QuestionAsked { .. } => "question_asked",
            Self::QuestionAnswered { .. } => "question_answered",
            Self::QuestionExpired { .. } => "question_expired",
            Self::AdviceGiven { .. } => "advice_given",
            Self::ConflictFound { .. } => "conflict_found",
            Self::JobResumed { .. } => "job_resumed",
            Self::AgentRefused { .. } => "agent_refused",
        }
    }
}

/// What is other than at submit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPlan {
    /// The phases that are defined otherwise, whole.
    pub phases: Vec<Phase>,
    /// SHA-256 of the files that the gates' commands read to decide, by path.
    pub gate_files: BTreeMap<String, String>,
}

/// What an attempt begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptStart {
    /// Which phase.
    pub phase: PhaseId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The agent run that belongs to it.
    pub run: RunId,
    /// Where the phase starts: the commit of its dependencies. Claims and baselines are measured from here.
    pub base: CommitId,
    /// Where this attempt starts: `base`, or the commit of the previous attempt.
    pub start: CommitId,
    /// Agent session that is resumed.
    pub resume: Option<AgentSessionId>,
    /// What the agent learns about the previous attempt.
    pub correction: Option<Correction>,
    /// What is reserved for its run out of the budgets of phase and job.
    pub grant: Grant,
}

/// How an attempt's run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEnded {
    /// The evidence.
    pub facts: Box<RunFacts>,
    /// Its usage.
    pub usage: Usage,
    /// The agent session that can be resumed.
    pub session: Option<AgentSessionId>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

impl RunEnded {
    /// What the evidence amounts to.
    pub fn outcome(&self) -> Outcome {
        Outcome::from_facts(&self.facts)
    }
}

/// Where the results of all passed phases are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Integrated {
    /// The commit that holds everything.
    pub result: Committed,
    /// Where it went.
    pub target: IntegrationTarget,
    /// Gates that ran on the combined tree, when it is one that no phase was validated on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateReport>,
}

/// Why results are not integrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotIntegrated {
    /// Why.
    pub findings: Vec<Finding>,
    /// Gates that ran on the combined tree, the one that failed last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateReport>,
    /// What failed around it, when it is not the work's doing: git, the disk.
    pub fault: Option<Fault>,
}

/// The run of a reviewer or an adviser, as what it answered is recorded with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideRun {
    /// Its name.
    pub run: RunId,
    /// The evidence; absent when there was no run.
    pub facts: Option<Box<RunFacts>>,
    /// Its usage.
    pub usage: Usage,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

/// A reviewer's answer with what proves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// The reviewer's run.
    #[serde(flatten)]
    pub side: SideRun,
    /// The agent that reviewed.
    pub agent: String,
    /// Its model, where one was named.
    pub model: Option<String>,
    /// The answer. Inconclusive when the run did not complete or its answer does not fit the schema.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// One line for people.
    pub summary: String,
    /// What it has checked and found right, in its own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks_passed: Vec<String>,
    /// The tree it looked at.
    pub tree: TreeId,
}

/// An adviser's proposal with what proves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The adviser's run.
    #[serde(flatten)]
    pub side: SideRun,
    /// What is to be done.
    pub action: AdviceAction,
    /// Why, one or two sentences, for people.
    pub reason: String,
}

impl Advice {
    /// Why, as words: Helix's own where there is no usable proposal.
    pub fn words(&self) -> Words {
        match &self.action {
            AdviceAction::Unusable { fault: Fault { said: Some(said), .. } } => said.message.clone(),
            _ => self.reason.trim().into(),
        }
    }
}

/// What an adviser can propose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum AdviceAction {
    /// One more attempt in a new session, with this hint.
    Retry {
        /// The agent's hint.
        hint: String,
    },
    /// One more attempt in a new session, with another model from now on.
    OtherModel {
        /// The model, in the agent's words.
        model: String,
        /// The agent's hint.
        hint: String,
    },
    /// These phases replace it.
    Split {
        /// As they will run; the last of them must pass the gates of the phase they replace.
        phases: Vec<Phase>,
    },
    /// The job continues without the phase, which is optional.
    Skip,
    /// Nothing that the adviser can do will help.
    GiveUp,
    /// There is no usable proposal.
    Unusable {
        /// Why not.
        fault: Fault,
    },
}

/// A gate of a phase before a delivery, and its answer about the tree that is delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validated {
    /// Whose gate it is.
    pub phase: PhaseId,
    /// Its index in the list of that phase, from 0.
    pub gate: usize,
    /// The answer.
    pub report: GateReport,
}

/// One watch of a delivery's health, or one time that it is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryStep {
    /// The attempt that delivered it.
    pub attempt: u32,
    /// Index of the gate in the phase's list, from 0.
    pub gate: usize,
    /// Which rollback, from 1; 0 before the first.
    pub round: u32,
}

/// What the target of a delivery is brought back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The job that delivered it to the same target last and well; absent when there is none: then it is the commit that
    /// this job started from.
    pub job: Option<JobId>,
    /// The git reference that keeps it.
    pub reference: String,
}

/// One time that a delivery was, or is to be, taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rollback {
    /// The person who wanted it; absent when Helix did it by itself, since the delivery had failed.
    pub by: Option<Person>,
    /// Whether that person wanted it although something else was delivered over it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
    /// When its first command was about to run; absent if none was.
    pub begun_at: Option<Timestamp>,
    /// What its commands did.
    pub report: Option<GateReport>,
    /// What was seen of the health afterwards, where the gate has a health check.
    pub health: Option<GateReport>,
}

/// How the merged result of a job was taken out of the branch again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reverted {
    /// Who wanted it.
    pub by: Person,
    /// The revert commit.
    pub commit: CommitId,
    /// The branch that has it.
    pub branch: String,
    /// The decision that is reopened by it, relative to the repository's root.
    pub adr: Option<String>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum JobEnd {
    /// Every phase that had to pass has passed, and the result is integrated.
    Succeeded,
    /// It did not.
    Failed {
        /// Why, one sentence.
        reason: String,
        /// The phase at fault, if one is.
        phase: Option<PhaseId>,
        /// What to do about it.
        hint: Option<String>,
        /// Both as words, where they are Helix's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Box<Said>>,
    },
    /// A person cancelled it.
    Cancelled {
        /// Who.
        by: Person,
    },
}
