//! The stop ladder: SIGINT, grace, SIGTERM, grace, SIGKILL, begun by a request or by the deadline.
//!
//! Must not know who asks; the cause that was recorded first holds.

use std::time::{Duration, Instant};

use helix_core::run::StopCause;
use rustix::process::{Pid, Signal, kill_process_group};

use super::complain;
use super::tree::ProcessTree;
use crate::invocation::Grace;
use crate::run_dir::{RunDir, RunDirError};

/// How long processes that outlive their agent have between SIGTERM and SIGKILL, if nothing stopped the run.
const LEFTOVER_PATIENCE: Duration = Duration::from_millis(250);

/// How often SIGKILL is repeated for a tree that does not go.
const KILL_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nobody wants it to end yet.
    Running,
    /// It is to end, and has not been told.
    Due,
    Interrupted {
        until: Instant,
    },
    Terminated {
        until: Instant,
    },
    Killed {
        again: Instant,
    },
}

/// Where a run is on its way to being stopped.
#[derive(Debug)]
pub(crate) struct StopLadder {
    grace: Grace,
    deadline: Option<Instant>,
    step: Step,
    cause: Option<StopCause>,
}

impl StopLadder {
    pub(crate) fn new(grace: Grace, deadline: Option<Instant>) -> Self {
        Self { grace, deadline, step: Step::Running, cause: None }
    }

    /// Why the run was stopped, if it was.
    pub(crate) fn cause(&self) -> Option<StopCause> {
        self.cause
    }

    /// How long leftovers may take to obey SIGTERM.
    pub(crate) fn patience(&self) -> Duration {
        match self.step {
            Step::Running | Step::Due => LEFTOVER_PATIENCE,
            Step::Interrupted { .. } | Step::Terminated { .. } => LEFTOVER_PATIENCE.min(self.grace.terminate),
            Step::Killed { .. } => Duration::ZERO,
        }
    }

    /// Looks for a recorded request.
    pub(crate) fn requested(&mut self, directory: &RunDir) -> Result<(), RunDirError> {
        if self.step == Step::Running
            && let Some(stop) = directory.read_stop()?
        {
            self.begin(stop.cause);
        }
        Ok(())
    }

    /// A bare signal to the keeper, with or without a record: somebody wants the run to end.
    pub(crate) fn asked_by_signal(&mut self, directory: &RunDir) {
        if self.step == Step::Running {
            self.record_and_begin(StopCause::Cancelled, directory);
        }
    }

    /// It would take more of the machine while it was asked to end: it is killed at once.
    pub(crate) fn took_too_much(&mut self, cause: StopCause, directory: &RunDir) {
        if self.step == Step::Running {
            self.record_and_begin(cause, directory);
        }
        if !matches!(self.step, Step::Killed { .. }) {
            self.step = Step::Killed { again: Instant::now() };
        }
    }

    /// When something is due next; `None` while there is nothing to wait for but the agent.
    pub(crate) fn next_step(&self) -> Option<Instant> {
        match self.step {
            Step::Running => self.deadline,
            Step::Due => Some(Instant::now()),
            Step::Interrupted { until } | Step::Terminated { until } => Some(until),
            Step::Killed { again } => Some(again),
        }
    }

    /// Does what is due at this time.
    pub(crate) fn climb(&mut self, now: Instant, directory: &RunDir, agent: Pid, tree: &ProcessTree) {
        if self.step == Step::Running && self.deadline.is_some_and(|deadline| deadline <= now) {
            self.record_and_begin(StopCause::Deadline, directory);
        }
        self.step = match self.step {
            Step::Due => {
                signal_group(agent, Signal::INT);
                Step::Interrupted { until: now + self.grace.interrupt }
            }
            Step::Interrupted { until } if until <= now => {
                signal_group(agent, Signal::TERM);
                Step::Terminated { until: now + self.grace.terminate }
            }
            Step::Terminated { until } if until <= now => {
                kill_everything(agent, tree);
                Step::Killed { again: now + KILL_INTERVAL }
            }
            Step::Killed { again } if again <= now => {
                kill_everything(agent, tree);
                Step::Killed { again: now + KILL_INTERVAL }
            }
            waiting @ (Step::Running | Step::Interrupted { .. } | Step::Terminated { .. } | Step::Killed { .. }) => {
                waiting
            }
        };
    }

    fn begin(&mut self, cause: StopCause) {
        self.cause = Some(cause);
        self.step = Step::Due;
    }

    /// The record comes first, so that the cause survives this keeper.
    fn record_and_begin(&mut self, cause: StopCause, directory: &RunDir) {
        let cause = directory.record_stop(cause).unwrap_or_else(|error| {
            complain(&format!("{error}; stopping all the same"));
            cause
        });
        self.begin(cause);
    }
}

/// To the whole group, as a terminal's Ctrl-C goes: a wrapper script does not pass signals on.
fn signal_group(agent: Pid, signal: Signal) {
    // Not reaped yet, so that neither the pid nor the group can have been given away.
    match kill_process_group(agent, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(errno) => complain(&format!("cannot signal the agent's group {}: {errno}", agent.as_raw_pid())),
    }
}

fn kill_everything(agent: Pid, tree: &ProcessTree) {
    signal_group(agent, Signal::KILL);
    tree.signal_all(Signal::KILL);
}
