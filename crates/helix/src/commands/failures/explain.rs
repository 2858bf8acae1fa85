//! `helix failures explain`: what a log or a set of recorded failures amounts to, and what to do about it.
//!
//! Must not know rules or diagnostics: it reads, asks the classifier and shows.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use clap::Args;
use helix_core::run::Ending;
use helix_core::secrets::redact;
use helix_failure::memory::{Diagnosis, PastFailure, SimilarQuery};
use helix_failure::report::{FailurePlace, Report, ReportRequest, Section};
use helix_failure::{
    Classified, Classifier, FailureObservation, LogCollector, LogSample, Stream, Termination, actions, plain_text,
};
use helix_job::phrases;
use helix_language::{ErrorView, problem, say};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::memory::reading;
use crate::arguments::exit_status;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{open, unreadable};
use crate::terminal::{Meaning, Reading, Terminal, one_line};

/// Characters of the cause's line that people are shown.
const SHOWN: usize = 300;

const SIMILAR: usize = 3;
/// The reports' own `HISTORY_TOKENS` as the command line writes it; a test compares them.
const DEFAULT_TOKENS: &str = "1200";

/// Arguments of `helix failures explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Log of what failed; `-` reads standard input [default: -]
    #[arg(value_name = "FILE", conflicts_with = "facts")]
    log: Option<PathBuf>,
    /// Tool that wrote it, such as cargo or pytest
    #[arg(long, value_name = "TOOL", conflicts_with = "facts")]
    tool: Option<String>,
    /// Exit status; -9 means: ended by signal 9
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "facts", value_parser = exit_status)]
    exit: Option<Ending>,
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
    #[serde(flatten)]
    observation: FailureObservation,
    #[serde(flatten)]
    ending: RecordedEnding,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordedEnding {
    #[serde(deserialize_with = "recorded_status")]
    exit_code: Option<i32>,
    signal: Option<i32>,
    oom_kill: bool,
    stdout_tail: String,
    stderr_tail: String,
}

/// The JSON form of an explained log.
#[derive(Serialize)]
struct ExplainedLog<'a> {
    #[serde(flatten)]
    classified: &'a Classified,
    actions: Vec<String>,
    fingerprint: helix_failure::Fingerprint,
    report: serde_json::Value,
}

pub(super) fn run(context: &Context, explain: &Explain) -> Ended {
    let classifier = Classifier::new()
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot use the failure rules").because(&error))?;
    match &explain.facts {
        Some(path) => explain_recorded(&context.terminal, &classifier, path, explain),
        None => explain_log(context, &classifier, explain),
    }
}

/// What the file must be.
const LOG: &str = "the log file";

fn explain_recorded(terminal: &Terminal, classifier: &Classifier, path: &Path, explain: &Explain) -> Ended {
    let (mut lines, mut unread) = (0_usize, 0_usize);
    for (at, line) in open(path, LOG)?.lines().enumerate() {
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
        let Recorded { id, mut observation, ending } = recorded;
        let log = LogSample::from_texts(&ending.stdout_tail, &ending.stderr_tail);
        observation.termination = match (ending.signal, ending.exit_code) {
            (Some(signal), _) => Termination::Signaled { signal },
            (None, Some(code)) => Termination::Exited { code },
            (None, None) => Termination::Unknown,
        };
        observation.oom_kills = u32::from(ending.oom_kill);
        let classified = classifier.classify(&observation, &log);
        let mut prediction = json!({
            "id": id, "category": classified.category, "cause": classified.cause, "retry": classified.retry,
            "blame": classified.blame, "confidence": classified.confidence,
            "cause_line": classified.cause_line.as_ref().map_or("", |line| line.text.as_str()),
        });
        if explain.why {
            prediction["evidence"] = json!(classified.evidence);
        }
        terminal.json_line(&prediction)?;
    }
    if unread == 0 {
        return Ok(Exit::Success);
    }
    let told = format!("{unread} of {lines} lines of {} cannot be read as recorded failures", path.display());
    Err(CommandError::usage(codes::INPUT_UNREADABLE, told)
        .hint("each line is a JSON object with at least `id`; see docs/failures.md"))
}

/// An exit status as POSIX or Windows records it: Windows writes the same 32 bits without a sign.
fn recorded_status<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    let Some(status) = Option::<i64>::deserialize(deserializer)? else { return Ok(None) };
    let signed = i32::try_from(status).ok().or_else(|| u32::try_from(status).ok().map(u32::cast_signed));
    signed.map(Some).ok_or_else(|| serde::de::Error::custom(format!("exit_code {status} does not fit 32 bits")))
}

