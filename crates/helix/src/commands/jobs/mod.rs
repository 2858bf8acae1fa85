//! `helix jobs`: lists, shows, follows, stops and resumes jobs, through the host if there is one.
//!
//! Must not know SQL: without a host, reading goes through the journal's read-only access.

mod logs;
pub(crate) mod offline;
mod reopen;
pub(crate) mod reports;
mod results;

use clap::{Args, Subcommand};
use helix_job::question::QuestionStatus;
use helix_job::{JobStatus, JobView};
use helix_server::wire::{ResumeRequest, RetryRequest};
use helix_store::JobFilter;
use serde_json::json;

use crate::cli::Context;
use crate::client::{ClientError, Reopen};
use crate::commands::run;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::{Reached, engine_error, find, reach};
use crate::terminal::{Meaning, Reading, Table, duration, money, one_line};
use crate::watch::{job_report, watch};

use reopen::Stay;

/// Arguments of `helix jobs`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists jobs, newest first
    List,
    /// Shows a job: phases, gates, cost, commit, errors, and the report of what failed last
    Show {
        /// Id, or a beginning of it that fits only one
        id: String,
    },
    /// Follows a job to its end
    Watch {
        /// As for show
        id: String,
    },
    /// Prints what the agents of a job did
    Logs {
        /// As for show
        id: String,
        /// Only this phase
        #[arg(long, value_name = "ID")]
        phase: Option<String>,
        /// Goes on until the job is over
        #[arg(short, long)]
        follow: bool,
    },
    /// Goes on with a job that failed or was cancelled, from what has not passed
    Resume {
        /// As for show
        id: String,
        /// A new budget for the whole job in US dollars, what it has cost so far included
        #[arg(long, value_name = "USD", value_parser = run::budget, allow_hyphen_values = true)]
        budget: Option<f64>,
        /// Leaves at once; a host in the background carries the job on
        #[arg(long)]
        detach: bool,
    },
    /// Does a phase again, and all that build on it
    Retry {
        /// As for show
        id: String,
        /// The phase
        #[arg(long, value_name = "ID")]
        phase: String,
        /// As for resume
        #[arg(long, value_name = "USD", value_parser = run::budget, allow_hyphen_values = true)]
        budget: Option<f64>,
        /// As for resume
        #[arg(long)]
        detach: bool,
    },
    /// Shows what a job changed, or a phase of it, or an attempt
    Diff {
        /// As for show
        id: String,
        /// Only what this phase changed
        #[arg(long, value_name = "ID")]
        phase: Option<String>,
        /// Only what this attempt of the phase changed since the one before it, from 1
        #[arg(long, value_name = "N", requires = "phase", value_parser = clap::value_parser!(u32).range(1..))]
        attempt: Option<u32>,
    },
    /// Shows what proves each passed phase, checked again now: commits, records, outputs of gates, verdicts, approvals
    Evidence {
        /// As for show
        id: String,
    },
    /// Stops a job
    Cancel {
        /// As for show
        id: String,
    },
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    context.block_on(async {
        match arguments.action.unwrap_or(Action::List) {
            Action::List => list(context).await,
            Action::Show { id } => show(context, &id).await,
            Action::Watch { id } => follow(context, &id).await,
            Action::Logs { id, phase, follow } => logs::logs(context, &id, phase.as_deref(), follow).await,
            Action::Resume { id, budget, detach } => {
                let by = Some(context.environment.person());
                let body = Reopen::Resume(ResumeRequest { budget_usd: budget, by });
                reopen::reopen(context, &id, &body, stay(detach)).await
            }
            Action::Retry { id, phase, budget, detach } => {
                let by = Some(context.environment.person());
                let body = Reopen::Retry(RetryRequest { phase, budget_usd: budget, by });
                reopen::reopen(context, &id, &body, stay(detach)).await
            }
            Action::Diff { id, phase, attempt } => results::diff(context, &id, phase.as_deref(), attempt).await,
            Action::Evidence { id } => results::evidence(context, &id).await,
            Action::Cancel { id } => cancel(context, &id).await,
        }
    })
}

fn stay(detach: bool) -> Stay {
    if detach { Stay::Leave } else { Stay::Follow }
}

