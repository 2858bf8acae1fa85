//! Names of an attempt's things in git: its branch, its worktree, its trailers.
//!
//! Must not touch anything: the same attempt has the same names before and after a crash.

use std::path::{Path, PathBuf};

use helix_core::ids::{JobId, PhaseId};

/// Which attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    pub job: JobId,
    pub phase: PhaseId,
    /// The try, from 1.
    pub attempt: u32,
}

impl AttemptKey {
    /// Branch that keeps the attempt's work: `helix/<job>/<phase>/<attempt>`.
    pub fn branch(&self) -> String {
        format!("helix/{}/{}/{}", self.job, self.phase, self.attempt)
    }

    /// Directory of the attempt's worktree: `<root>/<job>/<phase>.<attempt>`.
    pub fn directory(&self, root: &Path) -> PathBuf {
        root.join(self.job.as_str()).join(format!("{}.{}", self.phase, self.attempt))
    }

    /// Trailers of every commit that Helix makes for the attempt.
    pub fn trailers(&self) -> String {
        format!("Helix-Job: {}\nHelix-Phase: {}\nHelix-Attempt: {}\n", self.job, self.phase, self.attempt)
    }
}