fn explain_log(context: &Context, classifier: &Classifier, explain: &Explain) -> Ended {
    let (terminal, language) = (&context.terminal, context.terminal.language);
    let path = explain.log.as_deref().unwrap_or(Path::new("-"));
    let log = LogCollector::new(Stream::Stdout).read(open(path, LOG)?).map_err(unreadable(path))?;
    let observation = observed(explain);
    let classified = classifier.classify(&observation, &log);
    let silent = classified.evidence.decided_by == "nothing" && observation.termination == Termination::Unknown;
    // A form of the report that is asked for is given.
    let form = explain.why || explain.markdown || explain.prompt.is_some();
    if silent && !form && terminal.reading == Reading::People {
        let ErrorView { message, hint, .. } = problem!(language, "explain-none");
        terminal.say(&message);
        hint.iter().for_each(|hint| terminal.note(&phrases::hint(language, hint)));
        return Ok(Exit::Success);
    }
    let diagnosis = Diagnosis::new(&observation.tool, &classified);
    let fingerprint = diagnosis.fingerprint.clone();
    // That the memory cannot be asked is no error: the report says so where the past failures would stand.
    let recalled = match context.block_on(recall(context, diagnosis)) {
        Ok(failures) => Section::Known(failures),
        Err(error) => Section::Missing(error.in_one_line()),
    };
    let report = Report::build(ReportRequest {
        place: FailurePlace {
            log: if path == Path::new("-") { say!(language, "explain-stdin") } else { path.display().to_string() },
            ..FailurePlace::default()
        },
        observation: &observation,
        classified: Section::Known(&classified),
        log: &log,
        similar: recalled,
        suggestions: &[],
    });
    if explain.markdown {
        return terminal.raw(&report.markdown());
    }
    if let Some(tokens) = explain.prompt {
        return terminal.raw(&report.prompt(tokens as usize));
    }
    if terminal.reading == Reading::Programs {
        let (classified, actions, report) = (&classified, actions(&observation.tool, &classified), report.json());
        return terminal.json(&ExplainedLog { classified, actions, fingerprint, report });
    }
    let why = if explain.why { why(terminal, &classified) } else { String::new() };
    terminal.raw(&format!("{}{why}", report.terminal(terminal.look, language.code())))
}

/// What the arguments say of the failure.
fn observed(explain: &Explain) -> FailureObservation {
    let termination = explain.exit.as_ref().map_or(Termination::Unknown, Termination::from);
    let argv: Vec<String> =
        explain.command.iter().flat_map(|command| command.split_whitespace()).map(str::to_owned).collect();
    // The command's name is the tool, if nobody says otherwise.
    let named = argv.first().and_then(|first| first.rsplit(['/', '\\']).next()).unwrap_or_default().to_owned();
    let tool = explain.tool.clone().unwrap_or(named);
    FailureObservation { tool, argv, termination, ..FailureObservation::default() }
}

/// What the memory of this state directory knows of failures like this one; nothing where there is none.
async fn recall(context: &Context, diagnosis: Diagnosis) -> Result<Vec<PastFailure>, CommandError> {
    let settings = context.settings()?;
    let Some(memory) = reading(settings, settings.failures.deadline).await? else { return Ok(Vec::new()) };
    Ok(memory.similar(SimilarQuery { diagnosis, project: None, most: SIMILAR, now: jiff::Timestamp::now() }).await?)
}

/// What decided, and what else was considered.
fn why(terminal: &Terminal, classified: &Classified) -> String {
    let (language, evidence) = (terminal.language, &classified.evidence);
    let mut text = format!("\n{}\n", terminal.paint(Meaning::Strong, &say!(language, "explain-decided")));
    let table = say!(language, "explain-table", table = evidence.table.to_string());
    text.push_str(&format!("  {} ({table})\n", evidence.decided_by));
    for other in &evidence.alternatives {
        let line = other.line.as_ref().map(|line| {
            let number = line.number.to_string();
            format!(" {}", say!(language, "explain-line", line = number, text = shown(&line.text)))
        });
        let by = say!(language, "explain-by", rule = other.decided_by.to_string());
        let line = line.unwrap_or_default();
        text.push_str(&format!("  {:>4} {} {} {by}{line}\n", other.score, other.category, other.cause));
    }
    text
}

/// A log's line as it can be shown: one line, no control characters, not too long.
fn shown(line: &str) -> String {
    one_line(&redact(&plain_text(line)), SHOWN)
}

#[cfg(test)]
#[path = "explain_test.rs"]
mod tests;
