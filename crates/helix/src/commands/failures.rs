//! `helix failures`: what a log or a set of recorded failures amounts to, and what to do about it.
//!
//! Must not know rules or diagnostics: it reads, asks the classifier and shows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use helix_core::failure::{
    Classified, Classifier, FailureObservation, Log, LogCollector, Stream, Termination, actions, fingerprint,
    plain_text,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::Context;
use crate::codes;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Meaning, Reading, Terminal, one_line};

/// Bytes read at once.
const PIECE: usize = 256 * 1024;
/// Characters of the cause's line that people are shown.
const SHOWN: usize = 300;

/// Arguments of `helix failures`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Names the cause of a failure from its log, and what to do
    Explain(Explain),
}

#[derive(Debug, Args)]
struct Explain {
    /// Log of what failed; `-` reads standard input [default: -]
    #[arg(value_name = "FILE", conflicts_with = "facts")]
    log: Option<PathBuf>,
    /// Which tool wrote it, such as cargo or pytest
    #[arg(long, value_name = "TOOL", conflicts_with = "facts")]
    tool: Option<String>,
    /// Exit status; -9 means: ended by signal 9
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "facts")]
    exit: Option<i32>,
    /// Shows what decided, and what else was considered
    #[arg(long)]
    why: bool,
    /// Recorded failures, one JSON object a line; prints one prediction a line
    #[arg(long, value_name = "CASES.jsonl")]
    facts: Option<PathBuf>,
}

/// One recorded failure: only what a supervisor sees is read.
#[derive(Debug, Deserialize)]
struct Recorded {
    id: String,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    phase: String,
    #[serde(default)]
    argv: Vec<String>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    http_status: Option<u16>,
    api_error_type: Option<String>,
    #[serde(default)]
    timed_out: bool,
    #[serde(default)]
    oom_kill: bool,
    #[serde(default)]
    stdout_tail: String,
    #[serde(default)]
    stderr_tail: String,
}

/// What is said of one recorded failure.
#[derive(Serialize)]
struct Prediction<'a> {
    id: &'a str,
    category: helix_core::failure::Category,
    cause: &'static str,
    retry: helix_core::failure::RetryAdvice,
    blame: helix_core::failure::Blame,
    confidence: f64,
    cause_line: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a helix_core::failure::Evidence>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let Action::Explain(explain) = &arguments.action;
    let classifier = Classifier::new()
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot use the failure rules").because(&error))?;
    match &explain.facts {
        Some(path) => explain_recorded(&context.terminal, &classifier, path, explain),
        None => explain_log(&context.terminal, &classifier, explain),
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let file = File::open(path).map_err(unreadable(path))?;
    if file.metadata().map_err(unreadable(path))?.is_dir() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} is a directory", path.display()))
            .hint("name the file with the log"));
    }
    Ok(Box::new(file))
}

