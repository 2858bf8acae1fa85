//! Files that a user is given to start from: written where nothing is yet, and named with what to do next.
//!
//! Must not know what is in them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use helix_core::ids::PhaseId;
use serde_json::json;

use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unwritable};
use crate::exit::Exit;
use crate::terminal::Reading;

/// Checks a name that becomes a file's or directory's.
pub(crate) fn check_name(what: &str, name: &str, example: &str) -> Result<(), CommandError> {
    match PhaseId::new(name) {
        Ok(_) => Ok(()),
        Err(_) => Err(CommandError::usage(codes::USAGE, format!("{name:?} cannot be a {what}'s name"))
            .hint(format!("use lower-case letters, digits and '-', such as {example}"))),
    }
}

/// Writes a draft and says where it is and what to do next.
pub(crate) fn give(context: &Context, path: &Path, text: &str, next: &str) -> Ended {
    write_new(path, text)?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&json!({ "written": path }))?,
        Reading::People => {
            context.terminal.data(&context.shown(path))?;
            context.terminal.say(next);
        }
    }
    Ok(Exit::Success)
}

/// Writes a file that must not exist yet, and the directories above it.
///
/// # Errors
/// When it exists or cannot be written.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(unwritable(parent))?;
    }
    let mut file = OpenOptions::new().create_new(true).write(true).open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::usage(codes::ALREADY_THERE, format!("{} already exists", path.display()))
                .hint("nothing is overwritten: choose another name, or remove the file")
        }
        _ => unwritable(path)(error),
    })?;
    file.write_all(text.as_bytes()).map_err(unwritable(path))
}
