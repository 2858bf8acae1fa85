//! `helix outcome`: what a recorded run amounts to, for bug reports and for checking Helix from outside.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use helix_agents::{AskedSchema, DialectName, Ended as AgentEnded, classify_recording};
use helix_core::run::{Ending, Retry, StopCause};
use serde::Serialize;
use serde_json::json;

use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;

/// How much of the recorded standard error is looked at.
const STDERR_TAIL: u64 = 2 * 1024;

/// Signals by name, as Linux numbers them.
const SIGNALS: &[(&str, i32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
];

/// Why Helix ends a run, as `--stopped` takes it.
const STOPS: [(&str, StopCause); 4] = [
    ("cancelled", StopCause::Cancelled),
    ("deadline", StopCause::Deadline),
    ("stalled", StopCause::Stalled),
    ("lingered", StopCause::Lingered),
];

/// Arguments of `helix outcome`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What the agent wrote to standard output; `-` reads standard input
    #[arg(value_name = "STDOUT.jsonl")]
    stdout: PathBuf,
    /// Exit status of the agent; -9 means: ended by signal 9
    #[arg(long, value_name = "N", allow_negative_numbers = true, required_unless_present = "signal")]
    exit: Option<i32>,
    /// Signal that ended the agent: 9, KILL or SIGKILL
    #[arg(long, value_name = "S", value_parser = signal_number)]
    signal: Option<i32>,
    /// Helix ended the agent, for this reason
    #[arg(long, value_name = "WHY", value_parser = PossibleValuesParser::new(STOPS.map(|(word, _)| word)).try_map(stop_cause))]
    stopped: Option<StopCause>,
    /// Structured output was requested
    #[arg(long)]
    asked_schema: bool,
    /// What the agent wrote to standard error [default: stderr.txt beside STDOUT.jsonl, if it exists]
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// Dialect of the agent
    #[arg(long, default_value = "claude", value_parser = PossibleValuesParser::new(DialectName::ALL.map(DialectName::as_str)).try_map(dialect))]
    dialect: DialectName,
}

/// The answer.
#[derive(Serialize)]
struct Answer {
    outcome: helix_core::run::OutcomeName,
    evidence: serde_json::Value,
    facts: helix_core::run::RunFacts,
    usage: helix_core::usage::Usage,
    session: Option<helix_core::ids::AgentSessionId>,
    answer: String,
    retry: serde_json::Value,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let ended = AgentEnded {
        ending: ending(arguments)?,
        stopped: arguments.stopped,
        stderr_tail: stderr_tail(arguments)?,
        at: None,
    };
    let asked = if arguments.asked_schema { AskedSchema::Yes } else { AskedSchema::No };
    let input: Box<dyn BufRead> = if arguments.stdout == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(open(&arguments.stdout)?))
    };
    let classified =
        classify_recording(arguments.dialect, input, &ended, asked).map_err(unreadable(&arguments.stdout))?;
    let evidence = serde_json::to_value(&classified.outcome)
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the evidence").because(&error))?;
    let answer = Answer {
        outcome: classified.outcome.name(),
        evidence,
        retry: retry(classified.outcome.retry()),
        facts: classified.facts,
        usage: classified.usage,
        session: classified.session,
        answer: classified.answer,
    };
    context.terminal.json(&answer)?;
    Ok(Exit::Success)
}

/// Opens a file; a directory opens well and fails at the first read, with less to say.
fn open(path: &Path) -> Result<File, CommandError> {
    let file = File::open(path).map_err(unreadable(path))?;
    if file.metadata().map_err(unreadable(path))?.is_dir() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} is a directory", path.display()))
            .hint("pass the file with the agent's standard output"));
    }
    Ok(file)
}

fn ending(arguments: &Arguments) -> Result<Ending, CommandError> {
    match (arguments.signal, arguments.exit) {
        (Some(signal), _) => Ok(Ending::Signaled { signal }),
        (None, Some(code @ 0..=255)) => Ok(Ending::Exited { code }),
        // As Python's subprocess reports it.
        (None, Some(negative @ -64..=-1)) => Ok(Ending::Signaled { signal: -negative }),
        (None, Some(other)) => Err(CommandError::usage(codes::USAGE, format!("no process exits with {other}"))
            .hint("an exit status is 0 to 255; -1 to -64 mean: ended by that signal")),
        (None, None) => Err(CommandError::usage(codes::USAGE, "neither --exit nor --signal is given")
            .hint("add how the agent ended, such as --exit 0")),
    }
}

fn stderr_tail(arguments: &Arguments) -> Result<String, CommandError> {
    use std::io::{Read, Seek, SeekFrom};
    let path = match &arguments.stderr {
        Some(path) => path.clone(),
        None => {
            let beside = arguments.stdout.with_file_name("stderr.txt");
            if arguments.stdout == Path::new("-") || !beside.is_file() {
                return Ok(String::new());
            }
            beside
        }
    };
    let mut file = open(&path)?;
    let mut tail = Vec::new();
    let length = file.metadata().map_err(unreadable(&path))?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(STDERR_TAIL))).map_err(unreadable(&path))?;
    file.read_to_end(&mut tail).map_err(unreadable(&path))?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

fn retry(retry: Retry) -> serde_json::Value {
    match retry {
        Retry::Accept => json!({ "advice": "accept" }),
        Retry::Resume => json!({ "advice": "resume" }),
        Retry::Fresh => json!({ "advice": "fresh" }),
        Retry::Later(until) => json!({ "advice": "later", "not_before": until }),
        Retry::Never => json!({ "advice": "never" }),
    }
}

fn signal_number(text: &str) -> Result<i32, String> {
    if let Ok(number) = text.parse::<i32>() {
        return if (1..=64).contains(&number) { Ok(number) } else { Err("signals have numbers from 1 to 64".into()) };
    }
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    SIGNALS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, number)| *number)
        .ok_or_else(|| "write a number or a name, such as 9, KILL or SIGKILL".into())
}

fn stop_cause(word: String) -> Result<StopCause, String> {
    let known = STOPS.into_iter().find(|(known, _)| *known == word);
    known.map(|(_, cause)| cause).ok_or_else(|| format!("unknown reason {word:?}"))
}

fn dialect(text: String) -> Result<DialectName, <DialectName as FromStr>::Err> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_in_every_form() {
        assert_eq!(["9", "KILL", "sigkill"].map(signal_number), [Ok(9), Ok(9), Ok(9)]);
        assert!(signal_number("0").is_err() && signal_number("SIGNONE").is_err());
    }
}
