//! What a job is to do, fixed at submit. Everything later (policy, names of agents, gate commands) is read from here, never
//! again from files that may change while the job runs.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_adr::AdrText;
use helix_core::evidence::Land;
use helix_core::ids::{CommitId, SessionId};
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::Plan;

use crate::person::Person;

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
    pub adr: Option<AdrText>,
    /// Every limit and retry rule, resolved.
    pub policy: Policy,
    /// Submitting again with the same key gives the same job.
    pub idempotency_key: Option<String>,
    /// Who asked.
    pub origin: Origin,
    /// Who submitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Person>,
    /// Only these phases run, if given (`--phase`).
    pub only: Option<Vec<helix_core::ids::PhaseId>>,
    /// The agent of phases that name none, as it was configured at submit.
    pub default_agent: String,
    /// What the submission has put in the place of what the plan says.
    #[serde(default, skip_serializing_if = "Replaced::is_nothing")]
    pub replaced: Replaced,
    /// Who reviews and who advises.
    pub roles: Roles,
    /// What its agents are told besides the plan.
    pub briefing: Briefing,
    /// Hashes (SHA-256, hex) of gate definitions' command files at submit, by path.
    pub gate_files: BTreeMap<String, String>,
    /// Virtual environment of Python that its agents and gates use, an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venv: Option<String>,
    /// Whether its first agent starts without the gates' commands having been tried where the job starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_preflight: bool,
}

/// What takes the place of the agents, models and turn limits of all phases of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replaced {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
}

impl Replaced {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl JobSpec {
    /// Whether a person, known for certain, submitted its plan: not an agent in a chat.
    pub fn is_of_a_person(&self) -> bool {
        !matches!(self.origin, Origin::Chat { .. }) && self.by.as_ref().is_some_and(|by| by.how.is_proof())
    }
}

/// Texts that are fixed at submit, so that every attempt of a job is told the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Briefing {
    /// The user's own prompt templates by phase type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, PromptFile>,
    /// Skills that phases may name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillEntry>,
}

/// A prompt template and where it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptFile {
    /// For messages.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A skill as an agent is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// The page to read: relative to the repository's root, or absolute.
    pub path: String,
}

/// The repository of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoRef {
    /// Absolute path of the user's work tree.
    pub path: String,
    /// The commit that the job starts from.
    pub base: CommitId,
    /// Branch that gets the result; `None` when the repository was at a detached head.
    pub branch: Option<String>,
}

/// Who asked for a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// The command line.
    #[default]
    Cli,
    /// The jobs API.
    Api,
    /// A session.
    Chat {
        /// Which.
        session: SessionId,
    },
}

/// Agents of a job besides those of its phases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Roles {
    /// Looks at results; a phase's own agent where absent.
    pub verifier: Option<Role>,
    /// Model of reviews by a phase's own agent; another than the phase's own where absent and the agent has one.
    pub verifier_model: Option<String>,
    /// Proposes what to do about a phase that cannot go on; nobody does where absent.
    pub adviser: Option<Role>,
}

/// An agent and its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Name of the agent in `helix.toml`.
    pub agent: String,
    /// Its model; the agent's default where absent.
    pub model: Option<String>,
}

/// One policy object for a job: every limit and retry rule, recorded with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Phases that may run at the same time, at least 1.
    pub max_parallel: u32,
    /// Money for the whole job in US dollars.
    pub budget_usd: Option<f64>,
    /// Model turns for the whole job, all its runs together.
    pub max_turns: Option<u32>,
    /// Tokens for the whole job, in and out, cached ones included.
    pub max_tokens: Option<u64>,
    /// Wall time of all its runs together, in seconds.
    pub max_run_seconds: Option<u64>,
    /// Money for one run of a reviewer or adviser in US dollars; never more than the job has left.
    pub side_budget_usd: Option<f64>,
    /// First pause after a provider's trouble, in milliseconds; doubles each time.
    pub backoff_first_ms: u64,
    /// Longest such pause, in milliseconds.
    pub backoff_max_ms: u64,
    /// Repeats after a provider's trouble that do not count as attempts.
    pub transient_retries: u32,
    /// Longest that the reset of a provider's limit is waited for, in seconds: 0 is never, absent is as long as it takes.
    pub max_wait_seconds: Option<u64>,
    /// How the result gets to the user.
    #[serde(default)]
    pub land: Land,
    /// What happens to a phase that has no attempts left and may escalate.
    pub escalation: Escalation,
    /// How long a question waits for an answer, in seconds; forever where absent.
    pub question_seconds: Option<u64>,
}

/// The two stages of an escalation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Escalation {
    /// How often the adviser is asked about one phase; 0 means never.
    pub advice_rounds: u32,
    /// Whether a person is asked at last.
    pub person: AskPerson,
}

helix_core::words! {
    /// Whether a person is asked.
    pub enum AskPerson {
        /// The job waits for an answer.
        Ask = "ask",
        /// The phase fails at once.
        Never = "never",
    }
}

impl Default for Escalation {
    /// Three proposals (the engine's issue), then a person.
    fn default() -> Self {
        Self { advice_rounds: 3, person: AskPerson::Ask }
    }
}

/// How long a question waits when nothing else is said: three days, so that one asked before a weekend outlives it.
pub const QUESTION_SECONDS: u64 = 3 * 24 * 60 * 60;

impl Default for Policy {
    /// Figures from contracts and the engine's issue: back-off 1 s to 30 s, three repeats.
    fn default() -> Self {
        Self {
            max_parallel: 2,
            budget_usd: None,
            max_turns: None,
            max_tokens: None,
            max_run_seconds: None,
            side_budget_usd: None,
            backoff_first_ms: 1_000,
            backoff_max_ms: 30_000,
            transient_retries: 3,
            max_wait_seconds: None,
            land: Land::default(),
            escalation: Escalation::default(),
            question_seconds: Some(QUESTION_SECONDS),
        }
    }
}

impl Policy {
    /// What to say instead of waiting from now on for a limit that the provider resets at that time; `None` if it is waited for.
    pub fn too_long_until(&self, resets_at: Timestamp, now: Timestamp) -> Option<Words> {
        let longest = SignedDuration::from_secs(i64::try_from(self.max_wait_seconds?).unwrap_or(i64::MAX));
        (resets_at.duration_since(now) > longest).then(|| recorded!("hint-resets", at = resets_at))
    }
}

/// What is reserved for one run. What it does not use is free again when it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Most that it may cost, in US dollars.
    pub usd: Option<f64>,
    /// Most turns it may take.
    pub turns: Option<u32>,
    /// Longest time it may run, in seconds.
    pub seconds: Option<u64>,
}
