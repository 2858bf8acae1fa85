//! What the events of a job add up to. Every status that anybody sees is a projection of this.
//!
//! Must not know what is to be done next: that is `decide`.

use std::sync::Arc;

use jiff::Timestamp;

use super::event::{Committed, GateReport, IntegrationTarget, JobEnd, JobEvent, Recorded};
use super::spec::JobSpec;
use super::view::ErrorView;
use crate::finding::{Correction, Fault, Finding};
use crate::ids::{AgentSessionId, CommitId, PhaseId, RunId};
use crate::plan::Phase;
use crate::run::{Outcome, RunFacts};
use crate::usage::Usage;

/// A job as its events have made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum JobState {
    /// No event yet.
    #[default]
    New,
    /// Being carried out.
    Active(Box<Active>),
    /// Over; no event may follow.
    Ended(Box<Active>, JobEnd),
}

/// The data of a job that exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    /// All that it is to do.
    pub spec: Arc<JobSpec>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// Number of the last event.
    pub last_event: u64,
    /// Time of the last event.
    pub last_at: Timestamp,
    /// One entry for each phase, in the plan's order.
    pub phases: Vec<PhaseProgress>,
    /// Who wants it to stop, if anybody does. Never unset.
    pub cancel: Option<String>,
    /// How far the results have come.
    pub integration: Integration,
}

/// A phase and all its tries.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseProgress {
    /// Which phase.
    pub id: PhaseId,
    /// Oldest first; never removed.
    pub tries: Vec<Try>,
    /// Where it stands.
    pub state: PhaseState,
}

/// Where a phase stands.
#[derive(Debug, Clone, PartialEq)]
pub enum PhaseState {
    /// No try yet.
    Pending,
    /// The last try is under way.
    Working {
        /// What it is doing.
        stage: Stage,
    },
    /// The last try was not accepted; another will follow.
    Between(Between),
    /// Its run completed and all its gates passed on this commit.
    Passed {
        /// The result.
        result: Committed,
        /// When.
        at: Timestamp,
    },
    /// It will not pass.
    Failed {
        /// Why, and what to do.
        error: ErrorView,
        /// When.
        at: Timestamp,
    },
    /// The job goes on without it.
    Skipped {
        /// Why.
        why: String,
        /// Whether phases that depend on it run all the same.
        dependents: Dependents,
    },
    /// The job was stopped before it passed.
    Cancelled,
}

/// What a skipped phase means for those that depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependents {
    /// They run as if it were not there.
    Run,
    /// They are skipped as well.
    Skip,
}

/// What a try is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The agent works.
    Agent,
    /// What it left is being committed.
    Committing,
    /// This gate is running.
    Gating {
        /// Index in the phase's list, from 0.
        gate: usize,
    },
}

/// The pause between two tries.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// Not before this time.
    pub not_before: Option<Timestamp>,
    /// What the agent will be told.
    pub correction: Correction,
    /// The agent session that the next try resumes; `None` starts a new one.
    pub resume: Option<AgentSessionId>,
}

/// One try at a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Try {
    /// From 1.
    pub number: u32,
    /// The agent run.
    pub run: RunId,
    /// Where the phase starts.
    pub base: CommitId,
    /// Where this try starts.
    pub start: CommitId,
    /// When.
    pub started_at: Timestamp,
    /// Agent session that was resumed.
    pub resume: Option<AgentSessionId>,
    /// What the agent was told about the try before it.
    pub correction: Option<Correction>,
    /// The end of its run.
    pub run_end: Option<RunEnded>,
    /// Its commit.
    pub result: Option<Committed>,
    /// Answers of its gates so far.
    pub gates: Vec<GateReport>,
    /// What failed around it.
    pub fault: Option<Fault>,
}

/// How a try's run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnded {
    /// The evidence.
    pub facts: Box<RunFacts>,
    /// What it amounts to.
    pub outcome: Outcome,
    /// What it consumed.
    pub usage: Usage,
    /// The session that can be resumed.
    pub session: Option<AgentSessionId>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

/// How far the results have come.
#[derive(Debug, Clone, PartialEq)]
pub enum Integration {
    /// Not yet.
    Open,
    /// Done.
    Done {
        /// The commit that holds everything.
        result: Committed,
        /// Where it went.
        target: IntegrationTarget,
    },
    /// Not possible.
    Failed {
        /// Why.
        findings: Vec<Finding>,
    },
}

