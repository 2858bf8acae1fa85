//! Processes as `/proc` shows them: identity, descent, marks in the environment, and how to signal exactly one.
//!
//! Must not know run directories or why a process should end.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::invocation::{RUN_DIR_VARIABLE, WITHIN_RUN_VARIABLE};

/// A process that cannot be mistaken for a later one with the same number: pid and start time since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: i32,
    /// Field 22 of `/proc/PID/stat`, in clock ticks.
    pub start_ticks: u64,
}

/// Whether a signal reached the process it was meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Sent,
    /// It had ended already.
    Gone,
}

impl ProcessIdentity {
    /// Looks a pid up; `None` if there is no such process (or it is a zombie, which nobody needs to signal).
    pub fn read(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        stat.is_running().then_some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Whether this process started it.
    pub fn is_child(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| u32::try_from(stat.parent) == Ok(std::process::id()))
    }

    /// Signals this process and no other, even if its number has been given away meanwhile.
    pub fn signal(self, signal: Signal) -> io::Result<Delivery> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(Delivery::Gone) };
        let sent = match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor pins the process, so that the look after it settles who it is.
            Ok(descriptor) if Self::read(self.pid) == Some(self) => pidfd_send_signal(descriptor, signal),
            Ok(_) => return Ok(Delivery::Gone),
            Err(rustix::io::Errno::NOSYS) if Self::read(self.pid) == Some(self) => kill_process(pid, signal),
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
    changing: bool,
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
        // Fields 23 and 51 (proc_pid_stat(5): `vsize`, `env_end`): in the middle of `execve` a process has memory but no place for
        // its environment in it yet. Threads of the kernel have neither, a program without any environment has both.
        let (memory, environment) = (fields.next(), fields.nth(27));
        let changing = memory.is_some_and(|size| size != "0") && environment == Some("0");
        Some(Self { state, parent, start_ticks, changing })
    }

    fn is_running(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// The process that started another one, or has taken it over; `None` if there is no such process.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    ProcessIdentity::read(pid)?;
    Some(Stat::read(pid)?.parent)
}

pub(crate) fn all_pids() -> io::Result<impl Iterator<Item = i32>> {
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

/// The processes that the threads of one have started and not yet reaped. None where the system does not say
/// (`CONFIG_PROC_CHILDREN`).
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let read = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    read.flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// What a process has in memory that is no file's, in bytes; what it shares with its children, too.
pub(crate) fn memory(pid: u32) -> u64 {
    let read = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = read.split_ascii_whitespace().skip(1).map_while(|pages| pages.parse::<u64>().ok());
    let (resident, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(of_files).saturating_mul(rustix::param::page_size() as u64)
}

/// The same with its share of what several processes have; as above where the system does not say.
pub(crate) fn memory_shared_out(pid: u32) -> u64 {
    let read = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let share = read.lines().find_map(|line| line.strip_prefix("Pss_Anon:")?.trim().strip_suffix(" kB")?.parse().ok());
    share.map_or_else(|| memory(pid), |kib: u64| kib << 10)
}

/// What one look at all processes saw.
#[derive(Debug, Default)]
pub struct Marked {
    /// Running processes that carry the mark, but for this one.
    pub alive: BTreeSet<ProcessIdentity>,
    /// Whether some process was just becoming another program: what it carries shows only afterwards, so that this look has
    /// proven nothing about it.
    pub changing: bool,
}

/// Looks for processes that have this variable with this value in their environment.
///
/// # Errors
/// `/proc` cannot be listed.
pub fn marked(variable: &str, value: &[u8]) -> io::Result<Marked> {
    marked_by_any(&[variable], value)
}

fn marked_by_any(variables: &[&str], value: &[u8]) -> io::Result<Marked> {
    let wanted: Vec<Vec<u8>> = variables.iter().map(|name| [name.as_bytes(), b"=", value].concat()).collect();
    let mut seen = Marked::default();
    for (pid, environment) in environments()? {
        if environment.split(|byte| *byte == 0).any(|entry| wanted.iter().any(|wanted| entry == wanted)) {
            seen.alive.extend(ProcessIdentity::read(pid));
        } else if environment.is_empty() {
            seen.changing |= Stat::read(pid).is_some_and(|stat| stat.changing);
        }
    }
    Ok(seen)
}

/// Between two looks for processes that are being killed.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Kills what a look finds until one finds nothing any more; returns how many processes that were. Blocks. Processes that no
/// SIGKILL ends within the limit, stuck in the kernel on a dead disk say, are left behind.
pub(crate) fn kill_until_gone(limit: Duration, mut look: impl FnMut() -> io::Result<Marked>) -> u32 {
    let began = Instant::now();
    let mut killed = BTreeSet::new();
    loop {
        let seen = look().unwrap_or_else(|error| {
            tracing::error!(%error, "cannot look for processes that were left behind");
            Marked::default()
        });
        if seen.alive.is_empty() && !seen.changing {
            break;
        }
        for process in seen.alive {
            match process.signal(Signal::KILL) {
                Ok(Delivery::Sent) => drop(killed.insert(process)),
                Ok(Delivery::Gone) => {}
                Err(error) => tracing::error!(pid = process.pid, %error, "cannot end a process that was left behind"),
            }
        }
        if began.elapsed() > limit {
            tracing::error!("processes that were left behind survive SIGKILL: they are stuck in the kernel");
            break;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    u32::try_from(killed.len()).unwrap_or(u32::MAX)
}

/// All running processes whose environment carries a run's mark, with the run's directory.
pub(crate) fn marked_by_runs() -> io::Result<Vec<(ProcessIdentity, PathBuf)>> {
    let of_run = |(pid, environment): (i32, Vec<u8>)| Some((ProcessIdentity::read(pid)?, mark_in(&environment)?));
    Ok(environments()?.filter_map(of_run).collect())
}

/// All running processes of the run with this directory, and of those that were started within it.
pub(crate) fn marked_with(run: &Path) -> io::Result<Marked> {
    marked_by_any(&[RUN_DIR_VARIABLE, WITHIN_RUN_VARIABLE], run.as_os_str().as_bytes())
}

/// The environments of all processes but this one. Those of other users cannot be read; they are not ours to end either.
fn environments() -> io::Result<impl Iterator<Item = (i32, Vec<u8>)>> {
    let own = i32::try_from(std::process::id());
    let others = all_pids()?.filter(move |pid| own != Ok(*pid));
    Ok(others.filter_map(|pid| Some((pid, fs::read(format!("/proc/{pid}/environ")).ok()?))))
}

fn mark_in(environment: &[u8]) -> Option<PathBuf> {
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(RUN_DIR_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_vec()).into())
    })
}

/// Names this boot of the machine, so that pids of an earlier one are never believed. Empty if unknown.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
#[path = "proc_test.rs"]
mod tests;
