//! Reads one run's stdout: counts its lines, hands them to the dialect, and makes evidence of both.
//!
//! Must not judge, and must not know what any agent's records look like: [`Reading`] is what a dialect gives.

use helix_core::agent_event::{AgentEvent, SaidAnew};
use helix_core::ids::AgentSessionId;
use helix_core::run::{
    AgentErrorKind, Ending, RateLimit, RepeatedCall, RunFacts, StopCause, StopReason, StreamFacts, Terminal,
    TerminalKind, TerminalReason, WallsHeld,
};
use helix_core::usage::Usage;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fragments::{Channel, Part, text_event};
use super::json_line::JsonLine;
use super::repeats::Repeats;
use super::task_ledger::TaskLedger;
use crate::invocation::{RunEnd, StreamEnd};
use crate::profile::AskedSchema;

/// Longest message for people that a terminal record keeps, in characters.
const MESSAGE_LIMIT: usize = 2000;
/// Longest name that is kept of something unknown, in characters.
const NAME_LIMIT: usize = 100;

/// Collects the evidence of one run from what the agent prints, and translates it into events.
pub struct Reader {
    asked_schema: AskedSchema,
    lines: u64,
    unparsable: u64,
    /// What stood after the last newline, once it was taken.
    tail: Option<Taken>,
    gathered: Gathered,
    reading: Box<dyn Reading>,
}

/// What a dialect gives to have its agent's stdout read.
pub(super) trait Reading: Send {
    /// Takes a line, or what stands after the last one. Total: whatever the bytes are, this returns.
    ///
    /// Every whole text (`partial: false`) is preceded by fragments (`partial: true`) that add up to it.
    fn take(&mut self, piece: Piece<'_>, run: &mut Gathered) -> Taken {
        match JsonLine::read(piece.bytes) {
            JsonLine::Blank => Taken::Whole,
            JsonLine::Object(record) => self.record(record, run),
            JsonLine::Other => {
                run.unrecognised("not json");
                Taken::Spoiled
            }
        }
    }

    fn record(&mut self, record: Map<String, Value>, run: &mut Gathered) -> Taken;

    /// Completes what was gathered, given how the process ended. Called after the last piece, perhaps more than once.
    fn finish(&mut self, _ended: &Ended, _run: &mut Gathered) {}
}

/// A piece of stdout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'b> {
    /// The bytes without their newline.
    pub(super) bytes: &'b [u8],
    pub(super) position: Position,
}

/// Where a piece of stdout stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
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

/// What a dialect gathers of a run while it reads.
#[derive(Debug, Default)]
pub struct Gathered {
    /// As [`RunFacts::started`].
    pub(super) started: bool,
    /// Whether anything happened since the last terminal record.
    pub(super) active: bool,
    pub(super) terminal: Option<Terminal>,
    pub(super) declared_error: Option<AgentErrorKind>,
    pub(super) rate_limit: Option<RateLimit>,
    pub(super) tasks: TaskLedger,
    repeats: Repeats,
    /// As [`RunFacts::compacted`].
    pub(super) compacted: bool,
    /// As [`RunFacts::answered`].
    answered: bool,
    /// As [`RunFacts::record_unknown`].
    pub(super) record_unknown: bool,
    /// The session as the agent announced it.
    pub session: Option<AgentSessionId>,
    /// The point that the session has reached, by which [`crate::SessionRef::Cut`] finds it again; `None` where the dialect
    /// cannot cut sessions or nothing was said yet.
    pub point: Option<String>,
    /// How many lines so far showed work without an event of their own: pieces of a call's arguments, progress of tasks in
    /// the background. With the events, but for [`AgentEvent::Unrecognised`], that is what says that an agent lives.
    pub pieces: u64,
    /// Consumption of this run so far: the agent's own account where it gave one, else what its messages named.
    pub usage: Usage,
    /// As [`Reader::carries`].
    pub(super) usage_before: Usage,
    /// What the whole session has consumed, where that is what the agent reports.
    pub session_usage: Option<Usage>,
    /// The answer: the last terminal record's text if that is no error, else the text of the turn as far as it came.
    /// Complete once [`Reader::facts`] was called.
    pub answer: String,
    /// Events of the line under way.
    pub(super) events: Vec<AgentEvent>,
}

impl Gathered {
    /// Records work of the agent. After a terminal record it means that another turn began.
    pub(super) fn worked(&mut self) {
        (self.started, self.active) = (true, true);
    }

    /// Takes the name of the session; one that is missing or unusable keeps the name that is known.
    pub(super) fn name_session(&mut self, id: Option<&str>) {
        self.session = id.and_then(|id| AgentSessionId::new(id).ok()).or_else(|| self.session.take());
    }

    /// An event without meaning for Helix, or that the dialect does not know.
    pub(super) fn unrecognised(&mut self, kind: &str) {
        self.events.push(AgentEvent::Unrecognised { kind_name: kind.chars().take(NAME_LIMIT).collect() });
    }

    /// The agent says this text anew.
    pub(super) fn took_back(&mut self, text: String, reason: SaidAnew, parent: Option<&str>) {
        if !text.trim().is_empty() {
            self.events.push(AgentEvent::TakenBack { text, reason, parent: parent.map(str::to_owned) });
        }
    }

    /// Hands on the events of the line under way.
    fn hand_over(&mut self, events: &mut Vec<AgentEvent>) {
        let is_answer = |event: &AgentEvent| {
            use AgentEvent::{Text, Thinking, ToolStarted};
            matches!(event, Text { .. } | Thinking { .. } | ToolStarted { .. })
        };
        self.answered |= self.events.iter().any(is_answer);
        self.events.iter().for_each(|event| self.repeats.saw(event));
        events.append(&mut self.events);
    }

