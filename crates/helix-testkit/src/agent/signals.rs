//! What the agent does on SIGINT, SIGTERM and SIGHUP: what the real CLI was measured to do, or nothing.
//!
//! Must not know scripts.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::output::Output;

/// Shared with the thread that waits for signals.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignalState {
    deaf: Arc<AtomicBool>,
    /// Leader of the session of the command that runs now; 0 if none does.
    child: Arc<AtomicI32>,
    /// What is written on SIGINT.
    farewell: Arc<Mutex<String>>,
}

impl SignalState {
    /// Ignores signals from now on.
    pub(crate) fn deafen(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Says which command runs now.
    pub(crate) fn set_child(&self, pid: i32) {
        self.child.store(pid, Ordering::SeqCst);
    }

    pub(crate) fn listen(&self, output: Output, farewell: String) -> Result<(), String> {
        *self.farewell.lock().unwrap_or_else(PoisonError::into_inner) = farewell;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| format!("signals: {error}"))?;
        let state = self.clone();
        let wait = move || {
            for signal in signals.forever() {
                if state.deaf.load(Ordering::SeqCst) {
                    continue;
                }
                state.kill_child();
                match signal {
                    SIGINT => {
                        let farewell = state.farewell.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        output.end_with(Some(&farewell), 0);
                    }
                    SIGTERM => output.end_with(None, 143),
                    _ => output.end_with(None, 129),
                }
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(wait).map_err(|error| format!("thread: {error}"))?;
        Ok(())
    }

    fn kill_child(&self) {
        if let Some(leader) = Pid::from_raw(self.child.load(Ordering::SeqCst)) {
            // It may be gone already.
            let _gone = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Makes SIGINT, SIGTERM and SIGHUP do nothing.
pub(crate) fn ignore_polite_ones() -> Result<(), String> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, flag).map_err(|error| format!("signal {signal}: {error}"))?;
    }
    Ok(())
}
