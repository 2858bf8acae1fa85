//! Cassettes: what the embedded agent does, take by take. Format: `docs/replay.md`.
//!
//! Must not do anything of it, and must refuse what it does not understand, with the place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use helix_core::run::{AgentErrorKind, LimitKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const CASSETTE_VERSION: u32 = 1;

/// What the embedded agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cassette {
    /// Version of the format: [`CASSETTE_VERSION`].
    pub helix_cassette: u32,
    /// Milliseconds between two fragments of text.
    #[serde(default)]
    pub pause_ms: u64,
    /// What is done, by key and number.
    pub takes: Vec<CassetteTake>,
}

/// What is done in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassetteTake {
    /// What it is for, such as a phase's id or `consultant`; `*` for everything that has no take of its own.
    pub key: String,
    /// Its number for this key, from 1; without one, takes of a key are numbered as they stand.
    pub take: Option<u32>,
    /// Whether it also serves every later number.
    #[serde(default)]
    pub repeat: bool,
    /// Texts that the prompt must contain; otherwise the run fails and says which is missing.
    #[serde(default)]
    pub expects: Vec<String>,
    /// What is done, in order.
    #[serde(default)]
    pub actions: Vec<CassetteAction>,
    /// How the run ends.
    #[serde(default)]
    pub end: TakeEnd,
}

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CassetteAction {
    /// Says something; the last of these is the answer.
    Say(String),
    Think(String),
    /// Writes a file, and the directories above it.
    Write(WriteFile),
    /// Replaces a text that must occur exactly once in a file.
    Edit(EditFile),
    Delete(PathBuf),
    /// Runs a program; its output becomes the tool's.
    Run(RunProgram),
    /// Is denied a tool.
    Denied(String),
    /// Asks something that only a person can answer.
    Ask(String),
    /// Does nothing for a while.
    WaitMs(u64),
    /// Repeats a request to its provider.
    ApiRetry(AgentErrorKind),
    /// Begins a background task that is lost unless `task_done` follows.
    TaskBegan(String),
    /// Ends a background task well.
    TaskDone(String),
    Structured(Value),
    /// Consumes tokens and money on top of what is counted by itself.
    Consume(Consumption),
    /// Prints a line as it stands, to show what Helix does with nonsense.
    RawLine(String),
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// Where, from the working directory.
    pub path: PathBuf,
    pub text: String,
}

/// A text to replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// Where, from the working directory.
    pub path: PathBuf,
    pub find: String,
    /// What takes its place.
    pub replace: String,
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunProgram {
    /// Program and arguments; no shell reads them.
    pub command: Vec<String>,
    /// What it reads from stdin.
    #[serde(default)]
    pub stdin: String,
    /// Whether a failure of it ends the take; otherwise the agent goes on, as agents do.
    #[serde(default)]
    pub must_succeed: bool,
}

/// What something cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Consumption {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_usd: f64,
}

/// How a run ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeEnd {
    #[default]
    Completed,
    /// With an error of the provider.
    Failed(ProviderFailure),
    Limit(LimitKind),
    Refused,
    /// A hook stops it.
    StoppedByHook,
    /// The record claims success although the model's stream was cut off.
    CutOff,
    /// Without a terminal record, with this exit status.
    Exit(u8),
    /// Never: it waits to be stopped.
    Hang,
}

/// An error of the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderFailure {
    pub error: AgentErrorKind,
    /// Its HTTP status.
    pub http_status: Option<u16>,
    /// When a rate limit resets.
    pub resets_at: Option<Timestamp>,
}

/// Says why a cassette cannot be played, in words for its author.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CassetteError(String);

impl Cassette {
    /// Reads a cassette from a file of YAML or JSON.
    ///
    /// # Errors
    /// [`CassetteError`] with the place.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| CassetteError(format!("cannot read the cassette {}: {error}", path.display())))?;
        Self::parse(&text, path)
    }

    /// Reads a cassette from a text; `path` is for messages.
    ///
    /// # Errors
    /// [`CassetteError`] with the place.
    pub fn parse(text: &str, path: &Path) -> Result<Self, CassetteError> {
        let at = path.display();
        let mut cassette: Self = serde_saphyr::from_str(text).map_err(|error| {
            // Counted from 1; 0 if unknown.
            let (line, column) = error.location().map_or((0, 0), |place| (place.line(), place.column()));
            CassetteError(format!("{at}:{line}:{column}: {}", error.without_snippet()))
        })?;
        let found = cassette.helix_cassette;
        if found != CASSETTE_VERSION {
            let problem = format!("helix_cassette is {found}, and this Helix reads {CASSETTE_VERSION}");
            return Err(CassetteError(format!("{at}: {problem}")));
        }
        match cassette.number() {
            Some((key, number)) => Err(CassetteError(format!("{at}: duplicate take {number} of {key:?}"))),
            None => Ok(cassette),
        }
    }

    /// Gives every take its number; the first that two takes have, with their key.
    fn number(&mut self) -> Option<(String, u32)> {
        let mut taken: BTreeSet<(String, u32)> = BTreeSet::new();
        for take in &mut self.takes {
            let last = taken.iter().filter(|(key, _)| *key == take.key).map(|(_, number)| *number).max();
            let number = take.take.unwrap_or(last.unwrap_or(0) + 1);
            take.take = Some(number);
            if !taken.insert((take.key.clone(), number)) {
                return Some((take.key.clone(), number));
            }
        }
        None
    }

    /// The take of this key and number: its own, else the last of the key that repeats, else the same for `*`.
    ///
    /// # Errors
    /// [`CassetteError`] with the takes that there are.
    pub fn take(&self, key: &str, number: u32) -> Result<&CassetteTake, CassetteError> {
        let of = |key: &str| {
            let takes = || self.takes.iter().filter(|take| take.key == key);
            let before = |take: &&CassetteTake| take.repeat && take.take.is_some_and(|own| own < number);
            takes()
                .find(|take| take.take == Some(number))
                .or_else(|| takes().filter(before).max_by_key(|take| take.take))
        };
        of(key).or_else(|| of("*")).ok_or_else(|| {
            let name = |take: &CassetteTake| format!("{} {}", take.key, take.take.unwrap_or_default());
            let known = self.takes.iter().map(name).collect::<Vec<_>>().join(", ");
            CassetteError(format!("no take {number} of {key:?}; the cassette has: {known}"))
        })
    }
}

#[cfg(test)]
#[path = "cassette_test.rs"]
mod tests;
