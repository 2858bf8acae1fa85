//! `helix failures explain`: what a log or a set of recorded failures amounts to, and what to do about it.
//!
//! Must not know rules or diagnostics: it reads, asks the classifier and shows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use helix_failure::memory::SimilarQuery;
use helix_failure::report::{FailurePlace, Look, Report, ReportRequest, Section};
use helix_failure::{
    Classified, Classifier, FailureObservation, Log, LogCollector, Ownership, Stream, Termination, actions,
    fingerprint, normalise, plain_text, redact,
};
use helix_store::failures::{FailureMemory, MemoryOptions, Recalled, SqliteFailureMemory};
use helix_store::{Access, OpenError, StateDir};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended, unreadable};
use crate::exit::Exit;
use crate::terminal::{Colour, Meaning, Reading, Terminal, one_line};

/// Bytes read at once.
const PIECE: usize = 256 * 1024;
/// Characters of the cause's line that people are shown.
const SHOWN: usize = 300;

const SIMILAR: usize = 3;
/// The reports' own `HISTORY_TOKENS` as the command line writes it; a test compares them.
const DEFAULT_TOKENS: &str = "1200";

/// Arguments of `helix failures explain`.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Log of what failed; `-` reads standard input [default: -]
    #[arg(value_name = "FILE", conflicts_with = "facts")]
    log: Option<PathBuf>,
    /// Tool that wrote it, such as cargo or pytest
    #[arg(long, value_name = "TOOL", conflicts_with = "facts")]
    tool: Option<String>,
    /// Exit status; -9 means: ended by signal 9
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "facts")]
    exit: Option<i32>,
    /// The command that failed
    #[arg(long, value_name = "COMMAND", conflicts_with = "facts")]
    command: Option<String>,
    /// Show what decided, and the alternatives
    #[arg(long)]
    why: bool,
    /// Print the report as GitHub Markdown, with everything from the log escaped
    #[arg(long, conflicts_with_all = ["facts", "why"])]
    markdown: bool,
    /// Print the compact form for an agent's next prompt, with at most this many tokens [default: 1200]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_TOKENS,
          value_parser = clap::value_parser!(u32).range(60..=100_000), conflicts_with_all = ["facts", "why", "markdown"])]
    prompt: Option<u32>,
    /// Recorded failures, one JSON object per line; prints one prediction per line
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
    #[serde(default, deserialize_with = "exit_status")]
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
    category: helix_failure::Category,
    cause: &'static str,
    retry: helix_failure::RetryAdvice,
    blame: helix_failure::Blame,
    confidence: f64,
    cause_line: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a helix_failure::Evidence>,
}

pub(super) fn run(context: &Context, explain: &Explain) -> Ended {
    let classifier = Classifier::new()
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot use the failure rules").because(&error))?;
    match &explain.facts {
        Some(path) => explain_recorded(&context.terminal, &classifier, path, explain),
        None => explain_log(context, &classifier, explain),
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let file = File::open(path).map_err(unreadable(path))?;
    if file.metadata().map_err(unreadable(path))?.is_dir() {
        return Err(CommandError::usage(codes::INPUT_UNREADABLE, format!("{} is a directory", path.display()))
            .hint("pass the log file"));
    }
    Ok(Box::new(file))
}

fn explain_recorded(terminal: &Terminal, classifier: &Classifier, path: &Path, explain: &Explain) -> Ended {
    let (mut lines, mut unread) = (0_usize, 0_usize);
    for (at, line) in BufReader::new(open(path)?).lines().enumerate() {
        let line = line.map_err(unreadable(path))?;
        if line.trim().is_empty() {
            continue;
        }
        lines += 1;
        let recorded: Recorded = match serde_json::from_str(&line) {
            Ok(recorded) => recorded,
            Err(error) => {
                unread += 1;
                terminal.say(&format!("{}, line {}: {error}", path.display(), at + 1));
                continue;
            }
        };
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
    if unread == 0 {
        return Ok(Exit::Success);
    }
    let told = format!("{unread} of {lines} lines of {} cannot be read as recorded failures", path.display());
    Err(CommandError::usage(codes::INPUT_UNREADABLE, told)
        .hint("each line is a JSON object with at least `id`; see docs/failures.md"))
}

/// An exit status as POSIX or Windows records it: Windows writes the same 32 bits without a sign.
fn exit_status<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    let Some(status) = Option::<i64>::deserialize(deserializer)? else { return Ok(None) };
    let signed = i32::try_from(status).ok().or_else(|| u32::try_from(status).ok().map(u32::cast_signed));
    signed.map(Some).ok_or_else(|| serde::de::Error::custom(format!("exit_code {status} does not fit 32 bits")))
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
            own_check: None,
        }
    }
}

