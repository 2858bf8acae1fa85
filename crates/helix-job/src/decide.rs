//! What is to be done next: a pure, total function of a job's state and the time.
//!
//! Level-triggered: the answer names everything that should be under way, and a host starts what is not. Crash recovery is
//! therefore no special path. Must not know how any effect is carried out.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;

use super::budget::Remaining;
use super::event::{DeliveryStep, JobEnd, NotIntegrated};
use super::spec::Grant;
use super::state::{Active, Between, Dependents, Integration, JobState, PhaseProgress, PhaseState, Stage};
use crate::question::{About, Question};
use helix_core::evidence::Tip;
use helix_core::finding::Correction;
use helix_core::ids::{AgentSessionId, CommitId, PhaseId};
use helix_core::said::{Said, Words};
use helix_language::{ErrorView, recorded};
use helix_plan::{Approval, Phase};

/// Work for a host. Idempotent by [`Effect::key`]: doing it twice is the same as once.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Check inputs, make the worktree, then record `AttemptStarted`.
    StartAttempt {
        phase: PhaseId,
        /// Which try, from 1.
        attempt: u32,
        /// Results of the phases it depends on; empty means the job's base.
        parents: Vec<Tip>,
        /// Where the try starts, if not at the parents: the commit of the try before it, and the phase's base.
        after: Option<(CommitId, CommitId)>,
        /// Agent session to resume.
        resume: Option<AgentSessionId>,
        /// What the agent is told about the try before it.
        correction: Option<Correction>,
        /// What is reserved for its run.
        grant: Grant,
    },
    /// Carry out what a try is doing, or attach to what a former host began, then record its end: `RunFinished`,
    /// `ResultCommitted`, `PhasesProposed` or `PhasesRejected`, `GateFinished`, `ReviewFinished`, `HealthChecked`,
    /// `RollbackFinished`. A gate that acts outside of the
    /// repository is carried out by the host that has recorded its beginning and by no other: nobody else knows how far it came.
    Work { phase: PhaseId, attempt: u32, stage: Stage },
    /// Ask the adviser about a phase that cannot go on, then record `AdviceGiven`.
    Advise {
        phase: PhaseId,
        /// Which round, from 1.
        round: u32,
    },
    /// Stop the run of an agent, a reviewer or an adviser; its end is recorded by the effect that it belongs to.
    Stop(Box<Effect>),
    /// Record `QuestionAsked`.
    Ask {
        /// The phase that waits.
        phase: PhaseId,
        question: Box<Question>,
    },
    /// Record `QuestionExpired`.
    Expire {
        /// The phase that waits.
        phase: PhaseId,
        /// Number of the question in it.
        number: u32,
    },
    /// Make the checks that are still missing of a tree that is to be delivered, then record `DeliveryBegun`; or
    /// `GateFinished`, if they say that it must not be.
    BeginDelivery {
        phase: PhaseId,
        attempt: u32,
        /// Index in the phase's list.
        gate: usize,
    },
    /// Look whether a delivery can be taken back at all, then record `RollbackBegun`; or `RollbackFinished`, if it cannot. As with a
    /// delivery, only the host that has recorded the beginning carries it out.
    BeginRollback { phase: PhaseId, step: DeliveryStep },
    /// Combine the results and bring them into the target branch, then record `Integrated` or `IntegrationFailed`.
    Integrate {
        /// Results that no other result contains.
        tips: Vec<Tip>,
    },
    /// Record `JobFinished`.
    Conclude { end: JobEnd },
}

/// What is to be under way, and when to ask again if nothing happens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// In the plan's order.
    pub effects: Vec<Effect>,
    /// The next time at which the answer changes by itself.
    pub wake_at: Option<Timestamp>,
}

