//! What agents' sessions had consumed when a run of theirs ended, for agents that report a session's consumption as a whole.
//!
//! Must not know jobs or sessions. Only an aid: without an entry, a resumed session's tokens count again, nothing else.

use std::path::PathBuf;

use helix_agents::replace_file;
use helix_core::ids::AgentSessionId;
use helix_core::usage::Usage;
use sha2::{Digest, Sha256};

/// A small file for each session.
#[derive(Debug, Clone)]
pub(crate) struct SessionTotals {
    directory: PathBuf,
}

impl SessionTotals {
    /// The totals that are kept in a directory, which need not exist yet.
    pub(crate) fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// What a session had consumed; nothing where that is not known.
    ///
    /// # Errors
    /// The entry is there and cannot be read.
    pub(crate) async fn total(&self, session: &AgentSessionId) -> std::io::Result<Usage> {
        match tokio::fs::read(self.file(session)).await {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Usage::default()),
            Err(error) => Err(error),
        }
    }

    /// Notes what a session has consumed. Totals only grow: one from an older record changes nothing.
    ///
    /// # Errors
    /// The entry cannot be written.
    pub(crate) async fn keep(&self, session: &AgentSessionId, total: Usage) -> std::io::Result<()> {
        let known = self.total(session).await.unwrap_or_default();
        let tokens = |usage: &Usage| usage.total_input().saturating_add(usage.output_tokens);
        if tokens(&total) <= tokens(&known) {
            return Ok(());
        }
        let (file, text) = (self.file(session), serde_json::to_vec(&total)?);
        tokio::fs::create_dir_all(&self.directory).await?;
        let written = tokio::task::spawn_blocking(move || replace_file(&file, &text)).await;
        written.map_err(std::io::Error::other)?.map_err(std::io::Error::other)
    }

    /// An agent chooses its sessions' ids: they are no file names.
    fn file(&self, session: &AgentSessionId) -> PathBuf {
        self.directory.join(format!("{:x}.json", Sha256::digest(session.as_str().as_bytes())))
    }
}

#[cfg(test)]
#[path = "session_totals_test.rs"]
mod tests;
