//! What the embedded agent remembers of a session between runs.
//!
//! Must not be half written: a file is replaced as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use helix_core::ids::AgentSessionId;
use helix_process::replace_file;
use serde::{Deserialize, Serialize};

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionFile {
    /// How many takes of each key were begun.
    pub(super) takes: BTreeMap<String, u32>,
    /// The prompts, oldest first, each cut to its start.
    pub(super) prompts: Vec<String>,
}

impl SessionFile {
    /// Reads a session; `None` if there is none of this id.
    pub(super) fn read(sessions: &Path, id: &AgentSessionId) -> Result<Option<Self>, Error> {
        match fs::read(path(sessions, id)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn write(&self, sessions: &Path, id: &AgentSessionId) -> Result<(), Error> {
        fs::create_dir_all(sessions)?;
        replace_file(&path(sessions, id), &serde_json::to_vec(self)?).map_err(Error::other)
    }
}

fn path(sessions: &Path, id: &AgentSessionId) -> PathBuf {
    sessions.join(format!("{id}.json"))
}
