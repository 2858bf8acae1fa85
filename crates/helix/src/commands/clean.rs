//! `helix clean`: removes what jobs that are over have left and nobody needs: merged branches, and runs that no evidence names.
//!
//! Must not touch what an unfinished job needs, or what proves or resumes a job: of each phase, the last attempt stays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use helix_core::error_chain;
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_git::{GitEnvironment, GitError, Repository};
use helix_job::{JobView, PhaseView};
use helix_language::{Language, say};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::arguments::age;
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::offline::jobs;
use crate::terminal::one_line;

/// Arguments of `helix clean`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Only of jobs that ended longer ago, such as 30d
    #[arg(long, value_name = "TIME", value_parser = age)]
    older_than: Option<Duration>,
}

/// What goes of one job.
#[derive(Debug, Default, Serialize)]
struct Leftovers {
    job: String,
    name: String,
    /// Directories of runs.
    runs: Vec<PathBuf>,
    branches: Vec<String>,
    bytes: u64,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    context.block_on(clean(context, arguments))
}

async fn clean(context: &Context, arguments: &Arguments) -> Ended {
    let (language, now) = (context.terminal.language, Timestamp::now());
    let ended_before = |job: &JobView| {
        let ended = job.completed_at.unwrap_or(now);
        arguments.older_than.is_none_or(|age| now.duration_since(ended).unsigned_abs() >= age)
    };
    let all = jobs(context).await?.jobs;
    let runs = context.settings()?.state_dir.value.join("runs");
    let mut repositories: BTreeMap<&str, Option<Repository>> = BTreeMap::new();
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for job in all.iter().filter(|job| job.status.is_final() && ended_before(job)) {
        let mut left = Leftovers { job: job.id.to_string(), name: one_line(&job.name, 40), ..Leftovers::default() };
        for run in spare_runs(job).iter().map(|run| runs.join(run.as_str())).filter(|run| run.is_dir()) {
            let removed = size(&run).and_then(|bytes| {
                let gone = if arguments.dry_run { Ok(()) } else { std::fs::remove_dir_all(&run) };
                gone.map(|()| bytes)
            });
            match removed {
                Ok(bytes) => {
                    left.bytes += bytes;
                    left.runs.push(run);
                }
                Err(error) => problems.push(format!("{}: {error}", run.display())),
            }
        }
        let path = job.project_path.as_str();
        let repository = repositories.entry(path).or_insert_with(|| {
            let opened = Path::new(path)
                .join(".git")
                .exists()
                .then(|| Repository::open(Path::new(path), GitEnvironment::from_process()));
            opened.transpose().unwrap_or_else(|error| {
                problems.push(format!("{path}: {}", error_chain(&error)));
                None
            })
        });
        if let Some(repository) = repository
            && let Err(error) = remove_branches(repository, &job.id, arguments.dry_run, &mut left.branches)
        {
            problems.push(format!("{path}: {}", error_chain(&error)));
        }
        if !left.runs.is_empty() || !left.branches.is_empty() {
            found.push(left);
        }
    }
    let bytes: u64 = found.iter().map(|left| left.bytes).sum();
    let rows = found.iter().map(|left| {
        [
            (left.job.clone(), None),
            (left.name.clone(), None),
            (left.runs.len().to_string(), None),
            (left.branches.join(", "), None),
            (mebibytes(language, left.bytes), None),
        ]
    });
    let headings = ["job", "plan", "runs", "branches", "size"];
    let value = json!({ "dry_run": arguments.dry_run, "bytes": bytes, "jobs": found, "problems": problems });
    context.terminal.list(&value, &say!(language, "clean-nothing"), headings, rows)?;
    if !found.is_empty() {
        let size = mebibytes(language, bytes);
        context.terminal.note(&match arguments.dry_run {
            true => say!(language, "clean-would", size = size),
            false => say!(language, "clean-done", size = size),
        });
    }
    for problem in &problems {
        context.terminal.note(&say!(language, "clean-left", why = problem));
    }
    Ok(if problems.is_empty() { Exit::Success } else { Exit::Environment })
}

/// Removes the branches of a job that nobody needs; a dry run only names them.
fn remove_branches(
    repository: &Repository,
    job: &JobId,
    dry_run: bool,
    removed: &mut Vec<String>,
) -> Result<(), GitError> {
    for branch in repository.spent_branches(job)? {
        if dry_run || repository.remove_spent(&branch)? {
            removed.push(branch.name);
        }
    }
    Ok(())
}

/// Runs of a job that is over that prove nothing: of attempts before the last one of their phase that delivered nothing, and
/// advisers' ones.
fn spare_runs(job: &JobView) -> Vec<RunId> {
    let delivered: BTreeSet<(&PhaseId, u32)> = job.deliveries.iter().map(|one| (&one.phase, one.attempt)).collect();
    let spare = |phase: &PhaseView, run: &RunId| {
        let before = format!("{}.{}.", job.id, phase.id);
        let Some(rest) = run.as_str().strip_prefix(&before) else { return false };
        let part = rest.split('.').next().unwrap_or_default();
        match part.parse::<u32>() {
            Ok(attempt) => attempt < phase.attempt && !delivered.contains(&(&phase.id, attempt)),
            Err(_) => part.starts_with("advice-"),
        }
    };
    job.phases.iter().flat_map(|phase| phase.runs.iter().filter(|run| spare(phase, run)).cloned()).collect()
}

/// Bytes of all files below a directory; links are not followed.
fn size(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        bytes += if kind.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

fn mebibytes(language: Language, bytes: u64) -> String {
    let tenths = (bytes * 10) >> 20;
    format!("{} MiB", language.decimal(&format!("{}.{}", tenths / 10, tenths % 10)))
}

#[cfg(test)]
#[path = "clean_test.rs"]
mod tests;
