//! `helix adr drift`: claimed files that changed after their decision, and changes without one.
//!
//! Must not read git.

use std::path::Path;

use clap::Args;
use helix_core::text::{count, short_commit};
use helix_git::GitEnvironment;
use helix_project::adr_files::{AdrDirectory, Drift, DriftError, drift};

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::Meaning;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Compare with this commit [default: each decision's own last change]
    #[arg(long, value_name = "REF")]
    since: Option<String>,
    /// Also fail when a change has no decision
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let known = AdrDirectory::open(root)?;
    let found = drift(&known, GitEnvironment::from_process(), arguments.since.as_deref()).map_err(failed)?;
    for note in &found.notes {
        context.terminal.note(&format!("note: {note}"));
    }
    context.terminal.answer(&found, &report(context, &found))?;
    if !found.claimed.is_empty() {
        let hint = "hint: update the decision and commit it, or write a new one that supersedes it";
        context.terminal.note(hint);
    }
    let fails = !found.claimed.is_empty() || arguments.strict && !found.undecided.is_empty();
    Ok(if fails { Exit::No } else { Exit::Success })
}

fn report(context: &Context, found: &Drift) -> String {
    let mut lines = Vec::new();
    for file in &found.claimed {
        let change = match (&file.commit, &file.subject) {
            (Some(commit), subject) => {
                format!("changed in {} ({})", short_commit(commit), subject.as_deref().unwrap_or_default())
            }
            (None, _) => "changed, not committed".to_owned(),
        };
        let label = context.terminal.paint(Meaning::Attention, "drift");
        lines.push(format!("{label}  {} ({}, {}): {} {change}", file.adr, file.status, file.adr_file, file.file));
    }
    lines.extend(found.undecided.iter().map(|file| format!("no decision  {}", file.file)));
    let (claimed, undecided) = (found.claimed.len(), found.undecided.len());
    let since = &found.since;
    let (claimed, undecided) = (count(claimed, "claimed file"), count(undecided, "change"));
    lines.push(format!("since {since}: {claimed} changed, {undecided} without a decision"));
    lines.join("\n")
}

fn failed(error: DriftError) -> CommandError {
    let (exit, hint) = match &error {
        DriftError::Repository { source } => (Exit::Usage, source.hint()),
        DriftError::Git { source } => (Exit::Environment, source.hint()),
        DriftError::NoSuchRef { .. } => {
            return CommandError::usage(codes::NOT_FOUND, &error)
                .hint("use a branch, a tag or a commit, such as `--since main`");
        }
    };
    CommandError::wrapping(exit, codes::INPUT_UNREADABLE, &error).hint_if(hint)
}
