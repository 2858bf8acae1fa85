//! `helix adr graph`: the decisions and their links as a drawing or as data; circles are said as well.
//!
//! Must not know how a graph is drawn.

use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::check::say_each;
use super::open;
use crate::context::Context;
use crate::error::Ended;
use crate::exit::Exit;
use crate::terminal::Reading;

/// What draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Mermaid, as GitHub and Open WebUI draw it.
    Mermaid,
    /// Graphviz.
    Dot,
    /// Nodes, edges and circles as data.
    Json,
}

pub(super) fn run(context: &Context, root: &Path, format: Format) -> Ended {
    let known = open(root)?;
    let graph = known.graph();
    let problems = graph.problems(known.adrs());
    match (context.terminal.reading, format) {
        (Reading::Programs, _) | (Reading::People, Format::Json) => {
            context.terminal.json(&json!({ "graph": graph, "diagnostics": problems }))?;
        }
        (Reading::People, Format::Mermaid) => context.terminal.raw(&graph.to_mermaid())?,
        (Reading::People, Format::Dot) => context.terminal.raw(&graph.to_dot())?,
    }
    if context.terminal.reading == Reading::People {
        say_each(context, &problems, |file| {
            known.adrs().iter().find(|adr| adr.file == file).map(|adr| adr.source.clone()).unwrap_or_default()
        });
    }
    Ok(Exit::Success)
}
