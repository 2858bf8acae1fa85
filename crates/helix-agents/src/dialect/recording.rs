//! Classifies the recorded stdout of a run, whoever recorded it.
//!
//! Must not hold more of the recording than its longest line.

use std::io::{BufRead, Error, ErrorKind};

use helix_core::ids::AgentSessionId;
use helix_core::run::{Outcome, RunFacts};
use helix_core::usage::Usage;
use serde::Serialize;

use super::{Ended, dialect};
use crate::invocation::StreamEnd;
use crate::profile::{AskedSchema, DialectName};

/// What a recording amounts to, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classified {
    /// What it amounts to.
    pub outcome: Outcome,
    /// The evidence.
    pub facts: RunFacts,
    /// What it consumed.
    pub usage: Usage,
    /// The agent's session.
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
    mut stdout: impl BufRead,
    ended: &Ended,
    asked_schema: AskedSchema,
) -> Result<Classified, Error> {
    let mut reader = dialect(name).reader(asked_schema);
    let (mut line, mut events) = (Vec::new(), Vec::new());
    let mut stream = StreamEnd { read_to_end: true, ..StreamEnd::default() };
    loop {
        line.clear();
        let read = match stdout.read_until(b'\n', &mut line) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        stream.bytes += read as u64;
        if line.last() != Some(&b'\n') {
            stream.tail = line;
            break;
        }
        stream.lines += 1;
        reader.line(&line, &mut events);
        events.clear();
    }
    let facts = reader.facts_of(ended, &stream);
    Ok(Classified {
        outcome: Outcome::from_facts(&facts),
        facts,
        usage: reader.usage(),
        session: reader.session().cloned(),
        answer: reader.answer().to_owned(),
    })
}
