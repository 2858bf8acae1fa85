//! Gates: what is checked of a phase's result, and what a gate does that acts outside of the repository.
//!
//! Must not know how a plan writes them, nor how they are carried out.

use std::collections::BTreeMap;

use helix_core::gate_name::GateName;
use helix_core::said::Words;
use helix_core::{recorded, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Seconds;

/// Time limit of a command gate that names none.
pub const GATE_TIMEOUT: Seconds = Seconds(10 * 60);
/// Time limit of one try of a probe that names none.
pub const PROBE_TIMEOUT: Seconds = Seconds(10);
/// How often a probe is tried again that names no number: what was just started needs a moment.
pub const PROBE_RETRIES: u32 = 5;
/// The pause before that.
pub const PROBE_DELAY: Seconds = Seconds(3);
/// Share of the planted mistakes that tests have to notice where nothing else is said, in percent: some mistakes change nothing that a test
/// could see.
pub(crate) const MIN_KILLED: u32 = 70;
/// What an HTTP probe expects that names no status.
pub const HTTP_STATUS: u32 = 200;
/// How long health is watched where nothing else is said, and the pause between two checks.
pub(crate) const HEALTH_TIME: Seconds = Seconds(60);
pub(crate) const HEALTH_PAUSE: Seconds = Seconds(5);
/// Failed health checks in a row that make a delivery unhealthy, where nothing else is said.
pub(crate) const HEALTH_LIMIT: u32 = 3;

helix_core::words! {
    /// Who approves.
    pub enum ApprovedBy {
        /// Somebody else than who submitted the job.
        Other = "other",
    }
}

/// Who has to approve, where that is not just anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approvers {
    /// Whether it must be somebody else than who submitted the job.
    pub other: bool,
    /// How many different people.
    pub count: u32,
}

/// Most people that a gate may ask for.
pub(crate) const MOST_APPROVERS: u32 = 9;

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
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
    TestsPass(TestsGate),
    /// The tests notice small mistakes that are planted in the changed lines.
    Mutation(MutationGate),
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
    /// A person approves, or several do.
    Approval {
        /// The question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// `other`: somebody else than who submitted the job.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<ApprovedBy>,
        /// How many different people (default: 1).
        #[serde(default = "one", skip_serializing_if = "is_one")]
        count: u32,
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
    /// The whole tree, no matter who made what is in it.
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
    /// An approval by anybody.
    pub fn approval(question: Option<String>) -> Self {
        Self::Approval { question, by: None, count: 1 }
    }

    /// Who has to approve, where that is not just anybody.
    pub fn approvers(&self) -> Option<Approvers> {
        match self {
            Self::Approval { by, count, .. } if by.is_some() || *count > 1 => {
                Some(Approvers { other: by.is_some(), count: *count })
            }
            _ => None,
        }
    }

    fn properties(&self) -> (GateName, GateCost, GateScope) {
        use GateCost::{Command, Outside, Paid, Reading};
        use GateScope::{Files, Phase, Tree};
        match self {
            Self::FilesExist { .. } => (GateName::FilesExist, Reading, Files),
            Self::OutputsClaimed { .. } => (GateName::OutputsClaimed, Reading, Phase),
            Self::SyntaxCheck { .. } => (GateName::SyntaxCheck, Reading, Files),
            Self::TestsPass(_) => (GateName::TestsPass, Command, Tree),
            Self::Mutation(_) => (GateName::Mutation, Command, Phase),
            Self::LintPass { .. } => (GateName::LintPass, Command, Tree),
            Self::BuildPass { .. } => (GateName::BuildPass, Command, Tree),
            Self::Command { .. } => (GateName::Command, Command, Tree),
            Self::AdrValid { .. } => (GateName::AdrValid, Reading, Files),
            Self::AdrComplete { .. } => (GateName::AdrComplete, Reading, Files),
            Self::DocsRefsValid {} => (GateName::DocsRefsValid, Reading, Files),
            Self::CriteriaCovered {} => (GateName::CriteriaCovered, Command, Tree),
            Self::ConflictsResolved { .. } => (GateName::ConflictsResolved, Reading, Files),
            Self::ReviewApproved { .. } => (GateName::ReviewApproved, Paid, Phase),
            Self::Approval { .. } => (GateName::Approval, Outside, Phase),
            Self::Manual { .. } => (GateName::Manual, Outside, Phase),
            Self::DeploySuccess(_) => (GateName::DeploySuccess, Outside, Phase),
            Self::IntegrationPass(_) => (GateName::IntegrationPass, Outside, Phase),
        }
    }

    /// The gate's name in plans, reports and the journal.
    pub fn name(&self) -> &'static str {
        self.properties().0.word()
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

    /// Whether it asks something of the whole tree, no matter who made what is in it.
    pub fn is_about_everything(&self) -> bool {
        self.properties().2 == GateScope::Tree
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
        if let Self::TestsPass(TestsGate { command, .. })
        | Self::Mutation(MutationGate { command, .. })
        | Self::LintPass { command, .. }
        | Self::BuildPass { command, .. }
        | Self::Command { command, .. } = self
        {
            return vec![command];
        }
        self.delivery().into_iter().flat_map(Delivery::commands).collect()
    }
}

