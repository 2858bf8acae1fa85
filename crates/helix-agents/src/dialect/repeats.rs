//! Counts tool calls that fail the same way again and again, while nothing new comes of any other call.
//!
//! Must not know any dialect, and must not judge: how often is too often is for who runs the agent.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use helix_core::agent_event::AgentEvent;
use helix_core::run::RepeatedCall;
use serde_json::Value;

/// Longest name of a tool that is kept, in characters.
const NAME_LIMIT: usize = 100;
/// Longest input of a call that is kept for people, in characters.
const INPUT_LIMIT: usize = 500;
/// Longest end of what the call said that is kept, in bytes.
const ERROR_LIMIT: usize = 1000;
/// Units after a number that make it a duration.
const UNITS: [&str; 9] = ["ms", "s", "us", "µs", "ns", "sec", "secs", "seconds", "minutes"];

/// The calls of a run: a few bytes for each one that is over, so that a long run needs little.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    hashing: RandomState,
    /// Calls under way, by id.
    open: HashMap<String, Call>,
    /// All calls that are over, with what came of them.
    known: HashSet<u64>,
    /// Of those that failed: how often since anything new was seen.
    failures: HashMap<u64, u32>,
    most: Option<RepeatedCall>,
    /// The same at its highest, whatever was seen since.
    worst: Option<RepeatedCall>,
}

#[derive(Debug)]
struct Call {
    name: String,
    input: String,
    /// What the call does, without how the agent describes it.
    deed: u64,
    waits: bool,
}

impl Repeats {
    pub(super) fn saw(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ToolStarted { id, name, input, parent } => {
                let deed = self.hashing.hash_one((name, parent, Deed(input)));
                let one_line = name.split_whitespace().collect::<Vec<_>>().join(" ");
                let name = one_line.chars().take(NAME_LIMIT).collect();
                self.open.insert(id.clone(), Call { name, input: shown(input), deed, waits: waits(input) });
            }
            AgentEvent::ToolFinished { id, output, failed } => {
                if let Some(call) = self.open.remove(id) {
                    self.finished(call, output, *failed);
                }
            }
            _ => {}
        }
    }

    fn finished(&mut self, call: Call, output: &str, failed: bool) {
        let key = self.hashing.hash_one((call.deed, failed, lasting(output)));
        // While a command waits, something else may happen.
        if self.known.insert(key) || call.waits {
            self.failures.clear();
            self.most = None;
        }
        if !failed {
            return;
        }
        let times = self.failures.entry(key).or_default();
        *times += 1;
        if self.most.as_ref().is_none_or(|most| most.times < *times) {
            let from = output.ceil_char_boundary(output.len().saturating_sub(ERROR_LIMIT));
            let error = output[from..].trim().to_owned();
            self.most = Some(RepeatedCall { tool: call.name, input: call.input, error, times: *times });
            if self.worst.as_ref().is_none_or(|worst| worst.times <= *times) {
                self.worst.clone_from(&self.most);
            }
        }
    }

    /// The call that failed the same way most often since anything new was seen.
    pub(super) fn most(&self) -> Option<&RepeatedCall> {
        self.most.as_ref()
    }

    /// The call that failed the same way most often in the whole run: an agent that is stopped for it may do something new before it ends.
    pub(super) fn worst(&self) -> Option<&RepeatedCall> {
        self.worst.as_ref()
    }
}

/// The input of a call but for its description, which agents word anew each time.
struct Deed<'v>(&'v Value);

impl Hash for Deed<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self.0 {
            Value::Object(fields) => {
                fields.iter().filter(|(name, _)| *name != "description").for_each(|field| field.hash(state));
            }
            other => other.hash(state),
        }
    }
}

/// The command of a call, else its whole input.
fn shown(input: &Value) -> String {
    let text = input.get("command").and_then(Value::as_str).map_or_else(|| input.to_string(), str::to_owned);
    text.chars().take(INPUT_LIMIT).collect()
}

/// Words before the program of a command.
const BEFORE_PROGRAM: [&str; 14] =
    ["while", "until", "do", "then", "else", "if", "!", "time", "exec", "sudo", "env", "nohup", "bash", "sh"];

/// Whether a command waits for something on purpose: by the programs that it starts and not by the names of files and tests.
fn waits(input: &Value) -> bool {
    let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
    if command.contains("sleep(") {
        return true;
    }
    unquoted(command).split([';', '|', '&', '(', ')', '\n', '`']).any(|part| {
        let mut words = part.split_whitespace().skip_while(|word| BEFORE_PROGRAM.contains(word) || word.contains('='));
        let mut program = words.next().unwrap_or_default();
        if program == "timeout" {
            program = words
                .find(|word| !word.starts_with('-') && !word.starts_with(|c: char| c.is_ascii_digit()))
                .unwrap_or_default();
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        // A test of something that waits waits for nothing.
        let waits = name.starts_with("wait") && !name.to_ascii_lowercase().contains("test");
        name == "sleep" || name == "retry" || waits || words.next() == Some("wait")
    })
}

/// A command without its quoted words, but for programs and what a shell is given to run (`sh -c '…'`).
fn unquoted(command: &str) -> String {
    let mut bare = String::with_capacity(command.len());
    for (index, piece) in command.split(['"', '\'']).enumerate() {
        let is_run = bare.split_whitespace().last().is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'));
        let is_first = bare.trim_end().is_empty() || bare.trim_end().ends_with([';', '|', '&', '(']);
        match (index % 2, is_run) {
            (0, _) => bare.push_str(piece),
            (_, true) => bare.extend(["\n", piece, "\n"]),
            (_, false) => bare.push_str(if is_first { piece } else { "_" }),
        }
    }
    bare
}

/// What a tool said, without what differs each time: times, durations, addresses.
fn lasting(output: &str) -> String {
    let words: Vec<&str> = output.split_whitespace().collect();
    let mut out = String::with_capacity(output.len());
    for (index, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let numeric = bare.starts_with(|c: char| c.is_ascii_digit());
        let unit = words.get(index + 1).map(|next| next.trim_matches(|c: char| !c.is_alphanumeric()));
        let changes = numeric
            && (!bare.bytes().all(|byte| byte.is_ascii_digit()) || unit.is_some_and(|unit| UNITS.contains(&unit)));
        out.push_str(if changes { "#" } else { word });
        out.push(' ');
    }
    out
}

#[cfg(test)]
#[path = "repeats_test.rs"]
mod tests;
