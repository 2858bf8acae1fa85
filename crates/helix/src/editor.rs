//! The editor that a person has chosen, at a file. Must not know what is in the file.

use std::path::Path;

use tokio::process::Command;
use tokio::signal::unix::SignalKind;

use crate::context::Context;
use crate::error::{CommandError, codes};
use crate::runtime::signal_stream;

/// Opens a file as git does: in `VISUAL`, else `EDITOR`, else vi. The variable is a command with arguments of its own.
///
/// # Errors
/// There is no editor, or it failed.
pub(crate) async fn edit(context: &Context, file: &Path) -> Result<(), CommandError> {
    let environment = &context.environment;
    let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| environment.variable(name));
    let vi = environment.find_program("vi").map(|_| "vi");
    let editor = chosen.chain(vi).find(|editor| !editor.trim().is_empty()).ok_or_else(|| {
        CommandError::usage(codes::EDITOR, "no editor: neither VISUAL nor EDITOR is set")
            .hint(format!("set one, such as `EDITOR=nano`, or open {} yourself", context.shown(file)))
    })?;
    // Ctrl-C is the editor's.
    let _interrupts = signal_stream(SignalKind::interrupt())?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file).current_dir(&environment.directory);
    let failed = |why: String| {
        CommandError::environment(codes::EDITOR, format!("the editor `{editor}` failed"))
            .cause(why)
            .hint("set VISUAL or EDITOR to a program that opens a file")
    };
    let ended = command.status().await.map_err(|error| failed(error.to_string()))?;
    if ended.success() { Ok(()) } else { Err(failed(ended.to_string())) }
}
