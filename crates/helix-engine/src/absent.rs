//! Files that may be absent. Must not know what is in them.

use std::io::{ErrorKind, Result};

/// What was done with a file or directory; `None` if there is none.
pub(crate) fn unless_absent<T>(done: Result<T>) -> Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
