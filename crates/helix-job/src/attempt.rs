//! How one phase moves through its attempts: the rules for accepting, correcting, waiting and giving up.
//!
//! Must not know other phases: what depends on what is `decide`'s business.

use std::time::Duration;

use jiff::Timestamp;

use super::event::{AttemptStart, DeliveryStep, RunEnded};
use super::illegal::Illegal;
use super::person::Person;
use super::phrases::{gate_found, outcome_words};
use super::spec::Policy;
use super::state::{Attempt, Between, Dependents, LeftOutBy, PhaseProgress, PhaseState, Stage};
use crate::question::{About, QuestionStatus};
use helix_core::evidence::{Committed, GateReport};
use helix_core::finding::{Correction, Fault, FaultKind, Finding, Verdict};
use helix_core::ids::{AgentSessionId, RunId, TreeId};
use helix_core::run::{Outcome, Retry};
use helix_core::said::Words;
use helix_language::{ErrorView, correction, finding, finding_with_fix, recorded};
use helix_plan::{Approval, GateSpec, OnFailure, Phase};

/// Corrections that go into the same agent session before a new one is started with a summary (issue "engine": after the
/// second).
const CORRECTIONS_IN_ONE_SESSION: usize = 2;

/// What a phase's rules may look at besides its own progress.
pub(super) struct PhaseContext<'a> {
    pub(super) phase: &'a Phase,
    pub(super) policy: &'a Policy,
    pub(super) adviser: bool,
    /// Whether the phase brings contradicting results together.
    pub(super) conflict: bool,
    pub(super) cancelling: bool,
    /// Who submitted the job.
    pub(super) submitter: Option<&'a Person>,
    pub(super) at: Timestamp,
}

/// What to do after a try that was not accepted.
enum Next {
    Again { resume: Option<AgentSessionId>, not_before: Option<Timestamp> },
    GiveUp { why: GiveUp, hint: Words },
}

/// Why a phase does not get another try.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GiveUp {
    /// The environment is at fault: no agent can fix it, and nobody needs to be asked to see it.
    Environment,
    /// The attempts are used up, or another one would be the same again.
    Exhausted,
}

/// What a result is checked by next, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    Gate(usize),
    Verifier,
    Person,
    Nothing,
}

impl PhaseProgress {
    pub(super) fn begin(&mut self, context: &PhaseContext<'_>, begin: &AttemptStart) -> Result<(), Illegal> {
        if context.phase.approval == Some(Approval::Before) && !self.approved {
            return Err(self.illegal("was not approved to begin"));
        }
        if begin.attempt != self.attempts.len() as u32 + 1 {
            return Err(self.wrong_attempt(begin.attempt));
        }
        // Journals of before had the work done again where a reviewer gave no answer.
        if !self.may_begin() && self.unanswered_review().is_none() {
            return Err(self.wrong_state());
        }
        self.attempts.push(Attempt::new(begin.clone(), context.at));
        self.fault = None;
        self.state = PhaseState::Working { stage: Stage::Agent };
        Ok(())
    }

    pub(super) fn run_finished(&mut self, attempt: u32, ended: RunEnded) -> Result<(), Illegal> {
        self.at_stage(attempt, Stage::Agent)?.run_end = Some(ended);
        // Good or not, what the agent left is committed first: no output is ever lost.
        self.state = PhaseState::Working { stage: Stage::Committing };
        Ok(())
    }

