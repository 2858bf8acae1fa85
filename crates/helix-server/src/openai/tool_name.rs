//! Names of tools for people. Must not be used where a program reads them back.

use helix_engine::consultant::phrases;
use helix_job::Language;

/// How agents name a tool of an MCP server: this, the server, two underscores, the tool.
const MCP: &str = "mcp__";
/// The server of Helix's own tools, as agents know it.
const HELIX: &str = "helix";

/// The name of a tool for people in a language: what it does for Helix's own, server and tool for those of other MCP servers, and the agent's
/// name for its built-in ones.
pub(crate) fn shown(language: Language, name: &str) -> String {
    match split(name) {
        None => name.to_owned(),
        Some((HELIX, tool)) => phrases::tool(language, tool).unwrap_or_else(|| spaced(tool)),
        Some((server, tool)) => format!("{}: {}", spaced(server), spaced(tool)),
    }
}

/// Server and tool of an MCP tool's name.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix(MCP)?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

fn spaced(name: &str) -> String {
    name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "tool_name_test.rs"]
mod tests;