impl Effect {
    /// Names the work: two effects with the same key are the same work.
    pub fn key(&self) -> String {
        match self {
            Self::StartAttempt { phase, attempt, .. } => format!("start/{phase}/{attempt}"),
            Self::Work { phase, attempt, stage } => match *stage {
                Stage::Agent => format!("run/{phase}/{attempt}"),
                Stage::Committing => format!("commit/{phase}/{attempt}"),
                Stage::Reading => format!("read/{phase}/{attempt}"),
                Stage::Gating { gate } => format!("gate/{phase}/{attempt}/{gate}"),
                Stage::Reviewing { gate, round } => format!("review/{phase}/{attempt}/{}/{round}", gate_word(gate)),
                Stage::Watching(step) => format!("health/{}", step_word(phase, step)),
                Stage::RollingBack(step) => format!("rollback/{}", step_word(phase, step)),
            },
            Self::BeginRollback { phase, step } => format!("begin-rollback/{}", step_word(phase, *step)),
            Self::BeginDelivery { phase, attempt, gate } => format!("begin/{phase}/{attempt}/{gate}"),
            Self::Advise { phase, round } => format!("advise/{phase}/{round}"),
            Self::Stop(effect) => format!("stop/{}", effect.key()),
            Self::Ask { phase, question } => format!("ask/{phase}/{}", question.number),
            Self::Expire { phase, number } => format!("expire/{phase}/{number}"),
            // What is put together is part of the name: after a conflict it is other work.
            Self::Integrate { tips } => {
                let commits: Vec<&str> = tips.iter().map(|tip| tip.commit.as_str()).collect();
                format!("integrate/{}", commits.join("+"))
            }
            Self::Conclude { .. } => "conclude".into(),
        }
    }
}

fn gate_word(gate: Option<usize>) -> String {
    gate.map_or_else(|| "verify".into(), |gate| gate.to_string())
}

fn step_word(phase: &PhaseId, step: DeliveryStep) -> String {
    format!("{phase}/{}/{}/{}", step.attempt, step.gate, step.round)
}

/// Decides. Always answers: as long as a job is not over, there is an effect, a time to wait for, or an open question.
pub fn decide(state: &JobState, now: Timestamp) -> Decision {
    match state {
        JobState::New | JobState::Ended(..) => Decision::default(),
        JobState::Active(active) => {
            let index = active.phases.iter().enumerate().map(|(at, progress)| (&progress.id, at)).collect();
            let (left, blocked) = (active.left(), active.blocked());
            Decider { active, index, blocked, now, decision: Decision::default(), working: 0, asking: 0, left }.decide()
        }
    }
}

struct Decider<'a> {
    active: &'a Active,
    /// Where each phase stands in the plan.
    index: HashMap<&'a PhaseId, usize>,
    blocked: HashSet<&'a PhaseId>,
    now: Timestamp,
    decision: Decision,
    working: u32,
    asking: u32,
    left: Remaining,
}

impl<'a> Decider<'a> {
    fn decide(mut self) -> Decision {
        let active = self.active;
        let going_on = active.cancel.is_none() && !self.has_failed();
        for (definition, progress) in active.pairs() {
            self.carry_on(definition, progress);
            if going_on {
                self.ask(definition, progress);
            }
        }
        if going_on {
            for (phase, progress) in active.pairs() {
                self.begin_if_ready(phase, progress);
            }
        }
        if self.working == 0 && self.asking == 0 && self.decision.wake_at.is_none() {
            self.finish();
        }
        self.decision
    }

    /// Asks what a phase waits to ask, and ends questions that nobody has answered in time.
    fn ask(&mut self, phase: &Phase, progress: &PhaseProgress) {
        if let Some(asked) = progress.open_question() {
            match asked.expires_at {
                Some(expires) if expires <= self.now => {
                    self.working += 1;
                    let number = asked.question.number;
                    self.decision.effects.push(Effect::Expire { phase: phase.id.clone(), number });
                }
                Some(expires) => self.wake(expires),
                None => {}
            }
            // What an agent asks while it works does not keep anything from going on.
            if matches!(progress.state, PhaseState::Asking { .. }) {
                self.asking += 1;
            }
            return;
        }
        if let PhaseState::Asking { about, trouble } = &progress.state {
            self.asking += 1;
            let question = Box::new(progress.question(phase, about, trouble.as_ref()));
            self.decision.effects.push(Effect::Ask { phase: phase.id.clone(), question });
        }
    }

    fn wake(&mut self, at: Timestamp) {
        self.decision.wake_at = Some(self.decision.wake_at.map_or(at, |other| other.min(at)));
    }