    pub(super) fn committed(
        &mut self,
        context: &PhaseContext<'_>,
        attempt: u32,
        result: &Committed,
        repairs: Vec<Words>,
        findings: &[Finding],
    ) -> Result<(), Illegal> {
        let this = self.at_stage(attempt, Stage::Committing)?;
        this.result = Some(result.clone());
        this.repairs = repairs;
        this.fault = None;
        let Some(ended) = this.run_end.clone() else { return Err(self.illegal("has no result")) };
        if self.cancelled(context) {
            return Ok(());
        }
        let asked = !self.asked_by_agent().is_empty();
        match ended.outcome().retry() {
            // An agent that asked ends its turn to wait for the answer: whatever it left is no result yet.
            Retry::Accept | Retry::Resume | Retry::Fresh if asked => self.wait_for_answers(),
            Retry::Accept if !findings.is_empty() => {
                self.gate_rejected(context, correction(recorded!("cause-result-refused"), findings.to_vec()));
            }
            Retry::Accept if context.phase.generates_phases.is_some() => {
                self.state = PhaseState::Working { stage: Stage::Reading };
            }
            Retry::Accept if is_without_work(context.phase, result) => self.nothing_changed(context),
            Retry::Accept => self.check(context, Check::Gate(0)),
            Retry::Resume | Retry::Fresh | Retry::Later(_) | Retry::Never => self.run_rejected(context, &ended),
        }
        Ok(())
    }

    /// A phase that is there to change files and has changed none did not do its work, whatever its gates would say.
    fn nothing_changed(&mut self, context: &PhaseContext<'_>) {
        let why = recorded!("result-nothing-changed");
        let summary = recorded!("cause-nothing-changed", kind = context.phase.kind.word(), why = &why);
        let finding = finding("phase.nothing_changed", why);
        self.gate_rejected(context, correction(summary, vec![finding]));
    }

    /// What a planning phase returned was read: its phases, or what is wrong with them.
    pub(super) fn proposal_read(
        &mut self,
        context: &PhaseContext<'_>,
        attempt: u32,
        read: Result<&[Phase], &[Finding]>,
    ) -> Result<(), Illegal> {
        let this = self.at_stage(attempt, Stage::Reading)?;
        this.proposed = read.unwrap_or_default().to_vec();
        if self.cancelled(context) {
            return Ok(());
        }
        match read {
            Ok(_) => self.check(context, Check::Gate(0)),
            Err(findings) => {
                self.gate_rejected(context, correction(recorded!("cause-phases-invalid"), findings.to_vec()));
            }
        }
        Ok(())
    }

    /// Goes on to what checks the result next; passes it when nothing is left.
    pub(super) fn check(&mut self, context: &PhaseContext<'_>, next: Check) {
        let phase = context.phase;
        let gate = match next {
            Check::Gate(index) => phase.gates.get(index).map(|spec| (index, spec)),
            Check::Verifier | Check::Person | Check::Nothing => None,
        };
        let reviewed_next = next <= Check::Verifier && phase.verify.is_some();
        if gate.map_or(!reviewed_next, |(_, spec)| spec.delivery().is_some()) {
            let files = self.to_let_in(phase);
            if !files.is_empty() {
                let about = About::RunsByItself { gate: gate.map(|(index, _)| index), files };
                self.state = PhaseState::Asking { about, trouble: None };
                return;
            }
        }
        // A review of this attempt that was made before is not taken for the one that is asked for now.
        let made = |gate| {
            let reviews = self.attempts.last().map(|last| last.reviews.as_slice()).unwrap_or_default();
            reviews.iter().filter(|(other, _)| *other == gate).count() as u32
        };
        self.state = match (gate, self.attempts.last().and_then(|last| last.result.clone())) {
            (Some((gate, GateSpec::Approval { .. } | GateSpec::Manual { .. })), _) => {
                PhaseState::Asking { about: About::Gate { gate }, trouble: None }
            }
            (Some((gate, GateSpec::ReviewApproved { .. })), _) => {
                PhaseState::Working { stage: Stage::Reviewing { gate: Some(gate), round: made(Some(gate)) + 1 } }
            }
            (Some((gate, _)), _) => PhaseState::Working { stage: Stage::Gating { gate } },
            (None, _) if reviewed_next => {
                PhaseState::Working { stage: Stage::Reviewing { gate: None, round: made(None) + 1 } }
            }
            (None, _) if next <= Check::Person && phase.approval == Some(Approval::After) => {
                PhaseState::Asking { about: About::Approval { when: Approval::After }, trouble: None }
            }
            (None, Some(result)) => PhaseState::Passed { result, at: context.at },
            (None, None) => return,
        };
    }

