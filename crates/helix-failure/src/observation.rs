//! What a supervisor knows about a failure as data, before any text is read.
//!
//! Must not know how it is weighed.

use serde::{Deserialize, Serialize};

use super::own_check::OwnCheck;

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Termination {
    /// By itself, with this status.
    Exited {
        code: i32,
    },
    Signaled {
        signal: i32,
    },
    NotStarted {
        /// The system's error number.
        errno: i32,
    },
    /// A person stopped it.
    Cancelled,
    #[default]
    Unknown,
}

/// Structured facts about one failure of a command, an agent's turn or an API call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailureObservation {
    /// The tool, such as `cargo`; empty when not known.
    pub tool: String,
    /// The phase, such as `test`; empty when not known.
    pub phase: String,
    pub argv: Vec<String>,
    /// How the process ended.
    pub termination: Termination,
    /// Status of the HTTP answer that ended it.
    pub http_status: Option<u16>,
    /// Type of the API's error, such as `overloaded_error`.
    pub api_error_type: Option<String>,
    /// The supervisor's own deadline passed.
    pub deadline_passed: bool,
    /// How many processes the memory controller killed.
    pub oom_kills: u32,
    /// Which check of Helix's own said no.
    pub own_check: Option<OwnCheck>,
}

impl FailureObservation {
    /// The exit status as a shell would tell it: 128 more than the signal.
    pub fn shell_status(&self) -> Option<i32> {
        match self.termination {
            Termination::Exited { code } => Some(code),
            Termination::Signaled { signal } => Some(128_i32.saturating_add(signal)),
            Termination::NotStarted { errno: 2 } => Some(127),
            Termination::NotStarted { errno: 13 } => Some(126),
            Termination::NotStarted { errno: _ } | Termination::Cancelled | Termination::Unknown => None,
        }
    }
}
