//! The project that a conversation is about, in a file beside its directory: for the save hook, which must know it at once and has
//! neither the journal nor a host.
//!
//! Must not decide anything: the journal's record is the truth, and each turn begins with a file that says the same.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_process::replace_private;

/// Name of the file, in the directory of the session.
const FILE: &str = "project";

/// Notes which project it is.
///
/// # Errors
/// When the file cannot be written.
pub fn note_project(session: &Path, project: Option<&Path>) -> std::io::Result<()> {
    let path = session.join(FILE);
    let Some(project) = project else {
        return std::fs::remove_file(&path)
            .or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) });
    };
    replace_private(&path, project.as_os_str().as_encoded_bytes())
}

/// The project, if one has been chosen.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn noted_project(session: &Path) -> std::io::Result<Option<PathBuf>> {
    match std::fs::read_to_string(session.join(FILE)) {
        Ok(path) => Ok(Some(path.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
