//! What an agent did, as lines for people: of its events, and of the whole log of a phase.
//!
//! Must not know how any agent writes: the engine translates.

use std::path::Path;

use helix_core::agent_event::AgentEvent;
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_engine::{RecordedRun, RecordingError};
use helix_job::{JobView, Language, PhaseView, say};
use serde_json::Value;

use crate::context::Context;
use crate::error::{CommandError, codes};
use crate::terminal::{Meaning, Terminal, one_line, plain};

/// Longest line of a tool's output or arguments.
const LINE: usize = 160;

/// What a run was for: `attempt 2`, a reviewer's, the verifier's, or an adviser's.
pub(crate) fn role(language: Language, job: &JobId, phase: &PhaseView, run: &RunId) -> String {
    let attempt = (1..=phase.attempt).find(|number| RunId::for_attempt(job, &phase.id, *number) == *run);
    if let Some(number) = attempt {
        return say!(language, "term-attempt", attempt = number);
    }
    // Repeats after a provider's trouble have the run's own name and a number.
    let rounds = u32::try_from(phase.runs.len()).unwrap_or(u32::MAX);
    let is = |round: u32| {
        let first = RunId::for_advice(job, &phase.id, round);
        run.as_str().strip_prefix(first.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match (1..=rounds).find(|round| is(*round)) {
        Some(round) => say!(language, "phase-stage-adviser", round = round),
        None if run.as_str().contains(".verify-") => say!(language, "reviewer", who = "phase"),
        None => say!(language, "reviewer", who = "gate"),
    }
}

/// The title of a run in the log of its phase.
pub(crate) fn title(language: Language, job: &JobId, phase: &PhaseView, run: &RunId) -> String {
    format!("== {} {} ({run})", phase.id, role(language, job, phase, run))
}

/// The recorded events of a run; `None` if it has not started yet, or was cleaned up.
pub(crate) fn open(context: &Context, run: &RunId) -> Result<Option<RecordedRun>, CommandError> {
    let runs = context.settings()?.state_dir.value.join("runs");
    RecordedRun::open(&runs.join(run.as_str())).map_err(unreadable(run))
}

pub(crate) fn unreadable(run: &RunId) -> impl Fn(RecordingError) -> CommandError {
    move |error| {
        CommandError::environment(codes::INPUT_UNREADABLE, format!("the log of run {run} cannot be read"))
            .because(&error)
    }
}

/// The log of all runs of a phase so far.
///
/// # Errors
/// A log cannot be read.
pub(crate) fn of_phase(context: &Context, view: &JobView, phase: &PhaseView) -> Result<Vec<String>, CommandError> {
    let mut lines = Vec::new();
    for run in &phase.runs {
        let Some(mut log) = open(context, run)? else { continue };
        lines.push(title(context.terminal.language, &view.id, phase, run));
        let mut events = Vec::new();
        while log.next_line(&mut events).map_err(unreadable(run))? {
            for event in events.drain(..) {
                lines.extend(shown(&context.terminal, &view.id, &event));
            }
        }
    }
    Ok(lines)
}

/// Most lines of what an agent said last.
const LAST_WORDS: usize = 40;

/// What the agent of a phase said last, as lines; empty if none has worked on it, or it cannot be read.
pub(crate) fn last_words(context: &Context, job: &JobId, phase: &PhaseId) -> Vec<String> {
    let attempts = (1..).map_while(|number| open(context, &RunId::for_attempt(job, phase, number)).ok().flatten());
    let Some(mut log) = attempts.last() else { return Vec::new() };
    let (mut said, mut events) = (String::new(), Vec::new());
    while matches!(log.next_line(&mut events), Ok(true)) {
        for event in events.drain(..) {
            match event {
                AgentEvent::Text { text, partial: false, parent: None }
                | AgentEvent::Finished { answer: Some(text), .. }
                    if !text.trim().is_empty() =>
                {
                    said = text;
                }
                _ => {}
            }
        }
    }
    let mut lines = clean_lines(said.trim());
    if lines.len() > LAST_WORDS {
        lines.truncate(LAST_WORDS - 1);
        lines.push("…".to_owned());
    }
    lines
}

/// An event as lines; fragments of texts that come again as a whole are left out.
pub(crate) fn shown(terminal: &Terminal, job: &JobId, event: &AgentEvent) -> Vec<String> {
    let language = terminal.language;
    let weak = |text: &str| terminal.paint(Meaning::Weak, text);
    match event {
        AgentEvent::Text { partial: true, .. } | AgentEvent::Thinking { partial: true, .. } => Vec::new(),
        AgentEvent::Text { text, partial: false, .. } => clean_lines(text),
        AgentEvent::Thinking { text, partial: false, .. } => {
            clean_lines(text).iter().map(|line| weak(&format!("  ~ {line}"))).collect()
        }
        AgentEvent::Started { model, version, .. } => {
            let model = model.clone().unwrap_or_else(|| say!(language, "logs-default-model"));
            let version = version.as_deref().unwrap_or_default();
            vec![weak(&say!(language, "logs-started", model = model, version = version))]
        }
        AgentEvent::ToolStarted { name, input, .. } => vec![tool_call(job, name, input)],
        AgentEvent::ToolFinished { output, failed, .. } => {
            let line = one_line(output, LINE);
            vec![if *failed {
                terminal.paint(Meaning::Bad, &format!("  ✗ {}: {line}", say!(language, "chat-call-failed")))
            } else {
                weak(&format!("  {line}"))
            }]
        }
        AgentEvent::RateLimited { rejected: true, .. } => vec![say!(language, "logs-limited")],
        AgentEvent::ApiRetry { attempt, max, reason, .. } => {
            let reason = one_line(reason, LINE);
            vec![say!(language, "logs-retry", attempt = *attempt, most = *max, reason = reason)]
        }
        AgentEvent::TakenBack { .. } => vec![weak(&say!(language, "logs-taken-back"))],
        AgentEvent::Question { text } => vec![say!(language, "job-asks", question = one_line(text, LINE))],
        AgentEvent::Finished { is_error: true, .. } => vec![weak(&say!(language, "logs-error"))],
        AgentEvent::Finished { is_error: false, .. } => vec![weak(&say!(language, "logs-ended"))],
        AgentEvent::RateLimited { rejected: false, .. }
        | AgentEvent::UsageReported { .. }
        | AgentEvent::Unrecognised { .. } => Vec::new(),
    }
}

/// Lines without control characters: an agent's text must not steer the terminal.
fn clean_lines(text: &str) -> Vec<String> {
    plain(text).lines().map(str::to_owned).collect()
}

/// A call of a tool in a few words: `✎ src/shop.py (+12)`, `$ pytest -q`, `Read src/shop.py`.
pub(crate) fn tool_call(job: &JobId, name: &str, input: &Value) -> String {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let path = ["file_path", "notebook_path", "path"].into_iter().find_map(text).map(|path| in_work_place(job, path));
    let lines = |key: &str| text(key).map(|text| text.lines().count());
    let call = match (path, input.get("command")) {
        (Some(path), _) => match (lines("content").or_else(|| lines("new_string")), lines("old_string")) {
            (Some(new), None) => format!("✎ {path} (+{new})"),
            (Some(new), Some(old)) => format!("✎ {path} (+{new} −{old})"),
            (None, _) => format!("{name} {path}"),
        },
        (None, Some(Value::String(command))) => format!("$ {}", in_work_place(job, command)),
        (None, Some(Value::Array(words))) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            format!("$ {}", words.join(" "))
        }
        (None, _) => {
            let about = ["pattern", "query", "url", "description", "skill"].into_iter().find_map(text);
            format!("{name} {}", about.map_or_else(|| input.to_string(), str::to_owned))
        }
    };
    one_line(&call, LINE)
}

/// A text with the paths of a job's work places as the agent knows them: relative to its place.
fn in_work_place(job: &JobId, text: &str) -> String {
    let mark = format!("/worktrees/{job}/");
    let Some((before, rest)) = text.split_once(&mark) else { return text.to_owned() };
    let start = before.rfind(|letter: char| letter.is_whitespace() || "'\"=:".contains(letter)).map_or(0, |at| at + 1);
    let within = rest.split_once('/').map_or(".", |(_, within)| within);
    let is_whole = Path::new(text).is_absolute() && !text.contains(char::is_whitespace);
    match is_whole {
        true => within.to_owned(),
        false => format!("{}{}", &before[..start], in_work_place(job, within)),
    }
}

#[cfg(test)]
#[path = "agent_log_test.rs"]
mod tests;
