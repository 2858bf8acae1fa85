//! `helix jobs`: lists, shows, follows, stops, resumes, rolls back and reverts jobs, through the host if there is one.
//!
//! Must not know SQL: without a host, reading goes through the journal's read-only access.

mod again;
mod logs;
mod report;
mod results;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use helix_core::ids::PhaseId;
use helix_engine::evidence::OutputSelection;
use helix_engine::observer::JobReport;
use helix_job::phrases::{self, Sign, open_questions};
use helix_job::{DeliveryState, DeliveryView, IntegrationTarget, JobStatus, JobView, PhaseStatus};
use helix_language::{Language, say};
use helix_server::wire::{CheckRequest, JobPage, ResumeRequest, RollbackRequest};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::job_names::{self, Id, job_id};
use crate::arguments::{budget, words};
use crate::commands::run;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit};
use crate::host::{Reached, find, silent};
use crate::offline::{job, jobs, numbers};
use crate::terminal::{Cell, Meaning, Reading, one_line};
use crate::watch::{Interrupt, look_back, meaning, print_job, reports_of};

/// Arguments of `helix jobs`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List jobs, newest first
    List(Listing),
    /// Show a job: phases, gates, cost, commit, errors, last failure report
    Show(Id),
    /// Follow a job to its end; Ctrl-C stops watching, the job continues
    Watch(Id),
    /// Print what a job's agents did
    Logs {
        #[command(flatten)]
        job: Id,
        /// Only this phase
        #[arg(long, value_name = "ID")]
        phase: Option<PhaseId>,
        /// Only this attempt, from 1
        #[arg(long, value_name = "N", requires = "phase", value_parser = clap::value_parser!(u32).range(1..))]
        attempt: Option<u32>,
        /// Print what the command of this gate printed instead, whole
        #[arg(long, value_name = "NAME", conflicts_with = "follow")]
        gate: Option<String>,
        /// Keep printing until the job has ended
        #[arg(short, long)]
        follow: bool,
    },
    /// Open a shell in a copy of the last result of a phase
    Shell {
        #[command(flatten)]
        job: Id,
        /// The phase [default: the last one that started]
        #[arg(long, value_name = "ID")]
        phase: Option<PhaseId>,
        /// The result of this attempt, from 1
        #[arg(long, value_name = "N", requires = "phase", value_parser = clap::value_parser!(u32).range(1..))]
        attempt: Option<u32>,
    },
    /// Run the gates again on the last result of a failed job; no agent works before they have judged it
    Check {
        #[command(flatten)]
        job: Id,
        /// Only this phase [default: all that stopped with a result]
        #[arg(long, value_name = "ID")]
        phase: Option<String>,
        /// Go on with the plan of the job's beginning, whatever its file says now
        #[arg(long)]
        keep_plan: bool,
        /// Return at once; the job runs in the background
        #[arg(long)]
        detach: bool,
    },
    /// Accept the result of a failed phase although a gate did not pass; the job counts as not proved (exit code 6)
    Accept {
        #[command(flatten)]
        job: Id,
        /// The phase
        #[arg(long, value_name = "ID")]
        phase: String,
        /// Why; it is recorded with your name
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Resume a failed or cancelled job at the phases that have not passed
    Resume(Reopening),
    /// Run a phase again, and all that depend on it
    Retry {
        #[command(flatten)]
        reopening: Reopening,
        /// The phase
        #[arg(long, value_name = "ID")]
        phase: String,
    },
    /// Roll back the last delivery of a job that is over
    Rollback {
        #[command(flatten)]
        job: Id,
        /// The last delivery of this phase [default: the last one of the job]
        #[arg(long, value_name = "ID")]
        phase: Option<String>,
        /// Roll back once more what was rolled back before
        #[arg(long)]
        again: bool,
        /// Roll back although something else was delivered over it, which is lost then
        #[arg(long)]
        over: bool,
    },
    /// Revert the merged result of a job by a commit, and reopen its decision
    Revert(Id),
    /// Show the changes of a job, a phase or an attempt
    Diff {
        #[command(flatten)]
        job: Id,
        /// Only what this phase changed
        #[arg(long, value_name = "ID")]
        phase: Option<PhaseId>,
        /// Only what this attempt changed since the one before it, from 1
        #[arg(long, value_name = "N", requires = "phase", value_parser = clap::value_parser!(u32).range(1..))]
        attempt: Option<u32>,
    },
    /// Show the evidence for each passed phase, verified again: commits, records, gate outputs, reviews, approvals
    Evidence {
        #[command(flatten)]
        job: Id,
        /// Write it to a new file for others, signed; `helix verify` checks that
        #[arg(long, value_name = "FILE")]
        bundle: Option<PathBuf>,
    },
    /// Print a job's report as Markdown; --post makes it a comment on the job's issue, pull request or merge request
    Report(report::Arguments),
    /// Cancel a job
    Cancel(Id),
    /// Print the names of jobs, for completion
    #[command(hide = true)]
    Names,
}

