//! Compares what a bundle says of commits, trees and files with a repository.
//!
//! Must not write to the repository.

use std::path::Path;

use helix_git::{GitEnvironment, Repository};

use super::Verified;
use super::look::{Live, Look};
use crate::error::EngineError;

/// What is otherwise in a repository than a bundle says; empty: nothing.
///
/// # Errors
/// [`EngineError::Environment`]: the repository cannot be read.
pub fn compare(verified: &Verified, directory: &Path) -> Result<Vec<String>, EngineError> {
    // A repository of our own beside it: neither its replacements nor its settings count.
    let scratch = tempfile::Builder::new().prefix("helix-verify-").tempdir().map_err(EngineError::environment)?;
    let repository = Repository::open(directory, GitEnvironment::from_process()).map_err(EngineError::environment)?;
    let repository = Repository::hosted(repository, scratch.path()).map_err(EngineError::environment)?;
    let live = Live { repository, state_dir: scratch.path().to_path_buf() };
    let (statement, mut different) = (&verified.statement, Vec::new());
    let evidence = statement.evidence();
    let base = live.tree(&evidence.base);
    if base.as_ref() != statement.base_tree() || base.is_none() {
        different.push(format!("it has no commit {} with the tree that the job started from", evidence.base));
    }
    let Some(done) = &evidence.integration else { return Ok(different) };
    let result = &done.result;
    if live.tree(&result.commit).as_ref() != Some(&result.tree) {
        different.push(format!("it has no commit {} with tree {}", result.commit, result.tree));
        return Ok(different);
    }
    if live.content(&result.tree).as_deref() != statement.content() {
        different.push(format!("the files of tree {} are others, although git calls it the same", result.tree));
    }
    if base.is_some() && !live.holds(&result.commit, &evidence.base)? {
        different.push(format!("commit {} does not hold {}, from which the job started", result.commit, evidence.base));
    }
    Ok(different)
}
