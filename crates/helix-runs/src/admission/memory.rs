//! How much memory and how many cores there are for agents.
//!
//! Reads what the kernel says of the machine and of the control group that limits this process; must not know what follows from it.

use std::path::{Path, PathBuf};

/// Memory that one agent is reckoned with: a headless coding agent was measured at up to 400 MB, and its tools need some too.
pub const BYTES_PER_AGENT: u64 = 600 << 20;
/// Most agents at the same time when nothing else is said: past that the provider's limits come first.
const MOST_AGENTS: u32 = 16;

/// Where figures about memory are read.
#[derive(Debug, Clone)]
pub struct MemoryGauge {
    proc: PathBuf,
    control_groups: PathBuf,
}

impl Default for MemoryGauge {
    fn default() -> Self {
        Self { proc: "/proc".into(), control_groups: "/sys/fs/cgroup".into() }
    }
}

impl MemoryGauge {
    /// A gauge that reads `proc` and `cgroup` in a directory, for tests.
    #[cfg(test)]
    pub(super) fn below(root: &Path) -> Self {
        Self { proc: root.join("proc"), control_groups: root.join("cgroup") }
    }

    /// Bytes that can be had without swapping: the least of what the machine has and what the control groups of this process
    /// leave it. `None` where the kernel does not say.
    pub fn available(&self) -> Option<u64> {
        let machine = self.of_machine();
        let groups = self.of_control_groups();
        machine.into_iter().chain(groups).min()
    }

    fn of_machine(&self) -> Option<u64> {
        let text = std::fs::read_to_string(self.proc.join("meminfo")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    }

    /// What each group above this process leaves (control groups of version 2; those of version 1 are not read). Files that
    /// can be dropped from the cache count as free.
    fn of_control_groups(&self) -> Option<u64> {
        let text = std::fs::read_to_string(self.proc.join("self/cgroup")).ok()?;
        let own = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
        Path::new(own).ancestors().filter_map(|group| left_in(&self.control_groups.join(group))).min()
    }
}

fn left_in(group: &Path) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    // `max` is no number: a group without a limit.
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let stat = std::fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let droppable = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(droppable.unwrap_or(0))))
}

/// Cores that this process may use, at least one.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

/// How many agents fit: two for each core, since they mostly wait for their provider, but no more than the memory holds at
/// [`BYTES_PER_AGENT`] each; at least 1, at most 16. Where the memory is unknown: two.
pub fn agents_that_fit(cores: u32, available: Option<u64>) -> u32 {
    let by_memory = available.map_or(2, |bytes| u32::try_from(bytes / BYTES_PER_AGENT).unwrap_or(u32::MAX));
    cores.saturating_mul(2).min(by_memory).clamp(1, MOST_AGENTS)
}

#[cfg(test)]
#[path = "memory_test.rs"]
mod tests;
