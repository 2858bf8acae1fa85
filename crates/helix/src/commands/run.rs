//! `helix run`: carries out a plan and watches it, as the host if there is none.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_core::text::count;
use helix_server::wire::{JobRequest, PhaseFilter};
use serde_json::json;

use crate::client::Client;
use crate::commands::plan;
use crate::context::Context;
use crate::environment::Environment;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::{Reached, busy_jobs, engine_error, find, reach, until_idle};
use crate::terminal::Reading;
use crate::watch::{Left, Watched, job_report, print_reports, watch};

/// Arguments of `helix run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Plan file, or project with one plan
    #[arg(value_name = "PLAN|PROJECT")]
    plan: PathBuf,
    /// Repository to work in [default: the one that contains the plan]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Run only this phase; repeat for several
    #[arg(long, value_name = "ID")]
    phase: Vec<String>,
    /// Start at this phase (skip what it depends on)
    #[arg(long, value_name = "ID", conflicts_with = "phase")]
    from: Option<String>,
    /// Agent for all phases
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Model for all phases
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Budget for the whole job, in US dollars
    #[arg(long, value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Turn limit for all phases
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
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
    let path = context.environment.directory.join(&arguments.plan);
    if arguments.dry_run {
        let selection = plan::Selection {
            only: arguments.phase.clone(),
            from: arguments.from.clone(),
            agent: arguments.agent.clone(),
            model: arguments.model.clone(),
            project: arguments.project.as_deref().map(|project| context.environment.directory.join(project)),
            budget_usd: arguments.budget,
            max_turns: arguments.max_turns,
        };
        return plan::dry_run(context, &path, &selection);
    }
    context.block_on(carry_out(context, &path, arguments))
}

async fn carry_out(context: &Context, path: &Path, arguments: Arguments) -> Ended {
    let body = body(context, path, &arguments)?;
    let settings = context.settings()?;
    if arguments.detach {
        // A host that is to be started would say only in its log what is wrong with the plan; one that runs knows jobs by their
        // keys, also those whose plan is gone.
        if find(settings).await?.is_none() {
            plan::found_and_readable(path)?;
        }
        return detach(context, &context.host().await?, &body).await;
    }
    let reached = reach(&context.environment, settings).await?;
    let submitted = reached.client().submit(&body).await;
    let accepted = match submitted {
        Ok(accepted) => accepted,
        Err(error) => {
            leave(context, reached).await?;
            return Err(error.into());
        }
    };
    if context.terminal.reading == Reading::People {
        context.terminal.say_diagnostics(&accepted.warnings, "");
    }
    let watched = watch(context, reached, &accepted.job).await?;
    end(context, watched).await
}

/// Says what happened and leaves, unless this process is the host of other jobs.
pub(crate) async fn end(context: &Context, watched: Watched) -> Ended {
    let state_dir = &context.settings()?.state_dir.value;
    if watched.left == Left::Early {
        context.terminal.say(&format!(
            "job {} keeps running without this terminal; come back with: helix jobs watch {0}",
            watched.view.id
        ));
        if let Reached::Own(host, _) = watched.reached {
            host.stop().await?;
        }
        return Ok(watched.exit);
    }
    if context.terminal.reading == Reading::People {
        context.terminal.data(&job_report(
            &watched.view.clone().at(jiff::Timestamp::now()),
            state_dir,
            &context.terminal,
        ))?;
        print_reports(context, &watched.view).await?;
    }
    if watched.left == Left::Waiting {
        context.terminal.say(&format!("job {} is waiting for you; answer with: helix answer", watched.view.id));
    }
    leave(context, watched.reached).await?;
    Ok(watched.exit)
}

/// Leaves the host. If it is this process, jobs that others have submitted are brought to their end first.
pub(crate) async fn leave(context: &Context, reached: Reached) -> Result<(), CommandError> {
    match reached {
        Reached::Other(_) => Ok(()),
        Reached::Own(host, _) => {
            let engine = host.engine();
            let unfinished = busy_jobs(engine).await.map_err(|error| engine_error(&error))?;
            if !unfinished.is_empty() {
                context.terminal.say(&format!(
                    "waiting for {} running in this process; Ctrl-C: quit, the next helix command continues them",
                    count(unfinished.len(), "other job")
                ));
                tokio::select! {
                    idle = until_idle(engine, std::time::Duration::ZERO) => idle.map_err(|error| engine_error(&error))?,
                    signal = tokio::signal::ctrl_c() => signal.map_err(|error| {
                        CommandError::helix(crate::codes::RUNTIME, "cannot listen for signals").because(&error)
                    })?,
                }
            }
            host.stop().await
        }
    }
}

async fn detach(context: &Context, client: &Client, body: &JobRequest) -> Ended {
    let accepted = client.submit(body).await?;
    match context.terminal.reading {
        Reading::Programs => {
            context
                .terminal
                .json(&json!({ "job": accepted.job.id, "host": client.url(), "host_pid": client.pid() }))?;
        }
        Reading::People => {
            context.terminal.say_diagnostics(&accepted.warnings, "");
            context.terminal.data(accepted.job.id.as_str())?;
            context.terminal.say(&format!("follow it with: helix jobs watch {0}", accepted.job.id));
        }
    }
    Ok(Exit::Success)
}

fn body(context: &Context, path: &Path, arguments: &Arguments) -> Result<JobRequest, CommandError> {
    let absolute = |path: &Path| Environment::text_of(&context.environment.directory.join(path));
    let phases = Some(arguments.phase.clone()).filter(|phases| !phases.is_empty());
    Ok(JobRequest {
        plan: Some(absolute(path)?.into()),
        project_path: arguments.project.as_deref().map(absolute).transpose()?.map(Into::into),
        phase_filter: phases.map(PhaseFilter::Several),
        from: arguments.from.clone(),
        agent: arguments.agent.clone(),
        model: arguments.model.clone(),
        budget_usd: arguments.budget,
        max_turns: arguments.max_turns,
        idempotency_key: arguments.idempotency_key.clone(),
    })
}

pub(crate) fn budget(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "write an amount of US dollars, such as 2.50".to_owned())?;
    if amount.is_finite() && amount > 0.0 { Ok(amount) } else { Err("the amount must be above 0".into()) }
}