/// Which jobs are listed.
#[derive(Debug, Default, Args)]
struct Listing {
    /// At most so many [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Only with this status; repeat for several
    #[arg(long, value_name = "STATUS", value_parser = words(JobStatus::WORDS.iter().copied()))]
    status: Vec<JobStatus>,
    /// Only of the repository that contains the working directory
    #[arg(long)]
    here: bool,
}

/// Which job goes on, and how.
#[derive(Debug, Args)]
struct Reopening {
    #[command(flatten)]
    job: Id,
    /// New budget for the whole job in US dollars, including what it has cost so far
    #[arg(long, value_name = "USD", value_parser = budget, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Go on with the plan of the job's beginning, whatever its file says now
    #[arg(long)]
    keep_plan: bool,
    /// Return at once; the job runs in the background
    #[arg(long)]
    detach: bool,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    context.block_on(async {
        match arguments.action.unwrap_or(Action::List(Listing::default())) {
            Action::List(listing) => list(context, &listing).await,
            Action::Show(id) => show(context, &id.named(context).await?).await,
            Action::Watch(id) => follow(context, &id.named(context).await?).await,
            Action::Logs { job, phase, attempt, gate: Some(gate), .. } => {
                let wanted = OutputSelection { phase, attempt, gate: Some(gate) };
                again::output(context, &job.named(context).await?, wanted).await
            }
            Action::Logs { job, phase, attempt, gate: None, follow } => {
                logs::logs(context, &job.named(context).await?, phase.as_ref(), attempt, follow).await
            }
            Action::Shell { job, phase, attempt } => {
                again::shell(context, &job.named(context).await?, phase, attempt).await
            }
            Action::Check { job, phase, keep_plan, detach } => {
                let request = CheckRequest { phase, plan: !keep_plan };
                again::check(context, &job.named(context).await?, request, detach).await
            }
            Action::Accept { job, phase, reason } => {
                again::accept(context, &job.named(context).await?, phase, reason).await
            }
            Action::Resume(reopening) => reopen(context, reopening, None).await,
            Action::Retry { reopening, phase } => reopen(context, reopening, Some(phase)).await,
            Action::Rollback { job, phase, again, over } => {
                roll_back(context, &job.named(context).await?, RollbackRequest { phase, again, over }).await
            }
            Action::Revert(id) => revert(context, &id.named(context).await?).await,
            Action::Diff { job, phase, attempt } => {
                results::diff(context, &job.named(context).await?, phase, attempt).await
            }
            Action::Evidence { job, bundle } => {
                results::evidence(context, &job.named(context).await?, bundle.as_deref()).await
            }
            Action::Report(arguments) => report::report(context, arguments).await,
            Action::Cancel(id) => cancel(context, &id.named(context).await?).await,
            Action::Names => job_names::print(context).await,
        }
    })
}

