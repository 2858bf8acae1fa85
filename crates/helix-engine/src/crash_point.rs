//! Places where a test lets the whole process die, as `kill -9` would: before and after every append, around every effect.
//!
//! Must not do anything unless it is asked for: without a number every place is passed by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the places that are passed, and ends the process at one of them. Cheap to clone; all clones count together.
#[derive(Debug, Clone, Default)]
pub struct CrashPoint {
    left: Option<Arc<AtomicU64>>,
}

impl CrashPoint {
    /// Ends the process at the place with this number, from 1.
    pub fn at(number: u64) -> Self {
        Self { left: Some(Arc::new(AtomicU64::new(number))) }
    }

    /// Passes a place.
    pub(crate) fn pass(&self, place: &str) {
        let Some(left) = &self.left else { return };
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            tracing::error!(place, "dying here, as was asked for");
            // Nothing may run after this: no destructor, no flush, no other thread.
            if let Err(error) = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            {
                tracing::error!(%error, "cannot die");
            }
        }
    }
}
