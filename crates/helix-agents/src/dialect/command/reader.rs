//! Reads what a program prints: text, and at the end the record that says how it went.
//!
//! Must not take anything for the record but a whole one in the last line that is not blank.

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::run::{
    AgentErrorKind, Ending, RunFacts, StopReason, StreamFacts, Terminal, TerminalKind, TerminalReason,
};
use helix_core::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::super::json_line::JsonLine;
use super::super::{Ended, Reader};
use crate::invocation::StreamEnd;
use crate::profile::{AskedSchema, ExitStatus};

/// Longest text that is kept where no record names the answer; its end, since that is where programs say what came out.
const TEXT_LIMIT: usize = 64 * 1024;
/// Longest message for people that a terminal record keeps, in characters.
const MESSAGE_LIMIT: usize = 500;

/// The record, as the documentation describes it. Fields that are not documented make it none.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultRecord {
    #[serde(rename = "helix")]
    _marker: Marker,
    status: Status,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    structured: Option<Value>,
    #[serde(default)]
    error: Option<AgentErrorKind>,
    #[serde(default)]
    usage: Consumption,
}

/// What the record says of consumption; what is left out is nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Consumption {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    turns: u32,
    cost_usd: f64,
}

impl From<Consumption> for Usage {
    fn from(said: Consumption) -> Self {
        Self {
            input_tokens: said.input_tokens,
            output_tokens: said.output_tokens,
            cache_read_tokens: said.cache_read_tokens,
            cache_write_tokens: said.cache_write_tokens,
            turns: said.turns,
            // A program that gives money back is not believed.
            cost_usd: said.cost_usd.max(0.0),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Marker {
    Result,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Success,
    Error,
}

/// Reads one run of a program.
#[derive(Debug)]
pub struct CommandReader {
    asked_schema: AskedSchema,
    exit: ExitStatus,
    lines: u64,
    /// Lines that claim to be the record and are none.
    spoiled: u64,
    tail_taken: bool,
    broken_tail: bool,
    text: String,
    record: Option<ResultRecord>,
    /// Whether anything was printed after the record.
    active_after: bool,
}

impl CommandReader {
    /// A reader at the start of a run.
    pub fn new(asked_schema: AskedSchema, exit: ExitStatus) -> Self {
        Self {
            asked_schema,
            exit,
            lines: 0,
            spoiled: 0,
            tail_taken: false,
            broken_tail: false,
            text: String::new(),
            record: None,
            active_after: false,
        }
    }

    /// Takes a line. `false` if it claims to be the record and is none.
    fn take(&mut self, line: &[u8], piece: Piece, events: &mut Vec<AgentEvent>) -> bool {
        match JsonLine::read(line) {
            JsonLine::Blank => return true,
            JsonLine::Object(object) if object.contains_key("helix") => {
                let Ok(record) = serde_json::from_value::<ResultRecord>(Value::Object(object)) else {
                    events.push(AgentEvent::Unrecognised { kind_name: "helix record".to_owned() });
                    return false;
                };
                self.active_after = false;
                events.push(AgentEvent::Finished {
                    answer: Some(record.answer.clone()),
                    structured: record.structured.clone(),
                    is_error: record.status == Status::Error,
                    usage: record.usage.into(),
                });
                self.record = Some(record);
                return true;
            }
            JsonLine::Object(_) | JsonLine::Other => {}
        }
        if claims_to_be_a_record(line, piece) {
            return false;
        }
        self.active_after = self.record.is_some();
        let text = String::from_utf8_lossy(line).into_owned();
        for partial in [true, false] {
            events.push(AgentEvent::Text { text: text.clone(), partial, parent: None });
        }
        self.text.push_str(&text);
        if self.text.len() > 2 * TEXT_LIMIT {
            let cut = self.text.floor_char_boundary(self.text.len() - TEXT_LIMIT);
            self.text.drain(..cut);
        }
        true
    }

    fn terminal(&self, ended: &Ended) -> Option<Terminal> {
        let (success, answer, structured) = match (&self.record, self.exit) {
            (Some(record), _) => {
                let structured = record.structured.as_ref().is_some_and(|value| !value.is_null());
                (record.status == Status::Success, record.answer.as_str(), structured)
            }
            // The user vouches for the exit status. It says nothing of structured output, which then is missing.
            (None, ExitStatus::Trusted) => match ended.ending {
                Ending::Exited { code: 0 } => (true, self.text.trim(), false),
                Ending::Exited { .. } => (false, self.text.trim(), false),
                Ending::Signaled { .. } | Ending::NotStarted { .. } | Ending::Unknown => return None,
            },
            (None, ExitStatus::NoEvidence) => return None,
        };
        // A program that does its work without words has answered by ending well, where that counts.
        let answer_empty = answer.trim().is_empty() && self.record.is_some();
        Some(Terminal {
            kind: if success { TerminalKind::Success } else { TerminalKind::Other("error".to_owned()) },
            is_error: !success,
            reason: success.then_some(TerminalReason::Completed),
            stop_reason: success.then_some(StopReason::EndTurn),
            http_status: None,
            structured_output: structured,
            // It asks no provider whose stream could have been cut off: the record itself is what ends it.
            usage_present: success,
            answer_empty,
            turns: 1,
            denials: 0,
            message: answer.chars().take(MESSAGE_LIMIT).collect(),
        })
    }
}

#[derive(Clone, Copy)]
enum Piece {
    Line,
    Tail,
}

/// Whether a line was meant to be the record, whatever became of it; of a tail, also the first bytes of one.
fn claims_to_be_a_record(line: &[u8], piece: Piece) -> bool {
    const START: &[u8] = b"{\"helix\"";
    let squeezed: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(START.len()).collect();
    match piece {
        Piece::Line => squeezed == START,
        Piece::Tail => !squeezed.is_empty() && START.starts_with(&squeezed),
    }
}

impl Reader for CommandReader {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        self.lines += 1;
        self.spoiled += u64::from(!self.take(line, Piece::Line, events));
    }

    fn tail(&mut self, tail: &[u8], events: &mut Vec<AgentEvent>) {
        self.tail_taken = true;
        self.broken_tail = !self.take(tail, Piece::Tail, events);
    }

    fn facts_of(&mut self, ended: &Ended, stream: &StreamEnd) -> RunFacts {
        if !self.tail_taken {
            self.tail(&stream.tail, &mut Vec::new());
        }
        RunFacts {
            ending: ended.ending.clone(),
            stopped: ended.stopped,
            stdout: StreamFacts {
                read_to_end: stream.read_to_end && self.lines >= stream.lines,
                lines: self.lines,
                unparsable: self.spoiled,
                broken_tail: self.broken_tail,
            },
            asked_schema: self.asked_schema == AskedSchema::Yes,
            started: self.lines > 0 || self.record.is_some() || !self.text.is_empty(),
            active_after_terminal: self.active_after,
            terminal: self.terminal(ended),
            declared_error: self.record.as_ref().and_then(|record| record.error),
            rate_limit: None,
            tasks_lost: 0,
            stderr_tail: ended.stderr_tail.clone(),
        }
    }

    fn usage(&self) -> Usage {
        self.record.as_ref().map(|record| record.usage.into()).unwrap_or_default()
    }

    fn session(&self) -> Option<&AgentSessionId> {
        None
    }

    fn answer(&self) -> &str {
        self.record.as_ref().map_or(self.text.as_str(), |record| record.answer.as_str())
    }
}