    /// Ends the phase if the job is being stopped; returns whether it is.
    pub(super) fn cancelled(&mut self, context: &PhaseContext<'_>) -> bool {
        if context.cancelling {
            self.close_questions();
            self.state = PhaseState::Cancelled;
        }
        context.cancelling
    }

    pub(super) fn gate_finished(
        &mut self,
        context: &PhaseContext<'_>,
        attempt: u32,
        gate: usize,
        report: &GateReport,
    ) -> Result<(), Illegal> {
        let this = self.at_stage(attempt, Stage::Gating { gate })?;
        let begun = this.has_begun(gate);
        self.check_tree(&report.tree)?;
        let delivers = context.phase.gates.get(gate).is_some_and(|spec| spec.delivery().is_some());
        if delivers && report.verdict.passed() && !begun {
            return Err(Illegal::NotBegun { phase: self.id.clone(), gate });
        }
        self.attempts.last_mut().into_iter().for_each(|this| this.gates.push(report.clone()));
        let delivery = context.phase.gates.get(gate).and_then(GateSpec::delivery).filter(|_| begun);
        if !delivery.is_some_and(|delivery| self.follow_delivery(delivery, gate, report)) {
            self.gate_answered(context, gate, report);
        }
        Ok(())
    }

    /// Goes on after the whole answer of a gate.
    pub(super) fn gate_answered(&mut self, context: &PhaseContext<'_>, gate: usize, report: &GateReport) {
        match &report.verdict {
            Verdict::Pass => self.check(context, Check::Gate(gate + 1)),
            Verdict::Fail { findings } => {
                let summary = recorded!("cause-gate", gate = &report.gate, why = gate_found(report, findings));
                self.gate_rejected(context, correction(summary, findings.clone()));
            }
            Verdict::Inconclusive { fault } => self.gate_inconclusive(context, report, fault),
        }
    }

    pub(super) fn faulted(&mut self, context: &PhaseContext<'_>, attempt: u32, fault: &Fault) -> Result<(), Illegal> {
        let preparing = self.may_begin() && attempt == self.attempts.len() as u32 + 1;
        let working = matches!(self.state, PhaseState::Working { .. });
        let step = match self.state {
            PhaseState::Working { stage: Stage::Watching(step) | Stage::RollingBack(step) } => Some(step.attempt),
            _ => None,
        };
        match self.attempts.last_mut() {
            _ if step == Some(attempt) => {}
            Some(this) if working && this.begin.attempt == attempt => this.fault = Some(fault.clone()),
            Some(_) | None if preparing => {}
            Some(_) | None => return Err(self.wrong_attempt(attempt)),
        }
        self.fault = Some(fault.clone());
        if let PhaseState::Working {
            stage: Stage::RollingBack(step) | Stage::Watching(step @ DeliveryStep { round: 1.., .. }),
        } = self.state
        {
            self.rolled_back(context, step, Some(fault));
            return Ok(());
        }
        self.give_up(context, GiveUp::Environment, ErrorView::of_fault(fault));
        Ok(())
    }

    pub(super) fn cancel_unless_running(&mut self) {
        let gating = matches!(self.state, PhaseState::Working { stage: Stage::Gating { .. } | Stage::Watching(_) });
        // An agent has to be stopped and its work committed first; what is being taken back is taken back to the end.
        if gating || !self.is_busy() && !self.is_settled() {
            self.close_questions();
            self.state = PhaseState::Cancelled;
        }
    }

    /// What speaks against an event of this phase, to follow its name.
    pub(super) fn illegal(&self, why: impl Into<String>) -> Illegal {
        Illegal::Phase { phase: self.id.clone(), why: why.into() }
    }

    /// The event does not fit the state in which the phase is.
    pub(super) fn wrong_state(&self) -> Illegal {
        self.illegal(format!("is {}", self.state.word()))
    }

    fn wrong_attempt(&self, attempt: u32) -> Illegal {
        self.illegal(format!("has attempt {attempt} neither as its current nor as its next one"))
    }

