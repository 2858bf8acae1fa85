//! `helix run`: carries out a plan and watches it, as the host if there is none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use helix_core::ids::JobId;
use helix_core::text::count;
use helix_engine::submit::plan_file;
use helix_server::wire::{JobRequest, PhaseFilter};
use serde_json::{Value, json};
use tokio::signal::unix::SignalKind;

use crate::client::ClientError;
use crate::commands::plan::{self, Selection};
use crate::context::Context;
use crate::environment::Environment;
use crate::error::{CommandError, Ended, Exit};
use crate::host::{Reached, busy_jobs, find, until_idle};
use crate::runtime::signal_stream;
use crate::terminal::Reading;
use crate::watch::{Left, Watched, print_job, watch};

/// Arguments of `helix run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Plan file, or project with one plan
    #[arg(value_name = "PLAN|PROJECT")]
    plan: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// Reuse the job already started with this key
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the job's id and return; the job runs in the background
    #[arg(long)]
    detach: bool,
    /// Show what would run, with the prompts, and change nothing
    #[arg(long, conflicts_with = "detach")]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    let path = context.path(&arguments.plan);
    if arguments.dry_run {
        return plan::dry_run(context, &path, &arguments.selection);
    }
    context.block_on(async {
        let body = body(context, &path, &arguments)?;
        if arguments.detach {
            return detach(context, &path, &body).await;
        }
        let reached = context.reach().await?;
        let submitted = reached.client().submit(&body).await;
        let (reached, accepted) = or_leave(context, reached, submitted).await?;
        context.terminal.say_diagnostics(&accepted.warnings, "");
        end(context, watch(context, reached, &accepted.job).await?).await
    })
}

/// What the host answered; when it refused, this process is left as after a job.
pub(crate) async fn or_leave<T>(
    context: &Context,
    reached: Reached,
    answered: Result<T, ClientError>,
) -> Result<(Reached, T), CommandError> {
    match answered {
        Ok(answer) => Ok((reached, answer)),
        Err(error) => {
            leave(context, reached).await?;
            Err(error.into())
        }
    }
}

/// Says what happened and leaves, unless this process is the host of other jobs.
pub(crate) async fn end(context: &Context, watched: Watched) -> Ended {
    if watched.left == Left::Early {
        context.terminal.say(&format!(
            "job {} keeps running without this terminal; come back with: helix jobs watch {0}",
            watched.view.id
        ));
        watched.reached.stop().await?;
        return Ok(watched.exit);
    }
    if context.terminal.reading == Reading::People {
        print_job(context, &watched.view.clone().at(jiff::Timestamp::now())).await?;
    }
    if watched.left == Left::Waiting {
        context.terminal.say(&format!("job {} is waiting for you; answer with: helix answer", watched.view.id));
    }
    leave(context, watched.reached).await?;
    Ok(watched.exit)
}

/// Leaves the host. If it is this process, jobs that others have submitted are brought to their end first.
async fn leave(context: &Context, reached: Reached) -> Result<(), CommandError> {
    let Reached::Own(host, _) = reached else { return Ok(()) };
    let unfinished = busy_jobs(host.engine()).await?;
    if !unfinished.is_empty() {
        context.terminal.say(&format!(
            "waiting for {} running in this process; Ctrl-C: quit, the next helix command continues them",
            count(unfinished.len(), "other job")
        ));
        let mut interrupts = signal_stream(SignalKind::interrupt())?;
        tokio::select! {
            idle = until_idle(host.engine(), Duration::ZERO) => idle?,
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
    context.terminal.note(&format!("follow it with: helix jobs watch {job}"));
    Ok(Exit::Success)
}

fn body(context: &Context, path: &Path, arguments: &Arguments) -> Result<JobRequest, CommandError> {
    let absolute = |path: &Path| Environment::text_of(&context.path(path));
    let Selection { project, phase, from, agent, model, budget, max_turns } = arguments.selection.clone();
    Ok(JobRequest {
        plan: Some(absolute(path)?.into()),
        project_path: project.as_deref().map(absolute).transpose()?.map(Into::into),
        phase_filter: Some(phase).filter(|phases| !phases.is_empty()).map(PhaseFilter::Several),
        from,
        agent,
        model,
        budget_usd: budget,
        max_turns,
        venv: context.venv()?,
        idempotency_key: arguments.idempotency_key.clone(),
    })
}
