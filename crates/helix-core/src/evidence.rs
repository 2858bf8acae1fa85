//! What was changed, and what proves that it is good: commits, gates' answers, commands that ran.
//!
//! Must not know jobs: all that change or check something say so in these words.

use crate::run::WallsHeld;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::Verdict;
use super::ids::{CommitId, PhaseId, TreeId};
use super::said::Words;

/// A passed phase's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Whose result it is.
    pub phase: PhaseId,
    pub commit: CommitId,
}

/// A commit and the tree it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Committed {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Branch that keeps it.
    pub branch: String,
    /// What changed since the phase's base (or the job's base, for an integration).
    pub changed: Vec<ChangedFile>,
    /// Whether the tree differs from the one the attempt started from.
    pub moved: bool,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// How it changed.
    pub how: ChangeKind,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// A file of a result that runs by itself: a program, or a server after a push, runs or obeys it without anybody deciding to run the
/// project's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelfRunning {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// What runs or obeys it.
    pub by: RunsBy,
    /// SHA-256 (hex) of its mode and of what of its content counts.
    pub digest: String,
    /// The lines that are new, or the first of them, each cut to a length, what is not seen written as an escape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// New lines beyond those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

crate::words! {
    /// What runs a file, or obeys it, by itself.
    pub enum RunsBy {
        /// A shell, or its extension, when somebody enters the directory.
        Shell = "shell",
        /// An editor, when somebody opens the directory.
        Editor = "editor",
        /// A coding agent that is started there.
        Agent = "agent",
        /// Helix.
        Helix = "helix",
        /// A server, after the next push.
        Server = "server",
        /// Git or another version control, with its own commands.
        Git = "git",
        /// An interpreter or a debugger that is started there.
        Interpreter = "interpreter",
        /// A package manager or build tool, at any of its commands.
        Tool = "tool",
        /// A file manager, when somebody looks into the directory.
        FileManager = "file_manager",
    }
}

/// A gate's answer with what proves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateReport {
    /// Name of the gate.
    pub gate: String,
    /// The answer.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// One line for people, such as `12 passed, 0 failed`.
    pub summary: String,
    /// The same as words of Helix.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// The tree it looked at.
    pub tree: TreeId,
    /// The command it ran, if it ran one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandEvidence>,
    /// Test counts, for gates that run tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// Commands and probes in the order in which they were made, for gates that act outside of the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// Things worth knowing that do not block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The same as words of Helix, each in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes_said: Vec<Words>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

impl GateReport {
    /// The answer of a gate that ran no command and made no steps.
    pub fn new(gate: impl Into<String>, verdict: Verdict, summary: String, tree: TreeId) -> Self {
        let (gate, said, steps, notes, notes_said) =
            (gate.into(), Words::default(), Vec::new(), Vec::new(), Vec::new());
        Self {
            gate,
            verdict,
            summary,
            said,
            tree,
            command: None,
            tests: None,
            steps,
            notes,
            notes_said,
            duration_ms: 0,
        }
    }

    /// The summary as words.
    pub fn words(&self) -> Words {
        self.said.or(&self.summary)
    }

    /// The notes as words.
    pub fn notes(&self) -> impl Iterator<Item = Words> {
        Words::of_each(&self.notes_said, &self.notes)
    }
}

/// What proves that a command ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandEvidence {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Exit status, when it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// SHA-256 of its output, hex.
    pub output_sha256: String,
    /// File with the full output, relative to the state directory.
    pub output_file: String,
    /// What held its processes back; `None` where no sandbox was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsHeld>,
}

/// Counts read from a test runner's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or broke.
    pub failed: u32,
    /// Tests that were skipped or ignored.
    pub skipped: u32,
}

impl std::ops::Add for TestCounts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

crate::words! {
    /// How a job's result gets to the user.
    #[derive(Default)]
    pub enum Land {
        /// A merge commit on the target branch.
        #[default]
        Merge = "merge",
        /// One commit on the target branch, without the phases' own.
        Squash = "squash",
        /// A branch of its own; the target branch stays as it is.
        Branch = "branch",
    }
}

/// Where an integrated result went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum IntegrationTarget {
    /// The target branch; the user's work tree, if it had the branch checked out, was brought up to date.
    Branch {
        /// Its name.
        branch: String,
    },
    /// A branch of its own, since the user's work tree must not be touched.
    Beside {
        /// Its name.
        branch: String,
        /// Why not the target branch.
        why: String,
        /// The same as words of Helix; empty where a former one recorded it.
        #[serde(default, skip_serializing_if = "Words::is_empty")]
        said: Words,
        /// What the user can run to take it.
        command: String,
    },
    /// Nothing changed, so there was nothing to bring anywhere.
    Nowhere,
}

impl IntegrationTarget {
    /// Why it was not the target branch, as words; empty where it was.
    pub fn why(&self) -> Words {
        match self {
            Self::Beside { why, said, .. } => said.or(why),
            Self::Branch { .. } | Self::Nowhere => Words::default(),
        }
    }
}

/// One command or probe of a delivery, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// What was run or looked at, as the plan says it.
    pub step: String,
    /// Whether it ended as expected.
    pub outcome: StepOutcome,
    /// What was seen at last: `exit 0`, `status 200`, `connected`.
    pub seen: String,
    /// The same as words of Helix, where they are its own.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub said: Words,
    /// Attempts; a command that acts has one.
    pub attempts: u32,
    /// The command that ran last for it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandEvidence>,
}

impl StepReport {
    /// What was seen at last, as words.
    pub fn words(&self) -> Words {
        self.said.or(&self.seen)
    }
}

/// How a step of a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// As expected.
    Good,
    /// Not as expected.
    Bad,
    /// It could not be seen to its end.
    Unknown,
}
