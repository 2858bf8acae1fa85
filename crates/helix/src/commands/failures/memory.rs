//! Opens the memory of failures beside a running host or without one, and turns its errors into the command's.
//!
//! Must not change anything when it is only to be read, not even create a state directory.

use std::time::Duration;

use helix_failure::memory::KnownFailure;
use helix_failure::plain_text;
use helix_store::failures::{FailureMemory, MemoryError, MemoryOptions};
use helix_store::{Access, OpenError, StateDir};

use crate::codes;
use crate::config::Settings;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::terminal::one_line;

/// How long a person waits for an answer about a memory of a million failures.
const PATIENCE: Duration = Duration::from_secs(60);
/// Digits of an id that are shown in lists.
const SHORT_ID: usize = 12;

/// The memory for reading; `None`: nothing was ever remembered.
pub(super) async fn reading(settings: &Settings) -> Result<Option<FailureMemory>, CommandError> {
    let path = settings.state_dir.value.join(StateDir::FAILURES);
    match FailureMemory::open(MemoryOptions::new(path, Access::ReadOnly).within(PATIENCE)).await {
        Ok(memory) => Ok(Some(memory)),
        Err(OpenError::Missing { .. }) => Ok(None),
        Err(error) => Err(unopened(&error)),
    }
}

/// The memory for reading of which a certain failure is asked.
pub(super) async fn reading_of(settings: &Settings, id: &str) -> Result<FailureMemory, CommandError> {
    reading(settings).await?.ok_or_else(|| missing(id))
}

/// The memory for changing it; made if there is none.
pub(super) async fn writing(settings: &Settings) -> Result<FailureMemory, CommandError> {
    let state = StateDir::open(&settings.state_dir.value)?;
    let options = MemoryOptions::new(state.failures(), Access::ReadWrite).within(PATIENCE);
    FailureMemory::open(options).await.map_err(|error| unopened(&error))
}

/// Jobs go on without their memory: that it cannot be opened is never a wrong choice of directory.
fn unopened(error: &OpenError) -> CommandError {
    CommandError::wrapping(Exit::Environment, error.code(), error).hint(error.hint())
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        let exit = match error {
            MemoryError::Ambiguous { .. } | MemoryError::Record { .. } | MemoryError::Orphan { .. } => Exit::Usage,
            MemoryError::Database(_) | MemoryError::Deadline { .. } | MemoryError::Row { .. } => Exit::Environment,
        };
        Self::wrapping(exit, error.code(), &error).hint(error.hint())
    }
}

/// There is no such failure.
pub(super) fn missing(id: &str) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, format!("no remembered failure {id:?}"))
        .hint("`helix failures list` shows all; a unique prefix of the id is enough")
}

/// Text of the past as it can be shown: one line, no control characters, not too long.
pub(super) fn shown(text: &str, most: usize) -> String {
    one_line(&plain_text(text), most)
}

/// The id as lists show it.
pub(super) fn short_id(failure: &KnownFailure) -> String {
    failure.diagnosis.fingerprint.as_str().chars().take(SHORT_ID).collect()
}
