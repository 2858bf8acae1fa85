//! Dialects: how Helix asks an agent for something, and how it reads what the agent prints.
//!
//! Must not start, follow or stop processes, and must not judge: readers collect evidence, `helix_core::run` judges it.

mod acp;
mod claude;
mod codex;
mod command;
mod draft;
mod fragments;
mod host_environment;
mod json_line;
mod reader;
mod recording;
mod repeats;
mod replay;
mod task_ledger;

pub use acp::acp_main;
pub(crate) use claude::rule_of_settings;
pub use host_environment::HostEnvironment;
pub use reader::{Ended, Reader};
pub use recording::{Classified, RecordedRun, RecordingError, classify_recording, run_labels};
pub use replay::{CASSETTE_VERSION, Cassette, CassetteAction, CassetteError, CassetteTake, TakeEnd, replay_main};

use std::path::PathBuf;

use helix_process::RunDirError;

use self::draft::Draft;
use self::reader::Reading;
use crate::invocation::Invocation;
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus};
use crate::tool_rule::ToolRule;
use crate::version::{Capabilities, Supported, Version};

/// Longest output of a tool that an event keeps.
const TOOL_OUTPUT_LIMIT: usize = 16 * 1024;

/// One agent's language: everything in which agents differ, and nothing else. What a new one has to give is in `docs/agents.md`.
pub struct Dialect {
    /// What others may know of its agents.
    pub kind: AgentKind,
    versions: Versions,
    sessions: Sessions,
    turns: Keeping,
    money: Keeping,
    /// Whether its agents are kept from what a rule denies; else they are only told.
    pub(crate) keeps_rule: fn(&ToolRule) -> bool,
    /// Whether its agents can have a call put to a person.
    asks_person: bool,
    /// Names of models that are surely known, if there is reason to doubt that this one is: something to warn of, since another
    /// endpoint may know it all the same. `None` where nothing speaks against it.
    pub doubts_model: fn(&AgentProfile, &str, &HostEnvironment) -> Option<&'static [&'static str]>,
    /// Writes down what is asked.
    write: fn(&mut Draft<'_>) -> Result<(), InvocationError>,
    /// Begins to read what one run prints.
    read: fn(AskedSchema, ExitStatus) -> Box<dyn Reading>,
}

/// What configuration, `helix init` and `helix doctor` need to know of a kind of agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentKind {
    /// The dialect that such agents speak.
    pub dialect: DialectName,
    /// What is started where the configuration names no command.
    pub program: Program,
    /// Variables that the agent gets from Helix's own environment where the configuration names none: its provider's only.
    pub passed_variables: &'static [&'static str],
    /// Models, the cheapest first, of which the first that has not done the work reviews it where nobody names one.
    pub review_models: &'static [&'static str],
    /// Whether a user may vouch for its exit status.
    pub exit_status: ExitMeaning,
    /// How its agents reach a provider with a key; `None` where nobody knows.
    pub provider: Option<ProviderKeys>,
    /// What users write for its agents themselves, and where.
    pub own_files: Option<OwnFiles>,
    /// Where its agents keep settings and sessions: the variable that names the directory, and else what is in a home.
    pub own_places: (&'static str, &'static [&'static str]),
}

/// Files that users write for an agent, in the directory of its settings.
#[derive(Debug, Clone, Copy)]
pub struct OwnFiles {
    /// Rules; of each group the first that is there.
    pub rules: &'static [&'static [&'static str]],
    /// Directories with more rules.
    pub rule_directories: &'static [&'static str],
    pub skills: &'static str,
    /// Settings with permissions and hooks, in Claude Code's form.
    pub settings: Option<&'static str>,
    /// Tool servers, in Claude Code's form: the file in a directory of settings that is named, and the one in a home.
    pub servers: Option<&'static str>,
}

/// Keys of a provider, and where its address stands.
#[derive(Debug, Clone, Copy)]
pub struct ProviderKeys {
    /// Variables with keys that are sent as they are.
    pub keys: &'static [&'static str],
    /// The variable with the address, and the address where it is not set; `None` where it is `base_url` in an argument.
    pub address: Option<(&'static str, &'static str)>,
    /// Variables by which another cloud is used, with a login of its own.
    pub elsewhere: &'static [&'static str],
}

/// The kind of agents that speak this dialect.
pub fn agent_kind(name: DialectName) -> &'static AgentKind {
    &dialect(name).kind
}

/// What is started for an agent of which nobody says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// A product that users install for themselves.
    Installed(Product),
    /// Helix itself, with this subcommand.
    Helix { subcommand: &'static str },
    /// Helix itself, with this subcommand and the command that the configuration names: it speaks with that agent.
    Through { subcommand: &'static str },
    /// Whatever the configuration names; there is nothing to fall back on.
    Named,
}

/// An agent that users install for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// The program.
    pub name: &'static str,
    /// What the product is called.
    pub product: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    /// A model that it has, as an example.
    pub model: &'static str,
}

