//! A job as users and other programs see it. Field names are those of `docs/api.md` (contracts, section 6).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Baseline, Reverted, Rollback};
use crate::person::{Attempted, Person};
use crate::question::QuestionView;
use helix_core::evidence::{GateReport, IntegrationTarget};
use helix_core::finding::Verdict;
use helix_core::ids::{CommitId, JobId, PhaseId, QuestionId, RunId, TreeId};
use helix_core::issue::Issue;
use helix_core::said::Words;
use helix_core::usage::Usage;
use helix_core::words;
use helix_language::ErrorView;
use helix_plan::GateSpec;

words! {
    /// Status of a job.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum JobStatus {
        Queued = "queued",
        Running = "running",
        Waiting = "waiting",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl JobStatus {
    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Waiting => false,
        }
    }
}

words! {
    /// Status of a phase.
    #[expect(missing_docs, reason = "the contract's own words")]
    pub enum PhaseStatus {
        Pending = "pending",
        Running = "running",
        Waiting = "waiting",
        Passed = "passed",
        Failed = "failed",
        Skipped = "skipped",
        Cancelled = "cancelled",
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// Name of the plan.
    pub name: String,
    /// Its status.
    pub status: JobStatus,
    /// Absolute path of the repository.
    pub project_path: String,
    /// Where the plan was read from.
    pub plan_path: String,
    /// The decision that it carries out, relative to the repository's root.
    pub adr: Option<String>,
    /// Whether nobody has accepted that decision when the job succeeded: before it, or by an approval in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adr_proposed: bool,
    /// Virtual environment of Python that its agents and gates use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venv: Option<String>,
    /// The issue, pull request or merge request that it is for: its number or its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<Issue>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When its first phase started; none has while the job is queued.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Seconds from submission to its end without those in `idle_seconds`; of a job that is not over, up to the moment of asking
    /// ([`JobView::at`]).
    pub duration_seconds: f64,
    /// Seconds between an end and being resumed or rolled back, all of them; absent if there are none.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub idle_seconds: f64,
    /// Always all of them, in the plan's order.
    pub phases: Vec<PhaseView>,
    /// All that it consumed.
    pub usage: Usage,
    /// US dollars, as the agents reported.
    pub cost: f64,
    /// The integrated commit.
    pub commit: Option<CommitId>,
    /// How many files it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<usize>,
    /// Where the result went.
    pub integration: Option<IntegrationTarget>,
    /// Why it failed, with what to do.
    pub error: Option<ErrorView>,
    /// What it has delivered, or begun to, in the plan's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveryView>,
    /// How its merged result was taken out of the branch again, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverted: Option<Reverted>,
    /// What persons were asked, the plan's order; open ones first in each phase's own order.
    pub questions: Vec<QuestionView>,
    /// Who submitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Person>,
    /// What its agents asked for although only a person may; all of it was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempted: Vec<Attempted>,
    /// Number of the last event that this view includes.
    pub last_event: u64,
}

/// A phase of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseView {
    /// Its id.
    pub id: PhaseId,
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: PhaseStatus,
    /// What it is doing, for people: `agent`, `commit`, `gate tests_pass`, `retry in 3 s`.
    pub stage: Option<String>,
    /// Why it could go on and does not, as its host knows at this moment; never in what is kept.
    pub waits_for: Option<Wait>,
    /// The last attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// When the first attempt started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Seconds from the first attempt to its end without those in `idle_seconds`; of a phase that has not ended, up to now
    /// ([`JobView::at`]).
    pub duration_seconds: Option<f64>,
    /// Those of the job's `idle_seconds` that lie between; absent if there are none.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub idle_seconds: f64,
    /// Its claims.
    pub outputs: Vec<String>,
    /// Answers of the last attempt's gates so far.
    pub gates: Vec<GateReport>,
    /// Gates of the last attempt that a person has overruled: the phase counts, and is not proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Accepted>,
    /// The verifier's verdict, where one was asked for.
    pub verdict: Option<String>,
    /// Whether a verifier looks at the result of each attempt.
    #[serde(default)]
    pub verify: bool,
    /// The verifier's last answer, about whichever attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewView>,
    /// Cost of all attempts in US dollars.
    pub cost: f64,
    /// Runs of all attempts, oldest first.
    pub runs: Vec<RunId>,
    /// The result commit of a passed phase.
    pub commit: Option<CommitId>,
    /// Repairs that were needed to commit the last attempt's work, and what the commit lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The same in Helix's own words, for readers of other languages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes_said: Vec<Words>,
    /// Why the last attempt was not accepted, or why the phase failed.
    pub error: Option<ErrorView>,
}

/// A person's word that a result counts although a gate did not pass. It proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// Index of the gate in the phase's list, from 0.
    pub gate: usize,
    /// Its name.
    pub name: String,
    /// Who accepted it.
    pub by: Person,
    /// Why.
    pub reason: String,
}

