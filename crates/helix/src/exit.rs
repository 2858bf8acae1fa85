//! Exit codes: the contract with scripts. Must not know which command ends with which.

use std::process::ExitCode;

use helix_engine::submit::Blame;

/// How `helix` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// An honest "no": the job or the check failed.
    No,
    /// Wrong usage or invalid input; nothing was changed.
    Usage,
    /// A person has to answer or approve.
    NeedsPerson,
    /// The environment is at fault.
    Environment,
    /// Helix itself is at fault.
    Helix,
    /// Interrupted by the user.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::NeedsPerson => 3,
            Self::Environment => 4,
            Self::Helix => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

impl From<Blame> for Exit {
    fn from(blame: Blame) -> Self {
        match blame {
            Blame::Request | Blame::Permission => Self::Usage,
            Blame::Environment => Self::Environment,
            Blame::Helix => Self::Helix,
        }
    }
}
