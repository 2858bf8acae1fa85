//! Finds programs as `exec` does.
//!
//! Must not start anything.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why there is nothing to execute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    #[error("not found in PATH ({0})")]
    NotInPath(String),
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is not an executable file", .0.display())]
    NotExecutable(PathBuf),
}

/// Finds a program: a name with a slash in it is a path from `directory`, any other is looked up in `search`, which has the form of
/// `PATH`.
///
/// # Errors
/// [`NoProgram`] if there is no executable file of this name.
pub fn find_program(program: &Path, search: &str, directory: &Path) -> Result<PathBuf, NoProgram> {
    let is_path = program.as_os_str().as_encoded_bytes().contains(&b'/');
    let candidates: Vec<PathBuf> = match is_path {
        true => vec![directory.join(program)],
        false => std::env::split_paths(search).map(|folder| directory.join(folder).join(program)).collect(),
    };
    let executable =
        |path: &&PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if let Some(found) = candidates.iter().find(executable) {
        return Ok(found.clone());
    }
    let present = candidates.iter().find(|path| path.is_file() || is_path && path.exists()).cloned();
    Err(match (present, candidates.into_iter().next().filter(|_| is_path)) {
        (Some(present), _) => NoProgram::NotExecutable(present),
        (None, Some(path)) => NoProgram::Missing(path),
        (None, None) => NoProgram::NotInPath(search.to_owned()),
    })
}
