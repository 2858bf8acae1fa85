//! `helix adr graph`: the decisions and their links as a drawing or as data; cycles are said as well.
//!
//! Must not know how a graph is drawn.

use std::path::Path;

use clap::ValueEnum;
use helix_adr::{check, codes};
use helix_core::diagnostic::Diagnostic;
use helix_project::adr_files::AdrDirectory;
use serde_json::json;

use crate::context::Context;
use crate::error::Ended;
use crate::terminal::Reading;

/// What draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Mermaid, as GitHub and Open WebUI draw it.
    Mermaid,
    /// Graphviz.
    Dot,
    /// Nodes, edges and cycles as data.
    Json,
}

pub(super) fn run(context: &Context, root: &Path, format: Format) -> Ended {
    let known = AdrDirectory::open(root)?;
    let graph = known.graph();
    let of_links = [codes::UNKNOWN_ADR, codes::SUPERSEDE_CYCLE, codes::DEPENDENCY_CYCLE];
    let mut problems: Vec<Diagnostic> = known.adrs().iter().flat_map(|adr| check(adr, &known)).collect();
    problems.retain(|problem| of_links.contains(&problem.code.as_str()));
    for problem in &problems {
        // Each in its own file's text.
        let adr = known.by_file(&problem.file);
        context.terminal.say_diagnostics(std::slice::from_ref(problem), adr.map_or("", |adr| &adr.source));
    }
    match (context.terminal.reading, format) {
        (Reading::Programs, _) | (Reading::People, Format::Json) => {
            context.terminal.json(&json!({ "graph": graph, "diagnostics": problems }))
        }
        (Reading::People, Format::Mermaid) => context.terminal.raw(&graph.to_mermaid()),
        (Reading::People, Format::Dot) => context.terminal.raw(&graph.to_dot()),
    }
}
