//! `tests_pass`: the test command exits 0, tests really ran, and nothing is worse than before the phase.
//!
//! Must not take a runner's exit code alone for proof [24]: without counts there is no pass.

mod baseline;
mod go;
mod javascript;
mod judge;
mod junit;
mod node;
mod output;
mod python;
#[cfg(test)]
mod reading_tests;
mod rust;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::GateContext;
use super::checkout::{Check, Checked, run_on};
use super::command::{Ran, run_unchanged};
use super::judgement::{Judgement, Trouble};
use baseline::{Baseline, Cache};
pub(super) use junit::report_path;
use output::TestRun;

pub(super) async fn tests_pass(
    context: &Arc<GateContext>,
    command: &str,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<Judgement, Trouble> {
    let Ran { argv, checked, notes } = match run_unchanged(context, command, limit, junit::report_path, cancel).await? {
        Ok(ran) => ran,
        Err(judgement) => return Ok(judgement),
    };
    let run = read_run(&checked);
    let cache = Cache::new(&context.state, &argv);
    // What this phase's result is, the next phase's base will be: a job pays for each tree once.
    cache.store(&context.result.tree, &Baseline { end: checked.run.end.into(), run: run.clone() }).await;
    let needed = run.as_ref().is_some_and(|run| run.total() > 0);
    let baseline = if needed { baseline(context, &argv, limit, &cache, cancel).await? } else { None };
    let mut judgement = judge::judge(command, &checked.run, &checked.output, run.as_ref(), baseline.as_ref());
    judgement.tests = run.map(|run| run.counts);
    Ok(judgement.with_command(checked.evidence).with_notes(notes))
}

/// Counts and failures of a run: from its report if it wrote one, otherwise from its output.
pub(super) fn read_run(checked: &Checked) -> Option<TestRun> {
    let printed = output::read(&checked.output);
    match checked.report.as_deref().and_then(junit::read) {
        // Names and places as printed are those that the agent knows.
        Some(report) => Some(match printed {
            Some(printed) if printed.counts == report.counts => printed,
            Some(_) | None => report,
        }),
        None => printed,
    }
}

/// What the same command gives on the base commit [43], from the cache if that tree has been tested before.
async fn baseline(
    context: &Arc<GateContext>,
    argv: &[String],
    limit: Duration,
    cache: &Cache,
    cancel: &CancellationToken,
) -> Result<Option<Baseline>, Trouble> {
    let tree = {
        let context = context.clone();
        super::checkout::blocking(move || context.repository().commit(context.base.as_str())).await??.tree
    };
    if tree == context.result.tree {
        return Ok(None);
    }
    if let Some(known) = cache.load(&tree).await {
        return Ok(Some(known));
    }
    let report = junit::report_path(argv);
    let check = Check { argv, commit: &context.base, limit, suffix: ".base", report };
    let checked = match run_on(context, check, cancel).await {
        Ok(checked) => checked,
        // The base may lack the very program that the phase adds; there is nothing to compare with then.
        Err(Trouble::Command(error)) => {
            tracing::info!(%error, "the base has no baseline");
            return Ok(Some(Baseline { end: baseline::BaselineEnd::NotRun(error.to_string()), run: None }));
        }
        Err(other) => return Err(other),
    };
    let found = Baseline { end: checked.run.end.into(), run: read_run(&checked) };
    cache.store(&tree, &found).await;
    Ok(Some(found))
}
