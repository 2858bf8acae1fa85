//! What an agent did, as lines for people: of its events, and of the whole log of a phase.
//!
//! Must not know how any agent writes: the engine translates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use helix_core::agent_event::{AgentEvent, SaidAnew};
use helix_core::ids::{JobId, RunId};
use helix_engine::{RecordedRun, RecordingError};
use helix_job::phrases::{retry_reason, tool_call};
use helix_job::{JobView, PhaseView};
use helix_language::{Language, say};

use crate::context::Context;
use crate::error::{CommandError, codes};
use crate::terminal::{Look, Meaning, Terminal, one_line, plain};

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
fn open(context: &Context, run: &RunId) -> Result<Option<RecordedRun>, CommandError> {
    let runs = context.settings()?.state_dir.value.join("runs");
    RecordedRun::open(&runs.join(run.as_str())).map_err(unreadable(run))
}

pub(crate) fn unreadable(run: &RunId) -> impl Fn(RecordingError) -> CommandError {
    move |error| {
        CommandError::environment(codes::INPUT_UNREADABLE, format!("the log of run {run} cannot be read"))
            .because(&error)
    }
}

/// Logs of runs, each read as far as it has come.
#[derive(Default)]
pub(crate) struct Logs(BTreeMap<RunId, RecordedRun>);

impl Logs {
    /// The log of a run, and whether it is a new one here; `None` as long as there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn log(
        &mut self,
        context: &Context,
        run: &RunId,
    ) -> Result<Option<(&mut RecordedRun, bool)>, CommandError> {
        Ok(match self.0.entry(run.clone()) {
            Entry::Occupied(known) => Some((known.into_mut(), false)),
            Entry::Vacant(new) => open(context, run)?.map(|log| (new.insert(log), true)),
        })
    }

    /// What has come to the log of a phase since the last time, as lines without colour.
    ///
    /// # Errors
    /// A log cannot be read.
    pub(crate) fn more(
        &mut self,
        context: &Context,
        view: &JobView,
        phase: &PhaseView,
    ) -> Result<Vec<String>, CommandError> {
        let terminal = Terminal { look: Look::Plain, ..context.terminal };
        let (mut lines, mut events) = (Vec::new(), Vec::new());
        for run in &phase.runs {
            let Some((log, is_new)) = self.log(context, run)? else { continue };
            lines.extend(is_new.then(|| title(terminal.language, &view.id, phase, run)));
            while log.next_line(&mut events).map_err(unreadable(run))? {
                lines.extend(events.drain(..).flat_map(|event| shown(&terminal, &view.id, &event)));
            }
        }
        Ok(lines)
    }
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
            let reason = one_line(&retry_reason(language, reason), LINE);
            vec![say!(language, "logs-retry", attempt = *attempt, most = *max, reason = reason)]
        }
        AgentEvent::TakenBack { reason: SaidAnew::Stopped, .. } => {
            vec![weak(&say!(language, "logs-stopped-by-provider"))]
        }
        AgentEvent::TakenBack { .. } => vec![weak(&say!(language, "logs-taken-back"))],
        AgentEvent::Question { text } => vec![say!(language, "job-asks", question = one_line(text, LINE))],
        // Its text is the report of the failure, which no other event has.
        AgentEvent::Finished { is_error: true, answer, .. } => {
            let mut lines = clean_lines(answer.as_deref().unwrap_or_default());
            lines.push(weak(&say!(language, "logs-error")));
            lines
        }
        AgentEvent::Finished { is_error: false, .. } => vec![weak(&say!(language, "logs-ended"))],
        AgentEvent::RateLimited { rejected: false, .. }
        | AgentEvent::UsageReported { .. }
        | AgentEvent::Unrecognised { .. } => Vec::new(),
    }
}

/// Lines without control characters: an agent's text must not steer the terminal.
pub(crate) fn clean_lines(text: &str) -> Vec<String> {
    plain(text).lines().map(str::to_owned).collect()
}
