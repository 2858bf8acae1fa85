//! What the events of a job add up to. Every status that anybody sees is a projection of this.
//!
//! Must not know what is to be done next: that is `decide`.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{
    Advice, AttemptStart, Baseline, DeliveryStep, Integrated, JobEnd, JobEvent, NotIntegrated, Recorded, Reverted,
    Review, Rollback, RunEnded, Validated,
};
use super::illegal::{Illegal, IllegalEvent};
use super::person::{Attempted, Person};
use super::spec::JobSpec;
use super::view::Accepted;
use crate::question::{About, Question, QuestionStatus};
use helix_core::evidence::{Committed, GateReport, SelfRunning};
use helix_core::finding::{Correction, Fault};
use helix_core::ids::{AgentSessionId, CommitId, PhaseId};
use helix_core::said::Words;
use helix_core::usage::Usage;
use helix_language::ErrorView;
use helix_plan::Phase;

/// A job as its events have made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum JobState {
    #[default]
    New,
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
    /// When it ended and when it went on again, each time.
    pub idle: Vec<(Timestamp, Timestamp)>,
    /// One entry for each phase, in the plan's order.
    pub phases: Vec<PhaseProgress>,
    /// Who wants it to stop, if anybody does. Never unset.
    pub cancel: Option<Person>,
    /// How far the results have come.
    pub integration: Integration,
    /// The commits that brought results into the target branch, or beside it, oldest first; never removed.
    pub merges: Vec<CommitId>,
    /// Results that contradicted each other, with the phases that bring them together.
    pub conflicts: Vec<Conflict>,
    /// How its merged result was taken out again, if it was.
    pub reverted: Option<Reverted>,
    /// What its agents asked for although only a person may, oldest first.
    pub attempted: Vec<Attempted>,
}

/// Results that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The phase that brings them together; its attempts, gates and reviews are among the phases'.
    pub phase: PhaseId,
    /// The phases whose results contradict each other, in the order in which they are combined.
    pub between: Vec<PhaseId>,
    /// Files in conflict.
    pub paths: Vec<String>,
}

/// A phase and all its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseProgress {
    pub id: PhaseId,
    /// Oldest first; never removed.
    pub attempts: Vec<Attempt>,
    pub state: PhaseState,
    /// Whether a person has let it begin, where one has to.
    pub approved: bool,
    /// Tries before this one (an index) were made before the job was resumed: they count no more.
    pub epoch: usize,
    /// Tries that were granted on top of the plan's limit.
    pub extra_attempts: u32,
    /// The model of further attempts, where an adviser has named another.
    pub model: Option<String>,
    /// What advisers have proposed, oldest first; never removed.
    pub advice: Vec<Advice>,
    /// Advice before this one (an index) was given before the job was resumed: it counts no more.
    pub advice_epoch: usize,
    /// What persons were asked, oldest first.
    pub questions: Vec<AskedQuestion>,
    /// Who wrote it.
    pub planned_by: PlannedBy,
    /// Files that run by themselves which a person has let in, as they were shown.
    pub let_in: Vec<SelfRunning>,
    /// What failed around it last, when that is not the agent's doing.
    pub fault: Option<Fault>,
}

/// Who wrote a phase: what its outputs name counts as a person's word, as the plan's, or as neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedBy {
    /// A person submitted the plan that it stands in.
    Person,
    /// It stands in the plan of somebody who is not known for certain, such as an agent in a chat.
    Somebody,
    /// It joined the plan while the job went on: an agent added it, or a conflict did.
    Agent,
}

/// A question with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion {
    pub question: Question,
    /// When it was asked.
    pub at: Timestamp,
    /// When it stops waiting.
    pub expires_at: Option<Timestamp>,
    /// Who has approved it so far, where more than one has to.
    pub approved_by: Vec<Person>,
    pub status: QuestionStatus,
}

