//! `helix adr`: checks, makes, numbers, changes, imports and lists architecture decision records, and shows how they hang together.
//!
//! Must not hold any rule: those are in `helix_adr`.

mod check;
mod coverage;
mod drift;
mod edit;
mod graph;
mod implemented;
mod import;
mod new;
mod renumber;
mod search;
mod site;
mod state;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use helix_adr::{Adr, AdrId, Link, Numbering};
use helix_language::say;
use helix_project::adr_files::{AdrDirectory, AdrSummary, Place};
use serde_json::json;

use crate::arguments::words;
use crate::context::Context;
use crate::error::{CommandError, Ended, codes};
use crate::files::{read_text, readable};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Write a new ADR: a draft, or where the project's ADRs have another form, a numbered proposal in that form
    New(new::Arguments),
    /// Check ADRs and show every problem with its location
    Check(check::Arguments),
    /// Number a draft and put it beside the project's other ADRs, in their form
    Finalize {
        /// The draft
        draft: PathBuf,
        /// Project [default: the one that contains the working directory]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Accept a proposed ADR, and write down who did
    Accept {
        /// Number, name or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
        /// Who accepts it [default: you]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Reject a proposed ADR
    Reject {
        /// Number, name or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
    },
    /// Say in two ADRs that one replaces the other
    Supersede {
        /// The ADR that is replaced: number, name or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
        /// The ADR that replaces it
        #[arg(long, value_name = "NUMBER|FILE")]
        by: String,
    },
    /// Say in an ADR that it depends on another one or is related to it
    Link {
        /// The ADR that gets the link: number, name or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
        /// How it hangs together with the other one
        #[arg(value_parser = words(state::LINKS))]
        link: Link,
        /// The other ADR
        #[arg(value_name = "NUMBER|FILE")]
        other: String,
    },
    /// Open an ADR in your editor ($VISUAL or $EDITOR), then check it
    Edit {
        /// Number, name or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
    },
    /// Find ADRs that have all of these words
    Search {
        /// Words in any order
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Write all ADRs as a static site: an index with search, pages, and the graph
    Site(site::Arguments),
    /// Fix duplicate ADR numbers, updating all references
    Renumber(renumber::Arguments),
    /// Tick the criteria that a merged job has verified; if all are ticked, set the status to Implemented
    Implemented(implemented::Arguments),
    /// Print the next free ADR number
    NextNumber,
    /// List the project's ADRs
    List,
    /// Write INDEX.md beside the ADRs
    Index,
    /// Draw the graph of ADRs
    Graph {
        /// Output format; `--json` means json
        #[arg(long, value_enum, default_value = "mermaid")]
        format: graph::Format,
    },
    /// Convert MADR and Nygard files to ADRs in Helix's own form, keeping every sentence
    Import(import::Arguments),
    /// Show which concepts of its sources a plan or ADR omits
    Coverage(coverage::Arguments),
    /// Show claimed files that changed after their decision, and changes without one
    Drift(drift::Arguments),
    /// Show an ADR
    Show {
        /// Number or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
    },
}

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let root = root(&context.environment.directory);
    match action {
        Action::New(arguments) => new::run(context, &root, arguments),
        Action::Check(arguments) => check::run(context, &root, &arguments),
        Action::Finalize { draft, project } => {
            finalize(context, &project.map_or(root, |path| context.path(path)), &context.path(draft))
        }
        Action::Accept { adr, by } => state::accept(context, &root, &adr, by),
        Action::Reject { adr } => state::reject(context, &root, &adr),
        Action::Supersede { adr, by } => state::supersede(context, &root, &adr, &by),
        Action::Link { adr, link, other } => state::link(context, &root, &adr, link, &other),
        Action::Edit { adr } => edit::run(context, &root, &adr),
        Action::Search { words } => search::run(context, &root, &words),
        Action::Site(arguments) => site::run(context, &root, &arguments),
        Action::Renumber(arguments) => renumber::run(context, &root, &arguments),
        Action::Implemented(arguments) => context.block_on(implemented::run(context, &root, &arguments)),
        Action::NextNumber => {
            let known = AdrDirectory::open(&root)?;
            let counted = known.style().numbering != Numbering::Dated;
            let (number, prefix) = (counted.then(|| known.next_number()), known.next_prefix());
            context.terminal.answer(&json!({ "next_number": number, "prefix": prefix }), &prefix)
        }
        Action::List => list(context, &root),
        Action::Index => {
            let path = AdrDirectory::regenerate_index(&root)?;
            context.terminal.answer(&json!({ "index": path }), &context.shown(&path))
        }
        Action::Graph { format } => graph::run(context, &root, format),
        Action::Import(arguments) => import::run(context, &root, &arguments),
        Action::Coverage(arguments) => coverage::run(context, &root, &arguments),
        Action::Drift(arguments) => drift::run(context, &root, &arguments),
        Action::Show { adr } => show(context, &root, &adr),
    }
}

/// The project: the nearest directory upwards that has ADRs or a repository; else the given one.
fn root(directory: &Path) -> PathBuf {
    let found = directory.ancestors().find(|path| path.join(".git").exists() || Place::is_project(path));
    found.unwrap_or(directory).to_owned()
}

fn finalize(context: &Context, root: &Path, draft: &Path) -> Ended {
    readable(draft)?;
    let done = AdrDirectory::finalize(root, draft)?;
    let path = root.join(&done.path);
    context.terminal.say_diagnostics(&done.warnings, "");
    let (id, number) = (done.id.to_string(), done.number());
    let value = json!({ "id": id, "number": number, "path": path, "warnings": done.warnings });
    let exit = context.terminal.answer(&value, &context.shown(&path))?;
    let named = number.map_or(id, |number| number.to_string());
    context.terminal.note(&say!(context.terminal.language, "adr-finalized", number = named));
    Ok(exit)
}

fn list(context: &Context, root: &Path) -> Ended {
    let (known, language) = (AdrDirectory::open(root)?, context.terminal.language);
    let adrs = known.summaries();
    let rows = adrs.iter().map(|AdrSummary { id, status, met, criteria, title, .. }| {
        [
            (id.as_deref().unwrap_or("-").to_owned(), None),
            (status.clone().unwrap_or_else(|| say!(language, "adr-no-status")), None),
            (say!(language, "adr-met", met = *met, criteria = *criteria), None),
            (title.clone(), None),
        ]
    });
    let nothing = say!(language, "adr-none", place = root.join(known.directory()).display().to_string());
    context.terminal.list(&adrs, &nothing, ["id", "status", "criteria", "title"], rows)
}

/// The project's ADR of this number, name or file, or the only one that has this text in its file's name.
fn named<'a>(context: &Context, known: &'a AdrDirectory, wanted: &str) -> Result<&'a Adr, CommandError> {
    let path = context.path(wanted);
    let of_file = path.strip_prefix(known.root()).ok().and_then(|file| known.by_file(file.to_str()?));
    if let Some(adr) = of_file.or_else(|| known.find(&wanted.parse().ok()?)) {
        return Ok(adr);
    }
    let part = wanted.to_lowercase();
    let has = |adr: &&Adr| adr.file.rsplit('/').next().is_some_and(|name| name.to_lowercase().contains(&part));
    let found: Vec<&Adr> = known.adrs().iter().filter(has).collect();
    let hint = match found[..] {
        [adr] if part.chars().any(char::is_alphabetic) => return Ok(adr),
        [_, ..] if part.len() > 2 => {
            let files: Vec<&str> = found.iter().map(|adr| adr.file.as_str()).collect();
            format!("name one of: {}", files.join(", "))
        }
        _ => "`helix adr list` shows all".to_owned(),
    };
    Err(CommandError::usage(codes::NOT_FOUND, format!("no ADR {wanted:?}")).hint(hint))
}

