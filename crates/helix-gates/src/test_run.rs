//! What a run of tests amounts to.
//!
//! Must not know any runner, nor what follows from it.

use std::collections::BTreeSet;

use helix_core::evidence::TestCounts;
use serde::{Deserialize, Serialize};

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedTest {
    /// Its name as the runner gives it; the same from run to run.
    pub(crate) name: String,
    /// File it failed in, as printed.
    pub(crate) file: Option<String>,
    /// Line, from 1.
    pub(crate) line: Option<u32>,
    /// What the runner printed about it.
    pub(crate) evidence: String,
}

impl FailedTest {
    pub(crate) fn new(name: impl Into<String>, place: Option<(String, u32)>, evidence: &[&str]) -> Self {
        let (file, line) = place.unzip();
        let evidence = helix_core::text::bounded(evidence.join("\n").trim_matches('\n'), 2 << 10);
        Self { name: name.into(), file, line, evidence }
    }
}

/// What a run amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestRun {
    pub(crate) counts: TestCounts,
    pub(crate) failures: Vec<FailedTest>,
    /// Names of those that passed, where the runner gives them.
    #[serde(default)]
    pub(crate) passed: BTreeSet<String>,
}

impl TestRun {
    pub(crate) fn of(counts: TestCounts, failures: Vec<FailedTest>) -> Self {
        Self { counts, failures, ..Self::default() }
    }
    pub(crate) fn total(&self) -> u32 {
        self.counts.passed.saturating_add(self.counts.failed)
    }
}
