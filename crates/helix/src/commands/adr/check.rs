//! `helix adr check`: every problem with its place, and the repair of what can be repaired exactly.
//!
//! Must not hold any rule.

use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_project::adr_files::{AdrDirectory, AdrFileError, INDEX, is_decision};
use serde_json::json;

use super::{failed, open};
use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading};

/// How far ADRs are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Valid,
    Complete,
}

/// What is done about text in a wrong encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repair {
    Leave,
    Write,
}

pub(super) fn run(context: &Context, root: &Path, files: &[PathBuf], depth: Depth, repair: Repair) -> Ended {
    let paths = named(context, root, files)?;
    let mut repaired = 0;
    if repair == Repair::Write {
        for path in &paths {
            let places = match AdrDirectory::repair(root, path) {
                Ok(places) => places,
                // The check below says what is wrong with it.
                Err(AdrFileError::Unreadable(_)) => 0,
                Err(error) => return Err(not_checked(error)),
            };
            if places > 0 {
                context.terminal.say(&format!("{}: {places} repair(s)", context.shown(path)));
            }
            repaired += places;
        }
    }
    let known = open(root)?;
    let rules = match depth {
        Depth::Valid => Vec::new(),
        Depth::Complete => known.rules().map_err(|error| failed(&error))?,
    };
    let mut reports = Vec::with_capacity(paths.len());
    let mut good = String::new();
    let mut errors = 0;
    for (path, checked) in paths.iter().zip(known.check_files(&paths, &rules)) {
        let name = context.shown(path);
        let (diagnostics, adr) = match checked {
            Ok(checked) => (checked.diagnostics, Some(checked.adr)),
            Err(AdrFileError::Unreadable(diagnostic)) => (vec![*diagnostic], None),
            Err(error) => return Err(not_checked(error)),
        };
        let own = diagnostics.iter().filter(|one| one.is_error()).count();
        errors += own;
        match context.terminal.reading {
            Reading::People => {
                let source = adr.as_ref().map_or("", |adr| adr.source.as_str());
                context.terminal.say_diagnostics(&diagnostics, source);
                if own == 0 {
                    good.push_str(&format!("{name}: {}\n", context.terminal.paint(Meaning::Good, "valid")));
                } else {
                    let word = if own == 1 { "error" } else { "errors" };
                    let line = format!("{name}: {own} {word}");
                    context.terminal.say(&context.terminal.paint_error(Meaning::Bad, &line));
                }
            }
            Reading::Programs => reports.push(json!({ "file": name, "valid": own == 0, "diagnostics": diagnostics })),
        }
    }
    match context.terminal.reading {
        // In one piece: ten thousand lines one by one would take longer than the check.
        Reading::People => context.terminal.raw(&good)?,
        Reading::Programs => {
            context.terminal.json(&json!({ "valid": errors == 0, "repaired": repaired, "files": reports }))?;
        }
    }
    Ok(if errors == 0 { Exit::Success } else { Exit::Usage })
}

/// The files that are to be checked; at least one.
fn named(context: &Context, root: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let directory = root.join("adr");
    let mut paths = Vec::new();
    for file in files {
        let path = context.environment.directory.join(file);
        if path.is_dir() { paths.extend(decisions_in(&path)?) } else { paths.push(path) }
    }
    // `adr/*.md` names the generated index too, which is no decision.
    paths.retain(|path| !path.ends_with(INDEX));
    if files.is_empty() {
        paths = decisions_in(&directory)?;
    }
    if paths.is_empty() {
        let message = format!("no ADRs in {}", directory.display());
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, message)
            .hint("name a file, or make one with `helix adr new TITLE`"));
    }
    Ok(paths)
}

fn not_checked(error: AdrFileError) -> CommandError {
    match error {
        AdrFileError::Disk { action: "read", source, path } => unreadable(&path)(source),
        other => failed(&other),
    }
}

/// ADRs of a directory in the order of their names, without index and readme; none if it is not there.
pub(super) fn decisions_in(directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(directory)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable(directory))?.path();
        if is_decision(&path) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Diagnostics that are about several files, each in its own text.
pub(super) fn say_each(context: &Context, diagnostics: &[Diagnostic], text_of: impl Fn(&str) -> String) {
    for diagnostic in diagnostics {
        context.terminal.say_diagnostics(std::slice::from_ref(diagnostic), &text_of(&diagnostic.file));
    }
}
