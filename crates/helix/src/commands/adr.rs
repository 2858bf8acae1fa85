//! `helix adr`: checks, makes, numbers and lists architecture decision records.
//!
//! Must not hold any rule: those are in `helix_core::adr`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use helix_core::adr::{
    Adr, ChangeScope, Classification, ComponentType, Language, Status, TemplateRequest, built_in_rules, complete,
    parse_rules, template,
};
use helix_core::diagnostic::Diagnostic;
use helix_engine::adr_files::{AdrDirectory, AdrFileError, INDEX};
use serde_json::json;

use crate::cli::Context;
use crate::codes;
use crate::commands::plan::{shown, write_new};
use crate::error::{CommandError, Ended, unreadable, unwritable};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading, Table};

/// Arguments of `helix adr`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Writes a draft to start from
    New {
        /// Title of the decision
        title: String,
        /// What kind of thing is changed
        #[arg(long, default_value = "TOOL", value_parser = component)]
        component: ComponentType,
        /// What is done with it
        #[arg(long, default_value = "NEW", value_parser = classification)]
        classification: Classification,
        /// How far the change reaches
        #[arg(long, default_value = "minor", value_parser = scope)]
        scope: ChangeScope,
        /// File to be created; may be given several times
        #[arg(long, value_name = "FILE")]
        creates: Vec<String>,
        /// Language of headings and hints
        #[arg(long, value_enum, default_value = "english")]
        language: Words,
        /// Where to write it [default: adr/draft-TITLE.md]
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Checks ADRs and shows every problem with its place
    Check {
        /// Files or directories [default: the project's adr/]
        files: Vec<PathBuf>,
        /// Also by the rules of completeness
        #[arg(long)]
        complete: bool,
    },
    /// Gives a draft its number and its place in adr/
    Finalize {
        /// The draft
        draft: PathBuf,
        /// Project that gets it [default: the one that the working directory lies in]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Prints the number that the next ADR gets
    NextNumber,
    /// Lists the project's ADRs
    List,
    /// Writes adr/INDEX.md
    Index,
    /// Shows an ADR
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
        Action::Check { files, complete } => check_all(context, &root, &files, complete),
        Action::Finalize { draft, project } => {
            let root = project.map_or(root, |path| context.environment.directory.join(path));
            finalize(context, &root, &draft)
        }
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
    let shown =
        match error {
            AdrFileError::Disk { .. } => CommandError::environment(codes::OUTPUT_UNWRITABLE, error)
                .hint("check that the directory exists, is writable and has room"),
            AdrFileError::TooLarge { .. } => {
                CommandError::usage(codes::INPUT_UNREADABLE, error).hint("name a file that is an ADR")
            }
            AdrFileError::Unreadable(diagnostic) => CommandError::usage(codes::ADR_ERRORS, "the ADR cannot be read")
                .hint("save it as UTF-8; nothing was written")
                .diagnostics(vec![(**diagnostic).clone()], ""),
            AdrFileError::Invalid { source_text, diagnostics, .. } => CommandError::usage(codes::ADR_ERRORS, error)
                .hint("mend the draft; nothing was written")
                .diagnostics(diagnostics.clone(), source_text.clone()),
            AdrFileError::Numbered { .. } => CommandError::usage(codes::ADR_ERRORS, error)
                .hint("write `adr_id: draft` to have a new number allocated"),
            AdrFileError::Rewrite { .. } => CommandError::usage(codes::ADR_ERRORS, error)
                .hint("give the front matter the keys `adr_id` and `status`"),
        };
    match std::error::Error::source(error) {
        Some(source) => shown.because(source),
        None => shown,
    }
}

fn new(context: &Context, root: &Path, request: &TemplateRequest, output: Option<&Path>) -> Ended {
    let name = helix_core::adr::finalized_file_name(0, &request.title).replacen("000-", "draft-", 1);
    let path = output.map_or_else(|| root.join("adr").join(name), |path| context.environment.directory.join(path));
    write_new(&path, &template(request))?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&json!({ "written": path }))?,
        Reading::People => {
            context.terminal.data(&shown(context, &path))?;
            context.terminal.say(&format!("fill it in, then `helix adr finalize {}`", shown(context, &path)));
        }
    }
    Ok(Exit::Success)
}