words! {
    /// Whether something is done.
    pub enum Switch as "a switch" {
        /// It is done.
        On = "on",
        /// It is not.
        Off = "off",
    }
}

words! {
    /// How something that a gate sees is taken.
    pub enum Taken as "an answer" {
        /// It is told, and does not block.
        Note = "note",
        /// It blocks.
        Finding = "finding",
    }
}

/// A test command, and how its result is proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestsGate {
    /// Command line, split like a shell's words but run without one.
    pub command: String,
    /// Its time limit.
    pub timeout: Seconds,
    /// Whether the tests run once more with the phase's functions answering nonsense, which they have to notice (default: on).
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub control: Switch,
    /// How tests are taken that the phase adds and that pass without its sources, too (default: note).
    #[serde(default = "note", skip_serializing_if = "is_note")]
    pub new_tests: Taken,
    /// How assertions are taken that the phase loosens in tests that it claims (default: finding).
    #[serde(default = "finding", skip_serializing_if = "is_finding")]
    pub weaker_tests: Taken,
    /// How a failure is taken that is gone when the tests run again at once (default: finding).
    #[serde(default = "finding", skip_serializing_if = "is_finding")]
    pub flaky: Taken,
    /// Names of tests that fail before the job and may still fail after it; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_failures: Vec<String>,
}

fn on() -> Switch {
    Switch::On
}

fn is_on(switch: &Switch) -> bool {
    *switch == Switch::On
}

fn note() -> Taken {
    Taken::Note
}

fn is_note(taken: &Taken) -> bool {
    *taken == Taken::Note
}

fn finding() -> Taken {
    Taken::Finding
}

fn is_finding(taken: &Taken) -> bool {
    *taken == Taken::Finding
}

impl TestsGate {
    /// A test command with the built-in values.
    pub fn of_command(command: impl Into<String>, timeout: Seconds) -> Self {
        Self {
            command: command.into(),
            timeout,
            control: on(),
            new_tests: note(),
            weaker_tests: finding(),
            flaky: finding(),
            known_failures: Vec::new(),
        }
    }
}

/// A test command, and how many planted mistakes it has to notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationGate {
    /// The test command; `timeout` limits all of its runs together.
    pub command: String,
    /// Time limit of all its runs together.
    pub timeout: Seconds,
    /// Share of the planted mistakes that the tests have to notice, in percent (default: 70).
    pub min_killed: u32,
}

