//! A plan whose every reference is checked and whose every default is filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::document::format_duration;
use helix_core::ids::PhaseId;
use helix_core::words;

use super::delivery::Delivery;
use super::workflow::WorkflowCall;

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
    #[derive(Hash)]
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
        match self {
            Self::Review | Self::Test | Self::Integration => true,
            Self::Consultant
            | Self::Planning
            | Self::Feasibility
            | Self::Research
            | Self::Development
            | Self::Documentation
            | Self::Deploy
            | Self::Decision
            | Self::Manual => false,
        }
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

/// A deterministic check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum GateSpec {
    /// Every named file or glob is in the result commit and not empty.
    FilesExist {
        /// Paths or globs; empty means the phase's outputs.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Every output claim is in the diff; changed files outside claims are listed.
    OutputsClaimed {
        /// Whether changes outside the claims fail the gate.
        #[serde(default)]
        strict: bool,
    },
    /// Every changed file of a known language parses.
    SyntaxCheck {
        /// Globs that restrict it; empty means every changed file.
        #[serde(default)]
        files: Vec<String>,
    },
    /// The test command exits 0, tests really ran, and nothing that passed on the base fails now.
    TestsPass {
        /// Command line, split like a shell's words but run without one.
        command: String,
        /// Its time limit.
        timeout: Seconds,
    },
    /// The linter exits 0.
    LintPass {
        /// As for `tests_pass`.
        command: String,
        /// Its time limit.
        timeout: Seconds,
    },
    /// The build exits 0.
    BuildPass {
        /// As for `tests_pass`.
        command: String,
        /// Its time limit.
        timeout: Seconds,
    },
    /// The command exits 0.
    Command {
        /// As for `tests_pass`.
        command: String,
        /// Its time limit.
        timeout: Seconds,
    },
    /// The ADR files in question have no errors.
    AdrValid {
        /// Paths or globs; empty means the plan's ADR and every changed ADR.
        #[serde(default)]
        files: Vec<String>,
    },
    /// The ADR files in question are complete by the completeness rules.
    AdrComplete {
        /// As for `adr_valid`.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Links and references in changed Markdown resolve.
    DocsRefsValid {},
    /// Every acceptance criterion of the ADR names evidence that passes.
    CriteriaCovered {},
    /// The named files (default: all changed ones) have no conflict markers; used by phases that merge conflicting results.
    ConflictsResolved {
        /// Paths; empty means every changed file.
        #[serde(default)]
        files: Vec<String>,
    },
    /// An independent reviewer approves.
    ReviewApproved {
        /// Model of the reviewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A person approves.
    Approval {
        /// The question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
    /// A person confirms a manual step.
    Manual {
        /// What to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
    /// The deploy commands and probes pass on a validated tree.
    DeploySuccess(Delivery),
    /// The integration commands and probes pass on a validated tree.
    IntegrationPass(Delivery),
}

/// What a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GateScope {
    /// The phase's own claims or approval: says nothing about results put together.
    Phase,
    /// The files that it names, or those that changed.
    Files,
    /// The whole tree, whoever made what is in it.
    Tree,
}

/// What a gate costs, the cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateCost {
    /// Reads files; deterministic, milliseconds.
    Reading,
    /// Runs a command; seconds to minutes.
    Command,
    /// Asks a model; costs money.
    Paid,
    /// Asks a person, or has effects outside the repository: never before what stands ahead of it.
    Outside,
}

impl GateSpec {
    /// Name, cost and scope of the gate.
    fn properties(&self) -> (&'static str, GateCost, GateScope) {
        use GateCost::{Command, Outside, Paid, Reading};
        use GateScope::{Files, Phase, Tree};
        match self {
            Self::FilesExist { .. } => ("files_exist", Reading, Files),
            Self::OutputsClaimed { .. } => ("outputs_claimed", Reading, Phase),
            Self::SyntaxCheck { .. } => ("syntax_check", Reading, Files),
            Self::TestsPass { .. } => ("tests_pass", Command, Tree),
            Self::LintPass { .. } => ("lint_pass", Command, Tree),
            Self::BuildPass { .. } => ("build_pass", Command, Tree),
            Self::Command { .. } => ("command", Command, Tree),
            Self::AdrValid { .. } => ("adr_valid", Reading, Files),
            Self::AdrComplete { .. } => ("adr_complete", Reading, Files),
            Self::DocsRefsValid {} => ("docs_refs_valid", Reading, Files),
            Self::CriteriaCovered {} => ("criteria_covered", Command, Tree),
            Self::ConflictsResolved { .. } => ("conflicts_resolved", Reading, Files),
            Self::ReviewApproved { .. } => ("review_approved", Paid, Phase),
            Self::Approval { .. } => ("approval", Outside, Phase),
            Self::Manual { .. } => ("manual", Outside, Phase),
            Self::DeploySuccess(_) => ("deploy_success", Outside, Phase),
            Self::IntegrationPass(_) => ("integration_pass", Outside, Phase),
        }
    }

    /// The gate's name in plans, reports and the journal.
    pub fn name(&self) -> &'static str {
        self.properties().0
    }

    /// The gate's place in the order of cost.
    pub fn cost(&self) -> GateCost {
        self.properties().1
    }

    /// Whether it says something about results put together. What is claimed of one phase's own difference does not, what
    /// a person or a reviewer has approved is not asked again, and what acts outside of the repository is not done again.
    pub fn checks_a_sum(&self) -> bool {
        self.properties().2 != GateScope::Phase
    }

    /// Whether it asks something of the whole tree, whoever made what is in it.
    pub fn is_about_everything(&self) -> bool {
        self.properties().2 == GateScope::Tree
    }

    /// Whether it asks of the whole tree and changes nothing outside of it, so that it may be asked again.
    pub fn only_looks(&self) -> bool {
        self.is_about_everything() && !matches!(self, Self::Command { .. })
    }

    /// Whether the answer depends on the phase's own claims, so that the same gate of two phases is two checks.
    pub fn is_about_claims(&self) -> bool {
        matches!(self, Self::OutputsClaimed { .. }) || matches!(self, Self::FilesExist { files } if files.is_empty())
    }

    /// What it does outside of the repository, if it is a gate that does.
    pub fn delivery(&self) -> Option<&Delivery> {
        if let Self::DeploySuccess(delivery) | Self::IntegrationPass(delivery) = self { Some(delivery) } else { None }
    }

    /// The command lines that it runs in a checkout.
    pub fn commands(&self) -> Vec<&str> {
        if let Self::TestsPass { command, .. }
        | Self::LintPass { command, .. }
        | Self::BuildPass { command, .. }
        | Self::Command { command, .. } = self
        {
            return vec![command];
        }
        self.delivery().into_iter().flat_map(Delivery::commands).collect()
    }
}
