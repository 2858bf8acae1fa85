//! Reads recorded runs: the outcome of a recording, and the events of a run from its directory.
//!
//! Must not hold more of a recording than its longest line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, Read};
use std::path::{Path, PathBuf};

use helix_core::agent_event::AgentEvent;
use helix_core::ids::AgentSessionId;
use helix_core::run::{Outcome, RunFacts};
use helix_core::secrets::LineMask;
use helix_core::usage::Usage;
use helix_process::secrets::held;
use helix_process::tail::{LineBuffer, MAX_LINE};
use helix_process::{RunDir, RunDirError};
use serde::Serialize;

use super::{Ended, Reader, dialect};
use crate::invocation::StreamEnd;
use crate::profile::{AgentAsk, AgentProfile, AskedSchema, DialectName, ExitStatus};

/// Labels of a run by which its record is read again, by another host too.
const DIALECT_LABEL: &str = "dialect";
const EXIT_LABEL: &str = "trust_exit";
const SCHEMA_LABEL: &str = "asked_schema";
/// What the session had consumed before the run, in JSON.
const BEFORE_LABEL: &str = "session_before";

/// What a recording amounts to, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classified {
    /// What it amounts to.
    pub outcome: Outcome,
    pub facts: RunFacts,
    pub usage: Usage,
    pub session: Option<AgentSessionId>,
    /// The answer, or as much of it as there is.
    pub answer: String,
}

/// Reads a recording to its end and derives its outcome.
///
/// # Errors
/// Those of `stdout`; nothing that it contains is an error.
pub fn classify_recording(
    name: DialectName,
    mut stdout: impl Read,
    ended: &Ended,
    asked_schema: AskedSchema,
) -> Result<Classified, Error> {
    let mut reader = dialect(name).reader(asked_schema, ExitStatus::NoEvidence);
    let (mut lines, mut events) = (LineBuffer::new(MAX_LINE), Vec::new());
    let mut stream = StreamEnd { read_to_end: true, ..StreamEnd::default() };
    loop {
        let read = lines.fill(|space| stdout.read(space))?;
        stream.bytes += read as u64;
        while let Some(line) = lines.take_line() {
            stream.lines += 1;
            reader.line(&line, &mut events);
            events.clear();
        }
        if read == 0 {
            break;
        }
    }
    stream.cut = lines.cut();
    stream.tail = lines.into_tail();
    let facts = reader.facts(ended, &stream);
    Ok(Classified {
        outcome: Outcome::from_facts(&facts),
        facts,
        usage: reader.run().usage,
        session: reader.run().session.clone(),
        answer: reader.run().answer.clone(),
    })
}

/// What has to be known of a run besides its output to read that, as labels of the run; `before` is what the session that it
/// continues has consumed.
pub fn run_labels(profile: &AgentProfile, ask: &AgentAsk, before: Usage) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::from([(DIALECT_LABEL.to_owned(), profile.dialect.to_string())]);
    let mut mark = |name: &str| labels.insert(name.to_owned(), "yes".to_owned());
    if profile.exit_status == ExitStatus::Trusted {
        mark(EXIT_LABEL);
    }
    if ask.asked_schema() == AskedSchema::Yes {
        mark(SCHEMA_LABEL);
    }
    if before != Usage::default()
        && let Ok(before) = serde_json::to_string(&before)
    {
        labels.insert(BEFORE_LABEL.to_owned(), before);
    }
    labels
}

impl Reader {
    /// A reader for the run with these labels.
    ///
    /// # Errors
    /// [`RecordingError::Dialect`] and [`RecordingError::Usage`] where the labels are not those of [`run_labels`].
    pub fn of_run(labels: &BTreeMap<String, String>) -> Result<Self, RecordingError> {
        let name = labels.get(DIALECT_LABEL).map_or("", String::as_str);
        let name = DialectName::from_word(name).ok_or_else(|| RecordingError::Dialect(name.to_owned()))?;
        let asked = labels.get(SCHEMA_LABEL).map_or(AskedSchema::No, |_| AskedSchema::Yes);
        let exit = labels.get(EXIT_LABEL).map_or(ExitStatus::NoEvidence, |_| ExitStatus::Trusted);
        let mut reader = dialect(name).reader(asked, exit);
        if let Some(before) = labels.get(BEFORE_LABEL) {
            reader.carries(serde_json::from_str(before).map_err(RecordingError::Usage)?);
        }
        Ok(reader)
    }
}

/// The record of a run, read as far as it is written.
pub struct RecordedRun {
    directory: RunDir,
    /// Its output; closed once all of a run that is over was read.
    file: Option<File>,
    reader: Reader,
    /// What was read and makes no whole line yet.
    lines: LineBuffer,
    mask: LineMask,
}

impl RecordedRun {
    /// Opens the record; `None` if the run has not started, or its directory was removed.
    ///
    /// # Errors
    /// [`RecordingError`] if it cannot be read.
    pub fn open(run_dir: &Path) -> Result<Option<Self>, RecordingError> {
        let directory = RunDir::at(run_dir.to_owned());
        let Some(labels) = directory.labels()? else { return Ok(None) };
        let reader = Reader::of_run(&labels)?;
        let path = directory.stdout();
        let file = File::open(&path).map_err(|source| RecordingError::Output { path, source })?;
        let (lines, mask) = (LineBuffer::new(MAX_LINE), LineMask::default());
        Ok(Some(Self { directory, file: Some(file), reader, lines, mask }))
    }

    /// Reads the next line and appends its events; `false` if there is none at present. What stands after the last newline
    /// counts as a line once the run is over.
    ///
    /// # Errors
    /// [`RecordingError`] if the record cannot be read.
    pub fn next_line(&mut self, events: &mut Vec<AgentEvent>) -> Result<bool, RecordingError> {
        loop {
            let Some(file) = &mut self.file else { return Ok(false) };
            if let Some(mut line) = self.lines.take_line() {
                self.mask.line(&held(), &mut line);
                self.reader.line(&line, events);
                return Ok(true);
            }
            // Asked before reading: what is written in between is seen the next time.
            let ended = self.directory.has_ended()?;
            let read = self.lines.fill(|space| file.read(space));
            let read = read.map_err(|source| RecordingError::Output { path: self.directory.stdout(), source })?;
            if read == 0 {
                if ended {
                    let mut tail = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE)).into_tail();
                    self.mask.line(&held(), &mut tail);
                    self.reader.tail(&tail, events);
                    self.file = None;
                }
                return Ok(ended);
            }
        }
    }
}

/// Why the record of a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file of its directory cannot be read.
    #[error(transparent)]
    Files(#[from] RunDirError),
    /// Its output cannot be read.
    #[error("cannot read {}", path.display())]
    Output { path: PathBuf, source: Error },
    /// It was made by an agent whose dialect is not known.
    #[error("unknown dialect {0:?}; known: {known}", known = DialectName::ALL.map(DialectName::word).join(", "))]
    Dialect(String),
    /// The note of what its session had consumed is damaged.
    #[error("the consumption noted for the session is damaged")]
    Usage(#[source] serde_json::Error),
}