async fn list(context: &Context, Listing { limit, status: statuses, here }: &Listing) -> Ended {
    let (language, now) = (context.terminal.language, Timestamp::now());
    let page = jobs(context).await?;
    let numbers = numbers(&page);
    let JobPage { mut jobs, unreadable, .. } = page;
    let mut none = say!(language, "list-none", place = context.settings()?.state_dir.value.display().to_string());
    if *here {
        let (place, all) = (&context.environment.directory, jobs.len());
        jobs.retain(|job| place.starts_with(&job.project_path));
        if jobs.is_empty() && all > 0 {
            none = say!(language, "list-none-here", jobs = all);
        }
    }
    jobs.retain(|job| statuses.is_empty() || statuses.contains(&job.status));
    if let Some(limit) = limit {
        jobs.truncate(*limit as usize);
    }
    for id in unreadable {
        context.terminal.say(&say!(language, "list-unreadable", id = id.as_str()));
    }
    let is_answered = find(context.settings()?).await?.is_some();
    let silent = if is_answered { None } else { silent(context.settings()?)? };
    let stopped = match is_answered || silent.is_some() {
        true => 0,
        false => jobs.iter().filter(|job| needs_host(job)).count(),
    };
    let rows = jobs.iter().map(|job| {
        let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
        [
            (numbers.get(&job.id).copied().unwrap_or_default().to_string(), None),
            status(language, job, stopped > 0),
            (format!("{passed}/{}", job.phases.len()), None),
            (language.duration(job.duration_seconds), None),
            (language.money(job.cost), None),
            (language.ago(job.created_at, now), None),
            (one_line(&job.name, 40), None),
            (project(job), None),
            (job.id.to_string(), Some(Meaning::Weak)),
        ]
    });
    let headings = ["job", "status", "phases", "time", "cost", "submitted", "plan", "project", "id"];
    let exit = context.terminal.list(&jobs, &none, headings, rows)?;
    if let Some(process) = silent {
        context.terminal.say(&say!(language, "list-host-silent", process = process.to_string()));
    }
    if stopped > 0 {
        if context.terminal.is_attended() {
            context.terminal.note(&say!(language, "list-host-started", jobs = stopped));
            context.host().await?;
        } else {
            context.terminal.note(&say!(language, "list-no-host"));
        }
    }
    Ok(exit)
}

/// The jobs of the repository that contains the working directory.
pub(crate) async fn list_here(context: &Context) -> Ended {
    list(context, &Listing { here: true, ..Listing::default() }).await
}

/// The changes of a job, by what a person calls it.
pub(crate) async fn diff(context: &Context, said: &str) -> Ended {
    results::diff(context, &job_id(context, said).await?, None, None).await
}

/// The repository of a job, by its directory's name.
fn project(job: &JobView) -> String {
    let path = Path::new(&job.project_path);
    path.file_name().map_or_else(|| job.project_path.clone(), |name| one_line(&name.to_string_lossy(), 24))
}

/// Whether a job stands still where there is no host: one that waits for its answer does not.
fn needs_host(job: &JobView) -> bool {
    !job.status.is_final() && open_questions(job).next().is_none()
}

/// The status with its sign, and whether the job waits for a person, or for a host.
fn status(language: Language, job: &JobView, no_host: bool) -> Cell {
    if no_host && needs_host(job) {
        return (
            format!("{} {}", Sign::Waiting.symbol(), say!(language, "list-stopped")),
            Some(meaning(Sign::Waiting)),
        );
    }
    let (sign, word) = (Sign::from(job.status), phrases::job_status(language, job.status));
    let status = match open_questions(job).next() {
        Some(_) => say!(language, "list-for-you", status = word),
        None if job.reverted.is_some() => say!(language, "list-reverted", status = word),
        None if matches!(job.integration, Some(IntegrationTarget::Beside { .. })) => {
            say!(language, "list-not-merged", status = word)
        }
        None if job.phases.iter().any(|phase| !phase.accepted.is_empty()) => {
            say!(language, "list-not-proved", status = word)
        }
        None => word,
    };
    (format!("{} {status}", sign.symbol()), Some(meaning(sign)))
}

/// A job and what its failures' reports say, for programs.
#[derive(Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    job: &'a JobView,
    /// All reports, oldest first.
    reports: Vec<JobReport>,
}

