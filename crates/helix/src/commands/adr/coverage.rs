//! `helix adr coverage`: which concepts of its sources a plan or an ADR leaves out, with their places.
//!
//! Must not know what a concept is.

use std::path::{Path, PathBuf};

use helix_adr::{Adr, Block, ConceptCoverage, blocks_of_adr, blocks_of_plan, concepts, coverage};
use helix_plan::Plan;
use serde_json::json;

use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading};

pub(super) fn run(context: &Context, root: &Path, target: &Path, sources: &[PathBuf]) -> Ended {
    let path = context.environment.directory.join(target);
    let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
    let name = context.shown(&path);
    let is_plan = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let (blocks, own_sources) =
        if is_plan { plan(&name, &text, root)? } else { (blocks_of_adr(&Adr::parse(&name, &text)), Vec::new()) };
    let sources: Vec<PathBuf> = match sources.is_empty() {
        true => own_sources,
        false => sources.iter().map(|source| context.environment.directory.join(source)).collect(),
    };
    if sources.is_empty() {
        return Err(CommandError::usage(codes::USAGE, format!("{name} has no sources to compare with"))
            .hint("add one: `--source docs/concept.md`"));
    }
    let mut wanted = Vec::new();
    for source in &sources {
        let text = std::fs::read_to_string(source).map_err(unreadable(source))?;
        wanted.extend(concepts(&Adr::parse(&context.shown(source), &text)));
    }
    // Nothing to compare is no coverage.
    if wanted.is_empty() {
        let names: Vec<String> = sources.iter().map(|source| context.shown(source)).collect();
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("no concepts in {}", names.join(", ")))
            .hint("a concept is a heading of the second level (`## …`); of an ADR, a heading in Decision or Implementation and a claimed file"));
    }
    let covered = coverage(wanted, &blocks);
    let missing = covered.iter().filter(|one| one.covered_by.is_none()).count();
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(
            &json!({ "target": name, "covered": covered.len() - missing, "missing": missing, "concepts": covered }),
        )?,
        Reading::People => say(context, &name, &covered, missing)?,
    }
    Ok(if missing == 0 { Exit::Success } else { Exit::No })
}

/// The blocks of a plan, and the Markdown files that it names: its ADR and its phases' inputs.
fn plan(name: &str, text: &str, root: &Path) -> Result<(Vec<Block>, Vec<PathBuf>), CommandError> {
    let parsed = Plan::parse(name, text).map_err(|diagnostics| {
        CommandError::usage(codes::PLAN_ERRORS, format!("{name} is not a valid plan"))
            .hint("fix the plan first: helix plan check")
            .diagnostics(diagnostics, text)
    })?;
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

fn say(context: &Context, target: &str, covered: &[ConceptCoverage], missing: usize) -> Result<(), CommandError> {
    for one in covered {
        let place = format!("{}:{}:{}", one.concept.file, one.concept.span.line, one.concept.span.column);
        let line = match &one.covered_by {
            Some(by) => {
                let at = by.line.map(|line| format!(" ({target}:{line})")).unwrap_or_default();
                format!(
                    "{}  {place}: {}: {}{at}",
                    context.terminal.paint(Meaning::Good, "covered"),
                    one.concept.text,
                    by.block
                )
            }
            None => format!("{}  {place}: {}", context.terminal.paint(Meaning::Bad, "MISSING"), one.concept.text),
        };
        context.terminal.data(&line)?;
    }
    context.terminal.data(&format!(
        "{} of {} concepts are covered by {target}",
        covered.len() - missing,
        covered.len()
    ))?;
    if missing > 0 {
        context.terminal.say(
            "hint: add the missing concepts under headings of their names, or say in the text why they are omitted",
        );
    }
    Ok(())
}
