//! What is said to a call that an agent asks about: yes, no, or what a person says.
//!
//! Must not allow what it does not understand.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol_schema::v1::{
    ContentBlock, PermissionOption, PermissionOptionKind, ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::profile::ToolAccess;
use crate::tool_rule::ToolRule;

/// What an agent may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Permissions {
    read: bool,
    write_below: Vec<PathBuf>,
    shell: bool,
    web: bool,
    /// What may not be used; patterns are meant from the directory.
    deny: Vec<ToolRule>,
    /// What a person is asked about.
    ask: Vec<ToolRule>,
    cwd: PathBuf,
    /// The tool servers that the agent is given.
    servers: Vec<String>,
}

/// What a call gets to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Yes,
    /// What a person says.
    Ask,
    No,
}

impl Permissions {
    /// Where no person can be asked, nobody has said yes.
    pub(super) fn new(tools: &ToolAccess, cwd: &Path, can_ask: bool) -> Self {
        let (mut deny, mut ask) = (tools.rules.deny.clone(), tools.rules.ask.clone());
        if !can_ask {
            deny.append(&mut ask);
        }
        let ToolAccess { read, shell, web, .. } = *tools;
        let write_below = tools.write_below.clone();
        Self { read, write_below, shell, web, deny, ask, cwd: cwd.to_path_buf(), servers: Vec::new() }
    }

    /// The same for an agent that is given these tool servers.
    #[must_use]
    pub(super) fn with_servers(self, servers: Vec<String>) -> Self {
        Self { servers, ..self }
    }

    /// What is said to a call. One that does not say what it is counts as a command, which may do anything.
    pub(super) fn reply(&self, call: &ToolCallUpdateFields) -> Reply {
        let paths = self.paths(call);
        let meets = |rules: &[ToolRule]| rules.iter().any(|rule| self.meets(rule, call, &paths));
        if !self.may(call, &paths) || meets(&self.deny) {
            return Reply::No;
        }
        if meets(&self.ask) { Reply::Ask } else { Reply::Yes }
    }

    /// Whether the work allows a call, whatever the rules say.
    fn may(&self, call: &ToolCallUpdateFields, paths: &[PathBuf]) -> bool {
        match call.kind.unwrap_or_default() {
            ToolKind::Read | ToolKind::Search => self.read,
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
                let below = |path: &PathBuf| self.write_below.iter().any(|directory| path.starts_with(directory));
                !paths.is_empty() && paths.iter().all(below)
            }
            ToolKind::Fetch => self.web,
            ToolKind::Think => paths.is_empty() && command(call).is_none(),
            // The mode that an agent works in is not its own to choose.
            ToolKind::SwitchMode => false,
            _ => self.shell,
        }
    }

    /// Whether a rule means this call, or may mean it.
    fn meets(&self, rule: &ToolRule, call: &ToolCallUpdateFields, paths: &[PathBuf]) -> bool {
        match (rule, call.kind.unwrap_or_default()) {
            (ToolRule::Own(name), _) => [&call.name, &call.title].into_iter().flatten().any(|own| own == name),
            (ToolRule::Mcp { server, tool }, kind) => {
                let is_command = kind == ToolKind::Execute && command(call).is_some();
                // One that says what kind it is, and no name, is the agent's own.
                let is_own = kind != ToolKind::Other && call.name.is_none() && call.title.is_none();
                !is_command && !is_own && is_of_server(call, server, tool.as_deref())
            }
            (ToolRule::Read(of), ToolKind::Read | ToolKind::Search)
            | (ToolRule::Write(of), ToolKind::Edit | ToolKind::Delete | ToolKind::Move) => self.fits(of, paths),
            (ToolRule::Web(_), ToolKind::Fetch) => true,
            (
                _,
                ToolKind::Read
                | ToolKind::Search
                | ToolKind::Edit
                | ToolKind::Delete
                | ToolKind::Move
                | ToolKind::Fetch
                | ToolKind::Think
                | ToolKind::SwitchMode,
            ) => false,
            (ToolRule::Shell(Some(_)), ToolKind::Other) if self.is_server_tool(call) => false,
            (ToolRule::Shell(of), _) => runs(of, &command(call)),
            (ToolRule::Write(of), _) => !paths.is_empty() && self.fits(of, paths),
            _ => false,
        }
    }

    /// A call as a person is asked about it: what it does, without what differs each time that it is made.
    pub(super) fn shown(&self, call: &ToolCallUpdateFields) -> Value {
        if let Some(command) = command(call) {
            let cwd = call.raw_input.as_ref().and_then(|input| input.get("cwd")?.as_str());
            return match cwd.filter(|cwd| Path::new(cwd) != self.cwd) {
                Some(cwd) => json!({ "command": command, "cwd": cwd }),
                None => json!({ "command": command }),
            };
        }
        let mut shown = Map::new();
        let paths = self.paths(call);
        if !paths.is_empty() {
            shown.insert("files".into(), json!(paths));
        }
        let becomes = call.content.iter().flatten().filter_map(|content| match content {
            ToolCallContent::Diff(diff) => Some(match &diff.old_text {
                Some(old) => json!({ "old": old, "new": diff.new_text }),
                None => json!(diff.new_text),
            }),
            ToolCallContent::Content(said) => match &said.content {
                ContentBlock::Text(text) => Some(json!(text.text)),
                _ => None,
            },
            _ => None,
        });
        let becomes: Vec<Value> = becomes.collect();
        let is_change = call.content.iter().flatten().any(|content| matches!(content, ToolCallContent::Diff(_)));
        match &call.raw_input {
            Some(input) if !is_change && *input != json!({}) => drop(shown.insert("input".into(), input.clone())),
            _ => drop(shown.insert("content".into(), Value::Array(becomes))),
        }
        // Often the only place that names the tool; where the change is known, it says no more.
        let title = call.title.as_ref().filter(|_| !is_change);
        shown.extend(title.map(|title| ("call".to_owned(), json!(title))));
        Value::Object(shown)
    }

    /// Whether a call says that it is one of a tool server that the agent is given, and what it is given: it runs no command.
    fn is_server_tool(&self, call: &ToolCallUpdateFields) -> bool {
        let Some(Value::Object(input)) = &call.raw_input else { return false };
        let has_command = ["command", "cmd", "script", "code", "args"].iter().any(|key| input.contains_key(*key));
        let is_named = call.name.is_some() || call.title.is_some();
        is_named && !has_command && self.servers.iter().any(|server| is_of_server(call, server, None))
    }

    /// Whether any of these files fits the pattern of a rule. Of a call that names none, nobody knows.
    fn fits(&self, pattern: &Option<String>, paths: &[PathBuf]) -> bool {
        let Some(pattern) = pattern else { return true };
        let ToolRule::Read(Some(whole)) = ToolRule::Read(Some(pattern.clone())).beneath(&self.cwd) else { return true };
        let home = std::env::var("HOME").unwrap_or_default();
        let whole = whole.strip_prefix("~/").map_or_else(|| whole.clone(), |below| format!("{home}/{below}"));
        let pattern: Vec<&str> = whole.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_one = |path: &PathBuf| {
            let path: Vec<String> = path.iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            // Below a directory that is meant, everything is.
            (1..=path.len()).any(|depth| fits(&pattern, &path[..depth]))
        };
        paths.is_empty() || paths.iter().any(is_one)
    }

    /// The files that a call is about, without `..`.
    fn paths(&self, call: &ToolCallUpdateFields) -> Vec<PathBuf> {
        let located = call.locations.iter().flatten().map(|location| location.path.clone());
        let changed = call.content.iter().flatten().filter_map(|content| match content {
            ToolCallContent::Diff(diff) => Some(diff.path.clone()),
            _ => None,
        });
        located.chain(changed).map(|path| normal(&self.cwd.join(path))).collect()
    }
}

