//! `helix adr drift`: claimed files that changed after their decision, and changes without one.
//!
//! Must not read git.

use std::path::Path;

use helix_git::GitEnvironment;
use helix_project::adr_files::{Drift, DriftError, drift};

use super::open;
use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading};

/// Whether changes without a decision count as drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecided {
    IsSaid,
    Fails,
}

pub(super) fn run(context: &Context, root: &Path, since: Option<&str>, undecided: Undecided) -> Ended {
    let known = open(root)?;
    let found = drift(&known, GitEnvironment::from_process(), since).map_err(|error| failed(&error))?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&found)?,
        Reading::People => say(context, &found)?,
    }
    let fails = !found.claimed.is_empty() || undecided == Undecided::Fails && !found.undecided.is_empty();
    Ok(if fails { Exit::No } else { Exit::Success })
}

fn say(context: &Context, found: &Drift) -> Result<(), CommandError> {
    let terminal = &context.terminal;
    for file in &found.claimed {
        let change = match (&file.commit, &file.subject) {
            (Some(commit), subject) => {
                let short: String = commit.chars().take(10).collect();
                format!("changed in {short} ({})", subject.as_deref().unwrap_or_default())
            }
            (None, _) => "changed, not committed".to_owned(),
        };
        let label = terminal.paint(Meaning::Attention, "drift");
        terminal
            .data(&format!("{label}  {} ({}, {}): {} {change}", file.adr, file.status, file.adr_file, file.file))?;
    }
    for file in &found.undecided {
        terminal.data(&format!("no decision  {}", file.file))?;
    }
    for note in &found.notes {
        terminal.say(&format!("note: {note}"));
    }
    terminal.data(&format!(
        "since {}: {} claimed file(s) changed, {} change(s) without a decision",
        found.since,
        found.claimed.len(),
        found.undecided.len()
    ))?;
    if !found.claimed.is_empty() {
        terminal.say("hint: update the decision and commit it, or write a new one that supersedes it");
    }
    Ok(())
}

fn failed(error: &DriftError) -> CommandError {
    match error {
        DriftError::Repository { source } => {
            CommandError::usage(codes::INPUT_UNREADABLE, error).because(source).hint_if(source.hint())
        }
        DriftError::Git { source } => {
            CommandError::environment(codes::INPUT_UNREADABLE, error).because(source).hint_if(source.hint())
        }
        DriftError::NoSuchRef { .. } => {
            CommandError::usage(codes::NOT_FOUND, error).hint("use a branch, a tag or a commit, such as `--since main`")
        }
    }
}
