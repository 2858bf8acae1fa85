//! Files that a user is given to start from: written where nothing is yet, and named with what to do next.
//!
//! Must not know what is in them.

use std::path::Path;

use helix_core::ids::PhaseId;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{beneath_project, write_new};

/// Checks a name that becomes a file's or directory's.
pub(crate) fn check_name(what: &str, name: &str, example: &str) -> Result<(), CommandError> {
    PhaseId::new(name).map(drop).map_err(|_| {
        CommandError::usage(codes::USAGE, format!("{name:?} cannot be a {what}'s name"))
            .hint(format!("use lower-case letters, digits and '-', such as {example}"))
    })
}

/// Writes a draft and says where it is and what to do next.
pub(crate) fn give(context: &Context, path: &Path, text: &str, next: &str) -> Ended {
    beneath_project(&context.environment.directory, path)?;
    write_new(path, text)?;
    context.terminal.answer(&json!({ "written": path }), &context.shown(path))?;
    context.terminal.note(next);
    Ok(Exit::Success)
}