fn explain_recorded(terminal: &Terminal, classifier: &Classifier, path: &Path, explain: &Explain) -> Ended {
    for (at, line) in BufReader::new(open(path)?).lines().enumerate() {
        let line = line.map_err(unreadable(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let recorded: Recorded = serde_json::from_str(&line).map_err(|error| {
            let place = format!("{}, line {}, is no recorded failure", path.display(), at + 1);
            CommandError::usage(codes::INPUT_UNREADABLE, place)
                .because(&error)
                .hint("each line is a JSON object with at least `id`; see docs/failures.md")
        })?;
        let log = Log::of_texts(&recorded.stdout_tail, &recorded.stderr_tail);
        let id = recorded.id.clone();
        let classified = classifier.classify(&recorded.into(), &log);
        terminal.json_line(&Prediction {
            id: &id,
            category: classified.category,
            cause: classified.cause,
            retry: classified.retry,
            blame: classified.blame,
            confidence: classified.confidence,
            cause_line: classified.cause_line.as_ref().map_or("", |line| line.text.as_str()),
            evidence: explain.why.then_some(&classified.evidence),
        })?;
    }
    Ok(Exit::Success)
}

impl From<Recorded> for FailureObservation {
    fn from(recorded: Recorded) -> Self {
        Self {
            tool: recorded.tool,
            phase: recorded.phase,
            argv: recorded.argv,
            termination: match (recorded.signal, recorded.exit_code) {
                (Some(signal), _) => Termination::Signaled { signal },
                (None, Some(code)) => Termination::Exited { code },
                (None, None) => Termination::Unknown,
            },
            http_status: recorded.http_status,
            api_error_type: recorded.api_error_type,
            deadline_passed: recorded.timed_out,
            oom_kills: u32::from(recorded.oom_kill),
        }
    }
}

fn explain_log(terminal: &Terminal, classifier: &Classifier, explain: &Explain) -> Ended {
    let path = explain.log.as_deref().unwrap_or(Path::new("-"));
    let mut input = open(path)?;
    let mut collector = LogCollector::new(Stream::Stdout);
    let mut piece = vec![0_u8; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => collector.push(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(path)(error)),
        }
    }
    let termination = match explain.exit {
        // As Python's subprocess reports it.
        Some(code @ -64..=-1) => Termination::Signaled { signal: -code },
        Some(code @ 0..=255) => Termination::Exited { code },
        Some(other) => {
            return Err(CommandError::usage(codes::USAGE, format!("no process exits with {other}"))
                .hint("an exit status is 0 to 255; -1 to -64 mean: ended by that signal"));
        }
        None => Termination::Unknown,
    };
    let tool = explain.tool.clone().unwrap_or_default();
    let observation = FailureObservation { tool: tool.clone(), termination, ..FailureObservation::default() };
    let classified = classifier.classify(&observation, &collector.finish());
    match terminal.reading {
        Reading::Programs => {
            let mut answer = serde_json::to_value(&classified)
                .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the answer").because(&error))?;
            answer["actions"] = json!(actions(&classified));
            answer["fingerprint"] = json!(fingerprint(&tool, &classified));
            terminal.json(&answer)?;
        }
        Reading::People => terminal.raw(&told(terminal, path, &classified, explain))?,
    }
    Ok(Exit::Success)
}

fn told(terminal: &Terminal, path: &Path, classified: &Classified, explain: &Explain) -> String {
    let mut text = String::new();
    let mut add = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    match &classified.cause_line {
        Some(line) => {
            add(&terminal.paint(Meaning::Weak, &format!("{name}:{}", line.number)));
            add(&format!("  {}", terminal.paint(Meaning::Bad, &shown(&line.text))));
        }
        None => add(&terminal.paint(Meaning::Weak, &format!("{name}: no line names the cause"))),
    }
    add("");
    let sure = if classified.confidence < 0.5 { ", a guess" } else { "" };
    let label = |name: &str| terminal.paint(Meaning::Strong, &format!("{name:<10}"));
    add(&format!("{} {} ({:.0} % sure{sure})", label("category"), classified.category, classified.confidence * 100.0));
    add(&format!("{} {}", label("cause"), classified.cause));
    add(&format!("{} {}", label("retry"), classified.retry.label().replace('_', " ")));
    add(&format!("{} {}", label("blame"), classified.blame.label()));
    for location in &classified.locations {
        let column = location.column.map(|column| format!(":{column}")).unwrap_or_default();
        add(&format!("{} {}:{}{column}", label("place"), location.path, location.line));
    }
    add("");
    add(&terminal.paint(Meaning::Strong, "What to do"));
    for (at, action) in actions(classified).iter().enumerate() {
        add(&format!("  {}. {action}", at + 1));
    }
    if explain.why {
        add("");
        add(&terminal.paint(Meaning::Strong, "Why"));
        add(&format!("  decided by {} (rule table {})", classified.evidence.decided_by, classified.evidence.table));
        for other in &classified.evidence.alternatives {
            let line = other.line.as_ref().map(|line| format!(" line {}: {}", line.number, shown(&line.text)));
            let line = line.unwrap_or_default();
            add(&format!("  {:>4} {} {} by {}{line}", other.score, other.category, other.cause, other.decided_by));
        }
    }
    text
}

/// A log's line as it can be shown: one line, no control characters, not too long.
fn shown(line: &str) -> String {
    one_line(&plain_text(line), SHOWN)
}