    fn carry_on(&mut self, definition: &Phase, progress: &PhaseProgress) {
        let (phase, attempt) = (progress.id.clone(), progress.attempts.len() as u32);
        let effect = match progress.state {
            PhaseState::Escalating { round, .. } => Effect::Advise { phase, round },
            PhaseState::Working { stage: Stage::Gating { gate } } if is_to_begin(definition, progress, gate) => {
                Effect::BeginDelivery { phase, attempt, gate }
            }
            PhaseState::Working { stage: Stage::RollingBack(step) } if !progress.has_begun_rollback(step) => {
                Effect::BeginRollback { phase, step }
            }
            PhaseState::Working { stage: stage @ (Stage::Watching(step) | Stage::RollingBack(step)) } => {
                Effect::Work { phase, attempt: step.attempt, stage }
            }
            PhaseState::Working { stage } => Effect::Work { phase, attempt, stage },
            _ => return,
        };
        self.working += 1;
        let side_run = matches!(effect, Effect::Advise { .. } | Effect::Work { stage: Stage::Reviewing { .. }, .. });
        if self.active.cancel.is_some() {
            if side_run || matches!(effect, Effect::Work { stage: Stage::Agent, .. }) {
                self.decision.effects.push(Effect::Stop(Box::new(effect.clone())));
            }
        } else if side_run && self.active.side_runs_wait() {
            return;
        }
        self.decision.effects.push(effect);
    }

    fn begin_if_ready(&mut self, phase: &Phase, progress: &PhaseProgress) {
        let between = match &progress.state {
            PhaseState::Pending => None,
            PhaseState::Between(between) => Some(between),
            _ => return,
        };
        if between.is_none() && (self.blocked.contains(&phase.id) || !self.is_ready(phase)) {
            return;
        }
        if between.is_none() && phase.approval == Some(Approval::Before) && !progress.approved {
            self.asking += 1;
            let about = About::Approval { when: Approval::Before };
            let question = Box::new(progress.question(phase, &about, None));
            self.decision.effects.push(Effect::Ask { phase: phase.id.clone(), question });
            return;
        }
        if let Some(until) = between.and_then(|between| between.not_before).filter(|until| *until > self.now) {
            return self.wake(until);
        }
        let places = self.active.spec.policy.max_parallel.max(1);
        if self.working >= places {
            return;
        }
        // What is reserved for others comes back when they end: then there may be something for this one.
        let Some(grant) = self.left.grant(phase, progress, places - self.working) else { return };
        self.working += 1;
        // A phase that starts anew starts from what it builds on, not from what it left before.
        let last = progress.last_attempt().filter(|_| between.is_some());
        let after = last.and_then(|last| Some((last.result.as_ref()?.commit.clone(), last.begin.base.clone())));
        self.decision.effects.push(Effect::StartAttempt {
            phase: phase.id.clone(),
            attempt: progress.attempts.len() as u32 + 1,
            parents: self.parents(phase),
            after,
            resume: between.and_then(|between: &Between| between.resume.clone()),
            correction: between.map(|between| between.correction.clone()),
            grant,
        });
    }

    fn finish(&mut self) {
        let active = self.active;
        if let Some(by) = &active.cancel {
            return self.conclude(JobEnd::Cancelled { by: by.clone() });
        }
        if let Some((_, progress)) = active.pairs().find(|(_, progress)| is_failed(progress)) {
            let PhaseState::Failed { error, .. } = &progress.state else { return };
            return self.conclude(JobEnd::Failed {
                reason: error.message.clone(),
                phase: Some(progress.id.clone()),
                hint: error.hint.clone(),
                said: error.said.clone(),
            });
        }
        if self.is_unfinished() {
            return self.conclude(self.stuck());
        }
        match &active.integration {
            // What was left out proves nothing: a job with nothing else has not done what it was for.
            Integration::Open if !active.phases.iter().any(is_passed) => {
                let first = active.phases.first().map_or("", |first| first.id.as_str());
                let message = recorded!("cause-all-skipped", phase = first);
                let hint = message.hint();
                self.conclude(failed(message, hint));
            }
            Integration::Open => {
                let tips = self.tips();
                self.decision.effects.push(Effect::Integrate { tips });
            }
            Integration::Done(_) => self.conclude(JobEnd::Succeeded),
            Integration::Failed(NotIntegrated { findings, .. }) => self.conclude(match findings.first() {
                Some(first) => failed(first.words(), first.fix_words()),
                None => failed(recorded!("cause-not-combined"), Words::default()),
            }),
        }
    }