/// What a call runs, if it says so in a form that is known.
fn command(call: &ToolCallUpdateFields) -> Option<String> {
    let input = call.raw_input.as_ref()?;
    let words = |words: &Value| match words {
        Value::String(word) => Some(word.clone()),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(|words| words.join(" ")),
        _ => None,
    };
    let command = words(input.get("command")?)?;
    match input.get("args") {
        Some(more) => Some(format!("{command} {}", words(more)?)),
        None => Some(command),
    }
}

/// Whether a call may be one of a tool server: agents name its tools in ways of their own, all with both names.
fn is_of_server(call: &ToolCallUpdateFields, server: &str, tool: Option<&str>) -> bool {
    let named: Vec<&String> = [&call.name, &call.title].into_iter().flatten().collect();
    let has = |part: &str| named.is_empty() || named.iter().any(|name| name.contains(part));
    has(server) && tool.is_none_or(has)
}

/// Whether a command, or a part of it, fits the pattern of a rule. Of one that is not known, nobody knows.
fn runs(pattern: &Option<String>, command: &Option<String>) -> bool {
    let (Some(pattern), Some(command)) = (pattern, command) else { return true };
    let parts = command.split(['\n', ';', '|', '&', '(', ')', '`', '"', '\'']).chain([command.as_str()]);
    let mut parts = parts.map(str::trim).filter(|part| !part.is_empty());
    // A shell's own words come before the command that it runs: `/bin/bash -lc git push`.
    let from_any_word = |part: &str| part.match_indices(' ').any(|(at, _)| is_like(pattern, part[at..].trim_start()));
    let bare = pattern.strip_suffix(" *");
    parts.any(|part| is_like(pattern, part) || bare == Some(part) || from_any_word(part))
}

/// Whether parts of a path fit those of a pattern; `**` is any number of them.
fn fits(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => fits(rest, path) || !path.is_empty() && fits(pattern, &path[1..]),
        ([first, rest @ ..], [part, others @ ..]) => is_like(first, part) && fits(rest, others),
        ([], _) | (_, []) => false,
    }
}

/// Whether a text fits a pattern in which `*` is any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| is_like(rest, &text[at..]))
}

/// A path without `.` and `..`, by its words alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The option that says yes to this call alone, or no.
pub(super) fn choice(options: &[PermissionOption], allowed: bool) -> Option<&PermissionOption> {
    use PermissionOptionKind::{AllowOnce, RejectAlways, RejectOnce};
    let of = |kind: PermissionOptionKind| options.iter().find(|option| option.kind == kind);
    // A yes for good would also be one to calls that nobody has looked at.
    if allowed { of(AllowOnce) } else { of(RejectOnce).or_else(|| of(RejectAlways)) }
}

/// The name of a tool: the agent's own, else what kind it is.
pub(super) fn name(fields: &ToolCallUpdateFields) -> String {
    let kind = match fields.kind.unwrap_or_default() {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        _ => "tool",
    };
    fields.name.clone().unwrap_or_else(|| kind.to_owned())
}

#[cfg(test)]
#[path = "permission_test.rs"]
mod tests;
