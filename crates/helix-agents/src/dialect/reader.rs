//! Reads one run's stdout: counts its lines, hands them to the dialect, and makes evidence of both.
//!
//! Must not judge, and must not know what any agent's records look like: [`Reading`] is what a dialect gives.

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::run::{AgentErrorKind, Ending, RateLimit, RunFacts, StopCause, StreamFacts, Terminal};
use helix_core::usage::Usage;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::json_line::JsonLine;
use crate::invocation::{RunEnd, StreamEnd};
use crate::profile::AskedSchema;

/// Longest message for people that a terminal record keeps, in characters.
const MESSAGE_LIMIT: usize = 500;
/// Longest name that is kept of something unknown, in characters.
const NAME_LIMIT: usize = 100;

/// Collects the evidence of one run from what the agent prints, and translates it into events.
pub struct Reader {
    asked_schema: AskedSchema,
    lines: u64,
    unparsable: u64,
    /// What stood after the last newline, once it was taken.
    tail: Option<Taken>,
    reading: Box<dyn Reading>,
}

/// What a dialect gives to have its agent's stdout read.
pub(super) trait Reading: Send {
    /// Takes a line, or what stands after the last one. Total: whatever the bytes are, this returns.
    ///
    /// Every whole text (`partial: false`) is preceded by fragments (`partial: true`) that add up to it.
    fn take(&mut self, piece: Piece<'_>, events: &mut Vec<AgentEvent>) -> Taken {
        match JsonLine::read(piece.bytes) {
            JsonLine::Blank => Taken::Whole,
            JsonLine::Object(record) => self.record(record, events),
            JsonLine::Other => {
                events.push(unrecognised("not json"));
                Taken::Spoiled
            }
        }
    }

    /// Takes a record.
    fn record(&mut self, record: Map<String, Value>, events: &mut Vec<AgentEvent>) -> Taken;

    /// What the records amount to, given how the process ended. To be called after the last piece.
    fn evidence(&mut self, ended: &Ended) -> Evidence;

    /// As [`Reader::usage`].
    fn usage(&self) -> Usage;

    /// As [`Reader::answer`].
    fn answer(&self) -> &str;

    /// As [`Reader::session`]; for agents that have sessions.
    fn session(&self) -> Option<&AgentSessionId> {
        None
    }

    /// As [`Reader::point`]; for agents whose sessions can be cut.
    fn point(&self) -> Option<&str> {
        None
    }

    /// As [`Reader::pieces`]; for agents that stream.
    fn pieces(&self) -> u64 {
        0
    }

    /// As [`Reader::carries`]; for agents that report a session's consumption as a whole.
    fn carries(&mut self, _before: Usage) {}

    /// As [`Reader::session_usage`]; for agents that report a session's consumption as a whole.
    fn session_usage(&self) -> Option<Usage> {
        None
    }
}

/// A piece of stdout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'b> {
    /// It, with or without its newline.
    pub(super) bytes: &'b [u8],
    /// Where it stood.
    pub(super) place: Place,
}

/// Where a piece of stdout stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before a newline.
    Line,
    /// After the last one.
    Tail,
}

/// Whether a piece was all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was, whatever it meant.
    Whole,
    /// It was not: something is missing of the record.
    Spoiled,
}

/// What the records of a run say of it.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// As [`RunFacts::started`].
    pub(super) started: bool,
    /// As [`RunFacts::active_after_terminal`].
    pub(super) active_after_terminal: bool,
    /// As [`RunFacts::terminal`].
    pub(super) terminal: Option<Terminal>,
    /// As [`RunFacts::declared_error`].
    pub(super) declared_error: Option<AgentErrorKind>,
    /// As [`RunFacts::rate_limit`].
    pub(super) rate_limit: Option<RateLimit>,
    /// As [`RunFacts::tasks_lost`].
    pub(super) tasks_lost: u32,
}

impl Reader {
    pub(super) fn new(reading: Box<dyn Reading>, asked_schema: AskedSchema) -> Self {
        Self { asked_schema, lines: 0, unparsable: 0, tail: None, reading }
    }

