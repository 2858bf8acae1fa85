//! Names of tools for people, and what their calls do and have done. Must not be used where a program reads them back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use helix_core::text::one_line;
use helix_engine::consultant::phrases;
use helix_language::{Language, say};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How agents name a tool of an MCP server: this, the server, two underscores, the tool.
const MCP: &str = "mcp__";
/// The server of Helix's own tools, as agents know it.
const HELIX: &str = "helix";

/// Longest object of a call, in characters.
const OBJECT: usize = 60;
/// Longest result of a call, in characters.
const RESULT: usize = 80;
const COMMAND: &str = "command";
/// Inputs that say what a call is about, the most telling first.
const ABOUT: [&str; 9] =
    [COMMAND, "pattern", "query", "url", "file_path", "notebook_path", "path", "description", "skill"];

/// What a runner of tests counts.
static COUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(\d+) (passed|failed|errors?)\b").ok());
/// The line with which cargo sums up a part.
const CARGO: &str = "test result: ";
/// The line with which pytest sums up, with a frame or without.
static PYTEST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:=+ )?\d+ [a-z]+(?:, \d+ [a-z]+)* in \d[\d.]*s\b").ok());

/// The kind of an event with a [`CallFrame`].
pub const CALL_EVENT: &str = "helix:call";

/// A tool call as an editor is told of it, each time something becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFrame {
    /// Its number in the answer, from 0.
    pub call: usize,
    pub kind: CallKind,
    /// What it does or has done, in one line.
    pub title: String,
    /// The file that it is about, where it names one by an absolute path.
    pub file: Option<PathBuf>,
    pub state: CallState,
}

/// What a tool call does, as far as its input tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    Execute,
    Search,
    Fetch,
    Edit,
    Read,
    Other,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    Begun,
    Done,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallWords {
    /// The agent's name of the tool.
    name: String,
    /// What the call is about, on one line.
    about: String,
    is_command: bool,
    /// The input that says so.
    key: Option<&'static str>,
    /// The file that it is about.
    file: Option<PathBuf>,
    /// Lines that it writes into a file, and lines that it takes out.
    lines: Option<(usize, usize)>,
}

impl CallWords {
    pub(crate) fn new(name: &str, input: &Value) -> Self {
        let about = ABOUT.iter().find_map(|key| Some((*key, input.get(key)?.as_str()?)));
        let key = about.map(|(key, _)| key);
        let file = about.filter(|(key, _)| key.ends_with("path")).map(|(_, path)| PathBuf::from(path));
        let file = file.filter(|path| path.is_absolute());
        let about = match about {
            Some((key, path)) if key.ends_with("path") => Path::new(path).file_name().and_then(|name| name.to_str()),
            Some((COMMAND, command)) => match command.trim().split_once("&& ") {
                Some((before, rest)) if before.starts_with("cd ") => Some(rest),
                Some(_) | None => Some(command),
            },
            Some((_, text)) => Some(text),
            None => None,
        };
        let about = one_line(about.unwrap_or_default(), OBJECT);
        let (is_command, lines) = (input.get(COMMAND).is_some(), edited_lines(input));
        Self { name: name.to_owned(), about, is_command, key, file, lines }
    }

    /// The call for an editor.
    pub(crate) fn frame(&self, call: usize, state: CallState, title: String) -> CallFrame {
        let kind = match self.key {
            Some(COMMAND) => CallKind::Execute,
            Some("pattern" | "query") => CallKind::Search,
            Some("url") => CallKind::Fetch,
            Some(key) if key.ends_with("path") && self.lines.is_some() => CallKind::Edit,
            Some(key) if key.ends_with("path") => CallKind::Read,
            Some(_) | None => CallKind::Other,
        };
        CallFrame { call, kind, title, file: self.file.clone(), state }
    }