/// An event that cannot follow what happened before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {number} ({event}) cannot follow: {why}")]
pub struct IllegalEvent {
    /// Number of the event in its stream.
    pub number: u64,
    /// Name of the event.
    pub event: &'static str,
    /// Why not.
    pub why: String,
}

impl JobState {
    /// Adds up the events of a stream, from its first.
    ///
    /// # Errors
    /// [`IllegalEvent`] for the first event that cannot follow those before it.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Recorded<JobEvent>>) -> Result<Self, IllegalEvent> {
        events.into_iter().try_fold(Self::New, Self::apply)
    }

    /// Adds one event.
    ///
    /// # Errors
    /// [`IllegalEvent`] when it cannot follow those before it: wrong number, wrong phase or try, wrong stage, or a job
    /// that is over.
    pub fn apply(self, recorded: &Recorded<JobEvent>) -> Result<Self, IllegalEvent> {
        let illegal = |why: String| IllegalEvent { number: recorded.number, event: recorded.event.name(), why };
        match self {
            Self::New => match &recorded.event {
                JobEvent::JobSubmitted { spec } if recorded.number == 1 => {
                    Ok(Self::Active(Box::new(Active::submitted(spec, recorded.at))))
                }
                _ => Err(illegal("the job does not exist yet".into())),
            },
            Self::Ended(..) => Err(illegal("the job is over".into())),
            Self::Active(mut active) => {
                if recorded.number != active.last_event + 1 {
                    return Err(illegal(format!("event {} comes next", active.last_event + 1)));
                }
                active.last_event = recorded.number;
                active.last_at = recorded.at;
                if let JobEvent::JobFinished { end } = &recorded.event {
                    active.check_end(end).map_err(illegal)?;
                    return Ok(Self::Ended(active, end.clone()));
                }
                active.advance(&recorded.event, recorded.at).map_err(illegal)?;
                Ok(Self::Active(active))
            }
        }
    }

    /// The data of a job that exists.
    pub fn active(&self) -> Option<&Active> {
        match self {
            Self::New => None,
            Self::Active(active) | Self::Ended(active, _) => Some(active),
        }
    }

    /// How it ended, if it has.
    pub fn end(&self) -> Option<&JobEnd> {
        match self {
            Self::Ended(_, end) => Some(end),
            Self::New | Self::Active(_) => None,
        }
    }
}

impl Active {
    fn submitted(spec: &JobSpec, at: Timestamp) -> Self {
        let selected = |id: &PhaseId| spec.only.as_ref().is_none_or(|only| only.contains(id));
        let phases = spec.plan.phases.iter().map(|phase| PhaseProgress {
            id: phase.id.clone(),
            tries: Vec::new(),
            state: if selected(&phase.id) {
                PhaseState::Pending
            } else {
                PhaseState::Skipped { why: "not selected".into(), dependents: Dependents::Run }
            },
        });
        Self {
            phases: phases.collect(),
            spec: Arc::new(spec.clone()),
            submitted_at: at,
            last_event: 1,
            last_at: at,
            cancel: None,
            integration: Integration::Open,
        }
    }

    /// The progress of a phase.
    pub fn progress(&self, id: &PhaseId) -> Option<&PhaseProgress> {
        self.phases.iter().find(|progress| &progress.id == id)
    }

    /// A phase's definition and progress, by index in the plan's order.
    pub fn pairs(&self) -> impl Iterator<Item = (&Phase, &PhaseProgress)> {
        self.spec.plan.phases.iter().zip(&self.phases)
    }

    /// What all tries have consumed.
    pub fn usage(&self) -> Usage {
        self.phases.iter().map(PhaseProgress::usage).fold(Usage::default(), |sum, next| sum + next)
    }

    fn check_end(&self, end: &JobEnd) -> Result<(), String> {
        if let Some(busy) = self.phases.iter().find(|progress| matches!(progress.state, PhaseState::Working { .. })) {
            return Err(format!("phase {} is still working", busy.id));
        }
        match end {
            JobEnd::Succeeded if !matches!(self.integration, Integration::Done { .. }) => {
                Err("nothing is integrated".into())
            }
            JobEnd::Succeeded | JobEnd::Failed { .. } | JobEnd::Cancelled { .. } => Ok(()),
        }
    }