    /// Why phases are left although nothing is under way.
    fn stuck(&self) -> JobEnd {
        match self.active.spent_limit() {
            Some(Said { message, hint }) => failed(message, hint),
            // Cannot happen with a validated plan; answering is what makes `decide` total.
            None => failed(recorded!("cause-no-start"), Words::default()),
        }
    }

    fn conclude(&mut self, end: JobEnd) {
        self.decision.effects.push(Effect::Conclude { end });
    }

    fn has_failed(&self) -> bool {
        self.active.phases.iter().any(PhaseProgress::has_failed) || self.is_over_budget()
    }

    fn is_over_budget(&self) -> bool {
        self.active.spent_limit().is_some() && self.is_unfinished()
    }

    /// Whether a phase is left that could still be tried.
    fn is_unfinished(&self) -> bool {
        let blocked =
            |progress: &PhaseProgress| progress.state == PhaseState::Pending && self.blocked.contains(&progress.id);
        self.active.phases.iter().any(|progress| !progress.is_settled() && !blocked(progress))
    }

    fn is_ready(&self, phase: &Phase) -> bool {
        phase.depends_on.iter().all(|id| {
            let state = self.index.get(id).and_then(|at| Some(&self.active.phases.get(*at)?.state));
            matches!(state, Some(PhaseState::Passed { .. } | PhaseState::Skipped { dependents: Dependents::Run, .. }))
        })
    }

    /// Results of the nearest passed phases that the phase needs, in the plan's order; a skipped one hands on its own parents.
    fn parents(&self, phase: &'a Phase) -> Vec<Tip> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&PhaseId> = phase.depends_on.iter().collect();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            let Some(at) = self.index.get(id).copied().filter(|at| seen.insert(*at)) else { continue };
            if self.active.phases.get(at).is_some_and(is_passed) {
                found.insert(at);
            } else if let Some(phase) = self.active.spec.plan.phases.get(at) {
                open.extend(&phase.depends_on);
            }
        }
        found.into_iter().filter_map(|at| self.active.phases.get(at).and_then(tip)).collect()
    }

    /// Results that no other passed phase starts from.
    fn tips(&self) -> Vec<Tip> {
        let ancestry = self.active.spec.plan.ancestry();
        let passed: Vec<_> = self.active.phases.iter().filter(|progress| is_passed(progress)).collect();
        let contained: HashSet<&PhaseId> =
            passed.iter().flat_map(|progress| ancestry.before(&progress.id)).map(|phase| &phase.id).collect();
        passed.into_iter().filter(|progress| !contained.contains(&progress.id)).filter_map(tip).collect()
    }
}

/// The end of a job that failed as a whole.
fn failed(reason: Words, hint: Words) -> JobEnd {
    let ErrorView { message: reason, hint, said } = ErrorView::of_words(reason, hint);
    JobEnd::Failed { reason, phase: None, hint, said }
}

fn tip(progress: &PhaseProgress) -> Option<Tip> {
    match &progress.state {
        PhaseState::Passed { result, .. } => Some(Tip { phase: progress.id.clone(), commit: result.commit.clone() }),
        _ => None,
    }
}

/// Whether the gate acts outside of the repository and its beginning is not on record.
fn is_to_begin(phase: &Phase, progress: &PhaseProgress, gate: usize) -> bool {
    phase.gates.get(gate).is_some_and(|spec| spec.delivery().is_some())
        && !progress.last_attempt().is_some_and(|this| this.has_begun(gate))
}

fn is_passed(progress: &PhaseProgress) -> bool {
    matches!(progress.state, PhaseState::Passed { .. })
}

fn is_failed(progress: &PhaseProgress) -> bool {
    matches!(progress.state, PhaseState::Failed { .. })
}
