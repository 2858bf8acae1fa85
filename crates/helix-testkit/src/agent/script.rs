//! The form of the fake agent's script: parts of a job, their attempts, and what each attempt does.
//!
//! Must not know how it is performed.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::model::TextTest;

/// What the agent does in every run of a job.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentScript {
    /// What `--version` prints before ` (Claude Code)`, and what `init` names.
    pub version: String,
    /// Which sessions `--resume` knows.
    pub sessions: SessionRule,
    /// Where attempts are counted; `SCRIPT.state` if absent.
    pub state: Option<PathBuf>,
    /// The parts; the first that fits the prompt is played.
    pub parts: Vec<Part>,
    #[serde(skip)]
    pub(crate) place: Option<PathBuf>,
}

impl Default for AgentScript {
    fn default() -> Self {
        Self { version: "2.1.330".to_owned(), sessions: SessionRule::Any, state: None, parts: Vec::new(), place: None }
    }
}

/// Which sessions can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionRule {
    #[default]
    Any,
    /// Only those that this script has played before.
    Known,
}

/// What is done for prompts of one kind.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Part {
    /// Names the files that count attempts; letters, digits and dashes.
    pub name: String,
    /// What the prompt says; nothing fits every prompt.
    pub prompt: TextTest,
    /// The model asked for.
    pub model: Option<TextTest>,
    /// What every attempt does.
    pub act: Option<Act>,
    /// Instead of `act`: the first attempt, the second, …; the last one repeats.
    pub attempts: Vec<Act>,
}

/// What one attempt does: its steps in order, its faults, then its result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Act {
    pub steps: Vec<Step>,
    pub say: Option<String>,
    /// The structured output, where a schema was given; made up from the schema if absent.
    pub structured: Option<Value>,
    /// Input tokens; 100 if absent.
    pub input_tokens: Option<u64>,
    /// Output tokens; 20 if absent.
    pub output_tokens: Option<u64>,
    /// Cost; 0.0008 if absent.
    pub cost_usd: Option<f64>,
    pub faults: Vec<AgentFault>,
}

/// A piece of work.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Step {
    Text(String),
    Think(String),
    /// Writes a file, relative to the working directory, with its parents.
    Write {
        path: String,
        content: String,
    },
    /// Replaces the first occurrence of a text in a file.
    Edit {
        path: String,
        /// What is there; must occur.
        find: String,
        replace: String,
    },
    Delete(String),
    /// Runs a shell command in a session of its own, as the real CLI does; its failure goes into the tool result only.
    Run(String),
    /// Calls a tool of the first MCP server that the agent was given, again and again while that server is away.
    Call {
        /// Its name, such as `ask_user`.
        tool: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Value,
    },
    /// Waits, so many milliseconds.
    Sleep(u64),
    /// Streams fragments of text, each beginning with the time at which it is written: nanoseconds since the epoch.
    Deltas {
        count: u64,
        /// At which rate; as fast as possible if absent.
        #[serde(default)]
        per_second: Option<f64>,
        /// Length of a record in bytes, at least; what is missing is filled up.
        #[serde(default)]
        bytes: usize,
    },
}

/// Everything that can go wrong; names in scripts are the kebab-case variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentFaultKind {
    /// Waits `seconds` before the first byte.
    SlowStart,
    /// Exits 0 (or `exit`) without a byte.
    EmptyExit,
    /// Writes `text` to stderr and exits 1 (or `exit`).
    StderrOnly,
    /// Answers `--resume` as if the session did not exist.
    UnknownSession,
    /// Ignores SIGINT, SIGTERM and SIGHUP from here on.
    Deaf,
    /// Names another session than asked for in every record.
    WrongSession,
    /// Claims success without doing its steps.
    LyingDone,
    /// Leaves a child in a session of its own that ignores SIGTERM, for `seconds`; `path` gets its pid.
    Orphan,
    /// Writes `lines` lines of `bytes` bytes, `per_second` or as fast as possible.
    Flood,
    /// Writes one line of `bytes` bytes (10 MB).
    HugeLine,
    /// Writes a line that is not UTF-8.
    InvalidUtf8,
    /// Writes a line that is not JSON.
    Garbage,
    /// Says nothing for `seconds`, then goes on.
    Silence,
    /// Says nothing any more and stays, until a signal comes.
    Hang,
    /// Kills itself with SIGKILL.
    Sigkill,
    /// Dies with `exit` (134) after its steps.
    Crash,
    /// Ends with exit 0 and no result.
    NoResult,
    /// Ends with exit 0 in the middle of its result.
    HalfLine,
    /// Ends with a rate limit; `resets_in` adds the event with the reset time.
    RateLimited,
    /// Ends with HTTP 529 after retries.
    Overloaded,
    /// Ends with HTTP 401.
    Credentials,
    /// Ends with an overflow of the context window.
    ContextOverflow,
    /// Ends with a refusal of the model.
    Refusal,
    /// Ends with the limit of turns.
    MaxTurns,
    /// Ends with the limit of cost.
    MaxBudget,
    /// The result says success, with `stop_reason: null` and no model usage.
    NullStopReason,
    /// The result has no usage at all.
    NoUsage,
    /// The result has an empty answer.
    EmptyAnswer,
    /// The result says success, the exit code is 1 (or `exit`).
    SuccessExit,
    /// The result lists a denied tool call.
    Denial,
    /// A background task is stopped before the result.
    TasksLost,
    /// The result is followed by an empty one of a task notification.
    LateResult,
    /// The result comes, the process stays until a signal comes.
    ResultThenHang,
    /// Writes the file `path` with `text` a moment (`seconds`) after its result.
    WriteAfterResult,
}

