//! Files that a command line names: read, opened or newly written; each failure names the file.
//!
//! Must not know what is in them.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use helix_core::diagnostic::Diagnostic;
use helix_process::bounded;
use helix_project::project::project_above;

use crate::error::{CommandError, WRITABLE, codes};

/// Largest file that is read as a whole, in bytes: what plans, decisions and prompts may have at most.
const LARGEST: u64 = 16 << 20;

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    let text = bounded::read_text(None, path, LARGEST).and_then(|text| text.ok_or_else(|| ErrorKind::NotFound.into()));
    text.map_err(unreadable(path))
}

/// The bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    bounded::read_bytes(path, LARGEST).map_err(unreadable(path))
}

/// Whether a file can be read; it says why not.
pub(crate) fn readable(path: &Path) -> Result<(), CommandError> {
    bounded::open_plain(path).map(drop).map_err(unreadable(path))
}

/// The text that diagnostics point into, if it is a readable file with a whole path. Without it, they show line and column instead
/// of an excerpt.
pub(crate) fn text_of_problems(problems: &[Diagnostic]) -> String {
    let file = problems.first().map(|first| Path::new(&first.file)).filter(|file| file.is_absolute());
    file.and_then(|file| read_text(file).ok()).unwrap_or_default()
}

/// Opens a file, or standard input for `-`. A directory would open well and fail at the first read, with less to say;
/// `what` says which file to pass instead.
pub(crate) fn open(path: &Path, what: &str) -> Result<Box<dyn BufRead>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).map_err(unreadable(path))?;
    if file.metadata().map_err(unreadable(path))?.is_dir() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} is a directory", path.display()))
            .hint(format!("pass {what}")));
    }
    Ok(Box::new(BufReader::new(file)))
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
        ErrorKind::AlreadyExists => {
            CommandError::usage(codes::ALREADY_THERE, format!("{} already exists", path.display()))
                .hint("nothing is overwritten: choose another name, or remove the file")
        }
        _ => unwritable(path)(error),
    })?;
    file.write_all(text.as_bytes()).map_err(unwritable(path))
}

/// Makes sure that a file of the project at or above `directory` gets to lie in it: a clone's links may lead anywhere.
///
/// # Errors
/// When a link leads out of the project.
pub(crate) fn beneath_project(directory: &Path, path: &Path) -> Result<(), CommandError> {
    let root = project_above(directory, None).unwrap_or_else(|| directory.to_owned());
    let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
    let Some(above) = above.filter(|_| path.starts_with(&root)) else { return Ok(()) };
    let real = |path: &Path| path.canonicalize().map_err(unwritable(path));
    if real(above)?.starts_with(real(&root)?) {
        return Ok(());
    }
    let message = format!("{} leads out of the project", above.display());
    let hint = "make it a directory of the project, not a link to another place";
    Err(CommandError::usage(codes::OUTPUT_UNWRITABLE, message).hint(hint))
}

/// Turns a failed write to a file into an error that names it.
pub(crate) fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> CommandError {
    let path = path.to_owned();
    move |source| {
        CommandError::environment(codes::OUTPUT_UNWRITABLE, format!("cannot write {}", path.display()))
            .because(&source)
            .hint(WRITABLE)
    }
}

/// Turns a failed read of a named file into an error that names it.
pub(crate) fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> CommandError {
    let path = path.to_owned();
    move |source| {
        CommandError::usage(codes::INPUT_UNREADABLE, format!("cannot read {}", path.display()))
            .because(&source)
            .hint("check the path and its permissions")
    }
}

#[cfg(test)]
#[path = "files_test.rs"]
mod tests;