async fn show(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    if context.terminal.reading == Reading::Programs {
        let reports = reports_of(context, &view).await?;
        return context.terminal.json(&Reported { job: &view, reports });
    }
    print_job(context, &view, false).await?;
    if !view.status.is_final() && find(context.settings()?).await?.is_none() {
        let language = context.terminal.language;
        if let Some(process) = silent(context.settings()?)? {
            context.terminal.say(&say!(language, "list-host-silent", process = process.to_string()));
        } else if context.terminal.is_attended() && needs_host(&view) {
            context.terminal.say(&say!(language, "list-host-started", jobs = 1));
            context.host().await?;
        } else {
            context.terminal.say(&say!(language, "term-no-host", id = view.id.as_str()));
        }
    }
    Ok(Exit::Success)
}

async fn follow(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    if view.status.is_final() {
        return look_back(context, &view).await;
    }
    run::follow(context, Interrupt::Leaves, 0, async |_| Ok(view)).await
}

/// Continues a job that is over, or runs one of its phases again, and follows it as `helix run` does.
async fn reopen(context: &Context, reopening: Reopening, phase: Option<String>) -> Ended {
    let Reopening { job: named, budget, keep_plan, detach } = reopening;
    let JobView { id, last_event, .. } = job(context, &named.named(context).await?).await?;
    let request = ResumeRequest { budget_usd: budget, plan: !keep_plan };
    if detach {
        let view = context.host().await?.reopen(id.as_str(), phase, request).await?;
        return run::left_behind(context, &json!({ "job": view.id, "status": view.status }), &view.id);
    }
    run::follow(context, Interrupt::Cancels, last_event, async |client| {
        client.reopen(id.as_str(), phase, request).await
    })
    .await
}

/// Ends with success if what the job has delivered is taken back, as far as that was watched.
async fn roll_back(context: &Context, id: &str, request: RollbackRequest) -> Ended {
    let JobView { id, last_event, .. } = job(context, id).await?;
    let exit = run::follow(context, Interrupt::Cancels, last_event, async |client| {
        client.roll_back(id.as_str(), &request).await
    })
    .await?;
    let view = job(context, id.as_str()).await?;
    let meant = |one: &&DeliveryView| request.phase.as_deref().is_none_or(|phase| one.phase.as_str() == phase);
    let last = view.deliveries.iter().filter(meant).max_by_key(|one| one.at);
    let good = view.status.is_final() && last.is_some_and(|last| last.state == DeliveryState::RolledBack);
    Ok(if good { Exit::Success } else { exit })
}

async fn revert(context: &Context, id: &str) -> Ended {
    let before = job(context, id).await?;
    let view = context.with_host(async |reached| Ok(reached.client().revert(before.id.as_str()).await?)).await?;
    let language = context.terminal.language;
    let done = view.reverted.as_ref().map(|done| phrases::reverted(language, done)).unwrap_or_default();
    let is_old = before.reverted.is_some() && before.reverted == view.reverted;
    let done = if is_old { say!(language, "reverted-already", reverted = done) } else { done };
    let value = json!({ "job": view.id, "reverted": view.reverted });
    context.terminal.answer(&value, &format!("{} {done}", view.id))
}

/// Without a host, this process becomes it for as long as the stopping takes.
async fn cancel(context: &Context, id: &str) -> Ended {
    let view = job(context, id).await?;
    let id = view.id.as_str();
    let stopping = async |reached: &Reached| wait_if_own(reached, reached.client().cancel(id).await?).await;
    let view = context.with_host(stopping).await?;
    let language = context.terminal.language;
    let text = match view.status.is_final() {
        true => format!("{} {}", view.id, phrases::job_status(language, view.status)),
        false => say!(language, "term-cancelled", id = view.id.as_str()),
    };
    let exit = context.terminal.answer(&json!({ "job": view.id, "status": view.status }), &text)?;
    context.terminal.note(&say!(language, "term-resume", id = view.id.as_str()));
    Ok(exit)
}

async fn wait_if_own(reached: &Reached, view: JobView) -> Result<JobView, CommandError> {
    let Reached::Own(host) = reached else { return Ok(view) };
    let mut events = host.engine.jobs().events(&view.id, view.last_event).await?;
    while let Some(event) = events.recv().await {
        event?;
    }
    Ok(host.engine.jobs().get(view.id.as_str()).await?)
}
