//! `helix adr`: checks, makes, numbers, imports and lists architecture decision records, and shows how they hang together.
//!
//! Must not hold any rule: those are in `helix_adr`.

mod check;
mod coverage;
mod drift;
mod graph;
mod implemented;
mod import;
mod renumber;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use helix_adr::{
    Acceptance, Adr, AdrId, ChangeScope, Classification, ComponentType, Language, Status, TemplateRequest, template,
};
use helix_job::say;
use helix_project::adr_files::{AdrDirectory, AdrSummary};
use jiff::Timestamp;
use serde_json::json;

use crate::arguments::words;
use crate::commands::draft;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{read_text, readable};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Write a draft
    New {
        /// Title of the ADR
        title: String,
        /// Kind of component
        #[arg(long, default_value = "TOOL", ignore_case = true, value_parser = words(ComponentType::WORDS.iter().copied()))]
        component: ComponentType,
        /// Kind of change
        #[arg(long, default_value = "NEW", ignore_case = true, value_parser = words(Classification::WORDS.iter().copied()))]
        classification: Classification,
        /// Scope of the change
        #[arg(long, default_value = "minor", ignore_case = true, value_parser = words(ChangeScope::WORDS.iter().copied()))]
        scope: ChangeScope,
        /// File that it creates; repeat for several
        #[arg(long, value_name = "FILE")]
        creates: Vec<String>,
        /// Language of headings and hints
        #[arg(long, default_value = "english", value_parser = words(LANGUAGES))]
        language: Language,
        /// Where to write it [default: adr/draft-TITLE.md]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check ADRs and show every problem with its location
    Check(check::Arguments),
    /// Number a draft and move it to adr/
    Finalize {
        /// The draft
        draft: PathBuf,
        /// Project [default: the one that contains the working directory]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Accept a proposed ADR, and write down who did
    Accept {
        /// Number or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
        /// Who accepts it [default: you]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Fix duplicate ADR numbers, updating all references
    Renumber(renumber::Arguments),
    /// Tick the criteria that a merged job has verified; if all are ticked, set the status to Implemented
    Implemented(implemented::Arguments),
    /// Print the next free ADR number
    NextNumber,
    /// List the project's ADRs
    List,
    /// Write adr/INDEX.md
    Index,
    /// Draw the graph of ADRs
    Graph {
        /// Output format; `--json` means json
        #[arg(long, value_enum, default_value = "mermaid")]
        format: graph::Format,
    },
    /// Convert MADR and Nygard files, keeping every sentence
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

const LANGUAGES: [(&str, Language); 2] = [("english", Language::English), ("german", Language::German)];

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let root = root(&context.environment.directory);
    match action {
        Action::New { title, component, classification, scope, creates, language, output } => {
            let (component_type, change_scope) = (component, scope);
            let request = TemplateRequest { language, title, component_type, classification, change_scope, creates };
            new(context, &root, &request, output.as_deref())
        }
        Action::Check(arguments) => check::run(context, &root, &arguments),
        Action::Finalize { draft, project } => {
            finalize(context, &project.map_or(root, |path| context.path(path)), &context.path(draft))
        }
        Action::Accept { adr, by } => accept(context, &root, &adr, by),
        Action::Renumber(arguments) => renumber::run(context, &root, &arguments),
        Action::Implemented(arguments) => context.block_on(implemented::run(context, &root, &arguments)),
        Action::NextNumber => {
            let number = AdrDirectory::open(&root)?.next_number();
            context.terminal.answer(&json!({ "next_number": number }), &format!("{number:03}"))
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
    let found = directory.ancestors().find(|path| path.join("adr").is_dir() || path.join(".git").exists());
    found.unwrap_or(directory).to_owned()
}

fn new(context: &Context, root: &Path, request: &TemplateRequest, output: Option<&Path>) -> Ended {
    let name = helix_adr::finalized_file_name(0, &request.title).replacen("000-", "draft-", 1);
    let path = output.map_or_else(|| root.join("adr").join(name), |path| context.path(path));
    let next = say!(context.terminal.language, "adr-next", file = context.shown(&path));
    draft::give(context, &path, &template(request), &next)
}

fn finalize(context: &Context, root: &Path, draft: &Path) -> Ended {
    readable(draft)?;
    let done = AdrDirectory::finalize(root, draft)?;
    let path = root.join(&done.path);
    context.terminal.say_diagnostics(&done.warnings, "");
    let value = json!({ "number": done.number, "path": path, "warnings": done.warnings });
    let exit = context.terminal.answer(&value, &context.shown(&path))?;
    context.terminal.note(&say!(context.terminal.language, "adr-finalized", number = done.number.to_string()));
    Ok(exit)
}

fn accept(context: &Context, root: &Path, wanted: &str, by: Option<String>) -> Ended {
    if let Some(run) = context.environment.variable("HELIX_RUN_ID") {
        let message = format!("a decision is accepted by a person, not by an agent (run {run})");
        return Err(
            CommandError::new(Exit::No, codes::CANNOT_BE_DONE, message).hint("leave it to whoever reads the result")
        );
    }
    let by = by.map(|by| by.trim().to_owned()).filter(|by| !by.is_empty());
    let by = by.unwrap_or_else(|| context.environment.person());
    let acceptance = Acceptance { by, on: Timestamp::now().strftime("%F").to_string() };
    let (id, _) = identified(context, &AdrDirectory::open(root)?, wanted)?;
    let path = AdrDirectory::accept(root, id, &acceptance)?;
    let Acceptance { by, on } = acceptance;
    let value =
        json!({ "path": root.join(&path), "status": Status::Accepted.word(), "accepted_by": by, "accepted_on": on });
    let path = context.shown(&root.join(path));
    let status = Status::Accepted.word();
    let text = say!(context.terminal.language, "adr-accepted", file = path, status = status, by = by);
    context.terminal.answer(&value, &text)
}

fn list(context: &Context, root: &Path) -> Ended {
    let (adrs, language) = (AdrDirectory::open(root)?.summaries(), context.terminal.language);
    let rows = adrs.iter().map(|AdrSummary { id, status, met, criteria, title, .. }| {
        [
            (id.as_deref().unwrap_or("-").to_owned(), None),
            (status.clone().unwrap_or_else(|| say!(language, "adr-no-status")), None),
            (say!(language, "adr-met", met = *met, criteria = *criteria), None),
            (title.clone(), None),
        ]
    });
    let nothing = say!(language, "adr-none", place = root.join("adr").display().to_string());
    let headings = [
        say!(language, "list-id"),
        say!(language, "report-status"),
        say!(language, "adr-criteria"),
        say!(language, "adr-title"),
    ];
    context.terminal.list(&adrs, &nothing, headings, rows)
}

fn not_found(wanted: &str) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, format!("no ADR {wanted:?}")).hint("`helix adr list` shows all")
}

/// The project's ADR of this number or file.
fn named<'a>(context: &Context, known: &'a AdrDirectory, wanted: &str) -> Result<&'a Adr, CommandError> {
    let path = context.path(wanted);
    let of_file = known.adrs().iter().find(|adr| known.root().join(&adr.file) == path);
    of_file.or_else(|| known.find(wanted.parse().ok()?)).ok_or_else(|| not_found(wanted))
}

