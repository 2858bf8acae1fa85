//! Runs of agents beside a phase's own: reviewers and advisers. Read-only, with a schema, and repeated while the provider is in
//! trouble.
//!
//! Must not know what is asked or what follows from the answer.

use std::time::Duration;

use helix_agents::{AgentAsk, SessionRef, ToolAccess, Walls};
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::{JobId, PhaseId, RunId};
use helix_core::run::{Outcome, Retry};
use helix_core::said::{Said, Words};
use helix_core::usage::Usage;
use helix_job::phrases::outcome_words;
use helix_job::{Active, Policy, SideBudget, SideRun, spent};
use helix_language::{fault_with_hint, recorded};
use helix_process::Prepared;
use jiff::Timestamp;
use serde_json::Value;

use super::effects::{EffectRunner, Stopped, continuing, limit, new_session, phase_of, run_fault};
use crate::agent_run::{AgentRunner, Entry, RunError, RunLimits, RunReport};

/// What is asked of a side run.
pub(super) struct SideAsk {
    /// The first run's name; repeats after the provider's trouble have names of their own.
    pub(super) run: RunId,
    pub(super) phase: PhaseId,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) prompt: String,
    pub(super) schema: Value,
    pub(super) directory: std::path::PathBuf,
    /// What is in the directory besides its files.
    pub(super) prepared: Option<Prepared>,
    pub(super) deadline: Duration,
    /// Names the run for agents that play recordings.
    pub(super) label: String,
    pub(super) take: u32,
}

/// What came of it.
pub(super) struct SideAnswer {
    pub(super) side: SideRun,
    /// The structured output, or why there is none.
    pub(super) answer: Result<Value, Fault>,
}

impl SideAnswer {
    /// The answer of one that could not be asked: the environment is at fault.
    pub(super) fn without_run(run: RunId, fault: Fault) -> Self {
        let answer = Err(Fault { kind: FaultKind::Environment, ..fault });
        Self { side: SideRun { run, facts: None, usage: Usage::default(), duration_ms: 0 }, answer }
    }
}

impl EffectRunner {
    /// Runs it, or goes on with the run that a former host began. `None` when the engine is closing: the run goes on under its
    /// keeper.
    pub(super) async fn side_run(&self, job: &JobId, active: &Active, side: SideAsk) -> Option<SideAnswer> {
        let mut before = Consumed::default();
        let answer = self.repeated_run(job, active, &side, &mut before).await;
        self.forget_stop(&side.run);
        match answer {
            Ok(answer) => Some(answer),
            Err(Stopped::Fault(fault)) => {
                let SideAnswer { side, answer } = SideAnswer::without_run(side.run, fault);
                let Consumed { usage, duration_ms } = before;
                Some(SideAnswer { side: SideRun { usage, duration_ms, ..side }, answer })
            }
            Err(Stopped::Unwanted) => None,
        }
    }

    async fn repeated_run(
        &self,
        job: &JobId,
        active: &Active,
        side: &SideAsk,
        before: &mut Consumed,
    ) -> Result<SideAnswer, Stopped> {
        let runner = self.runner_of(job, active).await?;
        let policy = &active.spec.policy;
        let stop = self.stop_token(&side.run);
        let mut number = 0_u32;
        loop {
            let run = repeat_of(&side.run, number);
            // What a former host has started is read to its end whatever it costs: it has been paid.
            let budget = match (runner.has_begun(&run), active.spent_limit()) {
                (true, _) => before.left_of(active.side_budget()).unwrap_or_default(),
                (false, Some(limit)) => return Err(used_up(limit).into()),
                (false, None) => before.left_of(active.side_budget())?,
            };
            let mut ask = side_ask(&runner, side, &run, budget)?;
            let prepared = side.prepared.clone();
            ask.walls = Walls { prepared, ..self.walls(active, phase_of(active, &side.phase)?).await? };
            self.tell_rules(active, &mut ask).await?;
            let entry = Entry::Ticket(continuing(job, &side.phase));
            let limits = RunLimits { deadline: Some(side.deadline), stop: &stop, entry };
            let mut reporter = self.reporter(job, &side.phase, &run);
            let mut report = match runner.run(&side.agent, &run, || ask, limits, &mut reporter).await {
                Ok(report) => report,
                Err(RunError::Closing) => return Err(Stopped::Unwanted),
                Err(error) => return Err(run_fault(&error).into()),
            };
            before.add(&mut report);
            let outcome = Outcome::from_facts(&report.facts);
            let Said { message, hint } = outcome_words(&outcome);
            let answer = match outcome.retry() {
                Retry::Accept => reporter.structured.ok_or_else(|| unreadable(recorded!("side-no-answer"))),
                Retry::Later(Some(until)) if let Some(hint) = policy.too_long_until(until, Timestamp::now()) => {
                    Err(fault_with_hint(FaultKind::Environment, message, hint))
                }
                Retry::Later(until) if number < policy.transient_retries && !stop.is_cancelled() => {
                    number += 1;
                    tokio::select! {
                        () = tokio::time::sleep(pause(policy, until, number)) => continue,
                        () = stop.cancelled() => Err(unreadable(recorded!("side-stopped"))),
                    }
                }
                Retry::Never | Retry::Later(_) => Err(fault_with_hint(FaultKind::Environment, message, hint)),
                Retry::Resume | Retry::Fresh if outcome == Outcome::TimedOut => {
                    let message = recorded!("side-timed-out", seconds = side.deadline.as_secs());
                    Err(fault_with_hint(FaultKind::Timeout, message, recorded!("side-timed-out.hint")))
                }
                Retry::Resume | Retry::Fresh => Err(unreadable(message)),
            };
            let RunReport { facts, usage, duration_ms, .. } = report;
            return Ok(SideAnswer { side: SideRun { run, facts: Some(Box::new(facts)), usage, duration_ms }, answer });
        }
    }
}