/// Its number, which only it has, and its file relative to the root.
fn identified(context: &Context, known: &AdrDirectory, wanted: &str) -> Result<(AdrId, String), CommandError> {
    let adr = named(context, known, wanted)?;
    let id = adr.decided_id().filter(|id| known.find(id).is_some_and(|first| first.file == adr.file));
    let id = id.ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("{} has no number of its own", adr.file))
            .hint("`helix adr finalize` numbers drafts, `helix adr renumber` those that share a number")
    })?;
    Ok((id, adr.file.clone()))
}

/// The file that an argument names by itself, or as an ADR of the project.
fn file_of(context: &Context, root: &Path, wanted: &Path) -> Result<PathBuf, CommandError> {
    let path = context.path(wanted);
    let text = wanted.to_string_lossy();
    if path.exists() || text.contains(['/', '.']) {
        return Ok(path);
    }
    let known = AdrDirectory::open(root)?;
    let files = text.parse::<AdrId>().ok().map(|id| known.known().files(&id)).unwrap_or_default();
    if files.len() > 1 {
        return Err(CommandError::usage(codes::NOT_FOUND, format!("several ADRs have the number {text}"))
            .hint(format!("name one of: {}", files.join(", "))));
    }
    Ok(root.join(&named(context, &known, &text)?.file))
}

fn show(context: &Context, root: &Path, wanted: &str) -> Ended {
    let path = context.path(wanted);
    let (known, read);
    let adr = if path.is_file() {
        read = Adr::parse(&context.shown(&path), &read_text(&path)?);
        &read
    } else {
        known = AdrDirectory::open(root)?;
        named(context, &known, wanted)?
    };
    let AdrSummary { id, title, status, file, .. } = AdrSummary::from(adr);
    let criteria: Vec<_> = adr
        .criteria
        .iter()
        .map(|one| json!({ "text": one.text, "met": one.checked, "line": one.span.line, "evidence": one.evidence }))
        .collect();
    let value = json!({
        "id": id, "title": title, "status": status, "file": file, "criteria": criteria, "text": adr.source,
    });
    context.terminal.answer(&value, &adr.source)
}
