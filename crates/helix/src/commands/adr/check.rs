//! `helix adr check`: every problem with its place, and the repair of what can be repaired exactly.
//!
//! Must not hold any rule.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use helix_adr::AdrForm;
use helix_job::phrases;
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, AdrFileError, INDEX, Place, decisions_in};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::terminal::Meaning;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Numbers, names, files or directories [default: all ADRs of the project]
    #[arg(value_name = "NUMBER|FILE")]
    files: Vec<PathBuf>,
    /// Also check completeness, including the rules in rules.yaml beside the ADRs
    #[arg(long)]
    complete: bool,
    /// Repair wrongly encoded text if the original is unambiguous
    #[arg(long)]
    fix: bool,
}

impl Arguments {
    /// A check of one file.
    pub(super) fn for_file(file: PathBuf) -> Self {
        Self { files: vec![file], complete: false, fix: false }
    }
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let (terminal, language) = (&context.terminal, context.terminal.language);
    let paths = named(context, root, &arguments.files)?;
    let repaired = if arguments.fix { repair(context, root, &paths)? } else { 0 };
    let known = AdrDirectory::open(root)?;
    let rules = if arguments.complete { known.rules()? } else { Vec::new() };
    let mut reports = Vec::with_capacity(paths.len());
    let mut good = String::new();
    let (mut errors, mut warnings) = (0, 0);
    let mut others: BTreeMap<AdrForm, usize> = BTreeMap::new();
    for (path, checked) in paths.iter().zip(known.check_files(&paths, &rules)) {
        let name = context.shown(path);
        let (diagnostics, adr) = match checked {
            Ok(checked) => (checked.diagnostics, Some(checked.adr)),
            Err(AdrFileError::Unreadable(diagnostic)) => (vec![*diagnostic], None),
            Err(error) => return Err(error.into()),
        };
        let own = diagnostics.iter().filter(|one| one.is_error()).count();
        errors += own;
        warnings += diagnostics.len() - own;
        if let Some(form) = adr.as_ref().map(|adr| adr.form).filter(|form| *form != AdrForm::Helix) {
            *others.entry(form).or_default() += 1;
        }
        terminal.say_diagnostics(&diagnostics, adr.as_ref().map_or("", |adr| adr.source.as_str()));
        if own == 0 {
            good.push_str(&format!("{name}: {}\n", terminal.paint(Meaning::Good, &say!(language, "valid"))));
        } else {
            let errors = say!(language, "count-errors", errors = own);
            terminal.note(&terminal.paint_error(Meaning::Bad, &format!("{name}: {errors}")));
        }
        reports.push(json!({ "file": name, "valid": own == 0, "diagnostics": diagnostics }));
    }
    for (form, decisions) in others {
        let note = say!(language, "adr-other-form", decisions = decisions, form = form.name());
        terminal.note(&phrases::note(language, &note));
    }
    good.push_str(&say!(language, "adr-summary", decisions = paths.len(), errors = errors, warnings = warnings));
    // In one piece: ten thousand lines one by one would take longer than the check.
    let sums = json!({ "decisions": paths.len(), "errors": errors, "warnings": warnings });
    let value = json!({ "valid": errors == 0, "repaired": repaired, "sums": sums, "files": reports });
    terminal.answer(&value, &good)?;
    Ok(if errors == 0 { Exit::Success } else { Exit::No })
}

/// Repairs files; says how many places.
fn repair(context: &Context, root: &Path, paths: &[PathBuf]) -> Result<usize, CommandError> {
    let mut repaired = 0;
    for path in paths {
        let places = match AdrDirectory::repair(root, path) {
            Ok(places) => places,
            // The check says what is wrong with it.
            Err(AdrFileError::Unreadable(_)) => 0,
            Err(error) => return Err(error.into()),
        };
        if places > 0 {
            let repaired = say!(context.terminal.language, "adr-repaired", places = places);
            context.terminal.say(&format!("{}: {repaired}", context.shown(path)));
        }
        repaired += places;
    }
    Ok(repaired)
}

/// The files that are to be checked; at least one.
fn named(context: &Context, root: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let directory = root.join(Place::find(root)?.directory);
    let mut paths = if files.is_empty() { decisions_in(&directory)? } else { with_directories(context, root, files)? };
    // `adr/*.md` names the generated index too, which is no decision.
    paths.retain(|path| !path.ends_with(INDEX));
    if paths.is_empty() {
        let message = format!("no ADRs in {}", directory.display());
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, message)
            .hint("name a file, or make one with `helix adr new TITLE`"));
    }
    Ok(paths)
}

/// Files as they are named, and of directories the ADRs in them.
pub(super) fn with_directories(
    context: &Context,
    root: &Path,
    files: &[PathBuf],
) -> Result<Vec<PathBuf>, CommandError> {
    let mut paths = Vec::new();
    for file in files {
        let path = super::file_of(context, root, file)?;
        if path.is_dir() { paths.extend(decisions_in(&path)?) } else { paths.push(path) }
    }
    Ok(paths)
}
