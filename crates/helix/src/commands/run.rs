//! `helix run`: carries out a plan and watches it, as the host if there is none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use helix_core::ids::JobId;
use helix_engine::submit::plan_file;
use helix_job::JobView;
use helix_language::say;
use helix_server::wire::{JobRequest, PhaseFilter};
use serde_json::{Value, json};
use tokio::signal::unix::SignalKind;

use crate::client::{Client, ClientError};
use crate::commands::plan::{self, Selection};
use crate::context::Context;
use crate::environment::Environment;
use crate::error::{CommandError, Ended, Exit};
use crate::host::{Reached, busy_jobs, find, refuse_other_configuration, until_idle};
use crate::runtime::signal_stream;
use crate::terminal::Reading;
use crate::watch::{Interrupt, Watched, print_job, watch};

/// Arguments of `helix run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Plan file, or project with one plan [default: the plan below plans/; of several, a terminal offers a choice]
    #[arg(value_name = "PLAN|PROJECT")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    /// Reuse the job already started with this key
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the job's id and return; the job runs in the background
    #[arg(long)]
    detach: bool,
    /// Start the first agent without trying the commands of the gates on the base commit
    #[arg(long)]
    no_preflight: bool,
    /// Show what would run, with the prompts, and change nothing
    #[arg(long, conflicts_with = "detach")]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    let path = context.block_on(plan::plan_or_default(context, arguments.plan.as_deref()))?;
    if arguments.dry_run {
        return plan::dry_run(context, &path, &arguments.selection);
    }
    context.block_on(async {
        refuse_other_configuration(&context.environment, context.settings()?).await?;
        let body = body(context, &path, &arguments)?;
        if arguments.detach {
            return detach(context, &path, &body).await;
        }
        let submit = async |client: &Client| {
            let accepted = client.submit(&body).await?;
            context.terminal.say_diagnostics(&accepted.warnings, "");
            Ok(accepted.job)
        };
        follow(context, Interrupt::Cancels, 0, submit).await
    })
}

/// Asks a host for a job and watches it from after the event of number `seen`, says what happened, and leaves.
pub(crate) async fn follow(
    context: &Context,
    interrupt: Interrupt,
    seen: u64,
    ask: impl AsyncFnOnce(&Client) -> Result<JobView, ClientError>,
) -> Ended {
    // A command that only watches runs no jobs in the foreground.
    let reached = match interrupt {
        Interrupt::Leaves => Reached::Other(context.host().await?),
        Interrupt::Cancels => context.reach().await?,
    };
    let job = match ask(reached.client()).await {
        Ok(job) => job,
        Err(error) => {
            leave(context, reached).await?;
            return Err(error.into());
        }
    };
    let Watched { view, exit, reached, cancelling } = watch(context, reached, &job, interrupt, seen).await?;
    if exit == Exit::Interrupted && !view.status.is_final() {
        let (language, id) = (context.terminal.language, view.id.as_str());
        context.terminal.say(&match (cancelling, &reached) {
            (false, _) => say!(language, "term-keeps-running", id = id),
            (true, Reached::Other(_)) => say!(language, "term-cancelled", id = id),
            (true, Reached::Own(_)) => say!(language, "term-cancel-left", id = id),
        });
        reached.stop().await?;
        return Ok(exit);
    }
    if context.terminal.reading == Reading::People {
        match print_job(context, &view.clone().at(jiff::Timestamp::now()), true).await {
            // Nobody reads what happened; how the job ended still decides the exit code.
            Ok(()) | Err(CommandError::ReaderLeft) => {}
            Err(error) => return Err(error),
        }
    }
    if exit == Exit::NeedsPerson {
        let id = view.id.as_str();
        context.terminal.say(&say!(context.terminal.language, "term-waits-for-you", id = id));
    }
    leave(context, reached).await?;
    Ok(exit)
}

/// Leaves the host. If it is this process, jobs that others have submitted are brought to their end first.
async fn leave(context: &Context, reached: Reached) -> Result<(), CommandError> {
    let Reached::Own(host) = reached else { return Ok(()) };
    let unfinished = busy_jobs(&host.engine).await?;
    if !unfinished.is_empty() {
        context.terminal.say(&say!(context.terminal.language, "term-other-jobs", jobs = unfinished.len()));
        let mut interrupts = signal_stream(SignalKind::interrupt())?;
        tokio::select! {
            idle = until_idle(&host.engine, Duration::ZERO, None) => idle?,
            _ = interrupts.recv() => {}
        }
    }
    host.stop().await
}

/// Submits to a host that stays behind.
async fn detach(context: &Context, path: &Path, body: &JobRequest) -> Ended {
    // A host that is to be started would say only in its log what is wrong with the plan; one that runs knows jobs by their
    // keys, also those whose plan is gone.
    if find(context.settings()?).await?.is_none() {
        plan_file(path)?;
    }
    let client = context.host().await?;
    let accepted = client.submit(body).await?;
    context.terminal.say_diagnostics(&accepted.warnings, "");
    let value = json!({ "job": accepted.job.id, "host": client.url, "host_pid": client.pid });
    left_behind(context, &value, &accepted.job.id)
}

/// Says which job runs on without this command.
pub(crate) fn left_behind(context: &Context, value: &Value, job: &JobId) -> Ended {
    context.terminal.answer(value, job.as_str())?;
    context.terminal.note(&say!(context.terminal.language, "term-follow", id = job.as_str()));
    Ok(Exit::Success)
}

fn body(context: &Context, path: &Path, arguments: &Arguments) -> Result<JobRequest, CommandError> {
    let absolute = |path: &Path| Environment::text_of(&context.path(path));
    let Selection { project, phase, from, agent, model, budget, max_turns, land, issue } = arguments.selection.clone();
    Ok(JobRequest {
        plan: Some(absolute(path)?.into()),
        project_path: project.as_deref().map(absolute).transpose()?.map(Into::into),
        phase_filter: (!phase.is_empty())
            .then(|| PhaseFilter::Several(phase.iter().map(ToString::to_string).collect())),
        from: from.map(String::from),
        agent,
        model,
        budget_usd: budget,
        max_turns,
        land,
        venv: context.venv()?,
        preflight: arguments.no_preflight.then_some(false),
        idempotency_key: arguments.idempotency_key.clone(),
        issue,
    })
}