    /// Takes one line, with or without its newline. Total: whatever the bytes are, this returns. Events are appended.
    ///
    /// Every whole text (`partial: false`) is preceded by fragments (`partial: true`) that add up to it, also where the agent did
    /// not stream: who shows text as it comes uses the fragments alone, who keeps texts uses the whole ones alone.
    pub fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        let taken = self.reading.take(Piece { bytes: line, place: Place::Line }, events);
        self.lines += 1;
        self.unparsable += u64::from(taken == Taken::Spoiled);
    }

    /// Takes what stands after the last newline once the stream has ended; nothing if that is empty. To be called once;
    /// [`Reader::facts`] does it where the caller did not.
    pub fn tail(&mut self, tail: &[u8], events: &mut Vec<AgentEvent>) {
        self.tail = Some(self.reading.take(Piece { bytes: tail, place: Place::Tail }, events));
    }

    /// How many lines so far showed work without an event of their own: pieces of a call's arguments, progress of tasks in
    /// the background. With the events, but for [`AgentEvent::Unrecognised`], that is what says that an agent lives.
    pub fn pieces(&self) -> u64 {
        self.reading.pieces()
    }

    /// Everything that is known of the run, given how it and its stdout ended.
    pub fn facts_of(&mut self, ended: &Ended, stream: &StreamEnd) -> RunFacts {
        if self.tail.is_none() {
            self.tail(&stream.tail, &mut Vec::new());
        }
        let evidence = self.reading.evidence(ended);
        RunFacts {
            ending: ended.ending.clone(),
            stopped: ended.stopped,
            stdout: StreamFacts {
                // A reader that was not given every line knows nothing of the rest.
                read_to_end: stream.read_to_end && self.lines >= stream.lines,
                lines: self.lines,
                unparsable: self.unparsable,
                broken_tail: self.tail == Some(Taken::Spoiled),
            },
            asked_schema: self.asked_schema == AskedSchema::Yes,
            started: evidence.started,
            active_after_terminal: evidence.active_after_terminal,
            terminal: evidence.terminal,
            declared_error: evidence.declared_error,
            rate_limit: evidence.rate_limit,
            tasks_lost: evidence.tasks_lost,
            stderr_tail: ended.stderr_tail.clone(),
        }
    }

    /// As [`Reader::facts_of`], from the supervisor's record.
    pub fn facts(&mut self, end: &RunEnd, stream: &StreamEnd) -> RunFacts {
        self.facts_of(&Ended::from(end), stream)
    }

    /// Consumption of this run so far: the agent's own account where it gave one, else what its messages named.
    pub fn usage(&self) -> Usage {
        self.reading.usage()
    }

    /// Says what the session that is resumed or forked had consumed before this run, for agents that report a session's
    /// consumption as a whole. To be called before the first line.
    pub fn carries(&mut self, before: Usage) {
        self.reading.carries(before);
    }

    /// What the whole session has consumed, where that is what the agent reports.
    pub fn session_usage(&self) -> Option<Usage> {
        self.reading.session_usage()
    }

    /// The session as the agent announced it.
    pub fn session(&self) -> Option<&AgentSessionId> {
        self.reading.session()
    }

    /// The point that the session has reached, by which [`crate::SessionRef::Cut`] finds it again; `None` where the dialect
    /// cannot cut sessions or nothing was said yet.
    pub fn point(&self) -> Option<&str> {
        self.reading.point()
    }

    /// The answer: the last terminal record's text if that is no error, else the text of the turn as far as it came.
    pub fn answer(&self) -> &str {
        self.reading.answer()
    }
}

/// How a process ended, as far as the outcome depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub ending: Ending,
    /// Why Helix ended it, if Helix did.
    pub stopped: Option<StopCause>,
    /// The last of what it wrote to stderr.
    pub stderr_tail: String,
    /// When, where that is known: some agents say only at what time of the day a limit resets.
    pub at: Option<Timestamp>,
}

impl Ended {
    /// A process that exited by itself, nobody knows when, and said nothing on stderr.
    pub fn exited(code: i32) -> Self {
        Self { ending: Ending::Exited { code }, stopped: None, stderr_tail: String::new(), at: None }
    }
}

impl From<&RunEnd> for Ended {
    fn from(end: &RunEnd) -> Self {
        Self {
            ending: end.ending.clone(),
            stopped: end.stopped,
            stderr_tail: end.stderr_tail.clone(),
            at: Some(end.ended_at),
        }
    }
}

/// An event without meaning for Helix, or that the dialect does not know.
pub(super) fn unrecognised(kind: &str) -> AgentEvent {
    AgentEvent::Unrecognised { kind_name: kind.chars().take(NAME_LIMIT).collect() }
}

/// As much of a text as a terminal record keeps for people.
pub(super) fn message(text: &str) -> String {
    text.chars().take(MESSAGE_LIMIT).collect()
}
