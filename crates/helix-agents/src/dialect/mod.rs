//! Dialects: how Helix asks an agent for something, and how it reads what the agent prints.
//!
//! Must not start, follow or stop processes, and must not judge: readers collect evidence, `helix_core::run` judges it.

mod agent_files;
mod arguments;
mod claude;
mod codex;
mod command;
mod fragments;
mod json_line;
mod line_count;
mod recording;
mod replay;
mod surroundings;
mod task_ledger;

use std::path::PathBuf;

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::run::{Ending, RunFacts, StopCause};
use helix_core::usage::Usage;

pub use claude::{Claude, ClaudeReader};
pub use codex::{Codex, CodexReader};
pub use command::{Command, CommandReader};
pub use recording::{Classified, classify_recording};
pub use replay::{
    CASSETTE_VERSION, Cassette, CassetteAction, CassetteError, CassetteTake, Replay, ReplayReader, TakeEnd, replay_main,
};
pub use surroundings::Surroundings;

use crate::invocation::{Invocation, RunEnd, StreamEnd};
use crate::probe::Capabilities;
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus};

/// Longest output of a tool that an event keeps.
pub(crate) const TOOL_OUTPUT_LIMIT: usize = 16 * 1024;

/// One agent's language.
pub trait Dialect: Send + Sync {
    /// Its name.
    fn name(&self) -> DialectName;

    /// Turns what is asked into what is executed, given the variables that Helix itself runs with. Writes the dialect's
    /// files (mode 0600) below `agent-<dialect>/` in the run directory: a few kilobytes of synchronous writes.
    ///
    /// # Errors
    /// [`InvocationError`] where the profile or the ask cannot be expressed, or a file cannot be written.
    fn invocation_in(
        &self,
        profile: &AgentProfile,
        ask: &AgentAsk,
        own: &Surroundings,
    ) -> Result<Invocation, InvocationError>;

    /// As [`Dialect::invocation_in`] with the environment of this process.
    ///
    /// # Errors
    /// As there.
    fn invocation(&self, profile: &AgentProfile, ask: &AgentAsk) -> Result<Invocation, InvocationError> {
        self.invocation_in(profile, ask, &Surroundings::of_this_process())
    }

    /// A reader for one run's stdout.
    fn reader(&self, asked_schema: AskedSchema) -> Box<dyn Reader>;

    /// A reader that may take the exit status for what the profile takes it. Dialects with records of their own do not ask.
    fn reader_with(&self, asked_schema: AskedSchema, _exit: ExitStatus) -> Box<dyn Reader> {
        self.reader(asked_schema)
    }

    /// How a limit is kept. Where it is not kept during a run, [`Dialect::invocation_in`] refuses to be asked for it.
    fn keeps(&self, limit: Limit) -> Keeping;

    /// How a probe may find out about the agent.
    fn probing(&self) -> Probing {
        Probing::Version
    }

    /// Arguments (after the profile's own) that make the agent print its version.
    fn version_arguments(&self) -> Vec<String>;

    /// What an agent that printed this for its version can do; `None` if that is not a version.
    fn capabilities(&self, printed: &str) -> Option<Capabilities>;
}

/// A limit of what runs may consume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Model turns.
    Turns,
    /// US dollars.
    Money,
}

/// How a limit is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// The agent itself stops the run that reaches it.
    DuringRuns,
    /// The agent says after a run what it consumed: no further run starts when the limit is reached.
    BetweenRuns,
    /// Not at all: the agent does not say what it consumes.
    Never,
}

/// How a probe may find out about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probing {
    /// By having it print its version.
    Version,
    /// By looking whether there is such a program: it might do its work whatever it is given.
    Presence,
}

/// The dialect of this name.
pub fn dialect(name: DialectName) -> Box<dyn Dialect> {
    match name {
        DialectName::Claude => Box::new(Claude),
        DialectName::Codex => Box::new(Codex),
        DialectName::Command => Box::new(Command),
        DialectName::Replay => Box::new(Replay),
    }
}

