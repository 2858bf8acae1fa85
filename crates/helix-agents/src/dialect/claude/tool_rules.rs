//! Rules for tools in Claude Code's words, in both directions.
//!
//! Must not decide which rules count.

use std::path::Path;

use crate::tool_rule::ToolRule;

/// Tools that change files.
pub(super) const WRITING_TOOLS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// Tools by which the agent asks its sub-agents, under both of their names.
pub(super) const ASKING_TOOLS: [&str; 2] = ["Agent", "Task"];
/// Tools that read files.
pub(super) const READING_TOOLS: [&str; 4] = ["Read", "Glob", "Grep", "LS"];
/// Tools that go to the web.
pub(super) const WEB_TOOLS: [&str; 2] = ["WebSearch", "WebFetch"];

/// A rule as the settings say it; patterns are meant from this directory.
pub(super) fn written(rule: &ToolRule, directory: &Path) -> Vec<String> {
    let tools = |tools: &[&str]| tools.iter().map(|tool| (*tool).to_owned()).collect();
    match &rule.beneath(directory) {
        ToolRule::Read(None) => tools(&READING_TOOLS),
        ToolRule::Read(Some(files)) => vec![format!("Read({})", pattern(files))],
        ToolRule::Write(None) => tools(&WRITING_TOOLS),
        // This one counts for every tool that changes files.
        ToolRule::Write(Some(files)) => vec![format!("Edit({})", pattern(files))],
        ToolRule::Shell(None) => tools(&["Bash"]),
        ToolRule::Shell(Some(commands)) => vec![format!("Bash({commands})")],
        ToolRule::Web(None) => tools(&WEB_TOOLS),
        ToolRule::Web(Some(host)) => vec![format!("WebFetch(domain:{host})")],
        ToolRule::Agents => tools(&ASKING_TOOLS),
        ToolRule::Mcp { server, tool: None } => vec![format!("mcp__{server}")],
        ToolRule::Mcp { server, tool: Some(tool) } => vec![format!("mcp__{server}__{tool}")],
        ToolRule::Own(name) => vec![name.clone()],
    }
}

/// What a rule of Claude Code's settings says. What has no other words stays as it is: no rule is lost.
pub(crate) fn read(rule: &str) -> ToolRule {
    let rule = rule.trim();
    if let Some(named) = rule.strip_prefix("mcp__") {
        let (server, tool) = named.split_once("__").map_or((named, None), |(server, tool)| (server, Some(tool)));
        let tool = tool.filter(|tool| *tool != "*").map(str::to_owned);
        return ToolRule::Mcp { server: server.to_owned(), tool };
    }
    let (tool, of) = match rule.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')').map(str::trim).filter(|of| !of.is_empty())),
        None => (rule, None),
    };
    let of = of.filter(|of| !matches!(*of, "*" | "**"));
    match (tool, of) {
        ("Read", of) => ToolRule::Read(of.map(files)),
        ("Edit" | "Write", of) => ToolRule::Write(of.map(files)),
        ("Bash", of) => ToolRule::Shell(of.map(str::to_owned)),
        ("WebFetch", Some(of)) if of.starts_with("domain:") => {
            ToolRule::Web(Some(of.trim_start_matches("domain:").to_owned()))
        }
        ("Agent" | "Task", None) => ToolRule::Agents,
        _ => ToolRule::Own(rule.to_owned()),
    }
}

/// A pattern as Claude Code takes it: `//` begins one that is absolute.
fn pattern(files: &str) -> String {
    if files.starts_with('/') { format!("/{files}") } else { files.to_owned() }
}

/// The same the other way: there, one slash begins what is meant from the project's root.
fn files(pattern: &str) -> String {
    match (pattern.strip_prefix("//"), pattern.strip_prefix('/')) {
        (Some(absolute), _) => format!("/{absolute}"),
        (None, Some(inside)) => format!("./{inside}"),
        (None, None) => pattern.to_owned(),
    }
}

#[cfg(test)]
#[path = "tool_rules_test.rs"]
mod tests;
