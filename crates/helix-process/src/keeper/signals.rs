//! The keeper's only waiting place: signals read from a descriptor, with a time to wake at the latest.
//!
//! Must not know what a signal leads to.

use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::fault::KeeperFault;

/// Signals that ask the keeper to end its run.
const REQUESTS: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

/// Blocked signals, readable from a descriptor.
pub(crate) struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Blocks the requests and SIGCHLD in this thread, which has to be the only one.
    pub(crate) fn block() -> Result<Self, KeeperFault> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGCHLD);
        for signal in REQUESTS {
            set.add(signal);
        }
        let blocked = set
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC));
        let descriptor = blocked.map_err(KeeperFault::system("receive signals"))?;
        Ok(Self { descriptor })
    }

    /// Waits until a signal arrives or `until` has come; whether somebody asked the keeper to end its run.
    pub(crate) fn wait(&self, until: Option<Instant>) -> Result<bool, KeeperFault> {
        let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        let mut descriptors = [PollFd::new(&self.descriptor, PollFlags::IN)];
        match poll(&mut descriptors, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(KeeperFault::system("wait for signals")(errno)),
        }
        let mut asked_to_end = false;
        while let Some(signal) = self.descriptor.read_signal().map_err(KeeperFault::system("read signals"))? {
            asked_to_end |= REQUESTS.iter().any(|request| u32::try_from(*request as i32) == Ok(signal.ssi_signo));
        }
        Ok(asked_to_end)
    }
}

fn timespec(duration: Duration) -> Timespec {
    // The extra microsecond keeps the wake-up from coming just before the time that it is meant for.
    let duration = duration.saturating_add(Duration::from_micros(1));
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