/// Its number, which only it has, and its file relative to the root.
fn identified(context: &Context, known: &AdrDirectory, wanted: &str) -> Result<(AdrId, String), CommandError> {
    let adr = named(context, known, wanted)?;
    let id = adr.id().filter(|id| known.find(*id).is_some_and(|first| first.file == adr.file));
    let id = id.ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("{} has no number of its own", adr.file))
            .hint("`helix adr finalize` numbers drafts, `helix adr renumber` those that share a number")
    })?;
    Ok((id, adr.file.clone()))
}

/// The file that an argument names by itself or by its number.
fn file_of(context: &Context, root: &Path, wanted: &Path) -> Result<PathBuf, CommandError> {
    let path = context.path(wanted);
    let id = wanted.to_str().filter(|_| !path.exists()).and_then(|text| text.parse::<AdrId>().ok());
    match id {
        None => Ok(path),
        Some(id) => {
            let known = AdrDirectory::open(root)?;
            let files: Vec<&str> =
                known.adrs().iter().filter(|adr| adr.id() == Some(id)).map(|adr| adr.file.as_str()).collect();
            match files[..] {
                [] => Err(not_found(&wanted.to_string_lossy())),
                [file] => Ok(root.join(file)),
                _ => Err(CommandError::usage(
                    codes::NOT_FOUND,
                    format!("several ADRs have the number {}", wanted.display()),
                )
                .hint(format!("name one of: {}", files.join(", ")))),
            }
        }
    }
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