/// Commands and probes of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// Command lines, run once each, in order, in one clean checkout; a text or a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Checks after the commands, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// Time limit of each command.
    pub timeout: Seconds,
    /// Retries of a failed probe (default: 5); commands are never retried.
    pub retries: u32,
    /// Pause before a retry (default: 3s).
    pub delay: Seconds,
    /// Variables of the commands, besides those of every gate's command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Variables that the commands get from the host's environment, such as tokens; their values are never recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    /// What it delivers to, such as `production` (default: the phase's id); the last good delivery to the same is the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Commands that are watched after the probes, and again after a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Command lines that take a failed delivery back, run once each, in order; a text or a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rollback: Vec<String>,
}

/// What is watched after a delivery, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Command lines that exit 0 as long as what was delivered is healthy; a text or a list.
    pub command: Vec<String>,
    /// Pause between two checks (default: 5s).
    pub every: Seconds,
    /// How long it is watched (default: 1m).
    #[serde(rename = "for")]
    pub time: Seconds,
    /// Failed checks in a row that make it unhealthy (default: 3).
    pub limit: u32,
    /// Time limit of each command (default: 10s).
    pub timeout: Seconds,
}

/// One look at what a delivery has brought about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Probe {
    /// A GET request is answered as expected; redirects are not followed. Made with `curl`.
    Http {
        /// The address, `http://` or `https://`.
        http: String,
        /// The status that is expected (default: 200).
        status: u32,
        /// Text that the answer has to contain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
    /// Somebody accepts a connection.
    Tcp {
        /// Host and port, such as `localhost:5432` or `[::1]:5432`.
        tcp: String,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
    /// A command exits 0 in the checkout.
    Command {
        /// As for `tests_pass`.
        command: String,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
}

impl Probe {
    /// The probe in a few words, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Http { http, .. } => format!("GET {http}"),
            Self::Tcp { tcp, .. } => format!("connect to {tcp}"),
            Self::Command { command, .. } => format!("`{command}`"),
        }
    }

    /// Time limit of one try.
    pub fn timeout(&self) -> Seconds {
        match self {
            Self::Http { timeout, .. } | Self::Tcp { timeout, .. } | Self::Command { timeout, .. } => *timeout,
        }
    }
}

impl Delivery {
    /// A delivery of one command, with the built-in values.
    pub fn of_command(command: impl Into<String>) -> Self {
        Self {
            command: vec![command.into()],
            probes: Vec::new(),
            timeout: GATE_TIMEOUT,
            retries: PROBE_RETRIES,
            delay: PROBE_DELAY,
            environment: BTreeMap::new(),
            pass_env: Vec::new(),
            target: None,
            health: None,
            rollback: Vec::new(),
        }
    }

    /// All command lines: those that act, those of probes, of health, and of the way back.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let of_probes = self.probes.iter().filter_map(|probe| match probe {
            Probe::Command { command, .. } => Some(command.as_str()),
            Probe::Http { .. } | Probe::Tcp { .. } => None,
        });
        let after = self.health.iter().flat_map(|health| &health.command).chain(&self.rollback);
        self.command.iter().map(String::as_str).chain(of_probes).chain(after.map(String::as_str))
    }

    /// What is done and looked at, in a few words for people and prompts.
    pub fn words(&self) -> Words {
        let exits = |command: &String| recorded!("plan-exits", command = command);
        let probes = self.probes.iter().map(|probe| match probe {
            Probe::Http { status, contains: None, .. } => {
                recorded!("plan-returns", probe = probe.words(), status = status.to_string())
            }
            Probe::Http { status, contains: Some(text), .. } => {
                let (status, text) = (status.to_string(), format!("{text:?}"));
                recorded!("plan-returns-text", probe = probe.words(), status = status, text = text)
            }
            Probe::Tcp { tcp, .. } => recorded!("plan-accepts", address = tcp),
            Probe::Command { command, .. } => exits(command),
        });
        let health = self.health.iter().flat_map(|health| {
            let time = health.time.to_string();
            health.command.iter().map(move |command| recorded!("plan-keeps-exiting", command = command, time = &time))
        });
        let all = self.command.iter().map(exits).chain(probes).chain(health);
        all.reduce(|before, one| before.and(", ").and(one)).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "gate_test.rs"]
mod tests;
