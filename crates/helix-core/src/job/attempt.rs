//! How one phase moves through its tries: the rules for accepting, correcting, waiting and giving up.
//!
//! Must not know other phases: what depends on what is `decide`'s business.

use std::time::Duration;

use jiff::Timestamp;

use super::event::{Committed, GateReport};
use super::spec::Policy;
use super::state::{Between, Dependents, PhaseProgress, PhaseState, RunEnded, Stage, Try};
use super::view::ErrorView;
use crate::finding::{Correction, Fault, FaultKind, Finding, Verdict};
use crate::ids::AgentSessionId;
use crate::plan::{OnFailure, Phase};
use crate::run::{Outcome, Retry};

/// Corrections that go into the same agent session before a new one is started with a summary (issue "engine": after the
/// second).
const CORRECTIONS_IN_ONE_SESSION: usize = 2;

/// What a phase's rules may look at besides its own progress.
pub(super) struct Ground<'a> {
    pub(super) phase: &'a Phase,
    pub(super) policy: &'a Policy,
    pub(super) cancelling: bool,
    pub(super) at: Timestamp,
}

/// What to do after a try that was not accepted.
enum Next {
    Again { resume: Option<AgentSessionId>, not_before: Option<Timestamp> },
    GiveUp { hint: Option<String> },
}

impl PhaseProgress {
    pub(super) fn begin(&mut self, new: Try) -> Result<(), String> {
        let next = self.tries.len() as u32 + 1;
        if new.number != next {
            return Err(format!("try {next} comes next in phase {}", self.id));
        }
        match &self.state {
            PhaseState::Pending | PhaseState::Between(_) => {
                self.tries.push(new);
                self.state = PhaseState::Working { stage: Stage::Agent };
                Ok(())
            }
            PhaseState::Working { .. }
            | PhaseState::Passed { .. }
            | PhaseState::Failed { .. }
            | PhaseState::Skipped { .. }
            | PhaseState::Cancelled => Err(format!("phase {} is not waiting for a try", self.id)),
        }
    }

    pub(super) fn run_finished(&mut self, attempt: u32, ended: RunEnded) -> Result<(), String> {
        self.at_stage(attempt, Stage::Agent)?.run_end = Some(ended);
        // Good or not, what the agent left is committed first: no output is ever lost.
        self.state = PhaseState::Working { stage: Stage::Committing };
        Ok(())
    }

    pub(super) fn committed(&mut self, ground: &Ground<'_>, attempt: u32, result: &Committed) -> Result<(), String> {
        let this = self.at_stage(attempt, Stage::Committing)?;
        this.result = Some(result.clone());
        let Some(ended) = this.run_end.clone() else {
            return Err("the run has not ended".into());
        };
        if ground.cancelling {
            self.state = PhaseState::Cancelled;
            return Ok(());
        }
        match ended.outcome.retry() {
            Retry::Accept if ground.phase.gates.is_empty() => self.pass(result, ground.at),
            Retry::Accept => self.state = PhaseState::Working { stage: Stage::Gating { gate: 0 } },
            Retry::Resume | Retry::Fresh | Retry::Later(_) | Retry::Never => self.run_rejected(ground, &ended),
        }
        Ok(())
    }

    pub(super) fn gate_finished(
        &mut self,
        ground: &Ground<'_>,
        attempt: u32,
        gate: usize,
        report: &GateReport,
    ) -> Result<(), String> {
        let this = self.at_stage(attempt, Stage::Gating { gate })?;
        let Some(result) = this.result.clone() else {
            return Err("the try has no result".into());
        };
        if report.tree != result.tree {
            return Err(format!("the gate looked at tree {}, the result is {}", report.tree, result.tree));
        }
        this.gates.push(report.clone());
        match &report.verdict {
            Verdict::Pass if gate + 1 < ground.phase.gates.len() => {
                self.state = PhaseState::Working { stage: Stage::Gating { gate: gate + 1 } };
            }
            Verdict::Pass => self.pass(&result, ground.at),
            Verdict::Fail { findings } => {
                let summary = format!("gate {} found: {}", report.gate, report.summary);
                self.gate_rejected(ground, Correction { summary, findings: findings.clone() });
            }
            Verdict::Inconclusive { fault } => self.gate_inconclusive(ground, report, fault),
        }
        Ok(())
    }

