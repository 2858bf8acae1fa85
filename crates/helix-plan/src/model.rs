//! A plan whose every reference is checked and whose every default is filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::ids::PhaseId;

use super::delivery::Delivery;
use super::workflow::WorkflowCall;

/// A validated plan. Phases are in the order of the file; `depends_on` has no cycle and no unknown id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the work, used in branch names and messages.
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
    /// Tries, at least 1.
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

/// Values for phases that do not say otherwise. Built-in values are those of [`Defaults::default`].
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
    /// Money limit of one run in US dollars.
    pub budget_usd: Option<f64>,
    /// Turn limit of one run.
    pub max_turns: Option<u32>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { agent: None, model: None, max_attempts: 3, timeout: Seconds(30 * 60), budget_usd: None, max_turns: None }
    }
}

/// What kind of work a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's own words")]
pub enum PhaseType {
    Consultant,
    Planning,
    Feasibility,
    Research,
    Development,
    Review,
    Test,
    Documentation,
    Deploy,
    Integration,
    Decision,
    Manual,
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

/// When a person must say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Before the first attempt.
    Before,
    /// After the gates, before the result counts.
    After,
}

/// What happens when a phase has used up its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// A person decides.
    #[default]
    Escalate,
    /// The phase is skipped; those that depend on it are too.
    Skip,
    /// The job fails.
    Fail,
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
    /// Every output claim is in the diff; files changed outside claims are listed.
    OutputsClaimed {
        /// Whether a change outside the claims fails the gate.
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
    /// No conflict marker is left in the named files, or in any changed one; used by phases that bring conflicting results together.
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
        /// What they are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
    /// A person does something and says so.
    Manual {
        /// What they are asked to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
    /// The deploy step's own commands and probes pass on a tree that was validated before.
    DeploySuccess(Delivery),
    /// The integration step's own commands and probes pass on a tree that was validated before.
    IntegrationPass(Delivery),
}

impl GateSpec {
    /// What it does outside of the repository, if it is a gate that does.
    pub fn delivery(&self) -> Option<&Delivery> {
        match self {
            Self::DeploySuccess(delivery) | Self::IntegrationPass(delivery) => Some(delivery),
            Self::FilesExist { .. }
            | Self::OutputsClaimed { .. }
            | Self::SyntaxCheck { .. }
            | Self::TestsPass { .. }
            | Self::LintPass { .. }
            | Self::BuildPass { .. }
            | Self::Command { .. }
            | Self::AdrValid { .. }
            | Self::AdrComplete { .. }
            | Self::DocsRefsValid {}
            | Self::CriteriaCovered {}
            | Self::ConflictsResolved { .. }
            | Self::ReviewApproved { .. }
            | Self::Approval { .. }
            | Self::Manual { .. } => None,
        }
    }

    /// Whether it says something about results put together. What is claimed of one phase's own difference does not, what
    /// a person or a reviewer has approved is not asked again, and what acts outside of the repository is not done again.
    pub fn checks_a_sum(&self) -> bool {
        match self {
            Self::OutputsClaimed { .. }
            | Self::ReviewApproved { .. }
            | Self::Approval { .. }
            | Self::Manual { .. }
            | Self::DeploySuccess(_)
            | Self::IntegrationPass(_) => false,
            Self::FilesExist { .. }
            | Self::SyntaxCheck { .. }
            | Self::TestsPass { .. }
            | Self::LintPass { .. }
            | Self::BuildPass { .. }
            | Self::Command { .. }
            | Self::AdrValid { .. }
            | Self::AdrComplete { .. }
            | Self::DocsRefsValid {}
            | Self::CriteriaCovered {}
            | Self::ConflictsResolved { .. } => true,
        }
    }

    /// Whether it asks something of the whole tree, whoever made what is in it.
    pub fn is_about_everything(&self) -> bool {
        match self {
            Self::TestsPass { .. }
            | Self::LintPass { .. }
            | Self::BuildPass { .. }
            | Self::Command { .. }
            | Self::CriteriaCovered {} => true,
            // What acts outside of the repository is done once, by its phase, or not at all.
            Self::DeploySuccess(_)
            | Self::IntegrationPass(_)
            | Self::FilesExist { .. }
            | Self::OutputsClaimed { .. }
            | Self::SyntaxCheck { .. }
            | Self::AdrValid { .. }
            | Self::AdrComplete { .. }
            | Self::DocsRefsValid {}
            | Self::ConflictsResolved { .. }
            | Self::ReviewApproved { .. }
            | Self::Approval { .. }
            | Self::Manual { .. } => false,
        }
    }

    /// Whether it asks of the whole tree and changes nothing outside of it, so that it may be asked again.
    pub fn only_looks(&self) -> bool {
        match self {
            Self::TestsPass { .. } | Self::LintPass { .. } | Self::BuildPass { .. } | Self::CriteriaCovered {} => true,
            Self::Command { .. }
            | Self::DeploySuccess { .. }
            | Self::IntegrationPass { .. }
            | Self::FilesExist { .. }
            | Self::OutputsClaimed { .. }
            | Self::SyntaxCheck { .. }
            | Self::AdrValid { .. }
            | Self::AdrComplete { .. }
            | Self::DocsRefsValid {}
            | Self::ConflictsResolved { .. }
            | Self::ReviewApproved { .. }
            | Self::Approval { .. }
            | Self::Manual { .. } => false,
        }
    }

    /// Whether the answer depends on the phase's own claims, so that the same gate of two phases is two checks.
    pub fn is_about_claims(&self) -> bool {
        match self {
            Self::FilesExist { files } => files.is_empty(),
            Self::OutputsClaimed { .. } => true,
            Self::SyntaxCheck { .. }
            | Self::TestsPass { .. }
            | Self::LintPass { .. }
            | Self::BuildPass { .. }
            | Self::Command { .. }
            | Self::AdrValid { .. }
            | Self::AdrComplete { .. }
            | Self::DocsRefsValid {}
            | Self::CriteriaCovered {}
            | Self::ConflictsResolved { .. }
            | Self::ReviewApproved { .. }
            | Self::Approval { .. }
            | Self::Manual { .. }
            | Self::DeploySuccess(_)
            | Self::IntegrationPass(_) => false,
        }
    }

    /// The gate's name in plans, reports and the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FilesExist { .. } => "files_exist",
            Self::OutputsClaimed { .. } => "outputs_claimed",
            Self::SyntaxCheck { .. } => "syntax_check",
            Self::TestsPass { .. } => "tests_pass",
            Self::LintPass { .. } => "lint_pass",
            Self::BuildPass { .. } => "build_pass",
            Self::Command { .. } => "command",
            Self::AdrValid { .. } => "adr_valid",
            Self::AdrComplete { .. } => "adr_complete",
            Self::DocsRefsValid {} => "docs_refs_valid",
            Self::CriteriaCovered {} => "criteria_covered",
            Self::ConflictsResolved { .. } => "conflicts_resolved",
            Self::ReviewApproved { .. } => "review_approved",
            Self::Approval { .. } => "approval",
            Self::Manual { .. } => "manual",
            Self::DeploySuccess(_) => "deploy_success",
            Self::IntegrationPass(_) => "integration_pass",
        }
    }
}
