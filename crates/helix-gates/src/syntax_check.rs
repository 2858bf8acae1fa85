//! `syntax_check`: every changed file of a known language parses, read from git objects.
//!
//! Must not parse anything itself: sources are read by a process of their own.

use helix_core::evidence::ChangeKind;
use helix_core::finding::Finding;
use helix_core::said::Words;
use helix_language::recorded;

use super::GateContext;
use super::judgement::{Judgement, Trouble, finding};
use super::pattern::Pattern;
use super::sources::{Question, Sources};
use super::syntax::{Language, Parser, SyntaxError, is_template};
use helix_git::{EntryKind, TreeListing};

/// Files longer than this are generated; parsing them proves nothing and takes long.
const MAX_SIZE: usize = 4 << 20;

/// Counts of what was looked at.
#[derive(Default)]
struct Tally {
    checked: usize,
    deleted: usize,
    unknown: Vec<String>,
    notes: Vec<Words>,
    findings: Vec<Finding>,
}

/// Checks the phase's changed files, or those of them that match the globs.
pub(super) fn syntax_check(context: &GateContext, files: &[String]) -> Result<Judgement, Trouble> {
    let patterns = Pattern::all(files);
    let listing = context.files()?;
    let (mut tally, mut sources) = (Tally::default(), Sources::of(context));
    for file in &context.result.changed {
        if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern.matches(&file.path)) {
            continue;
        }
        if file.how == ChangeKind::Deleted {
            tally.deleted += 1;
            continue;
        }
        check_file(&mut sources, &listing, &file.path, &mut tally)?;
    }
    Ok(conclude(tally, files))
}

fn check_file(sources: &mut Sources<'_>, listing: &TreeListing, path: &str, tally: &mut Tally) -> Result<(), Trouble> {
    let repository = sources.context().repository();
    let Some(entry) = listing.get(path) else { return Ok(()) };
    let mut unknown = |note: Option<Words>| {
        tally.notes.extend(note);
        tally.unknown.push(path.to_owned());
        Ok(())
    };
    if matches!(entry.kind, EntryKind::Symlink | EntryKind::Submodule) {
        return unknown(None);
    }
    if repository.size(&entry.object)? > MAX_SIZE {
        return unknown(Some(recorded!("gate-syntax-long", path = path, size = MAX_SIZE >> 20)));
    }
    let known_by_name = Language::of_path(path);
    if known_by_name.is_none() && Language::has_extension(path) {
        return unknown(None);
    }
    let bytes = repository.blob(&entry.object)?;
    let Some(language) = known_by_name.or_else(|| Language::of_shebang(&bytes)) else { return unknown(None) };
    let source = match String::from_utf8(bytes) {
        Ok(source) => source,
        Err(error) => {
            tally.checked += 1;
            let offset = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(&error.as_bytes()[..offset]).into_owned();
            let place = SyntaxError::at_offset(&valid, offset, "");
            let found = finding("syntax.encoding", recorded!("gate-syntax-encoding"));
            tally.findings.push(found.at(path, place.line, place.column));
            return Ok(());
        }
    };
    if language == Language::Yaml && is_template(path, &source) {
        return unknown(Some(recorded!("gate-syntax-template", path = path)));
    }
    tally.checked += 1;
    let errors = checked(sources, language, path, &source)?;
    if errors.is_empty() {
        return Ok(());
    }
    let (name, rule, parser) = language.details();
    if matches!(parser, Parser::Grammars(_)) && had_errors_before(sources, path, language)? {
        // Grammars do not know macros; what they stumbled over before the job is not its doing.
        tally.notes.push(recorded!("gate-syntax-as-before", path = path));
        return Ok(());
    }
    for error in errors {
        let line = error.line.and_then(|line| source.lines().nth(line as usize - 1)).unwrap_or_default();
        let fix = recorded!("gate-syntax-valid", language = name);
        let found = helix_language::finding_with_fix(rule, error.message.into(), fix);
        tally.findings.push(found.at(path, error.line, error.column).evidence(line));
    }
    Ok(())
}

fn checked(
    sources: &mut Sources<'_>,
    language: Language,
    path: &str,
    source: &str,
) -> Result<Vec<SyntaxError>, Trouble> {
    sources.ask(path, &Question::Syntax { language, path: path.into(), source: source.into() })
}

fn had_errors_before(sources: &mut Sources<'_>, path: &str, language: Language) -> Result<bool, Trouble> {
    let context = sources.context();
    // What an earlier phase broke was understood when the job began, or was not there at all.
    for commit in [&context.origin, &context.base] {
        let Some(source) = context.text(&*context.files_at(commit)?, path)? else { return Ok(false) };
        if checked(sources, language, path, &source)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn conclude(tally: Tally, files: &[String]) -> Judgement {
    let Tally { checked, deleted, unknown, mut notes, findings } = tally;
    if !unknown.is_empty() {
        let shown: Vec<&str> = unknown.iter().take(10).map(String::as_str).collect();
        notes.push(recorded!("gate-syntax-unknown", files = shown.join(", ")));
    }
    if checked > 0 {
        let summary = match findings.len() {
            0 => recorded!("gate-syntax-good", files = checked),
            count => recorded!("gate-syntax-bad", errors = count, files = checked),
        };
        return Judgement::of(findings, summary, notes);
    }
    let nothing = |message: Words| Judgement::nothing(message).with_notes(notes.clone());
    if !files.is_empty() {
        nothing(recorded!("gate-syntax-none-among", files = files.join(", ")))
    } else if !unknown.is_empty() {
        nothing(recorded!("gate-syntax-none-known", files = unknown.len()))
    } else if deleted > 0 {
        // What is gone cannot be wrong; blocking here would ask for a repair that does not exist.
        Judgement::of(findings, recorded!("gate-syntax-deleted", files = deleted), notes)
    } else {
        nothing(recorded!("gate-syntax-nothing"))
    }
}