    pub(super) fn faulted(&mut self, ground: &Ground<'_>, attempt: u32, fault: &Fault) -> Result<(), String> {
        let preparing = attempt == self.tries.len() as u32 + 1;
        match &self.state {
            PhaseState::Pending | PhaseState::Between(_) if preparing => {}
            PhaseState::Working { .. } if attempt == self.tries.len() as u32 => {
                if let Some(this) = self.tries.last_mut() {
                    this.fault = Some(fault.clone());
                }
            }
            PhaseState::Pending
            | PhaseState::Between(_)
            | PhaseState::Working { .. }
            | PhaseState::Passed { .. }
            | PhaseState::Failed { .. }
            | PhaseState::Skipped { .. }
            | PhaseState::Cancelled => return Err(format!("phase {} is not at try {attempt}", self.id)),
        }
        self.give_up(ground, fault.message.clone(), fault.hint.clone());
        Ok(())
    }

    pub(super) fn cancel_unless_running(&mut self) {
        match &self.state {
            PhaseState::Pending | PhaseState::Between(_) | PhaseState::Working { stage: Stage::Gating { .. } } => {
                self.state = PhaseState::Cancelled
            }
            // The agent has to be stopped and its work committed first.
            PhaseState::Working { stage: Stage::Agent | Stage::Committing }
            | PhaseState::Passed { .. }
            | PhaseState::Failed { .. }
            | PhaseState::Skipped { .. }
            | PhaseState::Cancelled => {}
        }
    }

    fn at_stage(&mut self, attempt: u32, expected: Stage) -> Result<&mut Try, String> {
        match &self.state {
            PhaseState::Working { stage } if *stage == expected => {}
            other => return Err(format!("phase {} is at {other:?}, not at {expected:?}", self.id)),
        }
        match self.tries.last_mut() {
            Some(last) if last.number == attempt => Ok(last),
            Some(_) | None => Err(format!("try {attempt} is not the current try of phase {}", self.id)),
        }
    }

    fn pass(&mut self, result: &Committed, at: Timestamp) {
        self.state = PhaseState::Passed { result: result.clone(), at };
    }

    fn run_rejected(&mut self, ground: &Ground<'_>, ended: &RunEnded) {
        let summary = format!("The last run did not complete: {}.", describe(&ended.outcome));
        let next = self.after_run(ground, ended);
        self.follow(ground, next, Correction { summary, findings: Vec::new() });
    }

    fn after_run(&self, ground: &Ground<'_>, ended: &RunEnded) -> Next {
        let give_up = || Next::GiveUp { hint: remedy(&ended.outcome) };
        let again = |resume, not_before| Next::Again { resume, not_before };
        match ended.outcome.retry() {
            // Accepted runs never come here; giving up is the answer that cannot be a false "done".
            Retry::Never | Retry::Accept => give_up(),
            Retry::Later(until) => {
                // A provider that names a time is believed as long as the work gets on in between; one that names it again and
                // again, or one that is past, must not keep the job busy for ever.
                let repeats = if until.is_some() { self.fruitless_streak() } else { self.transient_streak() };
                if repeats > ground.policy.transient_retries {
                    return give_up();
                }
                let pause = backoff(ground.policy, ground.at, self.transient_streak());
                again(self.session(), Some(until.map_or(pause, |until| until.max(pause))))
            }
            Retry::Resume | Retry::Fresh if self.counted_tries() >= ground.phase.max_attempts => give_up(),
            Retry::Resume => again(self.session(), None),
            Retry::Fresh => again(None, None),
        }
    }

