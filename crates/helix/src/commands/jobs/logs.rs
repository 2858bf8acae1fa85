//! `helix jobs logs`: what the agents of a job did, as text or as their events, read from the run directories.
//!
//! Must not know how any agent writes: the engine translates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use helix_core::agent_event::AgentEvent;
use helix_core::ids::{JobId, RunId};
use helix_core::text::count;
use helix_engine::{RecordedRun, RecordingError};
use helix_job::{JobView, Language, PhaseView, say};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::offline::job;
use crate::terminal::{Meaning, Reading, one_line, plain};

/// Between two looks at a log that is being followed. The file is another process' and may live on any file system.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Longest line of a tool's output or arguments.
const LINE: usize = 160;

pub(super) async fn logs(
    context: &Context,
    id: &str,
    phase: Option<&str>,
    attempt: Option<u32>,
    follow: bool,
) -> Ended {
    let language = context.terminal.language;
    let runs = context.settings()?.state_dir.value.join("runs");
    let mut open = BTreeMap::new();
    loop {
        let view = job(context, id).await?;
        let phases = selected(&view, phase)?;
        let wanted =
            attempt.zip(phases.first()).map(|(number, phase)| of_attempt(&view.id, phase, number)).transpose()?;
        let runs_of = phases.iter().flat_map(|phase| phase.runs.iter().map(move |run| (*phase, run)));
        for (phase, run) in runs_of.filter(|(_, run)| wanted.as_ref().is_none_or(|wanted| wanted == *run)) {
            let log = match open.entry(run.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match RecordedRun::open(&runs.join(run.as_str())).map_err(unreadable(run))? {
                    Some(log) => {
                        let title = format!("== {} {} ({run})", phase.id, role(language, &view.id, phase, run));
                        if context.terminal.reading == Reading::People {
                            context.terminal.data(&context.terminal.paint(Meaning::Strong, &title))?;
                        }
                        new.insert(log)
                    }
                    // Not started yet, or cleaned up.
                    None => continue,
                },
            };
            print(context, &view.id, phase, run, log)?;
        }
        if follow && !view.status.is_final() {
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        if phases.iter().all(|phase| phase.runs.is_empty()) {
            context.terminal.say(&say!(language, "logs-none"));
        }
        return Ok(Exit::Success);
    }
}

fn selected<'a>(view: &'a JobView, phase: Option<&str>) -> Result<Vec<&'a PhaseView>, CommandError> {
    let Some(phase) = phase else { return Ok(view.phases.iter().collect()) };
    let known: Vec<&str> = view.phases.iter().map(|phase| phase.id.as_str()).collect();
    let found = view.phases.iter().find(|one| one.id.as_str() == phase);
    let unknown = || CommandError::unknown(format!("job {} has no phase {phase:?}", view.id), phase, &known);
    found.map(|found| vec![found]).ok_or_else(unknown)
}

/// The run of an attempt.
fn of_attempt(job: &JobId, phase: &PhaseView, number: u32) -> Result<RunId, CommandError> {
    if number > phase.attempt {
        let message = format!("phase {} has no attempt {number}", phase.id);
        return Err(CommandError::usage(codes::NOT_FOUND, message)
            .hint(format!("it has {}: --attempt 1 is the first", count(phase.attempt as usize, "attempt"))));
    }
    Ok(RunId::for_attempt(job, &phase.id, number))
}

/// What a run was for: `attempt 2`, a reviewer's, the verifier's, or an adviser's.
fn role(language: Language, job: &JobId, phase: &PhaseView, run: &RunId) -> String {
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

fn unreadable(run: &RunId) -> impl Fn(RecordingError) -> CommandError {
    move |error| {
        CommandError::environment(codes::INPUT_UNREADABLE, format!("the log of run {run} cannot be read"))
            .because(&error)
    }
}

/// Prints what has come since the last time.
fn print(
    context: &Context,
    job: &JobId,
    phase: &PhaseView,
    run: &RunId,
    log: &mut RecordedRun,
) -> Result<(), CommandError> {
    let mut events = Vec::new();
    while log.next_line(&mut events).map_err(unreadable(run))? {
        for event in events.drain(..) {
            if context.terminal.reading == Reading::Programs {
                let role = role(context.terminal.language, job, phase, run);
                context.terminal.json_line(&json!({ "phase": phase.id, "role": role, "run": run, "event": event }))?;
                continue;
            }
            for text in shown(context, &event) {
                context.terminal.data(&text)?;
            }
        }
    }
    Ok(())
}

/// An event as lines; fragments of texts that come again as a whole are left out.
fn shown(context: &Context, event: &AgentEvent) -> Vec<String> {
    let language = context.terminal.language;
    let weak = |text: &str| context.terminal.paint(Meaning::Weak, text);
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
        AgentEvent::ToolStarted { name, input, .. } => vec![format!("> {name} {}", one_line(&input.to_string(), LINE))],
        AgentEvent::ToolFinished { output, failed, .. } => {
            let line = one_line(output, LINE);
            vec![if *failed {
                context.terminal.paint(Meaning::Bad, &format!("< {}: {line}", say!(language, "chat-call-failed")))
            } else {
                weak(&format!("< {line}"))
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
