//! Reads what a program prints: text, and at the end the record that says how it went.
//!
//! Must not take anything for the record but a whole one in the last line that is not blank.

use helix_core::agent_event::AgentEvent;
use helix_core::run::{AgentErrorKind, Ending, StopReason, Terminal, TerminalKind, TerminalReason};
use helix_core::usage::Usage;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::fragments::Channel;
use super::super::json_line::JsonLine;
use super::super::reader::{Ended, Gathered, Piece, Position, Reading, Taken, completed};
use crate::profile::ExitStatus;

/// Longest text that is kept where no record names the answer; its end, since that is where programs say what came out.
const TEXT_LIMIT: usize = 64 * 1024;

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
pub(super) struct CommandReader {
    exit: ExitStatus,
    /// What was printed besides records, newlines included.
    text: String,
    record: Option<ResultRecord>,
}

impl CommandReader {
    pub(super) fn new(exit: ExitStatus) -> Self {
        Self { exit, text: String::new(), record: None }
    }

    fn terminal(&self, ended: &Ended) -> Option<Terminal> {
        let (success, answer, structured) = match (&self.record, self.exit) {
            (Some(record), _) => {
                let structured = record.structured.as_ref().is_some_and(|value| !value.is_null());
                (record.status == Status::Success, record.answer.as_str(), structured)
            }
            // The user vouches for the exit status. It says nothing of structured output, which then is missing.
            (None, ExitStatus::Trusted) => match ended.ending {
                Ending::Exited { code } => (code == 0, self.text.trim(), false),
                Ending::Signaled { .. } | Ending::NotStarted { .. } | Ending::Unknown => return None,
            },
            (None, ExitStatus::NoEvidence) => return None,
        };
        // A program that does its work without words has answered by ending well, where that counts.
        Some(Terminal {
            kind: if success { TerminalKind::Success } else { TerminalKind::Other("error".to_owned()) },
            is_error: !success,
            reason: success.then_some(TerminalReason::Completed),
            stop_reason: success.then_some(StopReason::EndTurn),
            structured_output: structured,
            // It asks no provider whose stream could have been cut off: the record itself is what ends it.
            usage_present: success,
            answer_empty: answer.trim().is_empty() && self.record.is_some(),
            ..completed(answer, 1)
        })
    }

    /// Takes text as it was printed; what would be too much is cut at its start.
    fn print(&mut self, text: &str, run: &mut Gathered) {
        run.said_at_once(Channel::Text, text);
        self.text.push_str(text);
        if self.text.len() > 2 * TEXT_LIMIT {
            let cut = self.text.floor_char_boundary(self.text.len() - TEXT_LIMIT);
            self.text.drain(..cut);
        }
    }
}

/// Whether a piece was meant to be the record, whatever became of it; of a tail, also the first bytes of one.
fn claims_to_be_a_record(piece: Piece<'_>) -> bool {
    const START: &[u8] = b"{\"helix\"";
    let letters = piece.bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    let squeezed: Vec<u8> = letters.take(START.len()).collect();
    match piece.position {
        Position::Line => squeezed == START,
        Position::Tail => !squeezed.is_empty() && START.starts_with(&squeezed),
    }
}

impl Reading for CommandReader {
    fn take(&mut self, piece: Piece<'_>, run: &mut Gathered) -> Taken {
        run.started |= piece.position == Position::Line;
        match JsonLine::read(piece.bytes) {
            JsonLine::Blank => {
                // It parts paragraphs; before the first and after the record it parts nothing.
                if self.record.is_none() && !self.text.is_empty() && piece.position == Position::Line {
                    self.print("\n", run);
                }
                return Taken::Whole;
            }
            JsonLine::Object(object) if object.contains_key("helix") => return self.record(object, run),
            JsonLine::Object(_) | JsonLine::Other => {}
        }
        if claims_to_be_a_record(piece) {
            return Taken::Spoiled;
        }
        run.worked();
        let newline = if piece.position == Position::Line { "\n" } else { "" };
        self.print(&format!("{}{newline}", String::from_utf8_lossy(piece.bytes)), run);
        Taken::Whole
    }

    fn record(&mut self, record: Map<String, Value>, run: &mut Gathered) -> Taken {
        let Ok(record) = serde_json::from_value::<ResultRecord>(Value::Object(record)) else {
            run.unrecognised("helix record");
            return Taken::Spoiled;
        };
        (run.started, run.active, run.usage) = (true, false, record.usage.into());
        run.events.push(AgentEvent::Finished {
            answer: Some(record.answer.clone()),
            structured: record.structured.clone(),
            is_error: record.status == Status::Error,
            usage: run.usage,
        });
        self.record = Some(record);
        Taken::Whole
    }

    fn finish(&mut self, ended: &Ended, run: &mut Gathered) {
        run.terminal = self.terminal(ended);
        // A program that was cut off has another status, or has begun a record.
        run.record_unknown = run.terminal.is_none() && ended.ending == Ending::Exited { code: 0 };
        run.active &= self.record.is_some();
        run.declared_error = self.record.as_ref().and_then(|record| record.error);
        run.answer = self.record.as_ref().map_or(self.text.trim(), |record| record.answer.as_str()).to_owned();
    }
}