    fn gate_rejected(&mut self, ground: &Ground<'_>, correction: Correction) {
        let next = if self.counted_tries() >= ground.phase.max_attempts {
            Next::GiveUp {
                hint: Some(format!("see `helix jobs show` for the findings of all {} tries", self.tries.len())),
            }
        } else if self.repeats_itself(&correction.findings) {
            Next::GiveUp { hint: Some("the last try changed nothing and was told the same before".into()) }
        } else {
            Next::Again { resume: self.session_for_correction(), not_before: None }
        };
        self.follow(ground, next, correction);
    }

    fn gate_inconclusive(&mut self, ground: &Ground<'_>, report: &GateReport, fault: &Fault) {
        match fault.kind {
            // The surroundings are at fault: trying the agent again cannot mend them.
            FaultKind::ToolMissing | FaultKind::Environment => {
                self.give_up(
                    ground,
                    format!("gate {} could not be run: {}", report.gate, fault.message),
                    fault.hint.clone(),
                );
            }
            FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable => {
                let finding = Finding {
                    rule: format!("{}.inconclusive", report.gate),
                    message: fault.message.clone(),
                    place: None,
                    evidence: None,
                    fix: fault.hint.clone(),
                };
                let summary = format!("gate {} could not confirm the work: {}", report.gate, fault.message);
                self.gate_rejected(ground, Correction { summary, findings: vec![finding] });
            }
        }
    }

    fn follow(&mut self, ground: &Ground<'_>, next: Next, correction: Correction) {
        match next {
            Next::Again { resume, not_before } => {
                self.state = PhaseState::Between(Between { not_before, correction, resume });
            }
            Next::GiveUp { hint } => self.give_up(ground, correction.summary, hint),
        }
    }

    fn give_up(&mut self, ground: &Ground<'_>, message: String, hint: Option<String>) {
        self.state = if ground.phase.optional {
            PhaseState::Skipped { why: format!("optional, and failed: {message}"), dependents: Dependents::Run }
        } else {
            match ground.phase.on_failure {
                OnFailure::Skip => PhaseState::Skipped { why: message, dependents: Dependents::Skip },
                OnFailure::Escalate | OnFailure::Fail => {
                    PhaseState::Failed { error: ErrorView { message, hint }, at: ground.at }
                }
            }
        };
    }

    /// Tries that count against `max_attempts`: all but those that ended in the provider's trouble.
    pub(super) fn counted_tries(&self) -> u32 {
        self.tries.iter().filter(|one| !is_transient(one)).count() as u32
    }

    /// Tries in a row, up to the last one, that ended in the provider's trouble.
    fn transient_streak(&self) -> u32 {
        self.tries.iter().rev().take_while(|one| is_transient(one)).count() as u32
    }

    /// Those of them, up to the last one, that also left the work as it was.
    fn fruitless_streak(&self) -> u32 {
        let fruitless = |one: &&Try| is_transient(one) && one.result.as_ref().is_none_or(|result| !result.moved);
        self.tries.iter().rev().take_while(fruitless).count() as u32
    }

    fn session(&self) -> Option<AgentSessionId> {
        self.tries.last()?.run_end.as_ref()?.session.clone()
    }

    fn session_for_correction(&self) -> Option<AgentSessionId> {
        let session = self.session()?;
        let resumed = self.tries.iter().rev().take_while(|one| one.resume.as_ref() == Some(&session)).count();
        (resumed < CORRECTIONS_IN_ONE_SESSION).then_some(session)
    }

    /// Whether the last try was told these findings, changed nothing and got them again.
    fn repeats_itself(&self, findings: &[Finding]) -> bool {
        self.tries.last().is_some_and(|last| {
            last.result.as_ref().is_some_and(|result| !result.moved)
                && last.correction.as_ref().is_some_and(|told| told.findings == findings)
        })
    }
}

fn is_transient(one: &Try) -> bool {
    one.run_end.as_ref().is_some_and(|ended| matches!(ended.outcome.retry(), Retry::Later(_)))
}

