//! The axes of a classification: category, when to try again, whose move it is.
//!
//! Must not know how any of them is decided.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of failure it is: the ten labels of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Category {
    /// A path is missing or the operating system refuses it.
    FileAccess,
    /// A named thing (command, module, symbol, package, table) does not exist.
    FunctionError,
    /// Code, SQL or configuration does not parse.
    SyntaxError,
    /// A check said no: assertion, snapshot, coverage, lint, format.
    AssertionFailure,
    /// Types, ownership, argument counts, use of nothing as something.
    TypeError,
    /// A deadline passed.
    Timeout,
    /// No memory: killed for it, heap limit, failed allocation, stack overflow.
    MemoryError,
    /// The network, or a service at its other end, did not work.
    NetworkError,
    /// A limited thing ran out or was refused: disk, descriptors, quota, rate, budget, rights at a service.
    ResourceError,
    /// None of these, or not known.
    Unknown,
}

impl Category {
    /// All of them, in the contract's order.
    pub const ALL: [Self; 10] = [
        Self::FileAccess,
        Self::FunctionError,
        Self::SyntaxError,
        Self::AssertionFailure,
        Self::TypeError,
        Self::Timeout,
        Self::MemoryError,
        Self::NetworkError,
        Self::ResourceError,
        Self::Unknown,
    ];

    /// The label of the contract, such as `FILE_ACCESS`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::FileAccess => "FILE_ACCESS",
            Self::FunctionError => "FUNCTION_ERROR",
            Self::SyntaxError => "SYNTAX_ERROR",
            Self::AssertionFailure => "ASSERTION_FAILURE",
            Self::TypeError => "TYPE_ERROR",
            Self::Timeout => "TIMEOUT",
            Self::MemoryError => "MEMORY_ERROR",
            Self::NetworkError => "NETWORK_ERROR",
            Self::ResourceError => "RESOURCE_ERROR",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.label())
    }
}

/// When trying again makes sense. Advice for people and prompts: retry policy reads typed agent errors instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryAdvice {
    /// At once, as it is.
    Now,
    /// As it is, after a while.
    AfterDelay,
    /// After something that an agent or Helix can change.
    AfterChange,
    /// After a person has done something.
    Human,
    /// Not at all.
    Never,
}

impl RetryAdvice {
    /// The word of the wire format.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::AfterDelay => "after_delay",
            Self::AfterChange => "after_change",
            Self::Human => "human",
            Self::Never => "never",
        }
    }
}

/// Whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The coding agent's work.
    Agent,
    /// The machine, its services, and remote services other than the model's.
    Environment,
    /// The model's API.
    Provider,
    /// Helix's own arguments, configuration, limits, sessions.
    Platform,
    /// A person's keys, plan, billing, account.
    User,
}

impl Blame {
    /// The word of the wire format.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Environment => "environment",
            Self::Provider => "provider",
            Self::Platform => "platform",
            Self::User => "user",
        }
    }
}
