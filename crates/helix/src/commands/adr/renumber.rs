//! `helix adr renumber`: another number for a decision that shares its own, and for everything that names it.
//!
//! Must not know which of two came first: git does.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, RenumberError, Renumbered};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Number or file of the ADR to renumber [default: duplicates that are not in the base branch]
    #[arg(value_name = "NUMBER|FILE")]
    file: Option<PathBuf>,
    /// Base branch [default: origin's, or main]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let file = arguments.file.as_ref().map(|file| super::file_of(context, root, file)).transpose()?;
    let done = AdrDirectory::renumber(root, file.as_deref(), arguments.base.as_deref()).map_err(refused)?;
    let language = context.terminal.language;
    let renumbered = |one: &Renumbered| say!(language, "renumber-is", old = &one.old_path, new = &one.path);
    let lines: Vec<String> = done.iter().map(renumbered).collect();
    context.terminal.answer(&json!({ "renumbered": done }), &lines.join("\n"))?;
    for one in &done {
        for file in &one.changed {
            context.terminal.note(&format!("  {}", say!(language, "renumber-updated", file = file)));
        }
        for place in &one.left {
            let (place, adr) = (format!("{}:{}", place.file, place.line), format!("ADR-{:03}", one.from));
            context.terminal.note(&format!("  {}", say!(language, "renumber-look", place = place, adr = adr)));
        }
    }
    if done.is_empty() {
        context.terminal.note(&say!(language, "renumber-none"));
    }
    Ok(Exit::Success)
}

fn refused(error: RenumberError) -> CommandError {
    let hint = match error {
        RenumberError::File(error) => return error.into(),
        RenumberError::Git(_) => {
            return CommandError::wrapping(Exit::Environment, codes::OUTPUT_UNWRITABLE, &error)
                .hint("run `git status` there, or choose one: `helix adr renumber FILE`");
        }
        RenumberError::NoNumber { .. } => "use a numbered file in adr/; `helix adr finalize` numbers drafts",
        RenumberError::Undecided { .. } => "choose the one to renumber: `helix adr renumber FILE`",
        RenumberError::NoBase { .. } => {
            "use an existing branch or commit; the default of --base is origin's branch or main"
        }
    };
    CommandError::usage(codes::ADR_ERRORS, &error).hint(hint)
}
