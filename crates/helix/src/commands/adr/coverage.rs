//! `helix adr coverage`: which concepts of its sources a plan or an ADR leaves out, with their places.
//!
//! Must not know what a concept is.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_adr::{Adr, Block, ConceptCoverage, blocks_of_adr, blocks_of_plan, concepts, coverage};
use helix_job::phrases;
use helix_language::say;
use helix_plan::Plan;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::read_text;
use crate::terminal::Meaning;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The plan (phases.yaml), or number or file of the ADR
    #[arg(value_name = "NUMBER|FILE")]
    target: PathBuf,
    /// Concept paper or ADR to cover; repeat for several [default: the plan's ADR and inputs]
    #[arg(long = "source", value_name = "FILE")]
    sources: Vec<PathBuf>,
}

pub(super) fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let path = super::file_of(context, root, &arguments.target)?;
    let text = read_text(&path)?;
    let name = context.shown(&path);
    let is_plan = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let (blocks, mut sources) =
        if is_plan { plan(&name, &text, root)? } else { (blocks_of_adr(&Adr::parse(&name, &text)), Vec::new()) };
    if !arguments.sources.is_empty() {
        sources = arguments.sources.iter().map(|source| context.path(source)).collect();
    }
    if sources.is_empty() {
        return Err(CommandError::usage(codes::USAGE, format!("{name} has no sources to compare with"))
            .hint("add one: `--source docs/concept.md`"));
    }
    let mut wanted = Vec::new();
    for source in &sources {
        wanted.extend(concepts(&Adr::parse(&context.shown(source), &read_text(source)?)));
    }
    // Nothing to compare is no coverage.
    if wanted.is_empty() {
        let names: Vec<String> = sources.iter().map(|source| context.shown(source)).collect();
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("no concepts in {}", names.join(", ")))
            .hint("a concept is a heading of the second level (`## …`); of an ADR, a heading in Decision or Implementation and a claimed file"));
    }
    let concepts = coverage(wanted, &blocks);
    let missing = concepts.iter().filter(|one| one.covered_by.is_none()).count();
    let covered = concepts.len() - missing;
    let mut lines: Vec<String> = concepts.iter().map(|one| line(context, &name, one)).collect();
    let language = context.terminal.language;
    lines.push(say!(language, "coverage-sum", covered = covered, concepts = concepts.len(), target = &name));
    let value = json!({ "target": name, "covered": covered, "missing": missing, "concepts": concepts });
    context.terminal.answer(&value, &lines.join("\n"))?;
    if missing == 0 {
        return Ok(Exit::Success);
    }
    context.terminal.note(&phrases::hint(language, &say!(language, "coverage-hint")));
    Ok(Exit::No)
}

/// The blocks of a plan, and the Markdown files that it names: its ADR and its phases' inputs.
fn plan(name: &str, text: &str, root: &Path) -> Result<(Vec<Block>, Vec<PathBuf>), CommandError> {
    let parsed = Plan::parse(name, text).map_err(|diagnostics| CommandError::plan(name, diagnostics, text))?;
    let inputs = parsed.plan.phases.iter().flat_map(|phase| &phase.inputs);
    let mut sources: Vec<PathBuf> = Vec::new();
    for path in parsed.plan.adr.iter().chain(inputs).filter(|path| path.ends_with(".md")) {
        let path = root.join(path);
        if path.is_file() && !sources.contains(&path) {
            sources.push(path);
        }
    }
    Ok((blocks_of_plan(&parsed.plan), sources))
}

fn line(context: &Context, target: &str, one: &ConceptCoverage) -> String {
    let language = context.terminal.language;
    let paint = |meaning, text: String| context.terminal.paint(meaning, &text);
    let concept = &one.concept;
    let place = format!("{}:{}:{}", concept.file, concept.span.line, concept.span.column);
    let Some(by) = &one.covered_by else {
        return format!("{}  {place}: {}", paint(Meaning::Bad, say!(language, "coverage-missing")), concept.text);
    };
    let at = by.line.map(|line| format!(" ({target}:{line})")).unwrap_or_default();
    format!("{}  {place}: {}: {}{at}", paint(Meaning::Good, say!(language, "coverage-covered")), concept.text, by.block)
}