fn check_all(context: &Context, root: &Path, files: &[PathBuf], completely: bool) -> Ended {
    let directory = root.join("adr");
    let mut paths = Vec::new();
    for file in files {
        let path = context.environment.directory.join(file);
        if path.is_dir() { paths.extend(markdown_in(&path)?) } else { paths.push(path) }
    }
    // `adr/*.md` names the generated index too, which is no decision.
    paths.retain(|path| !path.ends_with(INDEX));
    if files.is_empty() {
        paths = markdown_in(&directory)?;
    }
    if paths.is_empty() {
        return Err(CommandError::usage(
            codes::INPUT_UNREADABLE,
            format!("there are no ADRs in {}", directory.display()),
        )
        .hint("name a file, or make one with `helix adr new TITLE`"));
    }
    let rules = if completely { Some(rules(root)?) } else { None };
    let known = open(root)?;
    let mut reports = Vec::new();
    let mut errors = 0;
    for path in &paths {
        let name = shown(context, path);
        let (diagnostics, source) = match known.check(path) {
            Ok(checked) => {
                let mut diagnostics = checked.diagnostics;
                if let Some(rules) = &rules {
                    diagnostics.extend(complete(&checked.adr, rules));
                }
                (diagnostics, checked.adr.source)
            }
            Err(AdrFileError::Unreadable(diagnostic)) => (vec![*diagnostic], String::new()),
            Err(AdrFileError::Disk { source, path, .. }) => return Err(unreadable(&path)(source)),
            Err(error) => return Err(failed(&error)),
        };
        errors += diagnostics.iter().filter(|one| one.is_error()).count();
        if context.terminal.reading == Reading::People {
            say_result(context, &name, &diagnostics, &source)?;
        }
        reports.push(
            json!({ "file": name, "valid": !diagnostics.iter().any(Diagnostic::is_error), "diagnostics": diagnostics }),
        );
    }
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&json!({ "valid": errors == 0, "files": reports }))?;
    }
    Ok(if errors == 0 { Exit::Success } else { Exit::Usage })
}

/// ADRs of a directory in the order of their names, without index and readme; none if it is not there.
fn markdown_in(directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(directory)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable(directory))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".md") && name != INDEX && !name.eq_ignore_ascii_case("readme.md") && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn say_result(context: &Context, name: &str, diagnostics: &[Diagnostic], source: &str) -> Result<(), CommandError> {
    context.terminal.say_diagnostics(diagnostics, source);
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    if errors == 0 {
        return context.terminal.data(&format!("{name}: {}", context.terminal.paint(Meaning::Good, "valid")));
    }
    let word = if errors == 1 { "error" } else { "errors" };
    context.terminal.say(&context.terminal.paint_error(Meaning::Bad, &format!("{name}: {errors} {word}")));
    Ok(())
}

fn rules(root: &Path) -> Result<Vec<helix_core::adr::Rule>, CommandError> {
    let mut rules = built_in_rules();
    let path = root.join("adr").join("rules.yaml");
    if path.is_file() {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        let name = path.display().to_string();
        let own = parse_rules(&name, &text).map_err(|diagnostic| {
            CommandError::usage(codes::ADR_ERRORS, format!("{name} cannot be read"))
                .hint("mend the rules, or remove the file")
                .diagnostics(vec![*diagnostic], text.clone())
        })?;
        rules.extend(own);
    }
    Ok(rules)
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
            context.terminal.data(&shown(context, &root.join(&done.path)))?;
        }
    }
    Ok(Exit::Success)
}

/// Writes the index whole or not at all.
fn index(context: &Context, root: &Path) -> Ended {
    let known = open(root)?;
    let directory = root.join("adr");
    std::fs::create_dir_all(&directory).map_err(unwritable(&directory))?;
    let (path, draft) = (directory.join(INDEX), directory.join(format!(".{INDEX}.new")));
    std::fs::write(&draft, known.index()).map_err(unwritable(&draft))?;
    std::fs::rename(&draft, &path).map_err(unwritable(&path))?;
    context.terminal.data(&shown(context, &path))?;
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
            .say(&format!("there are no ADRs in {}; `helix adr new TITLE` makes one", root.join("adr").display()));
    } else {
        context.terminal.data(&table.for_data(&context.terminal))?;
    }
    Ok(Exit::Success)
}

fn show(context: &Context, root: &Path, wanted: &str) -> Ended {
    let path = context.environment.directory.join(wanted);
    let text = if path.is_file() {
        std::fs::read_to_string(&path).map_err(unreadable(&path))?
    } else {
        let id = wanted.parse::<helix_core::adr::AdrId>().map(|id| id.to_string()).unwrap_or_default();
        let known = open(root)?;
        let Some(adr) = known.adrs().iter().find(|adr| id_of(adr) == id) else {
            return Err(CommandError::usage(codes::NOT_FOUND, format!("there is no ADR {wanted:?}"))
                .hint("`helix adr list` shows all of them"));
        };
        adr.source.clone()
    };
    context.terminal.raw(&text)?;
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