/// Whether an exit status can stand for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitMeaning {
    /// Never: the agent says itself how a run went.
    Nothing,
    /// Where the user says so ([`ExitStatus::Trusted`]).
    IfVouchedFor,
}

/// How the version of an agent is known, and which ones Helix knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Versions {
    /// `--version` prints it, and the behaviour of those from the oldest to the newest was measured.
    Measured { oldest: Version, newest: Version },
    /// `--version` prints it, and it is Helix's own.
    Own,
    /// `--version` prints it, and none was measured: what counts is the protocol.
    Told,
    /// It is not asked for: the program might do its work whatever it is given.
    NotAsked,
}

/// What an agent can do with its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sessions {
    None,
    /// Go on with one, and go on with a copy.
    Copied,
    /// Also go on with a copy that ends at an earlier point.
    Cut,
}

/// A limit of what runs may consume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Turns,
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

/// The dialect of this name.
pub fn dialect(name: DialectName) -> &'static Dialect {
    match name {
        DialectName::Claude => &claude::CLAUDE,
        DialectName::Codex => &codex::CODEX,
        DialectName::Acp => &acp::ACP,
        DialectName::Command => &command::COMMAND,
        DialectName::Replay => &replay::REPLAY,
    }
}

impl Dialect {
    /// Turns what is asked into what is executed, given the variables that Helix itself runs with. Writes the dialect's
    /// files (mode 0600) below `agent-<dialect>/` in the run directory: a few kilobytes of synchronous writes.
    ///
    /// # Errors
    /// [`InvocationError`] where the profile or the ask cannot be expressed, or a file cannot be written. That includes every
    /// limit that this dialect does not keep during a run ([`Dialect::keeps`]).
    pub fn invocation(
        &self,
        profile: &AgentProfile,
        ask: &AgentAsk,
        own: &HostEnvironment,
    ) -> Result<Invocation, InvocationError> {
        let mut draft = Draft::begin(self, profile, ask, own)?;
        (self.write)(&mut draft)?;
        draft.finish()
    }

    /// A reader for one run's stdout that takes the exit status for what the profile takes it. Dialects with records of their own
    /// do not ask.
    pub fn reader(&self, asked_schema: AskedSchema, exit: ExitStatus) -> Reader {
        Reader::new((self.read)(asked_schema, exit), asked_schema)
    }

    /// Whether its agents can have a call put to a person; else what would have to be asked is denied.
    pub fn asks_person(&self) -> bool {
        self.asks_person
    }

    /// Whether its agents are kept from what a rule denies, and not only told.
    pub fn keeps_rule(&self, rule: &ToolRule) -> bool {
        (self.keeps_rule)(rule)
    }

    /// How a limit is kept. Where it is not kept during a run, [`Dialect::invocation`] refuses to be asked for it.
    pub fn keeps(&self, limit: Limit) -> Keeping {
        match limit {
            Limit::Turns => self.turns,
            Limit::Money => self.money,
        }
    }

    /// Whether its agents may be asked for their version.
    pub(crate) fn is_asked(&self) -> bool {
        self.versions != Versions::NotAsked
    }

    /// What an agent that printed this for its version is to Helix; `None` if that is not a version.
    pub fn capabilities(&self, printed: &str) -> Option<Capabilities> {
        let version = Version::first_in(printed)?;
        let supported = match self.versions {
            Versions::Measured { oldest, newest } => Supported::between(oldest, newest, version),
            Versions::Own => Supported::Yes,
            Versions::Told | Versions::NotAsked => Supported::NotAsked,
        };
        Some(Capabilities { version, supported })
    }
}

/// Says why an ask cannot be turned into something to execute.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    /// The profile names no program.
    #[error("agent {profile:?} has an empty command; set `command` to the program and its leading arguments")]
    NoProgram { profile: String },
    /// An argument is longer than the operating system takes.
    #[error("{what} has {bytes} bytes; an argument may have at most {limit}: put the long part into the prompt")]
    ArgumentTooLong { what: &'static str, bytes: usize, limit: usize },
    /// An argument or variable holds a NUL byte, which no process can be given.
    #[error("{what} holds a NUL byte")]
    NulByte { what: String },
    /// A limit that is no positive number.
    #[error("the budget {budget} US dollars is not a positive number")]
    Budget { budget: f64 },
    /// An image whose bytes are not base 64.
    #[error("image {number} of the prompt is not in base 64")]
    Image {
        /// Which one, from 1.
        number: usize,
    },
    /// Something that this dialect cannot do.
    #[error("the {dialect} dialect cannot {what}")]
    Unsupported {
        dialect: DialectName,
        /// What was asked for.
        what: &'static str,
    },
    /// A file of the run could not be written.
    #[error(transparent)]
    File(#[from] RunDirError),
    /// The directory of the run's files could not be made.
    #[error("cannot write {path}", path = path.display())]
    Write {
        path: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
}
