//! The files of one run that only its dialect knows: below `agent-<dialect>/` in the run's directory, for nobody else to read.
//!
//! Must not know what is in them.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use helix_process::replace_file;

use super::InvocationError;
use super::surroundings::path_text;
use crate::profile::DialectName;

/// The directory of one run's files.
pub(crate) struct AgentFiles {
    directory: PathBuf,
    /// Where the agent may put temporary files.
    pub(crate) temporary: PathBuf,
}

impl AgentFiles {
    /// Makes the directories; those of an earlier try are used again.
    pub(crate) fn create(run_dir: &Path, dialect: DialectName) -> Result<Self, InvocationError> {
        let directory = run_dir.join(format!("agent-{dialect}"));
        let temporary = directory.join("tmp");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&temporary)
            .map_err(|source| InvocationError::Write { path: temporary.clone(), source })?;
        Ok(Self { directory, temporary })
    }

    /// The path of a file that the agent itself writes, as an argument.
    pub(crate) fn path(&self, name: &str) -> String {
        path_text(&self.directory.join(name))
    }

    /// Writes a file and gives its path as an argument. Replaces what an earlier try left.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<String, InvocationError> {
        let path = self.directory.join(name);
        replace_file(&path, content)?;
        Ok(path_text(&path))
    }
}
