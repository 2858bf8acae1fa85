//! What a supervisor knows about a failure as data, before any text is read.
//!
//! Must not know how it is weighed.

use helix_core::run::Ending;
use serde::Deserialize;

use super::cause::Cause;

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl From<&Ending> for Termination {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Exited { code } => Self::Exited { code: *code },
            Ending::Signaled { signal } => Self::Signaled { signal: *signal },
            Ending::NotStarted { errno, .. } => errno.map_or(Self::Unknown, |errno| Self::NotStarted { errno }),
            Ending::Unknown => Self::Unknown,
        }
    }
}

/// Structured facts about one failure of a command, an agent's turn or an API call.
///
/// As it is recorded: without how the process ended, which its recorder says in fields of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct FailureObservation {
    /// The tool, such as `cargo`; empty when not known.
    pub tool: String,
    /// The phase, such as `test`; empty when not known.
    pub phase: String,
    pub argv: Vec<String>,
    /// How the process ended.
    #[serde(skip)]
    pub termination: Termination,
    /// Status of the HTTP answer that ended it.
    pub http_status: Option<u16>,
    /// Type of the API's error, such as `overloaded_error`.
    pub api_error_type: Option<String>,
    /// The supervisor's own deadline passed.
    #[serde(rename = "timed_out")]
    pub deadline_passed: bool,
    /// How many processes the memory controller killed.
    #[serde(skip)]
    pub oom_kills: u32,
    /// What a check of Helix's own that said no means; what a command's output tells, its log tells better.
    #[serde(skip)]
    pub own_cause: Option<&'static Cause>,
    /// Whether only a person can get on from here: decided by how it ended, whatever its words remind of.
    #[serde(skip)]
    pub needs_person: bool,
    /// What Helix itself says to do; empty where it does not.
    #[serde(skip)]
    pub remedy: String,
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
