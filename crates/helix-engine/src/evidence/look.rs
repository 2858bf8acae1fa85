//! Where evidence is looked up: commits, records of runs, outputs of gates. On this machine now, or in what a bundle says was there.
//!
//! Must not judge what is found.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use helix_core::ids::{CommitId, RunId, TreeId};
use helix_git::{GitError, Repository};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::EngineError;

/// What evidence names, looked up.
pub(super) trait Look {
    /// The tree of a commit, if it is there.
    fn tree(&self, commit: &CommitId) -> Option<TreeId>;
    /// SHA-256 over the files of a tree, if it is there, as [`Repository::content_digest`] gives it.
    fn content(&self, tree: &TreeId) -> Option<String>;
    /// Whether a commit holds another one.
    ///
    /// # Errors
    /// Git failed.
    fn holds(&self, commit: &CommitId, other: &CommitId) -> Result<bool, EngineError>;
    /// The directory of a run's record, and what is in its output.
    fn record(&self, run: &RunId) -> Sight;
    /// A gate's output, by the name that its report has for it.
    fn output(&self, file: &str) -> Sight;
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sight {
    /// Where it lies, an absolute path; of a run, the directory of its record.
    pub path: String,
    /// What is in it; absent if it is gone or cannot be read.
    pub content: Option<FileDigest>,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Hex.
    pub sha256: String,
    pub bytes: u64,
}

impl FileDigest {
    /// Reads a file in pieces.
    pub(super) fn read(file: &Path) -> std::io::Result<Self> {
        let mut hasher = Sha256::new();
        let bytes = std::io::copy(&mut std::fs::File::open(file)?, &mut hasher)?;
        Ok(Self { sha256: format!("{:x}", hasher.finalize()), bytes })
    }
}

/// This machine, now.
pub(super) struct Live {
    pub(super) repository: Repository,
    pub(super) state_dir: PathBuf,
}

impl Look for Live {
    fn tree(&self, commit: &CommitId) -> Option<TreeId> {
        found(self.repository.find_commit(commit.as_str()), commit.as_str()).flatten().map(|commit| commit.tree)
    }

    fn content(&self, tree: &TreeId) -> Option<String> {
        found(self.repository.content_digest(tree), tree.as_str())
    }

    fn holds(&self, commit: &CommitId, other: &CommitId) -> Result<bool, EngineError> {
        self.repository.carries(commit, other).map_err(EngineError::environment)
    }

    fn record(&self, run: &RunId) -> Sight {
        let directory = self.state_dir.join("runs").join(run.as_str());
        sight(&directory, &directory.join("stdout.jsonl"))
    }

    fn output(&self, file: &str) -> Sight {
        let file = self.state_dir.join(file);
        sight(&file, &file)
    }
}

fn found<T>(looked: Result<T, GitError>, what: &str) -> Option<T> {
    looked.map_err(|error| tracing::warn!(what, %error, "a result cannot be looked up")).ok()
}

fn sight(place: &Path, file: &Path) -> Sight {
    Sight { path: place.to_string_lossy().into_owned(), content: FileDigest::read(file).ok() }
}

/// All that was looked up for the evidence of a job. What is not in it was not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Trees of commits.
    pub trees: BTreeMap<CommitId, Option<TreeId>>,
    /// SHA-256 over the files of trees.
    pub contents: BTreeMap<TreeId, Option<String>>,
    /// Which commits hold which others.
    pub holds: BTreeMap<CommitId, BTreeMap<CommitId, bool>>,
    /// Records of runs.
    pub runs: BTreeMap<RunId, Sight>,
    /// Outputs of gates.
    pub outputs: BTreeMap<String, Sight>,
}

impl Look for Seen {
    fn tree(&self, commit: &CommitId) -> Option<TreeId> {
        self.trees.get(commit).cloned().flatten()
    }

    fn content(&self, tree: &TreeId) -> Option<String> {
        self.contents.get(tree).cloned().flatten()
    }

    fn holds(&self, commit: &CommitId, other: &CommitId) -> Result<bool, EngineError> {
        Ok(self.holds.get(commit).and_then(|others| others.get(other)).copied().unwrap_or(false))
    }

    fn record(&self, run: &RunId) -> Sight {
        self.runs.get(run).cloned().unwrap_or(Sight { path: String::new(), content: None })
    }

    fn output(&self, file: &str) -> Sight {
        self.outputs.get(file).cloned().unwrap_or(Sight { path: String::new(), content: None })
    }
}

/// Notes what is looked up and what was found.
pub(super) struct Witness<'a> {
    look: &'a dyn Look,
    seen: RefCell<Seen>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(look: &'a dyn Look) -> Self {
        Self { look, seen: RefCell::default() }
    }

    pub(super) fn seen(self) -> Seen {
        self.seen.into_inner()
    }
}

impl Look for Witness<'_> {
    fn tree(&self, commit: &CommitId) -> Option<TreeId> {
        let tree = self.look.tree(commit);
        self.seen.borrow_mut().trees.insert(commit.clone(), tree.clone());
        tree
    }

    fn content(&self, tree: &TreeId) -> Option<String> {
        let content = self.look.content(tree);
        self.seen.borrow_mut().contents.insert(tree.clone(), content.clone());
        content
    }

    fn holds(&self, commit: &CommitId, other: &CommitId) -> Result<bool, EngineError> {
        let holds = self.look.holds(commit, other)?;
        self.seen.borrow_mut().holds.entry(commit.clone()).or_default().insert(other.clone(), holds);
        Ok(holds)
    }

    fn record(&self, run: &RunId) -> Sight {
        let sight = self.look.record(run);
        self.seen.borrow_mut().runs.insert(run.clone(), sight.clone());
        sight
    }

    fn output(&self, file: &str) -> Sight {
        let sight = self.look.output(file);
        self.seen.borrow_mut().outputs.insert(file.to_owned(), sight.clone());
        sight
    }
}
