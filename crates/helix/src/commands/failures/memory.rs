//! Opens the memory of failures beside a running host or without one.
//!
//! Must not change anything when it is only to be read, not even create a state directory.

use std::time::Duration;

use helix_failure::memory::FailureDetail;
use helix_failure::plain_text;
use helix_store::failures::FailureMemory;
use helix_store::{Access, DatabaseOptions, OpenError, StateDir};

use crate::config::Settings;
use crate::context::Context;
use crate::error::{CommandError, Exit, codes};
use crate::terminal::one_line;

/// How long a person waits for an answer about a memory of a million failures.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// The memory for reading; `None`: nothing was ever remembered.
pub(super) async fn reading(settings: &Settings) -> Result<Option<FailureMemory>, CommandError> {
    let path = settings.state_dir.value.join(StateDir::FAILURES);
    match FailureMemory::open(DatabaseOptions::new(path, Access::ReadOnly).within(ANSWER_LIMIT)).await {
        Ok(memory) => Ok(Some(memory)),
        Err(OpenError::Missing { .. }) => Ok(None),
        Err(error) => Err(unopened(&error)),
    }
}

/// The memory for changing it; made if there is none.
pub(super) async fn writing(settings: &Settings) -> Result<FailureMemory, CommandError> {
    let state = StateDir::open(&settings.state_dir.value)?;
    let options = DatabaseOptions::new(state.failures(), Access::ReadWrite).within(ANSWER_LIMIT);
    FailureMemory::open(options).await.map_err(|error| unopened(&error))
}

/// Jobs go on without their memory: that it cannot be opened is never a wrong choice of directory.
fn unopened(error: &OpenError) -> CommandError {
    CommandError::wrapping(Exit::Environment, error.code(), error).hint(error.hint())
}

/// A remembered failure, by id or unique beginning.
pub(super) async fn detail(context: &Context, id: &str) -> Result<FailureDetail, CommandError> {
    let found = match reading(context.settings()?).await? {
        Some(memory) => memory.show(id.to_owned()).await?,
        None => None,
    };
    found.ok_or_else(|| missing(id))
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