    /// The call that failed the same way most often since anything new was seen, if any did.
    pub fn repeated(&self) -> Option<&RepeatedCall> {
        self.repeats.most()
    }

    /// A text of the run itself that came as a whole: its only fragment is the same text.
    pub(super) fn said_at_once(&mut self, channel: Channel, text: &str) {
        if !text.is_empty() {
            let event = |part| text_event(channel, text.to_owned(), part, None);
            self.events.extend([Part::Fragment, Part::Whole].map(event));
        }
    }
}

impl Reader {
    pub(super) fn new(reading: Box<dyn Reading>, asked_schema: AskedSchema) -> Self {
        Self { asked_schema, lines: 0, unparsable: 0, tail: None, gathered: Gathered::default(), reading }
    }

    /// Takes one line, with or without its newline. Total: whatever the bytes are, this returns. Events are appended.
    ///
    /// Every whole text (`partial: false`) is preceded by fragments (`partial: true`) that add up to it, also where the agent did
    /// not stream: who shows text as it comes uses the fragments alone, who keeps texts uses the whole ones alone.
    pub fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        let taken = self.reading.take(Piece { bytes, position: Position::Line }, &mut self.gathered);
        self.gathered.hand_over(events);
        self.lines += 1;
        self.unparsable += u64::from(taken == Taken::Spoiled);
    }

    /// Takes what stands after the last newline once the stream has ended; nothing if that is empty. To be called once;
    /// [`Reader::facts`] does it where the caller did not.
    pub fn tail(&mut self, tail: &[u8], events: &mut Vec<AgentEvent>) {
        let piece = Piece { bytes: tail, position: Position::Tail };
        self.tail = Some(self.reading.take(piece, &mut self.gathered));
        self.gathered.hand_over(events);
    }

    /// Everything that is known of the run, given how it and its stdout ended.
    pub fn facts(&mut self, ended: &Ended, stream: &StreamEnd) -> RunFacts {
        if self.tail.is_none() {
            self.tail(&stream.tail, &mut Vec::new());
        }
        self.reading.finish(ended, &mut self.gathered);
        let run = &self.gathered;
        RunFacts {
            ending: ended.ending.clone(),
            stopped: ended.stopped,
            stdout: StreamFacts {
                // A reader that was not given every line knows nothing of the rest.
                read_to_end: stream.read_to_end && self.lines >= stream.lines,
                lines: self.lines,
                unparsable: self.unparsable,
                cut: stream.cut,
                broken_tail: self.tail == Some(Taken::Spoiled),
            },
            asked_schema: self.asked_schema == AskedSchema::Yes,
            started: run.started,
            active_after_terminal: run.terminal.is_some() && run.active,
            terminal: run.terminal.clone(),
            declared_error: run.declared_error,
            rate_limit: run.rate_limit,
            tasks_lost: run.tasks.not_completed(),
            compacted: run.compacted,
            answered: run.answered,
            record_unknown: run.record_unknown
                && stream.read_to_end
                && stream.cut == 0
                && self.unparsable == 0
                && self.tail != Some(Taken::Spoiled),
            repeated: run.repeats.worst().filter(|_| ended.stopped == Some(StopCause::Stuck)).cloned(),
            stderr_tail: ended.stderr_tail.clone(),
            walls: ended.walls.clone(),
        }
    }

    /// What the run has shown so far.
    pub fn run(&self) -> &Gathered {
        &self.gathered
    }

    /// Says what the session that is resumed or forked had consumed before this run, for agents that report a session's
    /// consumption as a whole. To be called before the first line.
    pub fn carries(&mut self, before: Usage) {
        self.gathered.usage_before = before;
    }
}

/// How a process ended, as far as the outcome depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub ending: Ending,
    /// Why Helix ended it, if Helix did.
    pub stopped: Option<StopCause>,
    /// The last of what it wrote to stderr.
    pub stderr_tail: String,
    /// When, where that is known: some agents say only at what time of the day a limit resets.
    pub at: Option<Timestamp>,
    /// What held its processes back.
    pub walls: Option<WallsHeld>,
}

impl Ended {
    /// A process that exited by itself, nobody knows when, and said nothing on stderr.
    pub fn exited(code: i32) -> Self {
        Self { ending: Ending::Exited { code }, stopped: None, stderr_tail: String::new(), at: None, walls: None }
    }
}

impl From<&RunEnd> for Ended {
    fn from(end: &RunEnd) -> Self {
        Self {
            ending: end.ending.clone(),
            stopped: end.stopped,
            stderr_tail: end.stderr_tail.clone(),
            at: Some(end.ended_at),
            walls: end.walls.clone(),
        }
    }
}

/// As much of a text as a terminal record keeps for people.
pub(super) fn message(text: &str) -> String {
    text.chars().take(MESSAGE_LIMIT).collect()
}

/// The end of a run that did what it was asked, and said this.
pub(super) fn completed(answer: &str, turns: u32) -> Terminal {
    Terminal {
        kind: TerminalKind::Success,
        is_error: false,
        reason: Some(TerminalReason::Completed),
        stop_reason: Some(StopReason::EndTurn),
        http_status: None,
        structured_output: false,
        usage_present: true,
        answer_empty: answer.trim().is_empty(),
        turns,
        denials: 0,
        message: message(answer),
    }
}
