//! From a job's end to an exit code, by the types of the evidence. Must not look at any text.

use helix_core::finding::{FaultKind, Verdict};
use helix_core::job::{Active, JobEnd, JobState, Try};
use helix_core::run::Outcome;

use crate::exit::Exit;

/// The exit code of a job that is over. `interrupted`: this command asked it to stop.
pub(super) fn of_job(state: &JobState, interrupted: bool) -> Exit {
    match (state.end(), state.active()) {
        (Some(JobEnd::Succeeded), _) => Exit::Success,
        (Some(JobEnd::Cancelled { .. }), _) if interrupted => Exit::Interrupted,
        (Some(JobEnd::Failed { .. }), Some(active)) if last_tries(active).any(environment_at_fault) => {
            Exit::Environment
        }
        (Some(JobEnd::Cancelled { .. } | JobEnd::Failed { .. }), _) => Exit::No,
        (None, _) => Exit::Helix,
    }
}

/// The last try of every phase that did not pass.
fn last_tries(active: &Active) -> impl Iterator<Item = &Try> {
    use helix_core::job::PhaseState;
    active
        .phases
        .iter()
        .filter(|progress| matches!(progress.state, PhaseState::Failed { .. }))
        .filter_map(helix_core::job::PhaseProgress::last_try)
}

fn environment_at_fault(last: &Try) -> bool {
    let by_run = last.run_end.as_ref().is_some_and(|ended| match &ended.outcome {
        Outcome::Unstarted { .. } | Outcome::Credentials { .. } => true,
        Outcome::Completed(_)
        | Outcome::CompletedWithDenials(_)
        | Outcome::TasksLost { .. }
        | Outcome::LocalCommand
        | Outcome::Truncated { .. }
        | Outcome::Incomplete { .. }
        | Outcome::StoppedByHook
        | Outcome::Interrupted
        | Outcome::Cancelled
        | Outcome::TimedOut
        | Outcome::Stalled
        | Outcome::Lost
        | Outcome::RateLimited { .. }
        | Outcome::Overloaded { .. }
        | Outcome::ContextOverflow
        | Outcome::LimitReached { .. }
        | Outcome::Refused
        | Outcome::Misconfigured
        | Outcome::Failed(_) => false,
    });
    let by_gate = last.gates.iter().any(|report| match &report.verdict {
        Verdict::Inconclusive { fault } => matches!(fault.kind, FaultKind::ToolMissing | FaultKind::Environment),
        Verdict::Pass | Verdict::Fail { .. } => false,
    });
    by_run || by_gate
}
