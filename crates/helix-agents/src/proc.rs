//! Processes as `/proc` shows them: who is who, whose descendant, marked with which run, and how to signal exactly one.
//!
//! Must not know run directories or why a process should go.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::invocation::RUN_ID_VARIABLE;

/// A process that cannot be mistaken for a later one with the same number: pid and start time since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: i32,
    /// Field 22 of `/proc/PID/stat`, in clock ticks.
    pub(crate) start_ticks: u64,
}

/// Whether a signal reached the process it was meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Sent,
    /// It had ended already.
    Gone,
}

impl ProcessIdentity {
    /// Looks a pid up; `None` if there is no such process (or it is a zombie, which nobody needs to signal).
    pub(crate) fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        stat.is_running().then_some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Signals this process and no other, even if its number has been given away meanwhile.
    pub(crate) fn signal(self, signal: Signal) -> io::Result<Delivery> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(Delivery::Gone) };
        let sent = match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor pins the process, so that the look after it settles who it is.
            Ok(descriptor) if Self::of(self.pid) == Some(self) => pidfd_send_signal(descriptor, signal),
            Ok(_) => return Ok(Delivery::Gone),
            Err(rustix::io::Errno::NOSYS) if Self::of(self.pid) == Some(self) => kill_process(pid, signal),
            Err(rustix::io::Errno::NOSYS) => return Ok(Delivery::Gone),
            Err(error) => Err(error),
        };
        match sent {
            Ok(()) => Ok(Delivery::Sent),
            Err(rustix::io::Errno::SRCH) => Ok(Delivery::Gone),
            Err(error) => Err(error.into()),
        }
    }
}

/// The parts of `/proc/PID/stat` that are needed here.
struct Stat {
    state: u8,
    parent: i32,
    start_ticks: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        // A process may end between listing and reading: that is no error, it is simply gone.
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name in brackets may contain anything, brackets and spaces included: fields are counted after the last one.
    fn parse(text: &[u8]) -> Option<Self> {
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let start_ticks = fields.nth(17)?.parse().ok()?;
        Some(Self { state, parent, start_ticks })
    }

    fn is_running(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn all_pids() -> io::Result<impl Iterator<Item = i32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// All running descendants of `root`, itself excluded. Complete for a subreaper: nothing can leave its tree.
pub(crate) fn descendants(root: i32) -> io::Result<BTreeSet<ProcessIdentity>> {
    let mut children: BTreeMap<i32, Vec<(i32, Stat)>> = BTreeMap::new();
    for pid in all_pids()? {
        if let Some(stat) = Stat::read(pid) {
            children.entry(stat.parent).or_default().push((pid, stat));
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (pid, stat) in children.remove(&parent).unwrap_or_default() {
            open.push(pid);
            if stat.is_running() {
                found.insert(ProcessIdentity { pid, start_ticks: stat.start_ticks });
            }
        }
    }
    Ok(found)
}

/// All running processes whose environment carries a run's mark, with the id in it. The caller itself is left out.
pub(crate) fn marked() -> io::Result<Vec<(ProcessIdentity, String)>> {
    let own = std::process::id();
    let mut found = Vec::new();
    for pid in all_pids()? {
        if u32::try_from(pid) == Ok(own) {
            continue;
        }
        // Other people's processes cannot be read; they are not ours to end either.
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { continue };
        if let (Some(run), Some(identity)) = (mark_in(&environment), ProcessIdentity::of(pid)) {
            found.push((identity, run));
        }
    }
    Ok(found)
}

/// All running processes marked with this run.
pub(crate) fn marked_with(run: &str) -> io::Result<BTreeSet<ProcessIdentity>> {
    Ok(marked()?.into_iter().filter(|(_, mark)| mark == run).map(|(identity, _)| identity).collect())
}

fn mark_in(environment: &[u8]) -> Option<String> {
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(RUN_ID_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Names this boot of the machine, so that pids of an earlier one are never believed. Empty if unknown.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let text = b"42 (a) b (c)) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 2";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.start_ticks), (b'S', 7, 987_654));
    }

    #[test]
    fn only_the_whole_variable_is_a_mark() {
        assert_eq!(mark_in(b"A=1\0HELIX_RUN_ID=r1\0B=2\0"), Some("r1".into()));
        assert_eq!(mark_in(b"XHELIX_RUN_ID=r1\0HELIX_RUN_IDS=r1\0HELIX_RUN_ID\0"), None);
    }

    #[test]
    fn an_identity_of_an_earlier_process_is_never_signalled() {
        let own = ProcessIdentity::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        let earlier = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
        assert_eq!(earlier.signal(Signal::KILL).unwrap(), Delivery::Gone);
    }
}