    fn advance(&mut self, event: &JobEvent, at: Timestamp) -> Result<(), String> {
        match event {
            JobEvent::JobSubmitted { .. } => Err("the job exists already".into()),
            JobEvent::AttemptStarted { phase, attempt, run, base, start, resume, correction } => {
                if self.cancel.is_some() {
                    return Err("the job is being cancelled".into());
                }
                let new = Try {
                    number: *attempt,
                    run: run.clone(),
                    base: base.clone(),
                    start: start.clone(),
                    started_at: at,
                    resume: resume.clone(),
                    correction: correction.clone(),
                    run_end: None,
                    result: None,
                    gates: Vec::new(),
                    fault: None,
                };
                self.find(phase)?.begin(new)
            }
            JobEvent::RunFinished { phase, attempt, facts, usage, session, duration_ms } => {
                let ended = RunEnded {
                    outcome: Outcome::from_facts(facts),
                    facts: facts.clone(),
                    usage: *usage,
                    session: session.clone(),
                    duration_ms: *duration_ms,
                };
                self.find(phase)?.run_finished(*attempt, ended)
            }
            JobEvent::ResultCommitted { phase, attempt, result } => {
                self.settle(phase, at, |progress, ground| progress.committed(ground, *attempt, result))
            }
            JobEvent::GateFinished { phase, attempt, gate, report } => {
                self.settle(phase, at, |progress, ground| progress.gate_finished(ground, *attempt, *gate, report))
            }
            JobEvent::AttemptFaulted { phase, attempt, fault } => {
                self.settle(phase, at, |progress, ground| progress.faulted(ground, *attempt, fault))
            }
            JobEvent::Integrated { result, target, gates: _ } => {
                self.integrate(Integration::Done { result: result.clone(), target: target.clone() })
            }
            JobEvent::IntegrationFailed { findings } => {
                self.integrate(Integration::Failed { findings: findings.clone() })
            }
            JobEvent::CancelRequested { by } => {
                // Sticky: a second request changes nothing, whoever makes it.
                self.cancel.get_or_insert_with(|| by.clone());
                self.phases.iter_mut().for_each(PhaseProgress::cancel_unless_running);
                Ok(())
            }
            JobEvent::JobFinished { .. } => Err("handled before".into()),
        }
    }

    fn integrate(&mut self, integration: Integration) -> Result<(), String> {
        if !matches!(self.integration, Integration::Open) {
            return Err("the results are integrated already".into());
        }
        let open = self.pairs().find(|(phase, progress)| {
            let unreachable = progress.state == PhaseState::Pending && super::decide::blocked(self, phase);
            !progress.is_settled() && !unreachable
        });
        if let Some((_, open)) = open {
            return Err(format!("phase {} has not ended", open.id));
        }
        self.integration = integration;
        Ok(())
    }

    fn find(&mut self, id: &PhaseId) -> Result<&mut PhaseProgress, String> {
        self.phases.iter_mut().find(|progress| &progress.id == id).ok_or_else(|| format!("there is no phase {id}"))
    }

    fn settle(
        &mut self,
        id: &PhaseId,
        at: Timestamp,
        change: impl FnOnce(&mut PhaseProgress, &super::attempt::Ground<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let spec = Arc::clone(&self.spec);
        let phase = spec.plan.phase(id).ok_or_else(|| format!("there is no phase {id}"))?;
        let cancelling = self.cancel.is_some();
        let ground = super::attempt::Ground { phase, policy: &spec.policy, cancelling, at };
        change(self.find(id)?, &ground)
    }
}

impl PhaseProgress {
    /// The last try.
    pub fn last_try(&self) -> Option<&Try> {
        self.tries.last()
    }

    /// What all tries have consumed.
    pub fn usage(&self) -> Usage {
        self.tries.iter().filter_map(|one| one.run_end.as_ref()).fold(Usage::default(), |sum, ended| sum + ended.usage)
    }

    /// Whether nothing more will happen to it.
    pub fn is_settled(&self) -> bool {
        match self.state {
            PhaseState::Passed { .. }
            | PhaseState::Failed { .. }
            | PhaseState::Skipped { .. }
            | PhaseState::Cancelled => true,
            PhaseState::Pending | PhaseState::Working { .. } | PhaseState::Between(_) => false,
        }
    }
}