/// A fault with its details; in a script either its name or a mapping with `kind`.
#[derive(Debug, Clone)]
pub struct AgentFault {
    pub kind: AgentFaultKind,
    /// How long, where it takes time.
    pub seconds: Option<f64>,
    /// How big, where it has a size.
    pub bytes: Option<usize>,
    pub lines: Option<u64>,
    pub per_second: Option<f64>,
    pub exit: Option<u8>,
    /// Seconds to the reset of the rate limit.
    pub resets_in: Option<u64>,
    pub text: Option<String>,
    pub path: Option<String>,
}

impl AgentFault {
    /// The fault with the usual details.
    pub fn new(kind: AgentFaultKind) -> Self {
        Self {
            kind,
            seconds: None,
            bytes: None,
            lines: None,
            per_second: None,
            exit: None,
            resets_in: None,
            text: None,
            path: None,
        }
    }

    /// The fault of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let kind: Result<AgentFaultKind, de::value::Error> = AgentFaultKind::deserialize(name.into_deserializer());
        kind.ok().map(Self::new)
    }
}

impl<'de> Deserialize<'de> for AgentFault {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Parts {
            kind: AgentFaultKind,
            seconds: Option<f64>,
            bytes: Option<usize>,
            lines: Option<u64>,
            per_second: Option<f64>,
            exit: Option<u8>,
            resets_in: Option<u64>,
            text: Option<String>,
            path: Option<String>,
        }

        struct NameOrParts;

        impl<'de> Visitor<'de> for NameOrParts {
            type Value = AgentFault;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a fault, or a mapping with kind and details")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<AgentFault, E> {
                AgentFaultKind::deserialize(name.into_deserializer()).map(AgentFault::new)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AgentFault, A::Error> {
                let parts = Parts::deserialize(de::value::MapAccessDeserializer::new(map))?;
                let Parts { kind, seconds, bytes, lines, per_second, exit, resets_in, text, path } = parts;
                Ok(AgentFault { kind, seconds, bytes, lines, per_second, exit, resets_in, text, path })
            }
        }

        deserializer.deserialize_any(NameOrParts)
    }
}

/// Says why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentScriptError {
    /// The file cannot be read.
    #[error("fake agent script {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// It is not of the documented form; the message names line and column.
    #[error("fake agent script {} is not valid: {message}", path.display())]
    Malformed {
        path: PathBuf,
        /// What is wrong and where.
        message: String,
    },
}

impl AgentScript {
    /// Reads a script (YAML or JSON).
    ///
    /// # Errors
    /// [`AgentScriptError`] with file, line and column.
    pub fn load(path: &Path) -> Result<Self, AgentScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AgentScriptError::Unreadable { path: path.to_owned(), source })?;
        let malformed = |message: String| AgentScriptError::Malformed { path: path.to_owned(), message };
        let mut script: Self = serde_saphyr::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        for part in &script.parts {
            let named = !part.name.is_empty() && part.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            if !named {
                return Err(malformed(format!("part name {:?} must be letters, digits and dashes", part.name)));
            }
            if part.act.is_some() != part.attempts.is_empty() {
                return Err(malformed(format!("part {:?} needs either act or attempts", part.name)));
            }
        }
        script.place = Some(path.to_owned());
        Ok(script)
    }

    /// Where attempts and sessions are recorded, if anywhere.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        self.state.clone().or_else(|| std::env::var_os("HELIX_FAKE_STATE").map(PathBuf::from)).or_else(|| {
            let mut name = self.place.as_ref()?.clone().into_os_string();
            name.push(".state");
            Some(PathBuf::from(name))
        })
    }
}
