//! Where a failure happened, in the words of the report's readers.
//!
//! Must not know what failed there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::ids::{JobId, PhaseId, TurnId};

/// Where a failure happened. Whatever is not known is absent: a report is made from what there is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailurePlace {
    /// The project: path of its repository, or another stable name; empty when not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// The turn of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The plan or ADR that was refused; empty when it is about none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document: String,
    /// The phase's name, as the plan's author wrote it; empty when not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub phase_name: String,
    /// What was to be done: the phase's description; empty when not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// Which try, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many attempts there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// What saw the failure, such as `gate/0/tests_pass`; see [`crate::memory::check`]. Empty when not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub check: String,
    /// The ADR that the work carries out, such as `adr/012-csv-export.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adr: Option<String>,
    /// The issue that asked for it, as its tracker names it, such as `#17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The log that the excerpt is from, as a person would open it; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
}

impl FailurePlace {
    /// Which try of how many, such as `2 of 3`.
    pub(super) fn attempt_of(&self) -> Option<String> {
        let most = self.max_attempts.map(|most| format!(" of {most}")).unwrap_or_default();
        self.attempt.map(|attempt| format!("{attempt}{most}"))
    }
}
