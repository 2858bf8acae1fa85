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

use clap::{Args, Subcommand, ValueEnum};
use helix_adr::{Adr, ChangeScope, Classification, ComponentType, Language, Status, TemplateRequest, template};
use helix_project::adr_files::{AdrDirectory, AdrFileError};
use serde_json::json;

use crate::codes;
use crate::commands::draft;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Reading, Table};

/// Arguments of `helix adr`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write a draft
    New {
        /// Title of the ADR
        title: String,
        /// Kind of component
        #[arg(long, default_value = "TOOL", value_parser = component)]
        component: ComponentType,
        /// Kind of change
        #[arg(long, default_value = "NEW", value_parser = classification)]
        classification: Classification,
        /// Scope of the change
        #[arg(long, default_value = "minor", value_parser = scope)]
        scope: ChangeScope,
        /// File that it creates; repeat for several
        #[arg(long, value_name = "FILE")]
        creates: Vec<String>,
        /// Language of headings and hints
        #[arg(long, value_enum, default_value = "english")]
        language: Words,
        /// Where to write it [default: adr/draft-TITLE.md]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check ADRs and show every problem with its location
    Check {
        /// Files or directories [default: the project's adr/]
        files: Vec<PathBuf>,
        /// Also check completeness, including the rules in adr/rules.yaml
        #[arg(long)]
        complete: bool,
        /// Repair wrongly encoded text if the original is unambiguous
        #[arg(long)]
        fix: bool,
    },
    /// Number a draft and move it to adr/
    Finalize {
        /// The draft
        draft: PathBuf,
        /// Project [default: the one that contains the working directory]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Fix duplicate ADR numbers, updating all references
    Renumber {
        /// ADR to renumber [default: duplicates that are not in the base branch]
        file: Option<PathBuf>,
        /// Base branch [default: origin's, or main]
        #[arg(long, value_name = "REF")]
        base: Option<String>,
    },
    /// Tick the criteria that a merged job has verified; if all are ticked, set the status to Implemented
    Implemented {
        /// Number of the decision
        #[arg(value_name = "NUMBER")]
        adr: String,
        /// Job with the evidence [default: the last merged one for this ADR]
        #[arg(long, value_name = "ID")]
        job: Option<String>,
    },
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
    Import {
        /// Files, or directories of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Write them to adr/, keeping free numbers
        #[arg(long)]
        write: bool,
    },
    /// Show which concepts of its sources a plan or ADR omits
    Coverage {
        /// The plan (phases.yaml) or ADR
        target: PathBuf,
        /// Concept paper or ADR to cover; repeat for several [default: the plan's ADR and inputs]
        #[arg(long = "source", value_name = "FILE")]
        sources: Vec<PathBuf>,
    },
    /// Show claimed files that changed after their decision, and changes without one
    Drift {
        /// Compare with this commit [default: each decision's own last change]
        #[arg(long, value_name = "REF")]
        since: Option<String>,
        /// Also fail when a change has no decision
        #[arg(long)]
        strict: bool,
    },
    /// Show an ADR
    Show {
        /// Number or file
        #[arg(value_name = "NUMBER|FILE")]
        adr: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Words {
    English,
    German,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    let root = root(&context.environment.directory);
    match arguments.action {
        Action::New { title, component, classification, scope, creates, language, output } => {
            let language = match language {
                Words::English => Language::English,
                Words::German => Language::German,
            };
            let request = TemplateRequest {
                language,
                title,
                component_type: component,
                classification,
                change_scope: scope,
                creates,
            };
            new(context, &root, &request, output.as_deref())
        }
        Action::Check { files, complete, fix } => {
            let depth = if complete { check::Depth::Complete } else { check::Depth::Valid };
            let repair = if fix { check::Repair::Write } else { check::Repair::Leave };
            check::run(context, &root, &files, depth, repair)
        }
        Action::Finalize { draft, project } => {
            let root = project.map_or(root, |path| context.environment.directory.join(path));
            finalize(context, &root, &draft)
        }
        Action::Renumber { file, base } => renumber::run(context, &root, file.as_deref(), base.as_deref()),
        Action::Implemented { adr, job } => context.block_on(implemented::run(context, &root, &adr, job.as_deref())),
        Action::NextNumber => {
            let number = open(&root)?.next_number();
            match context.terminal.reading {
                Reading::Programs => context.terminal.json(&json!({ "next_number": number }))?,
                Reading::People => context.terminal.data(&format!("{number:03}"))?,
            }
            Ok(Exit::Success)
        }
        Action::List => list(context, &root),
        Action::Index => index(context, &root),
        Action::Graph { format } => graph::run(context, &root, format),
        Action::Import { files, write } => {
            let write = if write { import::Write::Files } else { import::Write::Nothing };
            import::run(context, &root, &files, write)
        }
        Action::Coverage { target, sources } => coverage::run(context, &root, &target, &sources),
        Action::Drift { since, strict } => {
            let undecided = if strict { drift::Undecided::Fails } else { drift::Undecided::IsSaid };
            drift::run(context, &root, since.as_deref(), undecided)
        }
        Action::Show { adr } => show(context, &root, &adr),
    }
}

/// The project: the nearest directory upwards that has ADRs or a repository; else the given one.
fn root(directory: &Path) -> PathBuf {
    let found = directory.ancestors().find(|path| path.join("adr").is_dir() || path.join(".git").exists());
    found.unwrap_or(directory).to_owned()
}

fn open(root: &Path) -> Result<AdrDirectory, CommandError> {
    AdrDirectory::open(root).map_err(|error| failed(&error))
}

/// Turns what is wrong with a file of ADRs into an error for people.
fn failed(error: &AdrFileError) -> CommandError {
    let shown = match error {
        AdrFileError::Disk { .. } => CommandError::environment(codes::OUTPUT_UNWRITABLE, error)
            .hint("check that the directory exists and is writable, and that the disk is not full"),
        AdrFileError::TooLarge { .. } => CommandError::usage(codes::INPUT_UNREADABLE, error).hint("use an ADR file"),
        AdrFileError::Unreadable(diagnostic) => CommandError::usage(codes::ADR_ERRORS, "the ADR cannot be read")
            .hint("save it as UTF-8; nothing was written")
            .diagnostics(vec![(**diagnostic).clone()], ""),
        AdrFileError::Invalid { source_text, diagnostics, .. } => CommandError::usage(codes::ADR_ERRORS, error)
            .hint("fix the draft; nothing was written")
            .diagnostics(diagnostics.clone(), source_text.clone()),
        AdrFileError::Rules { diagnostic, source_text } => CommandError::usage(codes::ADR_ERRORS, error)
            .hint("fix the rules, or remove the file")
            .diagnostics(vec![(**diagnostic).clone()], source_text.clone()),
        AdrFileError::Import { .. } => CommandError::usage(codes::ADR_ERRORS, error)
            .hint("`helix adr new TITLE` writes a draft for other texts; nothing was written"),
        AdrFileError::Numbered { .. } => {
            CommandError::usage(codes::ADR_ERRORS, error).hint("write `adr_id: draft` to get a new number")
        }
        AdrFileError::Unknown { .. } => CommandError::usage(codes::NOT_FOUND, error).hint("`helix adr list` shows all"),
        AdrFileError::Rewrite { .. } => {
            CommandError::usage(codes::ADR_ERRORS, error).hint("add `adr_id` and `status` to the front matter")
        }
    };
    match std::error::Error::source(error) {
        Some(source) => shown.because(source),
        None => shown,
    }
}

fn new(context: &Context, root: &Path, request: &TemplateRequest, output: Option<&Path>) -> Ended {
    let name = helix_adr::finalized_file_name(0, &request.title).replacen("000-", "draft-", 1);
    let path = output.map_or_else(|| root.join("adr").join(name), |path| context.environment.directory.join(path));
    let next = format!("fill it in, then `helix adr finalize {}`", context.shown(&path));
    draft::give(context, &path, &template(request), &next)
}

fn finalize(context: &Context, root: &Path, draft: &Path) -> Ended {
    let draft = context.environment.directory.join(draft);
    std::fs::File::open(&draft).map_err(unreadable(&draft))?;
    let done = AdrDirectory::finalize(root, &draft).map_err(|error| failed(&error))?;
    match context.terminal.reading {
        Reading::Programs => {
            context
                .terminal
                .json(&json!({ "number": done.number, "path": root.join(&done.path), "warnings": done.warnings }))?;
        }
        Reading::People => {
            context.terminal.say_diagnostics(&done.warnings, "");
            context.terminal.data(&context.shown(&root.join(&done.path)))?;
        }
    }
    Ok(Exit::Success)
}

fn index(context: &Context, root: &Path) -> Ended {
    let path = AdrDirectory::regenerate_index(root).map_err(|error| failed(&error))?;
    context.terminal.data(&context.shown(&path))?;
    Ok(Exit::Success)
}

fn list(context: &Context, root: &Path) -> Ended {
    let known = open(root)?;
    let adrs = known.adrs();
    if context.terminal.reading == Reading::Programs {
        let rows: Vec<serde_json::Value> = adrs
            .iter()
            .map(|adr| {
                json!({
                    "id": id_of(adr), "title": adr.title(), "status": status_of(adr).map(Status::word), "file": adr.file,
                    "criteria": adr.criteria.len(), "met": adr.criteria.iter().filter(|one| one.checked).count(),
                })
            })
            .collect();
        context.terminal.json(&rows)?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["id", "status", "criteria", "title"]);
    for adr in adrs {
        let met = adr.criteria.iter().filter(|one| one.checked).count();
        table.row([
            (id_of(adr), None),
            (status_of(adr).map_or("unknown", Status::word).to_owned(), None),
            (format!("{met} of {}", adr.criteria.len()), None),
            (adr.title().to_owned(), None),
        ]);
    }
    if adrs.is_empty() {
        context
            .terminal
            .say(&format!("no ADRs in {}; create one with `helix adr new TITLE`", root.join("adr").display()));
    } else {
        context.terminal.data(&table.for_data(&context.terminal))?;
    }
    Ok(Exit::Success)
}

fn show(context: &Context, root: &Path, wanted: &str) -> Ended {
    let path = context.environment.directory.join(wanted);
    let known;
    let read;
    let adr = if path.is_file() {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        read = Adr::parse(&context.shown(&path), &text);
        &read
    } else {
        known = open(root)?;
        let id = wanted.parse::<helix_adr::AdrId>().ok();
        id.and_then(|id| known.find(id)).ok_or_else(|| {
            CommandError::usage(codes::NOT_FOUND, format!("no ADR {wanted:?}")).hint("`helix adr list` shows all")
        })?
    };
    match context.terminal.reading {
        Reading::People => context.terminal.raw(&adr.source)?,
        Reading::Programs => {
            let criteria: Vec<serde_json::Value> = adr
                .criteria
                .iter()
                .map(|one| json!({ "text": one.text, "met": one.checked, "line": one.span.line, "evidence": one.evidence }))
                .collect();
            context.terminal.json(&json!({
                "id": id_of(adr), "title": adr.title(), "status": status_of(adr).map(Status::word), "file": adr.file,
                "criteria": criteria, "text": adr.source,
            }))?;
        }
    }
    Ok(Exit::Success)
}

fn id_of(adr: &Adr) -> String {
    let front = adr.front.as_ref();
    front.and_then(|front| front.adr_id.as_ref()).map_or_else(|| "-".to_owned(), |id| id.value.to_string())
}

fn status_of(adr: &Adr) -> Option<Status> {
    Some(adr.front.as_ref()?.status.as_ref()?.value)
}

fn component(text: &str) -> Result<ComponentType, String> {
    one_of(text, ComponentType::WORDS.iter().copied())
}

fn classification(text: &str) -> Result<Classification, String> {
    one_of(text, Classification::WORDS.iter().copied())
}

fn scope(text: &str) -> Result<ChangeScope, String> {
    one_of(text, ChangeScope::WORDS.iter().copied())
}

fn one_of<T>(text: &str, values: impl Iterator<Item = (&'static str, T)>) -> Result<T, String> {
    let mut known = Vec::new();
    for (word, value) in values {
        if word.eq_ignore_ascii_case(text) {
            return Ok(value);
        }
        known.push(word);
    }
    Err(format!("known: {}", known.join(", ")))
}
