//! A plan whose every reference is checked and whose every default is filled in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::document::format_duration;
use helix_core::evidence::Land;
use helix_core::ids::PhaseId;
use helix_core::issue::Issue;
use helix_core::run::NetworkAccess;
use helix_core::slug::slug;
use helix_core::words;

mod gate;

pub use gate::{
    ApprovedBy, Approvers, Delivery, GATE_TIMEOUT, GateCost, GateSpec, HTTP_STATUS, Health, MutationGate, PROBE_DELAY,
    PROBE_RETRIES, PROBE_TIMEOUT, Probe, Switch, Taken, TestsGate,
};
pub(crate) use gate::{HEALTH_LIMIT, HEALTH_PAUSE, HEALTH_TIME, MIN_KILLED, MOST_APPROVERS};

/// A validated plan. Phases are in the order of the file; `depends_on` has no cycle and no unknown id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the plan, used in branch names and messages.
    pub name: String,
    /// What it is for, in the author's words.
    #[serde(default)]
    pub description: String,
    /// The decision it carries out, relative to the repository's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adr: Option<String>,
    /// The issue, pull request or merge request that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<Issue>,
    /// How its result gets to the user; as it is configured where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub land: Option<Land>,
    /// Workflow whose phases are still to be added; `None` once they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowCall>,
    /// At least one.
    pub phases: Vec<Phase>,
}

impl Plan {
    /// The phase with this id.
    pub fn phase(&self, id: &PhaseId) -> Option<&Phase> {
        self.phases.iter().find(|phase| &phase.id == id)
    }

    /// The gates of all phases, and those that phases which are still to be added will have.
    pub fn gates(&self) -> impl Iterator<Item = &GateSpec> {
        self.phases.iter().flat_map(|phase| {
            let added = phase.generates_phases.iter().flat_map(|generates| &generates.gates);
            phase.gates.iter().chain(added)
        })
    }

    /// Its name in the form of file names: lower-case letters, digits and `-`.
    pub fn file_name(&self) -> String {
        Some(slug(&self.name, 64)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "plan".into())
    }
}

/// A workflow that a plan names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowCall {
    /// Its name.
    pub name: String,
    /// What the plan gives for its inputs, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, InputValue>,
}

/// A value for an input of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InputValue {
    /// True or false.
    Flag(bool),
    /// A whole number from 0.
    Number(u32),
    /// A text, command or path.
    Text(String),
    /// Several paths.
    List(Vec<String>),
}

/// One phase with all defaults resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Unique in the plan.
    pub id: PhaseId,
    /// For people.
    pub name: String,
    /// Decides prompt template and default gates.
    #[serde(rename = "type")]
    pub kind: PhaseType,
    /// What the agent is asked to do.
    pub description: String,
    /// Phases whose results it starts from.
    pub depends_on: Vec<PhaseId>,
    /// Names of skills.
    pub skills: Vec<String>,
    /// Files that must exist before an attempt, relative to the root.
    pub inputs: Vec<String>,
    /// Claims: files or globs that must be in the diff.
    pub outputs: Vec<String>,
    /// Checks in the order in which they run: cheap ones first.
    pub gates: Vec<GateSpec>,
    /// Independent verification, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// A person's yes, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// What happens after the attempts are used up.
    pub on_failure: OnFailure,
    /// Whether the job can succeed without it.
    pub optional: bool,
    /// For planning phases: how many phases it may add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generates_phases: Option<GeneratePhases>,
    /// Name of the agent in `helix.toml`; `None` means the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Model, in the agent's words; `None` means the agent's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Attempts, at least 1.
    pub max_attempts: u32,
    /// Time limit of one run.
    pub timeout: Seconds,
    /// Money limit of one run, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// Turn limit of one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// What its agent and the commands of its gates may connect to; `None` means what is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkAccess>,
}

/// A whole number of seconds; written `90s`, `30m`, `2h` in plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Seconds(pub u32);

impl Seconds {
    /// As a duration.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(self.0))
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format_duration(self.duration()))
    }
}

/// Defaults for all phases. Built-in values are those of [`Defaults::default`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Defaults {
    /// Agent's name in `helix.toml`.
    pub agent: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Tries at a phase.
    pub max_attempts: u32,
    /// Time limit of one run.
    pub timeout: Seconds,
    /// Budget of one run in US dollars.
    pub budget_usd: Option<f64>,
    /// Turn limit of one run.
    pub max_turns: Option<u32>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { agent: None, model: None, max_attempts: 3, timeout: Seconds(30 * 60), budget_usd: None, max_turns: None }
    }
}

words! {
    /// What kind of work a phase is.
    pub enum PhaseType as "a phase type" {
        /// A conversation with the Consultant.
        Consultant = "consultant",
        /// Adds phases to the plan.
        Planning = "planning",
        /// Finds out whether the work can be done.
        Feasibility = "feasibility",
        /// Finds out facts.
        Research = "research",
        /// Writes code.
        Development = "development",
        /// Reviews the work of other phases.
        Review = "review",
        /// Tests the work of other phases.
        Test = "test",
        /// Writes documentation.
        Documentation = "documentation",
        /// Deploys the result.
        Deploy = "deploy",
        /// Tests the deployed result.
        Integration = "integration",
        /// A person decides.
        Decision = "decision",
        /// A person does something.
        Manual = "manual",
    }
}

impl PhaseType {
    /// Whether such a phase is there to check what other phases made: left out, it would leave that unproven.
    pub fn checks_others(self) -> bool {
        matches!(self, Self::Review | Self::Test | Self::Integration)
    }

    /// Whether a phase of this type changes files or has failed, even where it declares no `outputs`.
    pub fn must_change_files(self) -> bool {
        match self {
            // The change is what these are for; with none, there is nothing that their gates could have checked.
            Self::Development | Self::Documentation => true,
            // Their answer is a conversation, a list of phases or a report; files that they are to write are `outputs`.
            Self::Consultant | Self::Planning | Self::Feasibility | Self::Research => false,
            // They confirm the work of others, and good work needs no change: their gate is the proof.
            Self::Review | Self::Test | Self::Integration => false,
            // They act outside of the repository, or a person acts.
            Self::Deploy | Self::Decision | Self::Manual => false,
        }
    }
}

/// Time limit of a verifier that names none.
pub const VERIFY_TIMEOUT: Seconds = Seconds(2 * 60);

/// Independent verification of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// Model of the verifier; `None` means the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its time limit.
    pub timeout: Seconds,
}

words! {
    /// When a person must approve.
    pub enum Approval {
        /// Before the first attempt.
        Before = "before",
        /// After the gates, before the result counts.
        After = "after",
    }
}

words! {
    /// What happens when a phase has used up its attempts.
    #[derive(Default)]
    pub enum OnFailure {
        /// A person decides.
        #[default]
        Escalate = "escalate",
        /// The phase is skipped; those that depend on it are too.
        Skip = "skip",
        /// The job fails.
        Fail = "fail",
    }
}

/// How many phases a planning phase may add, and what each of them is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratePhases {
    /// At least this many; a feasibility phase before them does not count.
    pub min: u32,
    /// At most this many.
    pub max: u32,
    /// Type of the added phases.
    #[serde(default = "GeneratePhases::default_template")]
    pub template: PhaseType,
    /// Gates that every added phase has besides those it names itself; empty means the default gates of the type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateSpec>,
    /// Independent verification of every added phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Agent, model and limits of every added phase.
    #[serde(default)]
    pub defaults: Defaults,
}

impl GeneratePhases {
    /// The type of added phases where none is named.
    pub fn default_template() -> PhaseType {
        PhaseType::Development
    }
}