    /// Refuses what was found about another tree than that of the last try's result.
    pub(super) fn check_tree(&self, tree: &TreeId) -> Result<(), Illegal> {
        match self.last_attempt().and_then(|last| last.result.as_ref()) {
            Some(result) if result.tree == *tree => Ok(()),
            Some(_) | None => Err(Illegal::WrongTree { phase: self.id.clone(), tree: tree.clone() }),
        }
    }

    pub(super) fn at_stage(&mut self, attempt: u32, expected: Stage) -> Result<&mut Attempt, Illegal> {
        if self.state != (PhaseState::Working { stage: expected }) {
            return Err(self.wrong_state());
        }
        let wrong = self.wrong_attempt(attempt);
        self.attempts.last_mut().filter(|last| last.begin.attempt == attempt).ok_or(wrong)
    }

    fn run_rejected(&mut self, context: &PhaseContext<'_>, ended: &RunEnded) {
        let summary = recorded!("cause-run", what = outcome_words(&ended.outcome()).message);
        let next = self.after_run(context, ended);
        let findings = ended.facts.repeated.iter().map(|call| {
            let stuck = recorded!("result-stuck", tool = &call.tool, times = call.times);
            let evidence = format!("{}\n{}", call.input, call.error);
            finding("run.stuck", stuck).evidence(&evidence)
        });
        self.follow(context, next, correction(summary, findings.collect()));
    }

    fn after_run(&self, context: &PhaseContext<'_>, ended: &RunEnded) -> Next {
        let outcome = ended.outcome();
        let give_up = |why| Next::GiveUp { why, hint: outcome_words(&outcome).hint };
        let again = |resume, not_before| Next::Again { resume, not_before };
        match outcome.retry() {
            // Accepted runs never come here; giving up is the answer that cannot be a false "done".
            Retry::Never | Retry::Accept => give_up(match outcome {
                // A person or an adviser may word it otherwise.
                Outcome::Refused => GiveUp::Exhausted,
                _ => GiveUp::Environment,
            }),
            Retry::Later(until) => {
                if let Some(hint) = until.and_then(|until| context.policy.too_long_until(until, context.at)) {
                    return Next::GiveUp { why: GiveUp::Environment, hint };
                }
                // A provider that names a time is believed as long as the work gets on in between; one that names it again and
                // again, or one that is past, must not keep the job busy forever.
                let repeats = if until.is_some() { self.fruitless_streak() } else { self.transient_streak() };
                if repeats > context.policy.transient_retries {
                    return give_up(GiveUp::Environment);
                }
                let spread = self.attempts.last().map_or(0.0, |last| spread(&last.begin.run));
                let pause = backoff(context.policy, context.at, self.transient_streak(), spread);
                // Phases that wait for the same moment do not all start in it.
                let stagger = Duration::from_millis((spread * STAGGER_MS) as u64);
                let until = until.map(|until| until.checked_add(stagger).unwrap_or(until));
                again(self.session(), Some(until.map_or(pause, |until| until.max(pause))))
            }
            Retry::Resume | Retry::Fresh if self.is_used_up(context) => give_up(GiveUp::Exhausted),
            // A new session is asked the same.
            Retry::Fresh if outcome == Outcome::ContextOverflow && self.began_too_long(ended) => {
                give_up(GiveUp::Exhausted)
            }
            // A session that could not be resumed is lost: the next try starts one.
            Retry::Resume if self.resume_was_lost() => again(None, None),
            Retry::Resume => again(self.session(), None),
            Retry::Fresh => again(None, None),
        }
    }

    pub(super) fn gate_rejected(&mut self, context: &PhaseContext<'_>, correction: Correction) {
        let exhausted = |hint| Next::GiveUp { why: GiveUp::Exhausted, hint };
        let is_judged = self.last_attempt().is_some_and(|last| !last.gates.is_empty());
        let next = if self.is_used_up(context) {
            exhausted(if is_judged { recorded!("hint-change-task") } else { recorded!("hint-try-again") })
        } else if self.repeats_itself(&correction.findings) {
            exhausted(recorded!("hint-same-findings"))
        } else {
            Next::Again { resume: self.session_for_correction(), not_before: None }
        };
        self.follow(context, next, correction);
    }