/// Where a phase stands.
#[derive(Debug, Clone, PartialEq)]
pub enum PhaseState {
    Pending,
    /// The last try is under way.
    Working {
        /// What it is doing.
        stage: Stage,
    },
    /// The last try was not accepted; another will follow.
    Between(Between),
    /// It waits for a person. The question is asked as soon as it can be recorded.
    Asking {
        about: About,
        /// What led here, when something failed.
        trouble: Option<ErrorView>,
    },
    /// It has no attempts left; an adviser is asked what to do.
    Escalating {
        /// Which round, from 1; rounds before the job was resumed included.
        round: u32,
        error: ErrorView,
    },
    /// Its run completed and all its gates passed on this commit.
    Passed {
        result: Committed,
        at: Timestamp,
    },
    /// It will not pass.
    Failed {
        /// Why, and what to do.
        error: ErrorView,
        at: Timestamp,
    },
    /// The job goes on without it.
    Skipped {
        why: Words,
        /// Whether phases that depend on it run all the same.
        dependents: Dependents,
        /// Who left it out.
        by: LeftOutBy,
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

/// Who decided that the job goes on without a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOutBy {
    /// The submitter of the job chose other phases.
    Request,
    /// A person who was asked.
    Person,
    /// Other phases stand in its place and pass its checks.
    Replacement,
    /// The plan: nobody was asked, so what it was to check is still to be proven.
    Plan,
}

/// What a try is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Agent,
    /// What it left is being committed.
    Committing,
    /// The phases that it proposes are being read.
    Reading,
    /// This gate is running.
    Gating {
        /// Index in the phase's list, from 0.
        gate: usize,
    },
    /// A reviewer looks at the result.
    Reviewing {
        /// Index of the gate that asks for it; `None` is the phase's own `verify`.
        gate: Option<usize>,
        /// Which round, from 1.
        round: u32,
    },
    /// The health of what was delivered, or brought back, is watched.
    Watching(DeliveryStep),
    /// What was delivered is taken back.
    RollingBack(DeliveryStep),
}

/// The pause between two attempts.
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
pub struct Attempt {
    pub begin: AttemptStart,
    pub started_at: Timestamp,
    /// The end of its run.
    pub run_end: Option<RunEnded>,
    pub result: Option<Committed>,
    /// What had to be put right to make its commit, and what that lacks.
    pub repairs: Vec<Words>,
    /// Files of the result that run by themselves.
    pub runs_by_itself: Vec<SelfRunning>,
    /// Answers of its gates so far; the answer of each gate has its index.
    pub gates: Vec<GateReport>,
    /// Gates that did not pass and that a person has overruled, oldest first.
    pub accepted: Vec<Accepted>,
    /// Gates that have begun to act outside of the repository.
    pub begun: Vec<Begun>,
    /// Answers of reviewers, oldest first: of gates, and of the verifier (`None`).
    pub reviews: Vec<(Option<usize>, Review)>,
    /// Phases that it proposes, once they are found valid.
    pub proposed: Vec<Phase>,
    /// Numbers of the questions that its agent asked.
    pub asked: Vec<u32>,
    /// What failed around it.
    pub fault: Option<Fault>,
    /// Whether its job was resumed to commit what it had left.
    pub taken_up: bool,
}

/// A gate that has begun to act outside of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// Its index in the phase's list.
    pub gate: usize,
    pub at: Timestamp,
    /// What was checked of the tree before, since it had not been.
    pub validation: Vec<Validated>,
    /// What its target is brought back to.
    pub baseline: Option<Baseline>,
    /// Whether its gate has a health check.
    pub watched: bool,
    /// Whether all of it went well, its health included.
    pub good: bool,
    /// How it was taken back, oldest first.
    pub rollbacks: Vec<Rollback>,
}