    /// What it changes in which file: `✎ adr.md (+52)`.
    pub(crate) fn edited(&self) -> Option<String> {
        let (added, removed) = self.lines.filter(|_| !self.about.is_empty())?;
        let removed = if removed == 0 { String::new() } else { format!(" −{removed}") };
        Some(format!("✎ {} (+{added}{removed})", self.about))
    }

    /// What the call does: `Run pytest -q`.
    pub(crate) fn begun(&self, language: Language) -> String {
        let call = phrases::tool_call(language, &self.name, &self.about, false);
        call.unwrap_or_else(|| shown(language, &self.name, false))
    }

    /// What the call has done: `Ran pytest -q: 3 passed`.
    pub(crate) fn ended(&self, language: Language, output: &str, failed: bool) -> String {
        let tests = if self.is_command { counted(output) } else { None };
        let done = || {
            phrases::tool_call(language, &self.name, &self.about, true)
                .unwrap_or_else(|| shown(language, &self.name, true))
        };
        let failure = || say!(language, "chat-call-failed");
        // The agent's own tools add marks and advice for the model to what happened.
        let why = || {
            let said = output.trim_start().strip_prefix("<tool_use_error>").unwrap_or(output);
            let first = said.lines().find(|line| !line.trim().is_empty())?;
            let first = first.split_once(". ").map_or(first, |(first, _)| first).trim_end_matches("</tool_use_error>");
            Some(format!(" ({})", one_line(first, RESULT)))
        };
        match (tests, failed) {
            // Something else failed, such as a command after the tests.
            (Some(tests), true) if !tests.has_failed => format!("{}: {}; {}", done(), tests.said, failure()),
            (Some(tests), _) => format!("{}: {}", done(), tests.said),
            // What failed without a word of its tests was not done.
            (None, true) => format!("{}: {}{}", self.begun(language), failure(), why().unwrap_or_default()),
            (None, false) => done(),
        }
    }
}

/// Lines that a call writes and takes out: of a whole file, or of a piece of one.
fn edited_lines(input: &Value) -> Option<(usize, usize)> {
    let lines = |key: &str| input.get(key).and_then(Value::as_str).map(|text| text.lines().count());
    match (lines("content"), lines("new_string"), lines("old_string")) {
        (Some(added), _, _) => Some((added, 0)),
        (None, Some(added), Some(removed)) => Some((added, removed)),
        (None, _, _) => None,
    }
}

/// The tests that a command counts.
struct Tests {
    /// `3 passed, 1 failed`
    said: String,
    has_failed: bool,
}

/// The tests that an output counts: all lines of results together, which cargo writes for each part and pytest for each run.
fn counted(output: &str) -> Option<Tests> {
    let (counts, pytest) = (COUNTS.as_ref()?, PYTEST.as_ref()?);
    let lines = output.lines().filter(|line| line.starts_with(CARGO) || pytest.is_match(line));
    let mut sums: BTreeMap<std::cmp::Reverse<&str>, u64> = BTreeMap::new();
    for found in lines.flat_map(|line| counts.captures_iter(line)) {
        let (_, [number, word]) = found.extract();
        let sum = sums.entry(std::cmp::Reverse(word)).or_default();
        *sum = sum.saturating_add(number.parse().unwrap_or(u64::MAX));
    }
    let has_failed = sums.iter().any(|(word, sum)| *sum > 0 && word.0 != "passed");
    let shown = sums.iter().filter(|(word, sum)| **sum > 0 || word.0 == "passed");
    let said: Vec<String> = shown.map(|(word, sum)| format!("{sum} {}", word.0)).collect();
    (!said.is_empty()).then(|| Tests { said: said.join(", "), has_failed })
}

/// The name of a tool for people in a language: what it does or has done for Helix's own, server and tool for those of other MCP servers, and the agent's
/// name for its built-in ones.
fn shown(language: Language, name: &str, is_done: bool) -> String {
    match split(name) {
        None => name.to_owned(),
        Some((HELIX, tool)) => phrases::tool(language, tool, is_done).unwrap_or_else(|| spaced(tool)),
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
