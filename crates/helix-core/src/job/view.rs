//! A job as users and other programs see it. Field names are those of `docs/api.md` (contracts, section 6).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{GateReport, IntegrationTarget};
use crate::ids::{CommitId, JobId, PhaseId, RunId};
use crate::question::QuestionView;
use crate::usage::Usage;

/// Status of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's own words")]
pub enum JobStatus {
    Queued,
    Running,
    Waiting,
    Succeeded,
    Failed,
    Cancelled,
}

impl JobStatus {
    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Waiting => false,
        }
    }

    /// The word users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Status of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's own words")]
pub enum PhaseStatus {
    Pending,
    Running,
    Waiting,
    Passed,
    Failed,
    Skipped,
    Cancelled,
}

impl PhaseStatus {
    /// The word users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// Name of the plan.
    pub name: String,
    /// Where it stands.
    pub status: JobStatus,
    /// Absolute path of the repository.
    pub project_path: String,
    /// Where the plan was read from.
    pub plan_path: String,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Seconds from submission to its end, or to its last event.
    pub duration_seconds: f64,
    /// Always all of them, in the plan's order.
    pub phases: Vec<PhaseView>,
    /// All that it consumed.
    pub usage: Usage,
    /// US dollars, as the agents reported.
    pub cost: f64,
    /// The integrated commit.
    pub commit: Option<CommitId>,
    /// Where the result went.
    pub integration: Option<IntegrationTarget>,
    /// Why it failed, with what to do.
    pub error: Option<ErrorView>,
    /// What persons were asked, the plan's order; open ones first in each phase's own order.
    #[serde(default)]
    pub questions: Vec<QuestionView>,
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
    /// Where it stands.
    pub status: PhaseStatus,
    /// What it is doing, for people: `agent`, `commit`, `gate tests_pass`, `retry in 3 s`.
    pub stage: Option<String>,
    /// The last try, from 1; 0 before the first.
    pub attempt: u32,
    /// When the first try started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Seconds of work, up to its end or its last event.
    pub duration_seconds: Option<f64>,
    /// Its claims.
    pub outputs: Vec<String>,
    /// Answers of the last try's gates so far.
    pub gates: Vec<GateReport>,
    /// The verifier's verdict, where one was asked for.
    pub verdict: Option<String>,
    /// US dollars of all tries.
    pub cost: f64,
    /// Runs of all tries, oldest first.
    pub runs: Vec<RunId>,
    /// The result commit of a passed phase.
    pub commit: Option<CommitId>,
    /// Why the last try was not accepted, or why the phase failed.
    pub error: Option<ErrorView>,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}
