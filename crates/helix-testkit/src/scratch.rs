//! A temporary directory that takes the runs kept below it along when it goes, also when its test fails.
//!
//! Must not know what runs there.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::processes_with_env;

/// Looks until nothing is found: what is being started shows a moment later.
const LOOKS: usize = 100;

#[derive(Debug)]
pub struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// Makes the directory.
    ///
    /// # Errors
    /// The disk refused.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { directory: tempfile::Builder::new().prefix("helix-test-").tempdir()? })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    /// Ends agents and commands; their keepers end by themselves then.
    fn drop(&mut self) {
        let Ok(below) = self.path().canonicalize() else { return };
        for _ in 0..LOOKS {
            let found = processes_with_env("HELIX_RUN_DIR", &format!("{}/", below.display())).unwrap_or_default();
            if found.is_empty() {
                return;
            }
            for pid in found.iter().filter_map(|found| Pid::from_raw(i32::try_from(found.pid).ok()?)) {
                // One that has ended meanwhile needs no signal.
                kill_process(pid, Signal::KILL).ok();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