async fn list(context: &Context) -> Ended {
    let settings = context.settings()?;
    let jobs = match find(settings).await? {
        Some(client) => client.jobs().await?,
        None => offline::jobs(settings, JobFilter::default()).await?,
    };
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&jobs)?;
        return Ok(Exit::Success);
    }
    if jobs.is_empty() {
        context.terminal.say("there are no jobs yet; `helix run PLAN` starts one");
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["job", "status", "phases", "time", "cost", "submitted", "plan"]);
    for job in &jobs {
        let passed = job.phases.iter().filter(|phase| phase.status == helix_job::PhaseStatus::Passed).count();
        table.row([
            (job.id.to_string(), None),
            (status(job), Some(meaning(job.status))),
            (format!("{passed}/{}", job.phases.len()), None),
            (duration(job.duration_seconds), None),
            (money(job.cost), None),
            (job.created_at.strftime("%Y-%m-%d %H:%M").to_string(), None),
            (one_line(&job.name, 40), None),
        ]);
    }
    context.terminal.data(&table.for_data(&context.terminal))?;
    Ok(Exit::Success)
}

/// The status, and whether a person is waited for.
fn status(job: &JobView) -> String {
    let open = job.questions.iter().filter(|question| question.status == QuestionStatus::Open).count();
    match open {
        0 => job.status.word().to_owned(),
        _ => format!("{} (for you: helix answer)", job.status.word()),
    }
}

fn meaning(status: JobStatus) -> Meaning {
    match status {
        JobStatus::Succeeded => Meaning::Good,
        JobStatus::Failed => Meaning::Bad,
        JobStatus::Cancelled | JobStatus::Waiting => Meaning::Attention,
        JobStatus::Queued | JobStatus::Running => Meaning::Strong,
    }
}

/// A job, from the host or from the journal.
async fn job(context: &Context, id: &str) -> Result<JobView, CommandError> {
    let settings = context.settings()?;
    match find(settings).await? {
        Some(client) => Ok(client.job(id).await?),
        None => offline::job(settings, id).await,
    }
}

async fn show(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    if context.terminal.reading == Reading::Programs {
        let reports = reports::of(context, &view).await?;
        context.terminal.json(&reports::Reported { job: &view, reports })?;
        return Ok(Exit::Success);
    }
    context.terminal.data(&job_report(&view, &context.settings()?.state_dir.value, &context.terminal))?;
    reports::print(context, &view).await?;
    if !view.status.is_final() && find(context.settings()?).await?.is_none() {
        context.terminal.say(&format!("no host is running: `helix jobs watch {}` carries it on", view.id));
    }
    Ok(Exit::Success)
}

async fn follow(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    if view.status.is_final() {
        return show(context, id).await;
    }
    let reached = reach(&context.environment, context.settings()?).await?;
    run::end(context, watch(context, reached, &view).await?).await
}

/// Without a host, this process becomes it for as long as the stopping takes.
async fn cancel(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    let reached = reach(&context.environment, context.settings()?).await?;
    let cancelled = reached.client().cancel(view.id.as_str(), &context.environment.person()).await;
    let result = match cancelled {
        Ok(view) => wait_if_own(&reached, view).await,
        Err(error) => Err(ClientError::into(error)),
    };
    if let Reached::Own(host, _) = reached {
        host.stop().await?;
    }
    let view = result?;
    match context.terminal.reading {
        Reading::Programs => context.terminal.json(&json!({ "job": view.id, "status": view.status }))?,
        Reading::People if view.status.is_final() => {
            context.terminal.data(&format!("{} {}", view.id, view.status.word()))?
        }
        Reading::People => context.terminal.data(&format!("{} is being stopped", view.id))?,
    }
    Ok(Exit::Success)
}

async fn wait_if_own(reached: &Reached, view: JobView) -> Result<JobView, CommandError> {
    let Reached::Own(host, _) = reached else { return Ok(view) };
    let engine = host.engine();
    let mut events = engine.job_events(&view.id, view.last_event).await.map_err(|error| engine_error(&error))?;
    while let Some(event) = events.recv().await {
        event.map_err(|error| engine_error(&error))?;
    }
    engine.job(view.id.as_str()).await.map_err(|error| engine_error(&error))
}
