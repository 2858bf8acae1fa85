//! The run's processes: reaped as they end, found wherever they hid, and gone when the run is over.
//!
//! Must not know why a run ends.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use helix_core::run::Ending;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use super::cgroup::{Cgroup, ProcessCount};
use super::complain;
use super::fault::KeeperFault;
use super::signals::Signals;
use crate::proc::{ProcessIdentity, children, descendants, marked_with, memory, memory_shared_out};
use crate::walls::Limits;

/// How often the tree is looked at again while it is cleared; ends of direct children wake the keeper at once.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// When to start complaining of processes that no SIGKILL ends (stuck in the kernel).
const STUCK: Duration = Duration::from_secs(10);

/// After what time a process stuck in the kernel is left behind, named in the log, so that the run can be recorded.
const GIVE_UP: Duration = Duration::from_secs(60);

/// All processes that descend from the agent.
pub(crate) struct ProcessTree {
    /// The run's directory, with which its processes are marked.
    run: PathBuf,
    cgroup: Option<Cgroup>,
    /// Removed after the last process.
    _count: Option<ProcessCount>,
}

/// What one round of reaping found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reaped {
    /// How the agent ended, if it was among them.
    pub(crate) agent: Option<Ending>,
    /// Whether any child is left. For a subreaper, no child means no descendant.
    pub(crate) rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Some,
    None,
}

impl ProcessTree {
    pub(crate) fn new(run: PathBuf, cgroup: Option<Cgroup>, count: Option<ProcessCount>) -> Self {
        Self { run, cgroup, _count: count }
    }

    /// Collects everything that has ended.
    pub(crate) fn reap(&self, agent: Pid) -> Result<Reaped, KeeperFault> {
        let mut reaped = Reaped { agent: None, rest: Rest::Some };
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == agent => reaped.agent = ending(status).or(reaped.agent),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Ok(reaped),
                Err(rustix::io::Errno::CHILD) => {
                    reaped.rest = Rest::None;
                    return Ok(reaped);
                }
                Err(errno) => return Err(KeeperFault::system("wait for children")(errno)),
            }
        }
    }

    /// Signals every process of the run, wherever it is.
    pub(crate) fn signal_all(&self, signal: Signal) {
        for process in self.alive() {
            self.signal(process, signal);
        }
        if let Some(cgroup) = self.cgroup.as_ref().filter(|_| signal == Signal::KILL)
            && let Err(error) = cgroup.kill()
        {
            complain(&format!("cannot kill the control group: {error}"));
        }
    }

    /// Ends all that is left once the agent is gone: SIGTERM, `patience`, SIGKILL until nothing is left. Returns how
    /// many processes that were.
    pub(crate) fn clear(&self, signals: &Signals, agent: Pid, patience: Duration) -> Result<u32, KeeperFault> {
        let began = Instant::now();
        let mut told = BTreeSet::new();
        let mut complained = false;
        while self.reap(agent)?.rest == Rest::Some || self.cgroup_holds_any() {
            let alive = self.alive();
            let elapsed = began.elapsed();
            if elapsed < patience {
                for process in &alive {
                    if told.insert(*process) {
                        self.signal(*process, Signal::TERM);
                    }
                }
            } else {
                told.extend(&alive);
                self.signal_all(Signal::KILL);
            }
            if elapsed > STUCK && !complained {
                complained = true;
                complain(&format!("these processes survive SIGKILL so far: {alive:?}"));
            }
            if elapsed > GIVE_UP {
                complain("leaving them behind: they are stuck in the kernel");
                break;
            }
            signals.wait(Some(Instant::now() + LOOK_AGAIN))?;
        }
        Ok(u32::try_from(told.len()).unwrap_or(u32::MAX))
    }

    /// Whether its processes, or one of them, have more memory than they may.
    pub(crate) fn takes_more_than(&self, limits: &Limits) -> bool {
        let mut open = children(std::process::id());
        let mut found = Vec::new();
        while let Some(pid) = open.pop() {
            open.extend(children(pid));
            found.push(pid);
        }
        let all: u64 = found.iter().map(|pid| memory(*pid)).sum();
        let too_much = |of: fn(u32) -> u64| {
            let each: Vec<u64> = found.iter().map(|pid| of(*pid)).collect();
            each.iter().sum::<u64>() > limits.memory || each.iter().any(|one| *one > limits.memory_of_one())
        };
        // What processes share counts for each of them at first: the exact figure takes longer.
        all > limits.memory_of_one() && too_much(memory) && too_much(memory_shared_out)
    }

    fn cgroup_holds_any(&self) -> bool {
        self.cgroup.as_ref().is_some_and(|cgroup| cgroup.members().is_ok_and(|members| !members.is_empty()))
    }

    /// Three ways to be found: descent, the control group, and the mark in the environment.
    fn alive(&self) -> BTreeSet<ProcessIdentity> {
        let own = std::process::id();
        let by_descent = i32::try_from(own).map_or_else(|_| Ok(BTreeSet::new()), descendants);
        let by_group = self.cgroup.as_ref().map_or_else(|| Ok(BTreeSet::new()), Cgroup::members);
        let by_mark = marked_with(&self.run).map(|seen| seen.alive);
        let mut found = BTreeSet::new();
        for way in [by_descent, by_group, by_mark] {
            match way {
                Ok(processes) => found.extend(processes),
                Err(error) => complain(&format!("cannot look for processes: {error}")),
            }
        }
        found
    }

    fn signal(&self, process: ProcessIdentity, signal: Signal) {
        if let Err(error) = process.signal(signal) {
            complain(&format!("cannot signal process {}: {error}", process.pid));
        }
    }
}

fn ending(status: WaitStatus) -> Option<Ending> {
    if let Some(code) = status.exit_status() {
        return Some(Ending::Exited { code });
    }
    status.terminating_signal().map(|signal| Ending::Signaled { signal })
}