    fn gate_inconclusive(&mut self, context: &PhaseContext<'_>, report: &GateReport, fault: &Fault) {
        match fault.kind {
            // The environment is at fault: trying the agent again cannot fix it.
            FaultKind::ToolMissing | FaultKind::Environment | FaultKind::Flaky => {
                let fault = ErrorView::of_fault(fault);
                let message = recorded!("cause-gate-not-run", gate = &report.gate, why = fault.words());
                self.give_up(context, GiveUp::Environment, ErrorView::of_words(message, fault.hint_words()));
            }
            FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable => {
                let told = ErrorView::of_fault(fault);
                let rule = format!("{}.inconclusive", report.gate);
                let finding = finding_with_fix(&rule, told.words(), told.hint_words());
                let summary = recorded!("cause-gate-unsure", gate = &report.gate, why = told.words());
                self.gate_rejected(context, correction(summary, vec![finding]));
            }
        }
    }

    fn follow(&mut self, context: &PhaseContext<'_>, next: Next, correction: Correction) {
        match next {
            Next::Again { .. } if self.is_spent(context.phase) => {
                let message = recorded!("cause-phase-spent", why = correction.headline());
                let error = ErrorView::of_words(message, recorded!("cause-phase-spent.hint"));
                self.give_up(context, GiveUp::Exhausted, error);
            }
            Next::Again { resume, not_before } => {
                let correction = Correction { at: Some(context.at), ..correction };
                self.state = PhaseState::Between(Between { not_before, correction, resume });
            }
            Next::GiveUp { why, hint } => {
                self.give_up(context, why, ErrorView::of_words(correction.headline(), hint));
            }
        }
    }

    pub(super) fn give_up(&mut self, context: &PhaseContext<'_>, why: GiveUp, error: ErrorView) {
        if why == GiveUp::Exhausted && context.phase.on_failure == OnFailure::Escalate {
            return self.escalate(context, error);
        }
        self.settle_failed(context, error);
    }

    pub(super) fn settle_failed(&mut self, context: &PhaseContext<'_>, error: ErrorView) {
        self.close_questions();
        self.state = if self.was_rolled_back() {
            PhaseState::Failed { error, at: context.at }
        } else if context.phase.optional {
            let why = recorded!("cause-optional", why = error.words());
            PhaseState::Skipped { why, dependents: Dependents::Run, by: LeftOutBy::Plan }
        } else {
            match context.phase.on_failure {
                OnFailure::Skip => {
                    PhaseState::Skipped { why: error.words(), dependents: Dependents::Skip, by: LeftOutBy::Plan }
                }
                OnFailure::Escalate | OnFailure::Fail => PhaseState::Failed { error, at: context.at },
            }
        };
    }

    pub(super) fn grant_attempt(&mut self, context: &PhaseContext<'_>, correction: Correction) {
        let allowed = self.counted_attempts() + 1;
        self.extra_attempts = allowed.saturating_sub(context.phase.max_attempts);
        self.state = PhaseState::Between(Between { not_before: None, correction, resume: None });
    }

    /// What the last try was not accepted for.
    pub(super) fn last_findings(&self) -> Vec<Finding> {
        match self.last_attempt().and_then(Attempt::stopped_by) {
            Some((_, Verdict::Fail { findings }, _)) => findings.clone(),
            Some(_) | None => Vec::new(),
        }
    }

    pub(super) fn close_questions(&mut self) {
        for asked in self.questions.iter_mut().filter(|asked| asked.status == QuestionStatus::Open) {
            asked.status = QuestionStatus::Closed;
        }
    }

    fn is_used_up(&self, context: &PhaseContext<'_>) -> bool {
        self.counted_attempts() >= self.granted_attempts(context.phase)
    }

    /// Tries since the job was last resumed.
    pub(super) fn current_attempts(&self) -> &[Attempt] {
        self.attempts.get(self.epoch..).unwrap_or_default()
    }

