//! What held a run's processes back: the evidence of its sandbox.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recorded;
use crate::said::Words;

crate::words! {
    /// Whether runs get walls.
    #[derive(Default)]
    pub enum SandboxMode {
        /// No run starts where the walls cannot be put up.
        Required = "required",
        /// Every run gets the walls that the system can put up.
        #[default]
        Preferred = "preferred",
        /// No walls.
        Off = "off",
    }
}

crate::words! {
    /// What the runs of a phase may connect to.
    #[derive(Default)]
    pub enum NetworkAccess {
        /// Everything.
        #[default]
        Open = "open",
        /// Nothing; an agent: the port of its provider.
        Closed = "closed",
    }
}

/// What one wall keeps a run's processes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Files that the run was not given.
    Files,
    /// Signals to processes outside of the run, tracing them, and abstract sockets.
    Signals,
    /// The network, where the run has none or a part of it.
    Network,
    /// The machine's `/tmp`, `/run` and `/dev/shm`, with the sockets of other programs in them.
    Sockets,
    /// More processes, open files or bytes than the run may have.
    Limits,
    /// The key of the agent's provider.
    Key,
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "files",
            Self::Signals => "signals",
            Self::Network => "network",
            Self::Sockets => "sockets",
            Self::Limits => "limits",
            Self::Key => "key",
        })
    }
}

/// A wall that was wanted and did not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoWall {
    pub wall: Wall,
    /// Why not.
    pub why: Words,
}

impl NoWall {
    /// Which wall is missing, and why.
    pub fn into_words(self) -> Words {
        recorded!("no-wall", wall = self.wall.to_string(), why = self.why)
    }
}

/// What held a run's processes back, as its keeper saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WallsHeld {
    /// Version of Landlock that held; 0 for none.
    pub landlock: u32,
    pub held: Vec<Wall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<NoWall>,
}

impl WallsHeld {
    pub fn holds(&self, wall: Wall) -> bool {
        self.held.contains(&wall)
    }
}
