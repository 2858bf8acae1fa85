//! `helix adr renumber`: another number for a decision that shares its own, and for everything that names it.
//!
//! Must not know which of two came first: git does.

use std::path::Path;

use helix_project::adr_files::{AdrDirectory, RenumberError};
use serde_json::json;

use super::failed;
use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::terminal::Reading;

pub(super) fn run(context: &Context, root: &Path, file: Option<&Path>, base: Option<&str>) -> Ended {
    let file = file.map(|file| context.environment.directory.join(file));
    let done = AdrDirectory::renumber(root, file.as_deref(), base).map_err(refused)?;
    match context.terminal.reading {
        Reading::Programs => {
            let rows = done.iter().map(|one| {
                let left: Vec<_> =
                    one.left.iter().map(|place| json!({ "file": place.file, "line": place.line })).collect();
                json!({
                    "from": one.from, "to": one.to, "old_path": one.old_path, "path": one.path, "changed": one.changed,
                    "left": left,
                })
            });
            context.terminal.json(&json!({ "renumbered": rows.collect::<Vec<_>>() }))?;
        }
        Reading::People => {
            for one in &done {
                context.terminal.data(&format!("{} is {} now", one.old_path, one.path))?;
                for file in &one.changed {
                    context.terminal.say(&format!("  updated {file}"));
                }
                for place in &one.left {
                    context.terminal.say(&format!(
                        "  look at {}:{}: check which decision ADR-{:03} means there",
                        place.file, place.line, one.from
                    ));
                }
            }
            if done.is_empty() {
                context.terminal.say("no duplicate numbers");
            }
        }
    }
    Ok(Exit::Success)
}

fn refused(error: RenumberError) -> CommandError {
    match error {
        RenumberError::File(error) => failed(&error),
        error @ RenumberError::NoNumber { .. } => CommandError::usage(codes::ADR_ERRORS, &error)
            .hint("use a numbered file in adr/; `helix adr finalize` numbers drafts"),
        error @ RenumberError::Undecided { .. } => {
            CommandError::usage(codes::ADR_ERRORS, &error).hint("choose the one to renumber: `helix adr renumber FILE`")
        }
        error @ RenumberError::NoBase { .. } => CommandError::usage(codes::ADR_ERRORS, &error)
            .hint("use an existing branch or commit; the default of --base is origin's branch or main"),
        RenumberError::Git(source) => {
            CommandError::environment(codes::OUTPUT_UNWRITABLE, "git cannot determine which decision came first")
                .because(&source)
                .hint("run `git status` there, or choose one: `helix adr renumber FILE`")
        }
    }
}
