//! The walls of a run: what its processes may read, write and reach.
//!
//! Must not put anything up: the keeper does, between fork and exec (`keeper/confine.rs`).

use std::path::PathBuf;

use helix_core::run::{NetworkAccess, NoWall, Wall, WallsHeld};
use helix_core::said::Words;
use serde::{Deserialize, Serialize};

use crate::prepared::Prepared;

/// What a run's processes may reach. Everything that is not named is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Whether the run must not start without them.
    #[serde(default)]
    pub required: bool,
    /// Files and directories, with all below, that may be read and changed. What does not exist is left out.
    #[serde(default)]
    pub writable: Vec<PathBuf>,
    /// The same for those that may only be read and executed.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    /// Directories of which nothing is open but what is named below them: what opens a place above one does not open it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<PathBuf>,
    /// Directories in which the run finds nothing but what is opened below them: sockets in them are open also to runs that may not read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty: Vec<PathBuf>,
    #[serde(default)]
    pub network: Network,
    /// `None` for those that count for all runs of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Of an agent that has a provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Gateway>,
    /// What its work place has besides its own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Prepared>,
}

/// How an agent reaches its provider: through its keeper, which alone has the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Variables with keys, for which the run gets others. Empty where the agent is logged in by itself: there is no gateway then.
    pub keys: Vec<String>,
    pub address: ProviderAddress,
    /// TCP ports that the agent needs where there is no gateway and its network is closed.
    pub ports: Vec<u16>,
}

/// Where the agent reads its provider's address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderAddress {
    Variable {
        name: String,
        /// The address if the variable is not set.
        default: String,
    },
    /// After `base_url="` in the argument with this number, from 0.
    Argument(usize),
}

/// What a run may connect to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Everything.
    #[default]
    Open,
    /// These TCP ports of any machine. UDP, and with it the look-up of names, stays open.
    Ports(Vec<u16>),
    /// Nothing but its own processes.
    Closed,
}

impl From<NetworkAccess> for Network {
    fn from(access: NetworkAccess) -> Self {
        match access {
            NetworkAccess::Open => Self::Open,
            NetworkAccess::Closed => Self::Closed,
        }
    }
}

/// What a run's processes may use up together, or each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads of the run, beside those that there were when it started.
    pub processes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Size of one file, in bytes.
    pub file_size: u64,
    /// Memory that the run's processes do not share with files, in bytes.
    pub memory: u64,
}

impl Limits {
    /// Most memory of one of its processes.
    pub(crate) fn memory_of_one(&self) -> u64 {
        (self.memory / 2).max(self.memory.min(4 << 30))
    }
}

impl Default for Limits {
    fn default() -> Self {
        let memory = (machine_memory() / 2).max(4 << 30);
        Self { processes: 2048, open_files: 65_536, file_size: 16 << 30, memory }
    }
}

/// Of the whole machine, in bytes; 16 GiB where the system does not say.
fn machine_memory() -> u64 {
    let read = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = read.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(16 << 30, |kib: u64| kib << 10)
}

/// Why what held is not what had to hold: walls that are missing of those that a required sandbox consists of.
pub(crate) fn shortfall(held: &WallsHeld, network: &Network) -> Option<Words> {
    let demanded = |wall: Wall| match wall {
        Wall::Files | Wall::Signals => true,
        Wall::Network => *network != Network::Open,
        Wall::Sockets | Wall::Limits | Wall::Key => false,
    };
    held.missing.iter().find(|NoWall { wall, .. }| demanded(*wall)).cloned().map(NoWall::into_words)
}

#[cfg(test)]
#[path = "walls_test.rs"]
mod tests;