/// Exponential pause: the first figure of the policy, doubled for every repeat in the streak, up to the longest.
fn backoff(policy: &Policy, at: Timestamp, streak: u32) -> Timestamp {
    let doubled =
        policy.backoff_first_ms.saturating_mul(1_u64.checked_shl(streak.saturating_sub(1)).unwrap_or(u64::MAX));
    let pause = Duration::from_millis(doubled.min(policy.backoff_max_ms));
    at.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// An outcome in a few words, for people and for the agent's next prompt.
pub fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed(_) => "it completed".into(),
        Outcome::CompletedWithDenials(done) => format!("it completed, {} tool call(s) were denied", done.denials()),
        Outcome::TasksLost { tasks } => format!("{tasks} background task(s) were lost"),
        Outcome::LocalCommand => "only a local command ran; the model was not asked".into(),
        Outcome::Truncated { evidence } => format!("it was cut off ({evidence})"),
        Outcome::Incomplete { missing } => format!("it ended without {missing}"),
        Outcome::StoppedByHook => "a hook stopped it".into(),
        Outcome::Interrupted => "it was interrupted from outside".into(),
        Outcome::Cancelled => "it was cancelled".into(),
        Outcome::TimedOut => "it ran into its time limit".into(),
        Outcome::Stalled => "nothing happened for too long".into(),
        Outcome::Lost => "its keeper is gone and nobody saw it end".into(),
        Outcome::RateLimited { resets_at: Some(at) } => format!("the provider's limit is reached until {at}"),
        Outcome::RateLimited { resets_at: None } => "the provider's rate limit is reached".into(),
        Outcome::Overloaded { http_status: Some(status) } => format!("the provider failed with HTTP {status}"),
        Outcome::Overloaded { http_status: None } => "the provider could not be reached".into(),
        Outcome::Credentials { billing: true } => "the provider's account has no money left".into(),
        Outcome::Credentials { billing: false } => "the provider does not accept the credentials".into(),
        Outcome::ContextOverflow => "the conversation does not fit the model's context".into(),
        Outcome::LimitReached { limit } => format!("its limit was reached ({limit:?})").to_lowercase(),
        Outcome::Refused => "the model refused".into(),
        Outcome::Unstarted { reason } => format!("the agent did not start: {}", reason.trim()),
        Outcome::Misconfigured => "the agent cannot work as configured".into(),
        Outcome::Failed(crate::run::Failure::Declared { message, .. }) => format!("the agent reports: {message}"),
        Outcome::Failed(crate::run::Failure::Contradicted { evidence }) => {
            format!("its record contradicts itself: {evidence}")
        }
    }
}

/// What a person can do about an outcome that cannot be mended by trying again.
pub fn remedy(outcome: &Outcome) -> Option<String> {
    let text = match outcome {
        Outcome::Credentials { billing: true } => "add credit to the provider's account, then start the job again",
        Outcome::Credentials { billing: false } => {
            "log in with the agent's own CLI or set its API key in helix.toml, then run `helix doctor`"
        }
        Outcome::Overloaded { .. } | Outcome::RateLimited { .. } => "the provider is in trouble: try again later",
        Outcome::Unstarted { .. } | Outcome::Misconfigured => {
            "run `helix doctor`: it tries the agent and names what is missing"
        }
        Outcome::Refused => "reword the phase's description",
        Outcome::LimitReached { .. } => "raise max_turns or budget_usd of the phase, or split it",
        Outcome::TimedOut => "raise the phase's timeout, or split it",
        Outcome::ContextOverflow => "split the phase: its conversation does not fit the model's context",
        Outcome::Failed(_)
        | Outcome::TasksLost { .. }
        | Outcome::LocalCommand
        | Outcome::Truncated { .. }
        | Outcome::Incomplete { .. }
        | Outcome::StoppedByHook
        | Outcome::Interrupted
        | Outcome::Stalled
        | Outcome::Lost => "read the run's log: `helix jobs logs`",
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) | Outcome::Cancelled => return None,
    };
    Some(text.into())
}
