//! `helix adr edit`: a decision in the user's editor, and what the check says of it then.
//!
//! Must not change the file itself.

use std::path::Path;
use std::process::Command;

use helix_plan::split_words;
use helix_project::adr_files::AdrDirectory;

use super::{check, file_of};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::readable;

pub(super) fn run(context: &Context, root: &Path, wanted: &str) -> Ended {
    let path = file_of(context, root, Path::new(wanted))?;
    readable(&path)?;
    let variable = |name: &str| context.environment.variable(name).filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).ok_or_else(|| {
        CommandError::usage(codes::USAGE, "no editor: neither VISUAL nor EDITOR is set")
            .hint(format!("set one, such as `EDITOR=nano`, or open {} yourself", context.shown(&path)))
    })?;
    let failed = |message: String| {
        CommandError::new(Exit::Environment, codes::USAGE, message)
            .hint("set VISUAL or EDITOR to a program that opens a file")
    };
    let words = split_words(editor).map_err(|error| failed(format!("the editor `{editor}` cannot be run: {error}")))?;
    let (program, arguments) =
        words.split_first().ok_or_else(|| failed(format!("the editor `{editor}` names no program")))?;
    let ended = Command::new(program).args(arguments).arg(&path).current_dir(&context.environment.directory).status();
    let ended = ended.map_err(|error| failed(format!("the editor `{program}` cannot be started: {error}")))?;
    if !ended.success() {
        return Err(failed(format!("the editor `{program}` ended with {ended}")));
    }
    AdrDirectory::refresh_index(root)?;
    check::run(context, root, &check::Arguments::of(path))
}
