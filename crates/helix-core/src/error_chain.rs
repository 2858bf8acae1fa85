//! An error and its causes in one line, as people read it.

use std::error::Error;

/// The error's message and those of all its sources, joined by `: `.
pub fn error_chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        message.push_str(": ");
        message.push_str(&next.to_string());
        cause = next.source();
    }
    message
}
