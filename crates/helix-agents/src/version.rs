//! Versions of agents, and whether Helix knows them.
//!
//! Must not know how an agent is asked for its version.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// That of a program that was not asked for one.
    pub const NONE: Self = Self { major: 0, minor: 0, patch: 0 };

    /// The first version in a text, such as `2.1.330` in `2.1.330 (Claude Code)`.
    pub fn first_in(text: &str) -> Option<Self> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.')).find_map(Self::exactly)
    }

    fn exactly(word: &str) -> Option<Self> {
        let mut numbers = word.trim_end_matches('.').split('.').map(|number| number.parse().ok());
        let version = Self { major: numbers.next()??, minor: numbers.next()??, patch: numbers.next()?? };
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What an agent is to Helix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    pub version: Version,
    /// Whether Helix knows this version.
    pub supported: Supported,
}

/// Whether Helix knows a version of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Supported {
    /// Its behaviour was measured.
    Yes,
    /// It is older than anything that was measured: not used.
    TooOld {
        /// The oldest version that is used.
        minimum: Version,
    },
    /// It was not asked for its version, since it is no agent that would have one; only that it is there is known.
    NotAsked,
    /// It is newer than anything that was measured: used, with a warning.
    Untested {
        /// The newest version that was measured.
        newest_tested: Version,
    },
}

impl Supported {
    /// What a version is to Helix when those from `oldest` to `newest` were measured.
    pub(crate) fn between(oldest: Version, newest: Version, version: Version) -> Self {
        if version < oldest {
            Self::TooOld { minimum: oldest }
        } else if version > newest {
            Self::Untested { newest_tested: newest }
        } else {
            Self::Yes
        }
    }
}

#[cfg(test)]
#[path = "version_test.rs"]
mod tests;
