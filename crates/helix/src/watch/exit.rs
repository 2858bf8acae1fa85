//! From a job's end to an exit code, by the types of the evidence. Must not look at any text.

use helix_core::evidence::Land;
use helix_core::finding::{FaultKind, Verdict};
use helix_core::run::{AgentErrorKind, Failure, Outcome};
use helix_job::{Active, Attempt, Integration, IntegrationTarget, JobEnd, JobState, PhaseState};

use crate::error::Exit;

/// The exit code of a job that is over. `interrupted`: this command asked it to stop.
pub(super) fn of_job(state: &JobState, interrupted: bool) -> Exit {
    match (state.end(), state.active()) {
        // What was asked for is not in the user's branch yet.
        (Some(JobEnd::Succeeded), Some(active)) if is_beside(active) => Exit::No,
        // A person's word is no proof.
        (Some(JobEnd::Succeeded), Some(active)) if is_overruled(active) => Exit::NotProved,
        (Some(JobEnd::Succeeded), _) => Exit::Success,
        (Some(JobEnd::Cancelled { .. }), _) if interrupted => Exit::Interrupted,
        (Some(JobEnd::Failed { .. }), Some(active)) if is_environment_fault(active) => Exit::Environment,
        (Some(JobEnd::Cancelled { .. } | JobEnd::Failed { .. }), _) => Exit::No,
        (None, _) => Exit::Helix,
    }
}

fn is_beside(active: &Active) -> bool {
    active.spec.policy.land != Land::Branch
        && matches!(&active.integration, Integration::Done(done) if matches!(done.target, IntegrationTarget::Beside { .. }))
}

/// Whether a phase counts although a gate did not pass.
fn is_overruled(active: &Active) -> bool {
    let passed = |state: &PhaseState| matches!(state, PhaseState::Passed { .. });
    active.phases.iter().any(|progress| passed(&progress.state) && !progress.accepted().is_empty())
}

/// Whether a phase that failed, or the integration, did so through the environment: git, the disk, a program that is missing.
fn is_environment_fault(active: &Active) -> bool {
    let of_phases = active.phases.iter().filter(|progress| matches!(progress.state, PhaseState::Failed { .. }));
    let phases_fault = of_phases.into_iter().any(|progress| {
        progress.fault.as_ref().is_some_and(|fault| is_environment(fault.kind))
            || progress.last_attempt().is_some_and(environment_at_fault)
    });
    let integrations = match &active.integration {
        Integration::Failed(failed) => failed.fault.as_ref(),
        Integration::Open | Integration::Done { .. } => None,
    };
    phases_fault || integrations.is_some_and(|fault| is_environment(fault.kind))
}

fn is_environment(kind: FaultKind) -> bool {
    match kind {
        FaultKind::ToolMissing | FaultKind::Environment | FaultKind::Flaky => true,
        FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable => false,
    }
}

/// Whether the agent, or its provider, refuses what is configured.
fn is_refused(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Failed(Failure::Declared { error, .. }) => error.is_some_and(AgentErrorKind::is_refusal),
        other => matches!(other, Outcome::Unstarted { .. } | Outcome::NoRecord | Outcome::Credentials { .. }),
    }
}

fn environment_at_fault(last: &Attempt) -> bool {
    let by_run = last.run_end.as_ref().is_some_and(|ended| is_refused(&ended.outcome()));
    let by_gate = last.gates.iter().any(|report| match &report.verdict {
        Verdict::Inconclusive { fault } => is_environment(fault.kind),
        Verdict::Pass | Verdict::Fail { .. } => false,
    });
    // What nobody has looked at may be as good as can be.
    let by_review =
        last.reviews.last().is_some_and(|(_, review)| matches!(review.verdict, Verdict::Inconclusive { .. }));
    by_run || by_gate || by_review
}
