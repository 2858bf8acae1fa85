//! What a host does when it starts: settles the runs that earlier hosts left.
//!
//! Must not know jobs: the caller says which runs are still wanted.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use helix_core::error_chain;
use helix_core::ids::RunId;
use helix_core::run::StopCause;
use rustix::process::Signal;

use super::abandoned;
use super::liveness::nudge;
use crate::proc::{ProcessIdentity, marked_by_runs};
use crate::run_dir::{RunDir, RunDirError, RunSeal, RunState, is_staging_name, name, staging_owner};

/// What a sweep found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Runs whose keeper had died; sealed now.
    pub lost: Vec<RunId>,
    /// Runs that were kept and that nobody wants; asked to stop.
    pub stopped: Vec<RunId>,
    /// Runs that were published and never claimed, and that nobody wants; they will not start any more.
    pub forbidden: Vec<RunId>,
    /// Processes that outlived their run and were killed.
    pub processes_killed: u32,
    /// Half-made run directories that were removed.
    pub directories_removed: u32,
    /// What could not be done, one line each.
    pub problems: Vec<String>,
}

pub(super) fn sweep(runs: &Path, seal: &RunSeal, live: &[RunId]) -> Result<SweepReport, RunDirError> {
    let live: HashSet<&RunId> = live.iter().collect();
    let mut report = SweepReport::default();
    let mut ended = HashSet::new();
    for entry in fs::read_dir(runs).map_err(RunDirError::io("list", runs))? {
        let entry = entry.map_err(RunDirError::io("list", runs))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if is_staging_name(name) {
            remove_staging(&entry.path(), name, &mut report);
            continue;
        }
        let Ok(run) = RunId::new(name) else { continue };
        let (directory, wanted) = (RunDir::for_run(runs, &run), live.contains(&run));
        // What no host has made is nobody's run.
        let settled = match directory.is_of(&run, seal) {
            Ok(true) => settle(&directory, &run, wanted, &mut report),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        match settled {
            Ok(true) => {
                ended.insert(entry.path());
            }
            Ok(false) => {}
            Err(error) => report.problems.push(format!("run {run}: {}", error_chain(&error))),
        }
    }
    // Whatever carries the mark of a run that is over has no business any more.
    match marked_by_runs() {
        Ok(processes) => {
            for (process, _) in processes.into_iter().filter(|(_, run)| ended.contains(run)) {
                report.processes_killed += 1;
                if let Err(error) = process.signal(Signal::KILL) {
                    report.problems.push(format!("cannot end the left-over process {}: {error}", process.pid));
                }
            }
        }
        Err(error) => report.problems.push(format!("cannot look for left-over processes: {error}")),
    }
    Ok(report)
}

/// Settles a run; whether it is over.
fn settle(directory: &RunDir, run: &RunId, wanted: bool, report: &mut SweepReport) -> Result<bool, RunDirError> {
    // Ended runs are kept for years, and what they ended with is of no use here: looking for the file is enough.
    if directory.exists(&directory.file(name::EXIT))? {
        return Ok(true);
    }
    match directory.state()? {
        RunState::Ended(_) => Ok(true),
        RunState::Abandoned => {
            let end = abandoned::settle(directory, run)?;
            report.processes_killed += end.leftovers_killed;
            report.lost.push(run.clone());
            Ok(true)
        }
        RunState::Kept | RunState::Unclaimed if wanted => Ok(false),
        RunState::Kept => {
            directory.record_stop(StopCause::Cancelled)?;
            if let Err(error) = nudge(directory) {
                report.problems.push(format!("run {run}: {}", error_chain(&error)));
            }
            report.stopped.push(run.clone());
            Ok(false)
        }
        RunState::Unclaimed => {
            // A keeper on its way would read this before it executes anything.
            directory.record_stop(StopCause::Cancelled)?;
            report.forbidden.push(run.clone());
            Ok(false)
        }
    }
}

fn remove_staging(path: &Path, name: &str, report: &mut SweepReport) {
    let at_work = staging_owner(name).is_some_and(|owner| ProcessIdentity::read(owner.pid) == Some(owner));
    if at_work {
        return;
    }
    match fs::remove_dir_all(path) {
        Ok(()) => report.directories_removed += 1,
        Err(error) => report.problems.push(format!("cannot remove {}: {error}", path.display())),
    }
}
