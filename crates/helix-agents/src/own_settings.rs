//! What users and projects have written for an agent themselves, in Claude Code's form: permissions, hooks, tool servers.
//!
//! Must not read files, nor decide what of it counts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dialect;
use crate::profile::McpPlace;
use crate::tool_rule::ToolRule;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Settings {
    permissions: Option<Permissions>,
    hooks: Option<Map<String, Value>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Permissions {
    deny: Vec<String>,
}

/// What settings forbid. A rule that is not understood stays, in the agent's own words.
///
/// # Errors
/// The text is no such settings: what they forbid is not known.
pub fn denied(text: &str) -> Result<Vec<ToolRule>, serde_json::Error> {
    let rules = object::<Settings>(text)?.permissions.unwrap_or_default().deny;
    let rules = rules.iter().filter(|rule| !rule.trim().is_empty());
    Ok(rules.map(|rule| dialect::rule_of_settings(rule)).collect())
}

/// The hooks of settings, by event.
///
/// # Errors
/// The text is no such settings.
pub fn hooks(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    Ok(object::<Settings>(text)?.hooks.unwrap_or_default())
}

/// Only an object: serde takes a list for the fields in their order.
fn object<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let object: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
    serde_json::from_value(Value::Object(object))
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Servers {
    mcp_servers: BTreeMap<String, Server>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Server {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
}

/// The tool servers of a file, or why one is of no use. `${NAME}` and `${NAME:-otherwise}` stand for variables.
///
/// # Errors
/// The text names no tool servers.
pub fn servers(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, Result<McpPlace, String>>, serde_json::Error> {
    let Servers { mcp_servers } = object(text)?;
    Ok(mcp_servers.into_iter().map(|(name, server)| (name, place(server, &variable))).collect())
}

fn place(server: Server, variable: &dyn Fn(&str) -> Option<String>) -> Result<McpPlace, String> {
    let fill = |text: String| filled(&text, variable);
    let all = |texts: BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
        texts.into_iter().map(|(name, value)| Ok((name, fill(value)?))).collect()
    };
    match (server.kind.as_deref(), server.command, server.url) {
        (None | Some("stdio"), Some(command), _) => Ok(McpPlace::Program {
            command: fill(command)?,
            args: server.args.into_iter().map(fill).collect::<Result<_, _>>()?,
            env: all(server.env)?,
        }),
        (Some("http" | "streamable-http"), _, Some(url)) => {
            Ok(McpPlace::Http { url: fill(url)?, headers: all(server.headers)? })
        }
        (Some(kind), ..) if !["stdio", "http", "streamable-http"].contains(&kind) => {
            Err(format!("it is reached by {kind:?}; Helix knows \"stdio\" and \"http\""))
        }
        (..) => Err("it has neither a `command` nor a `url` that fits its `type`".to_owned()),
    }
}

/// A text with its variables filled in.
fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut parts = text.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (named, rest) = part.split_once('}').ok_or("`${` is not closed")?;
        let (name, otherwise) = named.split_once(":-").map_or((named, None), |(name, text)| (name, Some(text)));
        let value = variable(name).or_else(|| otherwise.map(str::to_owned));
        filled.push_str(&value.ok_or_else(|| format!("the variable {name} is not set"))?);
        filled.push_str(rest);
    }
    Ok(filled)
}

#[cfg(test)]
#[path = "own_settings_test.rs"]
mod tests;