    /// Whether the last try was to resume a session and never got into it.
    fn resume_was_lost(&self) -> bool {
        self.attempts.last().is_some_and(|last| {
            last.begin.resume.is_some() && last.run_end.as_ref().is_some_and(|ended| !ended.facts.started)
        })
    }

    /// Whether the first request of a new session was too long already.
    fn began_too_long(&self, ended: &RunEnded) -> bool {
        let new = self.attempts.last().is_some_and(|last| last.begin.resume.is_none());
        // Some agents count all that they do as one turn.
        new && !ended.facts.answered && ended.facts.terminal.as_ref().is_some_and(|terminal| terminal.turns <= 1)
    }

    /// Tries that count against `max_attempts`: all but those that ended in the provider's trouble or with a question.
    pub(super) fn counted_attempts(&self) -> u32 {
        self.current_attempts().iter().filter(|one| !is_transient(one) && one.asked.is_empty()).count() as u32
    }

    /// Tries in a row, up to the last one, that ended in the provider's trouble.
    fn transient_streak(&self) -> u32 {
        self.current_attempts().iter().rev().take_while(|one| is_transient(one)).count() as u32
    }

    /// Those of them, up to the last one, that also left the work as it was.
    fn fruitless_streak(&self) -> u32 {
        let fruitless = |one: &&Attempt| is_transient(one) && one.result.as_ref().is_none_or(|result| !result.moved);
        self.current_attempts().iter().rev().take_while(fruitless).count() as u32
    }

    pub(super) fn session(&self) -> Option<AgentSessionId> {
        self.attempts.last()?.run_end.as_ref()?.session.clone()
    }

    fn session_for_correction(&self) -> Option<AgentSessionId> {
        let session = self.session()?;
        let resumed = self.attempts.iter().rev().take_while(|one| one.begin.resume.as_ref() == Some(&session)).count();
        (resumed < CORRECTIONS_IN_ONE_SESSION).then_some(session)
    }

    /// Whether the last try was told these findings, changed nothing and got them again.
    fn repeats_itself(&self, findings: &[Finding]) -> bool {
        self.attempts.last().is_some_and(|last| {
            last.result.as_ref().is_some_and(|result| !result.moved)
                && last.begin.correction.as_ref().is_some_and(|told| told.findings == findings)
        })
    }
}

/// Whether the type of a phase promises work and its result holds none. Declared outputs are checked by their gate, which says
/// of each what is missing.
fn is_without_work(phase: &Phase, result: &Committed) -> bool {
    let claimed = phase.gates.iter().any(|gate| matches!(gate, GateSpec::OutputsClaimed { .. }));
    phase.kind.must_change_files() && !claimed && result.changed.is_empty()
}

fn is_transient(one: &Attempt) -> bool {
    one.run_end.as_ref().is_some_and(|ended| matches!(ended.outcome().retry(), Retry::Later(_)))
}

/// Phases that wait for the same reset are spread over this long, in milliseconds.
const STAGGER_MS: f64 = 5_000.0;

/// Exponential pause: the first figure of the policy, doubled for every repeat in the streak, and up to half as much again, so
/// that phases which failed together do not come back together; never more than the longest.
fn backoff(policy: &Policy, at: Timestamp, streak: u32, spread: f64) -> Timestamp {
    let doubled =
        policy.backoff_first_ms.saturating_mul(1_u64.checked_shl(streak.saturating_sub(1)).unwrap_or(u64::MAX));
    let spread_out = (doubled.min(policy.backoff_max_ms) as f64 * (1.0 + spread / 2.0)).round() as u64;
    let pause = Duration::from_millis(spread_out.min(policy.backoff_max_ms));
    at.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// A number from 0 to below 1 that is the same for the same run: jitter that a replay of the journal reproduces.
fn spread(run: &RunId) -> f64 {
    // FNV-1a, whose upper bits are well mixed for short texts that differ in their last characters after a final multiply.
    let hash = run
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}
