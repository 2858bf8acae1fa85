//! What a test command gave on a tree, kept in the state directory so that no tree is tested twice for comparison.
//!
//! Must not decide anything with it. A cache that cannot be read or written costs time, never an answer.

use std::path::{Path, PathBuf};

use helix_core::error_chain;
use helix_core::ids::TreeId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::run::TestRun;
use crate::checkout::blocking;
use crate::judgement::Trouble;
use helix_process::{CommandEnd, replace_file};

/// The result of a test command on a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Baseline {
    pub(super) end: BaselineEnd,
    pub(super) run: Option<TestRun>,
}

/// Where a baseline was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// Where the job started.
    Job,
    /// Where the phase started.
    Phase,
    /// Both started from the same tree.
    Both,
}

impl Since {
    /// For messages: `before …`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Job => "the job",
            Self::Phase | Self::Both => "the phase",
        }
    }
}

/// A baseline with its place.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) since: Since,
    pub(super) baseline: Baseline,
}

impl Before {
    /// The tests that ran there, if any did.
    pub(super) fn tests(&self) -> Option<&TestRun> {
        self.baseline.run.as_ref().filter(|run| run.total() > 0)
    }

    /// Whether a test failed there.
    pub(super) fn failed(&self, name: &str) -> bool {
        self.tests().is_some_and(|run| run.failures.iter().any(|failure| failure.name == name))
    }
}

/// How the command ended there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BaselineEnd {
    Ran(CommandEnd),
    NotRun(String),
}

impl BaselineEnd {
    /// Whether the same would come out the next time.
    fn lasts(&self) -> bool {
        matches!(self, Self::Ran(end) if end.lasts())
    }
}

/// Version of the readers: a cache written by other readers is not used.
const READERS: &str = "3";

/// The cache for one command in one virtual environment: in another one the same tests may fail for want of a package.
pub(super) struct Cache {
    directory: PathBuf,
    command: String,
}

impl Cache {
    pub(super) fn new(state: &Path, argv: &[String], venv: Option<&str>) -> Self {
        let command = venv.into_iter().chain(argv.iter().map(String::as_str)).collect::<Vec<_>>().join("\0");
        Self { directory: state.join("cache/tests"), command }
    }

    fn path(&self, tree: &TreeId) -> PathBuf {
        let digest = Sha256::digest(format!("{READERS}\0{tree}\0{}", self.command));
        self.directory.join(format!("{digest:x}.json"))
    }

    pub(super) async fn load(&self, tree: &TreeId) -> Option<Baseline> {
        let bytes = tokio::fs::read(self.path(tree)).await.ok()?;
        serde_json::from_slice(&bytes).inspect_err(|error| tracing::warn!(%error, "a cached baseline is damaged")).ok()
    }

    /// Keeps what a tree gave. Of two runs of one tree the better one stays: a test that fails now and then is no old failure.
    pub(super) async fn store(&self, tree: &TreeId, baseline: &Baseline) {
        let failed = |baseline: &Baseline| baseline.run.as_ref().map_or(u32::MAX, |run| run.counts.failed);
        let known = self.load(tree).await;
        if !baseline.end.lasts() || known.is_some_and(|known| failed(&known) <= failed(baseline)) {
            return;
        }
        if let Err(trouble) = self.write(self.path(tree), baseline).await {
            tracing::warn!(%trouble, "a baseline could not be cached; it will be run again");
        }
    }

    async fn write(&self, path: PathBuf, baseline: &Baseline) -> Result<(), Trouble> {
        let broken = |error: &dyn std::error::Error| Trouble::Broken(error_chain(error));
        let bytes = serde_json::to_vec(baseline).map_err(|error| broken(&error))?;
        tokio::fs::create_dir_all(&self.directory).await.map_err(|error| broken(&error))?;
        blocking(move || replace_file(&path, &bytes)).await?.map_err(|error| broken(&error))
    }
}
