//! `helix adr drift`: claimed files that changed after their decision, and changes without one.
//!
//! Must not read git.

use std::path::Path;

use clap::Args;
use helix_core::text::short_commit;
use helix_git::GitEnvironment;
use helix_job::phrases;
use helix_language::say;
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
    let (known, language) = (AdrDirectory::open(root)?, context.terminal.language);
    let found = drift(&known, GitEnvironment::from_process(), arguments.since.as_deref()).map_err(failed)?;
    for note in &found.notes {
        context.terminal.note(&phrases::note(language, &language.words(note)));
    }
    context.terminal.answer(&found, &report(context, &found, arguments.since.as_deref()))?;
    if !found.claimed.is_empty() {
        context.terminal.note(&phrases::hint(language, &say!(language, "drift-hint")));
    }
    let fails = !found.claimed.is_empty() || arguments.strict && !found.undecided.is_empty();
    Ok(if fails { Exit::No } else { Exit::Success })
}

fn report(context: &Context, found: &Drift, since: Option<&str>) -> String {
    let (mut lines, language) = (Vec::new(), context.terminal.language);
    for file in &found.claimed {
        let change = match (&file.commit, &file.subject) {
            (Some(commit), subject) => {
                let subject = subject.as_deref().unwrap_or_default();
                say!(language, "drift-changed", commit = short_commit(commit), subject = subject)
            }
            (None, _) => say!(language, "drift-uncommitted"),
        };
        let label = context.terminal.paint(Meaning::Attention, &say!(language, "drift-label"));
        lines.push(format!("{label}  {} ({}, {}): {} {change}", file.adr, file.status, file.adr_file, file.file));
    }
    let undecided = say!(language, "drift-undecided");
    lines.extend(found.undecided.iter().map(|file| format!("{undecided}  {}", file.file)));
    let since =
        since.map_or_else(|| say!(language, "drift-each"), |since| say!(language, "drift-since", since = since));
    let (claimed, undecided) = (found.claimed.len(), found.undecided.len());
    lines.push(format!("{since}: {}", say!(language, "drift-sum", claimed = claimed, undecided = undecided)));
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
