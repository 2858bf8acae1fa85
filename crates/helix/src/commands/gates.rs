//! `helix gates run`: the gates of phases on the work as it stands, for the agent or the person who is at it; `helix gates audit`: what the
//! gates of a finished job would let through.
//!
//! Must not record a verdict: one that counts comes from a job alone.

mod audit;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use helix_agents::Sandbox;
use helix_core::finding::{Finding, Verdict, markdown};
use helix_core::ids::{CommitId, PhaseId};
use helix_core::run::SandboxMode;
use helix_engine::submit::{SubmitError, SubmitRequest, inspect};
use helix_engine::work_gates::{PhaseGates, WorkTask};
use helix_git::{GitEnvironment, Repository};
use helix_job::phrases::Sign;
use helix_job::{GateReport, Origin, phrases};
use helix_language::{ErrorView, Language, say};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::commands::plan::plan_or_default;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::runtime::unless_stopped;
use crate::terminal::{Meaning, Terminal};
use crate::watch::meaning;

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run them and show what they find; commits and records nothing
    Run(Arguments),
    /// Plant faults into a shadow of a job's results and show which of them its gates let through
    Audit(audit::Arguments),
}

pub(crate) use audit::{last as last_audit, rate};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Plan file, or project with one plan [default: the task of the agent that calls, else as for `helix run`]
    #[arg(value_name = "PLAN|PROJECT")]
    plan: Option<PathBuf>,
    /// Only the gates of this phase; repeat for several
    #[arg(long, value_name = "ID")]
    phase: Vec<PhaseId>,
    /// Commit that the work starts from [default: HEAD, so that the work is what is not committed]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
}

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let arguments = match action {
        Action::Run(arguments) => arguments,
        Action::Audit(arguments) => return audit::run(context, arguments),
    };
    context.block_on(async {
        let task = match of_agent(context, &arguments)? {
            Some(task) => task,
            None => of_plan(context, &arguments).await?,
        };
        let task = chosen(task, &arguments.phase)?;
        let cancel = CancellationToken::new();
        // Within a run its own walls hold, and its user's configuration is out of its reach.
        let sandbox = match context.environment.variable("HELIX_RUN_DIR") {
            Some(_) => Sandbox { mode: SandboxMode::Off, ..Sandbox::default() },
            None => context.settings()?.sandbox(&context.environment),
        };
        let running = task.run(&context.environment.directory, context.environment.program.clone(), sandbox, &cancel);
        let Some(done) = unless_stopped(running, &cancel).await? else { return Ok(Exit::Interrupted) };
        let lines: Vec<String> = done.iter().flat_map(|one| lines(&context.terminal, one)).collect();
        context.terminal.answer(&json!({ "evidence": false, "phases": done }), &lines.join("\n"))?;
        context.terminal.note(&say!(context.terminal.language, "gates-no-verdict"));
        Ok(exit(&done))
    })
}

/// The task of the agent that calls, where it is one and names no plan.
fn of_agent(context: &Context, arguments: &Arguments) -> Result<Option<WorkTask>, CommandError> {
    let Some(run) = context.environment.variable("HELIX_RUN_ID").filter(|_| arguments.plan.is_none()) else {
        return Ok(None);
    };
    Ok(WorkTask::of_agent(&context.environment.directory, run)?)
}

async fn of_plan(context: &Context, arguments: &Arguments) -> Result<WorkTask, CommandError> {
    let plan = plan_or_default(context, arguments.plan.as_deref()).await?;
    let base = arguments.base.as_deref().map(|name| commit_of(context, name)).transpose()?;
    let mut request = SubmitRequest::new(plan, Origin::Cli);
    request.project = Some(context.project().to_owned());
    request.venv = context.active_venv();
    let config = context.settings()?.engine(&context.environment)?;
    let mut inspection = inspect(&config, &request).await?;
    let hinders =
        |one: &SubmitError| [helix_engine::codes::NO_VENV, helix_engine::codes::NO_WORKSPACE].contains(&one.code());
    if let Some(at) = inspection.refusals.iter().position(hinders) {
        return Err(inspection.refusals.swap_remove(at).into());
    }
    let (state, workspace) = (context.settings()?.state_dir.value.clone(), inspection.workspace.clone());
    Ok(WorkTask::of_job(&inspection.job()?, base).prepared(state, workspace))
}

/// The gates of the phases that are wanted; of all where none is named.
fn chosen(task: WorkTask, wanted: &[PhaseId]) -> Result<WorkTask, CommandError> {
    task.only(wanted).map_err(|(unknown, known)| {
        let (unknown, known): (_, Vec<&str>) = (unknown.as_str(), known.iter().map(PhaseId::as_str).collect());
        CommandError::unknown(format!("no phase {unknown:?} here"), unknown, &known)
    })
}

fn commit_of(context: &Context, name: &str) -> Result<CommitId, CommandError> {
    let repository = Repository::open(&context.environment.directory, GitEnvironment::from_process());
    let found = repository.ok().and_then(|repository| repository.find_commit(name).ok().flatten());
    found.map(|commit| commit.id).ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("no commit {name:?} here"))
            .hint("name a branch, a tag or a commit")
    })
}

pub(super) fn lines(terminal: &Terminal, phase: &PhaseGates) -> Vec<String> {
    let language = terminal.language;
    let mut lines = vec![terminal.paint(Meaning::Strong, phase.phase.as_str())];
    for gate in &phase.gates {
        let sign = Sign::from(&gate.verdict);
        let time = language.duration(Duration::from_millis(gate.duration_ms).as_secs_f64());
        let head = format!("{} {}", sign.symbol(), gate.gate);
        let summary = phrases::gate_summary(language, gate);
        let summary = if summary.is_empty() { summary } else { format!(": {summary}") };
        lines.push(format!("{}{summary} ({time})", terminal.paint(meaning(sign), &head)));
        lines.extend(found(language, gate));
        lines.extend(gate.notes().map(|note| format!("  {}", phrases::note(language, &language.words(&note)))));
    }
    lines.extend(phase.left_out.iter().map(|one| {
        format!("- {}", say!(language, "gates-left-out", gate = &one.gate, why = language.words(&one.why)))
    }));
    lines
}

/// What a gate found, in the words of the correction that a job would give.
fn found(language: Language, gate: &GateReport) -> Vec<String> {
    match &gate.verdict {
        Verdict::Pass => Vec::new(),
        Verdict::Fail { findings } => {
            let said = |one: &Finding| Finding {
                message: phrases::found(language, one),
                fix: phrases::fix(language, one),
                ..one.clone()
            };
            let labels = (say!(language, "gates-fix"), say!(language, "gates-evidence"));
            let text = markdown(&findings.iter().map(said).collect::<Vec<_>>(), (&labels.0, &labels.1));
            text.trim().lines().map(|line| format!("  {line}")).collect()
        }
        Verdict::Inconclusive { fault } => {
            let told = ErrorView::of_fault(fault).said_in(language);
            told.hint.iter().map(|hint| format!("  {}", phrases::hint(language, hint))).collect()
        }
    }
}

/// As a job would end: with 1 where the work does not pass, with 4 where that could not be found out.
fn exit(phases: &[PhaseGates]) -> Exit {
    let verdicts = || phases.iter().flat_map(|phase| &phase.gates).map(|gate| &gate.verdict);
    if verdicts().any(|verdict| matches!(verdict, Verdict::Fail { .. })) {
        Exit::No
    } else if verdicts().all(Verdict::passed) {
        Exit::Success
    } else {
        Exit::Environment
    }
}
