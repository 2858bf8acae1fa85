//! `tests_pass`: the test command exits 0, tests really ran, and nothing is worse than before the job and before the phase.
//!
//! Must not take a runner's exit code alone for proof: without counts there is no pass.

mod baseline;
mod go;
mod javascript;
mod judge;
mod junit;
mod node;
mod output;
mod python;
mod run;
mod rust;

use std::sync::Arc;
use std::time::Duration;

use helix_core::ids::{CommitId, TreeId};

use super::GateContext;
use super::checkout::{Check, Checked, blocking, run_on};
use super::command::{Ran, run_unchanged};
use super::judgement::{Judgement, Trouble};
use baseline::{Baseline, BaselineEnd, Before, Cache, Since};
use helix_git::GitError;
pub(super) use junit::report_path;
pub(super) use run::TestRun;

pub(super) async fn tests_pass(
    context: &Arc<GateContext>,
    command: &str,
    limit: Duration,
) -> Result<Judgement, Trouble> {
    let Ran { argv, checked, notes } = run_unchanged(context, command, limit, junit::report_path).await?;
    let (checked, run) = read_run(checked).await?;
    let cache = Cache::new(&context.state, &argv, context.environment.get("VIRTUAL_ENV"));
    let now = Baseline { end: BaselineEnd::Ran(checked.run.end), run };
    // What this phase's result is, the next phase's base will be: a job pays for each tree once.
    cache.store(&context.result.tree, &now).await;
    let needed = now.run.as_ref().is_some_and(|run| run.total() > 0);
    let before = match needed {
        true => baselines(context, &argv, limit, &cache, &now).await?,
        false => Vec::new(),
    };
    let mut judgement = judge::judge(command, &checked.run, &checked.output, now.run.as_ref(), &before);
    judgement.tests = now.run.map(|run| run.counts);
    Ok(judgement.with_command(checked.evidence).with_notes(notes))
}

/// Counts and failures of a run: from its report if it wrote one, otherwise from its output. Megabytes of it take a while.
pub(super) async fn read_run(checked: Checked) -> Result<(Checked, Option<TestRun>), Trouble> {
    blocking(move || {
        let printed = output::read(&checked.output);
        let run = match checked.report.as_deref().and_then(junit::read) {
            // Names and places as printed are those that the agent knows.
            Some(report) => Some(match printed {
                Some(printed) if printed.counts == report.counts => printed,
                Some(_) | None => report,
            }),
            None => printed,
        };
        (checked, run)
    })
    .await
}

/// What the same command gives where the job started and where the phase did: a failure is old only if it is in both.
async fn baselines(
    context: &Arc<GateContext>,
    argv: &[String],
    limit: Duration,
    cache: &Cache,
    now: &Baseline,
) -> Result<Vec<Before>, Trouble> {
    let (job, phase) = {
        let context = context.clone();
        blocking(move || {
            let tree = |commit: &CommitId| context.repository().commit(commit.as_str()).map(|commit| commit.tree);
            Ok::<_, GitError>((tree(&context.origin)?, tree(&context.base)?))
        })
        .await??
    };
    let places = match job == phase {
        true => vec![(Since::Both, &context.base, phase)],
        false => vec![(Since::Job, &context.origin, job), (Since::Phase, &context.base, phase)],
    };
    let mut before = Vec::new();
    for (since, commit, tree) in places {
        // A phase that changed nothing has left what there was: this very run shows it.
        let baseline = match tree == context.result.tree {
            true => now.clone(),
            false => baseline(context, argv, limit, cache, (since, commit, &tree)).await?,
        };
        before.push(Before { since, baseline });
    }
    Ok(before)
}

/// What the command gives on one of these commits, from the cache if that tree has been tested before.
async fn baseline(
    context: &Arc<GateContext>,
    argv: &[String],
    limit: Duration,
    cache: &Cache,
    (since, commit, tree): (Since, &CommitId, &TreeId),
) -> Result<Baseline, Trouble> {
    if let Some(known) = cache.load(tree).await {
        return Ok(known);
    }
    let suffix = match since {
        Since::Job => ".origin",
        Since::Phase | Since::Both => ".base",
    };
    let check = Check { argv, limit, suffix, report: junit::report_path(argv) };
    let checked = match run_on(context, commit, check).await {
        Ok(checked) => checked,
        // The base may lack the very program that the phase adds; there is nothing to compare with then.
        Err(Trouble::Command(error)) => {
            tracing::info!(%error, "the base has no baseline");
            return Ok(Baseline { end: BaselineEnd::NotRun(error.to_string()), run: None });
        }
        Err(other) => return Err(other),
    };
    let (checked, run) = read_run(checked).await?;
    let found = Baseline { end: BaselineEnd::Ran(checked.run.end), run };
    cache.store(tree, &found).await;
    Ok(found)
}