fn side_ask(runner: &AgentRunner, side: &SideAsk, run: &RunId, budget: Option<f64>) -> Result<AgentAsk, Fault> {
    let (session, files) = (SessionRef::New(new_session()?), runner.agent_files(run));
    let mut ask = AgentAsk::new(side.prompt.clone(), session, side.directory.clone(), files);
    ask.model = side.model.clone();
    ask.budget_usd = budget;
    limit(runner, &side.agent, &mut ask);
    ask.schema = Some(side.schema.clone());
    ask.tools = ToolAccess::read_only();
    ask.label = Some(side.label.clone());
    ask.take = Some(side.take);
    Ok(ask)
}

/// What all runs of a side run have consumed so far: the provider is paid for those that are repeated, too.
#[derive(Default)]
struct Consumed {
    usage: Usage,
    duration_ms: u64,
}

impl Consumed {
    /// Adds a run, and makes its report that of all of them.
    fn add(&mut self, report: &mut RunReport) {
        self.usage += report.usage;
        self.duration_ms = self.duration_ms.saturating_add(report.duration_ms);
        (report.usage, report.duration_ms) = (self.usage, self.duration_ms);
    }

    /// What the next run may spend; `None` where nobody has set a limit.
    fn left_of(&self, budget: SideBudget) -> Result<Option<f64>, Fault> {
        match budget {
            SideBudget::Unlimited => Ok(None),
            SideBudget::Usd(usd) if usd > self.usage.cost_usd => Ok(Some(usd - self.usage.cost_usd)),
            SideBudget::Usd(_) | SideBudget::Reserved => Err(used_up(spent(recorded!("spent-reserved")))),
        }
    }
}

fn used_up(limit: Said) -> Fault {
    fault_with_hint(FaultKind::Environment, limit.message, limit.hint)
}

/// Names of the runs that a side run may have, for a host that looks for what a former one left.
pub(crate) fn side_runs(run: &RunId, policy: &Policy) -> Vec<RunId> {
    (0..=policy.transient_retries).map(|number| repeat_of(run, number)).collect()
}

fn repeat_of(run: &RunId, number: u32) -> RunId {
    match number {
        0 => run.clone(),
        // Digits and a letter added to a valid id are a valid id, unless it is as long as ids may be.
        _ => RunId::new(format!("{run}.r{number}")).unwrap_or_else(|_| run.clone()),
    }
}

fn pause(policy: &Policy, until: Option<Timestamp>, number: u32) -> Duration {
    let doubled = policy.backoff_first_ms.saturating_mul(1_u64.checked_shl(number - 1).unwrap_or(u64::MAX));
    let least = Duration::from_millis(doubled.min(policy.backoff_max_ms));
    let named = until.and_then(|until| Duration::try_from(until.duration_since(Timestamp::now())).ok());
    named.map_or(least, |named| named.max(least))
}

pub(super) fn unreadable(message: Words) -> Fault {
    fault_with_hint(FaultKind::Unreadable, message, Words::default())
}

/// Why an answer in JSON is not what was asked for, in words for people and for the agent that gave it. `needed` are the keys
/// without which it is none.
pub(super) fn misfit(answer: &Value, needed: &[&str], error: &serde_json::Error) -> Fault {
    tracing::info!(%error, "an answer has another form than was asked for");
    let lacks = |key: &&&str| answer.get(key).is_none_or(Value::is_null);
    let missing: Vec<String> = needed.iter().filter(lacks).map(|key| format!("`{key}`")).collect();
    unreadable(match missing.as_slice() {
        [] => recorded!("side-misfit"),
        missing => recorded!("side-lacks", keys = missing.join(", ")),
    })
}

#[cfg(test)]
#[path = "side_run_test.rs"]
mod tests;