/// What a gate has delivered, or begun to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryView {
    /// The phase.
    pub phase: PhaseId,
    /// The attempt that delivered it.
    pub attempt: u32,
    /// Name of the gate.
    pub gate: String,
    /// Where to, as the gate says; the phase's id if it says nothing.
    pub target: String,
    /// What was delivered.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// When it began.
    pub at: Timestamp,
    /// What the target is brought back to.
    pub baseline: Option<Baseline>,
    /// What became of it.
    pub state: DeliveryState,
    /// The same in words, if it was rolled back.
    pub outcome: Option<String>,
    /// That again, to be said in any language.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// How it was taken back, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rollbacks: Vec<Rollback>,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Its commands or probes are under way.
    Delivering,
    /// Its health is watched.
    Watching,
    /// All of it went well, its health included.
    Delivered,
    /// It failed, and was not taken back.
    Failed,
    /// How far it came, or how well it is, was not seen.
    Unknown,
    /// It is being taken back.
    RollingBack,
    /// It was taken back, and all of that went well.
    RolledBack,
    /// It was taken back, and how healthy what was brought back is was not seen: a person is needed.
    RollbackUnproved,
    /// It was to be taken back, and that failed, left it unhealthy, or nobody knows how far it came: a person is needed.
    RollbackFailed,
}

impl DeliveryView {
    /// Whether its target is being changed, or watched for what was changed last. A rollback that a person has requested has to
    /// begin first: until then it may itself wait for another one.
    pub fn is_under_way(&self) -> bool {
        match self.state {
            DeliveryState::Delivering | DeliveryState::Watching => true,
            DeliveryState::RollingBack => {
                self.rollbacks.last().is_some_and(|last| last.by.is_none() || last.begun_at.is_some())
            }
            _ => false,
        }
    }
}

/// What a verifier has said of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewView {
    /// The attempt.
    pub attempt: u32,
    /// Its run.
    pub run: RunId,
    /// The agent that looked.
    pub agent: String,
    /// Its model, where one was named.
    pub model: Option<String>,
    /// Its answer.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// One line for people.
    pub summary: String,
    /// What it has checked and found right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks_passed: Vec<String>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// How many verifications the phase has had, this one included.
    pub runs: u32,
    /// What all of them have cost, in US dollars.
    pub cost: f64,
    /// Wall time of all of them in milliseconds.
    pub total_ms: u64,
}

/// What something that could be under way waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Wait {
    /// A free permit: all are in use.
    Places {
        /// Places of what: `agents` or `gates`.
        of: String,
        /// How many are taken.
        taken: u32,
        /// Number of permits, over all jobs and sessions.
        places: u32,
        /// How many wait for one, this one included.
        waiting: u32,
    },
    /// A delivery or rollback of another job, to the same target.
    Target {
        /// The target.
        target: String,
        /// The other job.
        job: JobId,
        /// The state directory whose job it is, if not this host's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_dir: Option<String>,
    },
    /// Memory: less is available than there has to be before an agent starts.
    Memory {
        /// What is available, in bytes.
        available_bytes: u64,
        /// What there has to be, in bytes.
        needed_bytes: u64,
    },
    /// The preflight: the command of a gate is tried where the job starts, before its first agent.
    Preflight {
        /// The command.
        command: String,
    },
}

/// Whether a length of time is none.
fn is_nothing(seconds: &f64) -> bool {
    *seconds <= 0.0
}

impl JobView {
    /// The question with this number of a phase.
    pub fn question(&self, phase: &PhaseId, number: u32) -> Option<&QuestionView> {
        let id = QuestionId::nth(&self.id, phase, number);
        self.questions.iter().find(|one| one.id == id)
    }

    /// The commands, with this name of Helix's program, that write what the job has proven of its decision's criteria into it. An
    /// agent never accepts: a person runs them.
    pub fn decision_commands(&self, helix: &str) -> Option<String> {
        let merged =
            self.status == JobStatus::Succeeded && matches!(self.integration, Some(IntegrationTarget::Branch { .. }));
        let covers = |gate: &GateReport| gate.gate == GateSpec::CriteriaCovered {}.name() && gate.verdict.passed();
        let proven = merged && self.reverted.is_none() && self.phases.iter().flat_map(|phase| &phase.gates).any(covers);
        let number = self.adr.as_deref().and_then(helix_adr::number_of_file_name).filter(|_| proven)?;
        let accept = if self.adr_proposed { format!("{helix} adr accept {number} && ") } else { String::new() };
        Some(format!("{accept}{helix} adr implemented {number}"))
    }

    /// The same at this moment: what is kept knows no time but that of its last event, and what is under way goes on.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        let since = |start: Timestamp| now.duration_since(start).as_secs_f64().max(0.0);
        if self.completed_at.is_none() {
            self.duration_seconds = (since(self.created_at) - self.idle_seconds).max(self.duration_seconds);
        }
        for phase in &mut self.phases {
            let under_way = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting);
            if let Some(start) = phase.started_at.filter(|_| under_way && phase.completed_at.is_none()) {
                phase.duration_seconds = Some(since(start) - phase.idle_seconds);
            }
        }
        self
    }
}

/// What stopped a job, while the job is not over and cannot be resumed.
pub(crate) fn unfinished(error: ErrorView) -> ErrorView {
    if error.hint.as_ref().is_some_and(|hint| hint.contains("helix jobs resume")) {
        return ErrorView::of_words(error.words(), Words::default());
    }
    error
}
