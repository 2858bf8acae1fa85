//! `helix jobs logs`: what the agents of a job did, as text or as their events, read from the run directories.
//!
//! Must not know how any agent writes: the engine translates.

use std::time::Duration;

use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::text::count;
use helix_engine::RecordedRun;
use helix_job::{JobView, PhaseView};
use helix_language::say;
use serde_json::json;

use crate::agent_log::{Logs, role, shown, title, unreadable};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::offline::job;
use crate::terminal::{Meaning, Reading};

/// Between two looks at a log that is being followed. The file is another process' and may live on any file system.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(super) async fn logs(
    context: &Context,
    id: &str,
    phase: Option<&PhaseId>,
    attempt: Option<u32>,
    follow: bool,
) -> Ended {
    let language = context.terminal.language;
    let mut read = Logs::default();
    loop {
        let view = job(context, id).await?;
        let phases = selected(&view, phase)?;
        let wanted =
            attempt.zip(phases.first()).map(|(number, phase)| of_attempt(&view.id, phase, number)).transpose()?;
        let runs_of = phases.iter().flat_map(|phase| phase.runs.iter().map(move |run| (*phase, run)));
        for (phase, run) in runs_of.filter(|(_, run)| wanted.as_ref().is_none_or(|wanted| wanted == *run)) {
            let Some((log, is_new)) = read.log(context, run)? else { continue };
            if is_new && context.terminal.reading == Reading::People {
                let title = title(language, &view.id, phase, run);
                context.terminal.data(&context.terminal.paint(Meaning::Strong, &title))?;
            }
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

fn selected<'a>(view: &'a JobView, phase: Option<&PhaseId>) -> Result<Vec<&'a PhaseView>, CommandError> {
    let Some(phase) = phase.map(PhaseId::as_str) else { return Ok(view.phases.iter().collect()) };
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
            for text in shown(&context.terminal, job, &event) {
                context.terminal.data(&text)?;
            }
        }
    }
    Ok(())
}