/// Collects the evidence of one run from what the agent prints, and translates it into events.
pub trait Reader: Send {
    /// Takes one line, with or without its newline. Total: whatever the bytes are, this returns. Events are appended.
    ///
    /// Every whole text (`partial: false`) is preceded by fragments (`partial: true`) that add up to it, also where the agent did
    /// not stream: who shows text as it comes uses the fragments alone, who keeps texts uses the whole ones alone.
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>);

    /// Takes what stands after the last newline once the stream has ended; nothing if that is empty. To be called once;
    /// [`Reader::facts`] does it where the caller did not.
    fn tail(&mut self, tail: &[u8], events: &mut Vec<AgentEvent>);

    /// Everything that is known of the run, given how it and its stdout ended.
    fn facts_of(&mut self, ended: &Ended, stream: &StreamEnd) -> RunFacts;

    /// As [`Reader::facts_of`], from the supervisor's record.
    fn facts(&mut self, end: &RunEnd, stream: &StreamEnd) -> RunFacts {
        self.facts_of(&Ended::from(end), stream)
    }

    /// How many lines so far showed work without an event of their own: pieces of a call's arguments, progress of tasks in
    /// the background. With the events, but for [`AgentEvent::Unrecognised`], that is what says that an agent lives.
    fn pieces(&self) -> u64 {
        0
    }

    /// Consumption of this run so far: the agent's own account where it gave one, else what its messages named.
    fn usage(&self) -> Usage;

    /// Says what the session that is resumed or forked had consumed before this run, for agents that report a session's
    /// consumption as a whole. To be called before the first line.
    fn carries(&mut self, _before: Usage) {}

    /// What the whole session has consumed, where that is what the agent reports.
    fn session_usage(&self) -> Option<Usage> {
        None
    }

    /// The session as the agent announced it.
    fn session(&self) -> Option<&AgentSessionId>;

    /// The point that the session has reached, by which [`crate::SessionRef::Cut`] finds it again; `None` where the dialect
    /// cannot cut sessions or nothing was said yet.
    fn point(&self) -> Option<&str> {
        None
    }

    /// The answer: the last terminal record's text if that is no error, else the text of the turn as far as it came.
    fn answer(&self) -> &str;
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
}

impl Ended {
    /// A process that exited by itself and said nothing on stderr.
    pub fn exited(code: i32) -> Self {
        Self { ending: Ending::Exited { code }, stopped: None, stderr_tail: String::new() }
    }
}

impl From<&RunEnd> for Ended {
    fn from(end: &RunEnd) -> Self {
        Self { ending: end.ending.clone(), stopped: end.stopped, stderr_tail: end.stderr_tail.clone() }
    }
}

/// Says why an ask cannot be turned into something to execute.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    /// The profile names no program.
    #[error("agent {profile:?} has an empty command; set `command` to the program and its leading arguments")]
    NoProgram {
        /// The profile.
        profile: String,
    },
    /// A session id that this dialect does not accept.
    #[error("session {session:?} is not a UUID, and the claude dialect accepts no other ids for new sessions")]
    SessionNotUuid {
        /// The id.
        session: String,
    },
    /// An argument is longer than the operating system takes.
    #[error("{what} has {bytes} bytes; an argument may have at most {limit}: put the long part into the prompt")]
    ArgumentTooLong {
        /// What it is.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// Largest size.
        limit: usize,
    },
    /// An argument or variable holds a NUL byte, which no process can be given.
    #[error("{what} holds a NUL byte")]
    NulByte {
        /// What it is.
        what: String,
    },
    /// A limit that is no positive number.
    #[error("the budget {budget} US dollars is not a positive number")]
    Budget {
        /// The number.
        budget: f64,
    },
    /// Two tool servers share a name.
    #[error("there are two tool servers of the name {name:?}")]
    DuplicateServer {
        /// The name.
        name: String,
    },
    /// Two sub-agents share a name.
    #[error("there are two experts of the name {name:?}")]
    DuplicateAgent {
        /// The name.
        name: String,
    },
    /// An image whose bytes are not base 64.
    #[error("image {number} of the prompt is not in base 64")]
    Image {
        /// Which one, from 1.
        number: usize,
    },
    /// Something that this dialect cannot do.
    #[error("the {dialect} dialect cannot {what}")]
    Unsupported {
        /// The dialect.
        dialect: DialectName,
        /// What was asked for.
        what: &'static str,
    },
    /// A file or directory of the run could not be written.
    #[error("cannot write {path}", path = path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
}
