//! Whether an agent may make a call that it asks about, by what its work allows: nobody is there to be asked.
//!
//! Must not allow what it does not understand.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind, ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    cwd: PathBuf,
}

impl Permissions {
    pub(super) fn new(tools: &ToolAccess, cwd: &Path) -> Self {
        // Nobody is there to say yes to what a person would have to be asked about.
        let deny = tools.rules.deny.iter().chain(&tools.rules.ask).cloned().collect();
        let (read, shell, web) = (tools.read, tools.shell, tools.web);
        Self { read, write_below: tools.write_below.clone(), shell, web, deny, cwd: cwd.to_path_buf() }
    }

    /// Whether a call is allowed. One that does not say what it is counts as a command, which may do anything.
    pub(super) fn allow(&self, call: &ToolCallUpdateFields) -> bool {
        match call.kind.unwrap_or_default() {
            ToolKind::Read | ToolKind::Search => {
                let paths = self.paths(call);
                self.read && !self.deny.iter().any(|rule| matches!(rule, ToolRule::Read(of) if self.fits(of, &paths)))
            }
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => {
                let paths = self.paths(call);
                let below = |path: &PathBuf| self.write_below.iter().any(|directory| path.starts_with(directory));
                let is_known = !paths.is_empty() && paths.iter().all(below);
                is_known && !self.deny.iter().any(|rule| matches!(rule, ToolRule::Write(of) if self.fits(of, &paths)))
            }
            ToolKind::Fetch => self.web && !self.deny.iter().any(|rule| matches!(rule, ToolRule::Web(_))),
            ToolKind::Think => self.paths(call).is_empty() && command(call).is_none(),
            // The mode that an agent works in is not its own to choose.
            ToolKind::SwitchMode => false,
            _ => {
                let (command, paths) = (command(call), self.paths(call));
                self.shell
                    && !self.deny.iter().any(|rule| match rule {
                        ToolRule::Shell(of) => runs(of, &command),
                        ToolRule::Write(of) => !paths.is_empty() && self.fits(of, &paths),
                        _ => false,
                    })
            }
        }
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
    match call.raw_input.as_ref()?.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(|words| words.join(" ")),
        _ => None,
    }
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

#[cfg(test)]
#[path = "permission_test.rs"]
mod tests;
