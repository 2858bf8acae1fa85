//! `helix outcome`: what a recorded run amounts to, for bug reports and for checking Helix from outside.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_agents::{AskedSchema, DialectName, Ended as AgentEnded, classify_recording};
use helix_core::run::{Ending, StopCause};
use serde_json::json;

use crate::arguments::{exit_status, words};
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::files::{open, unreadable};

/// How much of the recorded standard error is looked at.
const STDERR_TAIL: u64 = 2 * 1024;

/// Signals as Linux numbers them, from 1.
const SIGNALS: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP \
                       TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

/// Why Helix ends a run, as `--stopped` takes it.
const STOPS: [(&str, StopCause); 7] = [
    ("cancelled", StopCause::Cancelled),
    ("deadline", StopCause::Deadline),
    ("stalled", StopCause::Stalled),
    ("lingered", StopCause::Lingered),
    ("stuck", StopCause::Stuck),
    ("output", StopCause::Output),
    ("memory", StopCause::Memory),
];

/// Arguments of `helix outcome`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What the agent wrote to standard output; `-` reads standard input
    #[arg(value_name = "STDOUT.jsonl")]
    stdout: PathBuf,
    /// Exit status of the agent; -9 means: ended by signal 9
    #[arg(long, value_name = "N", allow_negative_numbers = true, required_unless_present = "signal", value_parser = exit_status)]
    exit: Option<Ending>,
    /// Signal that ended the agent: 9, KILL or SIGKILL
    #[arg(long, value_name = "S", value_parser = signal)]
    signal: Option<Ending>,
    /// Helix ended the agent, for this reason
    #[arg(long, value_name = "WHY", value_parser = words(STOPS))]
    stopped: Option<StopCause>,
    /// Structured output was requested
    #[arg(long)]
    asked_schema: bool,
    /// What the agent wrote to standard error [default: stderr.txt beside STDOUT.jsonl, if it exists]
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// Dialect of the agent
    #[arg(long, default_value = "claude", value_parser = words(DialectName::WORDS.iter().copied()))]
    dialect: DialectName,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let ended = AgentEnded {
        ending: arguments.signal.clone().or(arguments.exit.clone()).unwrap_or(Ending::Unknown),
        stopped: arguments.stopped,
        stderr_tail: stderr_tail(arguments)?,
        at: None,
        walls: None,
    };
    let asked = if arguments.asked_schema { AskedSchema::Yes } else { AskedSchema::No };
    let input = open(&arguments.stdout, OUTPUT)?;
    let classified =
        classify_recording(arguments.dialect, input, &ended, asked).map_err(unreadable(&arguments.stdout))?;
    context.terminal.json(&json!({
        "outcome": classified.outcome.name(),
        "evidence": classified.outcome,
        "facts": classified.facts,
        "usage": classified.usage,
        "session": classified.session,
        "answer": classified.answer,
        "retry": classified.outcome.retry(),
    }))
}

/// What files must be.
const OUTPUT: &str = "the file with the agent's standard output";

fn stderr_tail(arguments: &Arguments) -> Result<String, CommandError> {
    let path = match &arguments.stderr {
        Some(path) => path.clone(),
        None => arguments.stdout.with_file_name("stderr.txt"),
    };
    if arguments.stderr.is_none() && (arguments.stdout == Path::new("-") || !path.is_file()) {
        return Ok(String::new());
    }
    open(&path, OUTPUT)?;
    helix_process::end_of_file(&path, STDERR_TAIL).map_err(unreadable(&path))
}

fn signal(text: &str) -> Result<Ending, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let named = || (1..).zip(SIGNALS.split_whitespace()).find(|(_, known)| *known == name).map(|(number, _)| number);
    match text.parse().ok().or_else(named) {
        Some(signal @ 1..=64) => Ok(Ending::Signaled { signal }),
        Some(_) | None => Err("write a number from 1 to 64 or a name, such as 9, KILL or SIGKILL".into()),
    }
}

#[cfg(test)]
#[path = "outcome_test.rs"]
mod tests;
