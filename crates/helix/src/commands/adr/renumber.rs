//! `helix adr renumber`: another number for a decision that shares its own, and for everything that names it.
//!
//! Must not know which of two came first: git does.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_project::adr_files::{AdrDirectory, RenumberError};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File of the ADR to renumber [default: duplicates that are not in the base branch]
    file: Option<PathBuf>,
    /// Base branch [default: origin's, or main]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let file = arguments.file.as_ref().map(|file| context.path(file));
    let done = AdrDirectory::renumber(root, file.as_deref(), arguments.base.as_deref()).map_err(refused)?;
    let lines: Vec<String> = done.iter().map(|one| format!("{} is {} now", one.old_path, one.path)).collect();
    context.terminal.answer(&json!({ "renumbered": done }), &lines.join("\n"))?;
    for one in &done {
        for file in &one.changed {
            context.terminal.note(&format!("  updated {file}"));
        }
        for place in &one.left {
            context.terminal.note(&format!(
                "  look at {}:{}: check which decision ADR-{:03} means there",
                place.file, place.line, one.from
            ));
        }
    }
    if done.is_empty() {
        context.terminal.note("no duplicate numbers");
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
