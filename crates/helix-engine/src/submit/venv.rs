//! The virtual environment of Python that the agents and gates of a job use: who chooses it, and whether it is there.
//!
//! Must not read anything in it.

use std::path::{Path, PathBuf};

use super::{Blame, SubmitError};
use crate::codes;

/// Its directory in a repository, where it is found without being named.
const OF_REPOSITORY: &str = ".venv";

/// The environment that was asked for, else that of the repository; `None` where there is neither. Blocks: looks at the disk.
///
/// # Errors
/// What was asked for is no virtual environment.
pub fn chosen_venv(asked: Option<PathBuf>, repository: Option<&Path>) -> Result<Option<String>, SubmitError> {
    match asked {
        // Without links and `..`: what lies between need not be there for who is kept from it.
        Some(venv) if has_python(&venv) => Ok(Some(text(&venv.canonicalize().unwrap_or(venv))?)),
        Some(venv) => {
            let message = format!("the virtual environment {} has no bin/python", venv.display());
            let hint = format!(
                "create it with `python3 -m venv {}`, or name another one in VIRTUAL_ENV or in `venv` of [jobs]; `deactivate` unsets VIRTUAL_ENV",
                venv.display()
            );
            Err(SubmitError::refused(codes::NO_VENV, Blame::Request, message, hint))
        }
        None => repository
            .map(|top| top.join(OF_REPOSITORY))
            .filter(|venv| has_python(venv))
            .map(|venv| text(&venv))
            .transpose(),
    }
}

/// It becomes a part of `PATH`, in which a colon separates directories.
fn text(venv: &Path) -> Result<String, SubmitError> {
    venv.to_str().filter(|path| !path.contains(':')).map(str::to_owned).ok_or_else(|| {
        let message = format!("the path of the virtual environment {} cannot be in PATH", venv.display());
        SubmitError::refused(codes::NO_VENV, Blame::Request, message, "move it to a path without `:` that is UTF-8")
    })
}

fn has_python(venv: &Path) -> bool {
    venv.join("bin/python").is_file()
}