fn explain_log(context: &Context, classifier: &Classifier, explain: &Explain) -> Ended {
    let terminal = &context.terminal;
    let path = explain.log.as_deref().unwrap_or(Path::new("-"));
    let log = read_log(path)?;
    let observation = observed(explain)?;
    let classified = classifier.classify(&observation, &log);
    let recalled = context.block_on(async { Ok(recall(context, &observation.tool, &classified).await) })?;
    let report = Report::of(ReportRequest {
        place: FailurePlace {
            log: if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() },
            ..FailurePlace::default()
        },
        observation: &observation,
        classified: Section::Known(&classified),
        log: &log,
        similar: match &recalled {
            Section::Known(recalled) => Section::Known(recalled.failures.as_slice()),
            Section::Missing(reason) => Section::Missing(reason.clone()),
        },
        suggestions: &[],
    });
    if explain.markdown {
        terminal.raw(&report.markdown())?;
    } else if let Some(tokens) = explain.prompt {
        terminal.raw(&report.prompt(tokens as usize))?;
    } else if terminal.reading == Reading::Programs {
        let mut answer = serde_json::to_value(&classified)
            .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the answer").because(&error))?;
        answer["actions"] = json!(actions(&classified));
        answer["fingerprint"] = json!(fingerprint(&observation.tool, &classified));
        answer["report"] = report.json();
        terminal.json(&answer)?;
    } else {
        let look = match terminal.colour {
            Colour::On => Look::Colour,
            Colour::Off => Look::Plain,
        };
        let mut text = report.terminal(look);
        if explain.why {
            text.push_str(&why(terminal, &classified));
        }
        terminal.raw(&text)?;
    }
    Ok(Exit::Success)
}

fn read_log(path: &Path) -> Result<Log, CommandError> {
    let mut input = open(path)?;
    let mut collector = LogCollector::new(Stream::Stdout);
    let mut piece = vec![0_u8; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(collector.finish()),
            Ok(count) => collector.push(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(path)(error)),
        }
    }
}

/// What the arguments say of the failure.
fn observed(explain: &Explain) -> Result<FailureObservation, CommandError> {
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
    let argv: Vec<String> =
        explain.command.iter().flat_map(|command| command.split_whitespace()).map(str::to_owned).collect();
    // The command's name is the tool, if nobody says otherwise.
    let named = argv.first().and_then(|first| first.rsplit(['/', '\\']).next()).unwrap_or_default().to_owned();
    let tool = explain.tool.clone().unwrap_or(named);
    Ok(FailureObservation { tool, argv, termination, ..FailureObservation::default() })
}

/// What the memory of this state directory knows of failures like this one. It is only read; that there is none is no
/// trouble, and trouble is no error: the report says so where the past failures would stand.
async fn recall(context: &Context, tool: &str, classified: &Classified) -> Section<Recalled> {
    let settings = match context.settings() {
        Ok(settings) => settings,
        Err(CommandError::Problem(problem)) => {
            return Section::Missing(format!("the configuration cannot be read: {}", problem.message));
        }
        Err(CommandError::ReaderLeft) => return Section::Missing("output closed".into()),
    };
    let path = settings.state_dir.value.join(StateDir::FAILURES);
    let memory = match SqliteFailureMemory::open(MemoryOptions::new(path, Access::ReadOnly)).await {
        Ok(memory) => memory,
        Err(OpenError::Missing { .. }) => return Section::Known(Recalled::default()),
        Err(error) => return Section::Missing(format!("the failure memory cannot be opened: {error}")),
    };
    let line = classified.cause_line.as_ref().map(|line| plain_text(&line.text)).unwrap_or_default();
    let own = classified.locations.iter().find(|location| location.ownership == Ownership::Project);
    let frame = own.and_then(|own| own.path.rsplit(['/', '\\']).next()).unwrap_or_default();
    let query = SimilarQuery {
        fingerprint: fingerprint(tool, classified),
        tool: tool.to_owned(),
        category: classified.category,
        cause: classified.cause.to_owned(),
        message: normalise(&redact(&line)),
        frame: frame.to_owned(),
        most: SIMILAR,
        now: jiff::Timestamp::now(),
    };
    let recalled = memory.similar(query).await;
    match &recalled.trouble {
        Some(trouble) if recalled.failures.is_empty() => Section::Missing(trouble.message.clone()),
        Some(_) | None => Section::Known(recalled),
    }
}

/// What decided, and what else was considered.
fn why(terminal: &Terminal, classified: &Classified) -> String {
    let mut text = format!("\n{}\n", terminal.paint(Meaning::Strong, "Decided by"));
    text.push_str(&format!("  {} (rule table {})\n", classified.evidence.decided_by, classified.evidence.table));
    for other in &classified.evidence.alternatives {
        let line = other.line.as_ref().map(|line| format!(" line {}: {}", line.number, shown(&line.text)));
        let line = line.unwrap_or_default();
        text.push_str(&format!(
            "  {:>4} {} {} by {}{line}\n",
            other.score, other.category, other.cause, other.decided_by
        ));
    }
    text
}

/// A log's line as it can be shown: one line, no control characters, not too long.
fn shown(line: &str) -> String {
    one_line(&redact(&plain_text(line)), SHOWN)
}

#[cfg(test)]
mod tests {
    use helix_failure::report::HISTORY_TOKENS;

    use super::*;

    #[test]
    fn the_default_of_the_command_line_is_the_reports_own() {
        assert_eq!(DEFAULT_TOKENS, HISTORY_TOKENS.to_string());
    }
}
