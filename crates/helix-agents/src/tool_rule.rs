//! Rules for the tools of agents, in words that no single agent owns: `read:.env`, `shell:git push *`, `web`, `mcp:tracker/close`.
//!
//! Must not know how an agent is told: each dialect says a rule in its own words, or says that it cannot keep it.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What of an agent's tools is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ToolRule {
    /// Reading files: all, or those that fit a pattern as of `.gitignore`. One with a `/` is meant from the project's root, an absolute
    /// one and one that begins with `~/` from there.
    Read(Option<String>),
    /// Changing files, by the same patterns.
    Write(Option<String>),
    /// Commands: all, or those that fit; `*` is any text.
    Shell(Option<String>),
    /// Searching and reading the web, or reading one host.
    Web(Option<String>),
    /// Handing work to agents of its own.
    Agents,
    /// The tools of a tool server, or one of them.
    Mcp { server: String, tool: Option<String> },
    /// A tool by the name that the agent has for it.
    Own(String),
}

/// What a user or a project says of an agent's tools, besides what its work allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRules {
    /// May be used without asking. Only counts for agents that change something: who only reads must not get more.
    pub allow: Vec<ToolRule>,
    /// May not be used, whatever else is said.
    pub deny: Vec<ToolRule>,
    /// May be used once a person has said yes to that very call.
    pub ask: Vec<ToolRule>,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no rule for tools; write read, write, shell, web, agents, mcp:SERVER or tool:NAME, such as \"read:.env\" or \"shell:git push *\""
)]
pub struct NoToolRule(pub String);

impl ToolRule {
    /// The same with the files that it names below this directory, wherever the agent works.
    #[must_use]
    pub fn beneath(&self, directory: &Path) -> Self {
        let whole = |files: &str| {
            let (below, inside) = (directory.display(), files.strip_prefix("./").unwrap_or(files));
            match files {
                _ if files.starts_with('/') || files.starts_with("~/") => files.to_owned(),
                // A name alone is meant at every depth.
                _ if inside == files && !files.trim_end_matches('/').contains('/') => format!("{below}/**/{files}"),
                _ => format!("{below}/{inside}"),
            }
        };
        match self {
            Self::Read(Some(files)) => Self::Read(Some(whole(files))),
            Self::Write(Some(files)) => Self::Write(Some(whole(files))),
            other => other.clone(),
        }
    }
}

impl FromStr for ToolRule {
    type Err = NoToolRule;

    fn from_str(text: &str) -> Result<Self, NoToolRule> {
        let wrong = || NoToolRule(text.to_owned());
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) if !rest.trim().is_empty() => (kind, Some(rest.trim().to_owned())),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        if text.chars().any(char::is_control) {
            return Err(wrong());
        }
        match (kind.trim(), rest) {
            ("read", files) => Ok(Self::Read(files)),
            ("write", files) => Ok(Self::Write(files)),
            ("shell", commands) => Ok(Self::Shell(commands)),
            ("web", host) => Ok(Self::Web(host)),
            ("agents", None) => Ok(Self::Agents),
            ("mcp", Some(named)) => {
                let (server, tool) = named.split_once('/').map_or((&*named, None), |(one, two)| (one, Some(two)));
                let is_name = |name: &str| !name.is_empty() && !name.contains(['/', ' ']);
                match is_name(server) && tool.is_none_or(is_name) {
                    true => Ok(Self::Mcp { server: server.to_owned(), tool: tool.map(str::to_owned) }),
                    false => Err(wrong()),
                }
            }
            ("tool", Some(name)) => Ok(Self::Own(name)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for ToolRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kind = |word: &str, of: &Option<String>| match of {
            Some(of) => write!(f, "{word}:{of}"),
            None => f.write_str(word),
        };
        match self {
            Self::Read(files) => kind("read", files),
            Self::Write(files) => kind("write", files),
            Self::Shell(commands) => kind("shell", commands),
            Self::Web(host) => kind("web", host),
            Self::Agents => f.write_str("agents"),
            Self::Mcp { server, tool: None } => write!(f, "mcp:{server}"),
            Self::Mcp { server, tool: Some(tool) } => write!(f, "mcp:{server}/{tool}"),
            Self::Own(name) => write!(f, "tool:{name}"),
        }
    }
}

impl TryFrom<String> for ToolRule {
    type Error = NoToolRule;

    fn try_from(text: String) -> Result<Self, NoToolRule> {
        text.parse()
    }
}

impl From<ToolRule> for String {
    fn from(rule: ToolRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
#[path = "tool_rule_test.rs"]
mod tests;
