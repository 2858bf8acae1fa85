//! What a job is to do, fixed at submit. Everything later (policy, agents, gate commands) is read from here, never again
//! from files that may change while the job runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CommitId, SessionId};
use crate::plan::Plan;

/// A submitted job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSpec {
    /// The plan with all defaults resolved.
    pub plan: Plan,
    /// Where the plan was read from, for people.
    pub plan_path: String,
    /// Where the work happens.
    pub repo: RepoRef,
    /// The decision the plan carries out: path in the repository and full text at submit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adr: Option<AdrText>,
    /// Every limit and retry rule, resolved.
    pub policy: Policy,
    /// Submitting again with the same key gives the same job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Who asked.
    pub origin: Origin,
    /// Only these phases run, if given (`--phase`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<crate::ids::PhaseId>>,
    /// Hashes (SHA-256, hex) of gate definitions' command files at submit, by path.
    #[serde(default)]
    pub gate_files: BTreeMap<String, String>,
}

/// The repository of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoRef {
    /// Absolute path of the user's work tree.
    pub path: String,
    /// The commit that the job starts from.
    pub base: CommitId,
    /// Branch that gets the result; `None` when the repository was at a detached head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// An ADR's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrText {
    /// Relative to the repository's root.
    pub path: String,
    /// Full text.
    pub text: String,
}

/// Who asked for a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// The command line.
    Cli,
    /// The jobs API.
    Api,
    /// A conversation.
    Chat {
        /// Which.
        session: SessionId,
    },
}

/// One policy object for a job: every limit and retry rule, recorded with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Phases that may run at the same time, at least 1.
    pub max_parallel: u32,
    /// Money for the whole job in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// First pause after a provider's trouble, in milliseconds; doubles each time.
    pub backoff_first_ms: u64,
    /// Longest such pause, in milliseconds.
    pub backoff_max_ms: u64,
    /// Repeats after a provider's trouble that do not count as attempts.
    pub transient_retries: u32,
}

impl Default for Policy {
    /// Figures from contracts and the engine's issue: back-off 1 s to 30 s, three repeats.
    fn default() -> Self {
        Self {
            max_parallel: 2,
            budget_usd: None,
            backoff_first_ms: 1_000,
            backoff_max_ms: 30_000,
            transient_retries: 3,
        }
    }
}