/// How far the results have come.
#[derive(Debug, Clone, PartialEq)]
pub enum Integration {
    Open,
    Done(Integrated),
    Failed(NotIntegrated),
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
        let illegal = |why: Illegal| IllegalEvent { number: recorded.number, event: recorded.event.name(), why };
        if let Some(active) = self.active()
            && recorded.number != active.last_event + 1
        {
            return Err(illegal(Illegal::OutOfOrder { next: active.last_event + 1 }));
        }
        match self {
            Self::New => match &recorded.event {
                JobEvent::JobSubmitted { spec } if recorded.number == 1 => {
                    Ok(Self::Active(Box::new(Active::submitted(spec, recorded.at))))
                }
                _ => Err(illegal(Illegal::Job("the job does not exist yet"))),
            },
            Self::Ended(mut active, end) => match &recorded.event {
                JobEvent::JobResumed { by, reopen, restart, budget_usd, check, accept, plan }
                    if end != JobEnd::Succeeded =>
                {
                    active.idle.push((active.last_at, recorded.at));
                    (active.last_event, active.last_at) = (recorded.number, recorded.at);
                    if let Some(plan) = plan {
                        active.replan(plan, restart, by).map_err(illegal)?;
                    }
                    active.resume(reopen, restart, *budget_usd).map_err(illegal)?;
                    active.check_again(by, check, accept.as_deref()).map_err(illegal)?;
                    Ok(Self::Active(active))
                }
                JobEvent::RollbackRequested { phase, attempt, gate, by, again, over } => {
                    active.idle.push((active.last_at, recorded.at));
                    (active.last_event, active.last_at) = (recorded.number, recorded.at);
                    active.rollback_requested(phase, *attempt, *gate, by, *again, *over).map_err(illegal)?;
                    Ok(Self::Active(active))
                }
                JobEvent::Reverted(reverted) => {
                    // The job has ended when it did.
                    active.last_event = recorded.number;
                    active.revert(reverted).map_err(illegal)?;
                    Ok(Self::Ended(active, end))
                }
                _ => Err(illegal(Illegal::Job("the job is over"))),
            },
            Self::Active(mut active) => {
                (active.last_event, active.last_at) = (recorded.number, recorded.at);
                if let JobEvent::JobFinished { end } = &recorded.event {
                    active.check_end(end).map_err(illegal)?;
                    return Ok(Self::Ended(active, end.clone()));
                }
                active.advance(&recorded.event).map_err(illegal)?;
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

impl PhaseState {
    /// What the phase is, for people.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Working { .. } => "running",
            Self::Between(_) => "waiting for its next attempt",
            Self::Asking { .. } => "waiting for a person",
            Self::Escalating { .. } => "waiting for advice",
            Self::Passed { .. } => "passed",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Attempt {
    /// An attempt that begins.
    pub fn new(begin: AttemptStart, started_at: Timestamp) -> Self {
        Self {
            begin,
            started_at,
            run_end: None,
            result: None,
            repairs: Vec::new(),
            runs_by_itself: Vec::new(),
            gates: Vec::new(),
            accepted: Vec::new(),
            begun: Vec::new(),
            reviews: Vec::new(),
            proposed: Vec::new(),
            asked: Vec::new(),
            fault: None,
            taken_up: false,
        }
    }

    /// Whether a gate has begun to act outside of the repository.
    pub fn has_begun(&self, gate: usize) -> bool {
        self.delivery(gate).is_some()
    }

    /// What a gate has begun to do outside of the repository.
    pub fn delivery(&self, gate: usize) -> Option<&Begun> {
        self.begun.iter().find(|begun| begun.gate == gate)
    }
}

impl PhaseProgress {
    /// How many attempts count until it is given up: those of the plan, and those that were granted since.
    pub fn granted_attempts(&self, phase: &Phase) -> u32 {
        phase.max_attempts.saturating_add(self.extra_attempts)
    }

    pub fn last_attempt(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Tries whose work, if there is any, is in no commit that is known of.
    pub fn unsaved(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|one| one.result.is_none())
    }

    /// What all attempts have consumed.
    pub fn usage(&self) -> Usage {
        let runs = self.attempts.iter().filter_map(|one| one.run_end.as_ref()).map(|ended| ended.usage);
        let reviews = self.attempts.iter().flat_map(|one| &one.reviews).map(|(_, review)| review.side.usage);
        let advice = self.advice.iter().map(|advice| advice.side.usage);
        runs.chain(reviews).chain(advice).fold(Usage::default(), |sum, next| sum + next)
    }

    /// The question that waits for an answer, if one does.
    pub fn open_question(&self) -> Option<&AskedQuestion> {
        self.questions.iter().find(|asked| asked.status == QuestionStatus::Open)
    }

    /// Whether nothing more will happen to it.
    pub fn is_settled(&self) -> bool {
        use PhaseState::{Cancelled, Failed, Passed, Skipped};
        matches!(self.state, Passed { .. } | Failed { .. } | Skipped { .. } | Cancelled)
    }

    /// Whether its next try may begin, as far as the phase itself is concerned.
    pub(super) fn may_begin(&self) -> bool {
        matches!(self.state, PhaseState::Pending | PhaseState::Between(_))
    }
}
