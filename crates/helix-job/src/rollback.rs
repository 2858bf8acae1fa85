//! What follows a delivery: its health is watched, and what failed is taken back; by Helix itself once, further times by a
//! person's word. A phase whose delivery was taken back has failed, whatever its plan says of failures.
//!
//! Must not know how anything is watched or taken back.

use super::attempt::PhaseContext;
use super::event::{Baseline, DeliveryStep, Reverted, Rollback};
use super::illegal::Illegal;
use super::person::Person;
use super::state::{Active, Attempt, Begun, JobState, PhaseProgress, PhaseState, Stage};
use super::view::DeliveryState;
use helix_core::evidence::GateReport;
use helix_core::finding::{Fault, Verdict};
use helix_core::ids::PhaseId;
use helix_core::said::Words;
use helix_language::{ErrorView, RECORD, recorded, summed_up};
use helix_plan::{Delivery, GateSpec, Phase};

/// Why nothing is taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RollbackError {
    /// It may still deliver.
    #[error("the job is not over yet: `helix jobs cancel JOB` first, or wait for its end")]
    Running,
    /// No such phase.
    #[error("the plan has no phase {phase}")]
    UnknownPhase { phase: PhaseId },
    /// Nothing was delivered.
    #[error("nothing to roll back: the job has delivered nothing{}", .phase.as_ref().map(|phase| format!(" in phase {phase}")).unwrap_or_default())]
    NothingDelivered { phase: Option<PhaseId> },
    /// The plan has no way back.
    #[error("nothing to roll back with: gate {gate} of phase {phase} has no `rollback`")]
    NoCommands { phase: PhaseId, gate: &'static str },
    /// A second time needs to be meant.
    #[error("phase {phase} was rolled back already ({how}): `helix jobs rollback JOB --again` does it once more")]
    Again { phase: PhaseId, how: String },
}

impl JobState {
    /// The delivery that a person takes back: the last one of the phase, or of the whole job, as phase, attempt and gate.
    ///
    /// # Errors
    /// [`RollbackError`].
    pub fn to_roll_back(&self, phase: Option<&PhaseId>, again: bool) -> Result<(PhaseId, u32, usize), RollbackError> {
        let Self::Ended(active, _) = self else { return Err(RollbackError::Running) };
        if let Some(phase) = phase.filter(|phase| active.progress(phase).is_none()) {
            return Err(RollbackError::UnknownPhase { phase: phase.clone() });
        }
        let wanted = active.deliveries().filter(|(definition, ..)| phase.is_none_or(|phase| definition.id == *phase));
        let Some((definition, attempt, begun)) = wanted.max_by_key(|(.., begun)| begun.at) else {
            return Err(RollbackError::NothingDelivered { phase: phase.cloned() });
        };
        let phase = definition.id.clone();
        match definition.gates.get(begun.gate) {
            Some(spec) if spec.delivery().is_none_or(|delivery| delivery.rollback.is_empty()) => {
                return Err(RollbackError::NoCommands { phase, gate: spec.name() });
            }
            Some(_) | None => {}
        }
        match begun.rollbacks.iter().rev().find(|one| one.begun_at.is_some()) {
            Some(before) if !again => Err(RollbackError::Again { phase, how: RECORD.words(&before.words(begun)) }),
            Some(_) | None => Ok((phase, attempt, begun.gate)),
        }
    }
}

impl Active {
    /// All that the job has begun to deliver, with phase and attempt, in the plan's order.
    pub fn deliveries(&self) -> impl Iterator<Item = (&Phase, u32, &Begun)> {
        self.pairs().flat_map(|(phase, progress)| {
            let attempts = progress.attempts.iter();
            attempts.flat_map(move |one| one.begun.iter().map(move |begun| (phase, one.begin.attempt, begun)))
        })
    }

    /// What a gate's delivery in an attempt of the phase can be brought back to.
    pub fn baseline(&self, phase: &PhaseId, attempt: u32, gate: usize) -> Option<&Baseline> {
        let of = |one: &&Attempt| one.begin.attempt == attempt;
        self.progress(phase)?.attempts.iter().find(of)?.delivery(gate)?.baseline.as_ref()
    }

    pub(super) fn rollback_requested(
        &mut self,
        id: &PhaseId,
        attempt: u32,
        gate: usize,
        by: &Person,
        again: bool,
        over: bool,
    ) -> Result<(), Illegal> {
        let progress = self.phases.iter_mut().find(|progress| progress.id == *id);
        let progress = progress.ok_or_else(|| Illegal::UnknownPhase(id.clone()))?;
        let begun = progress.begun_at(attempt, gate)?;
        if !again && begun.rollbacks.iter().any(|one| one.begun_at.is_some()) {
            return Err(progress.illegal("was rolled back already"));
        }
        progress.roll_back(attempt, gate, Some(by.clone()), over)?;
        self.cancel = None;
        Ok(())
    }

    pub(super) fn revert(&mut self, reverted: &Reverted) -> Result<(), Illegal> {
        // A second one is of a merge that was not in the branch at the first.
        let known = self.reverted.as_ref().is_some_and(|before| before.commit == reverted.commit);
        if known || self.merges.is_empty() {
            return Err(Illegal::Job("there is no merged result to revert"));
        }
        self.reverted = Some(reverted.clone());
        Ok(())
    }
}

impl PhaseProgress {
    /// Goes on after a delivery's commands and probes: to its health, to the way back, or not at all. Nothing is taken back of
    /// what never began to run.
    pub(super) fn follow_delivery(&mut self, delivery: &Delivery, gate: usize, report: &GateReport) -> bool {
        let Some(attempt) = self.attempts.last_mut() else { return false };
        let number = attempt.begin.attempt;
        let Some(begun) = attempt.begun.iter_mut().find(|begun| begun.gate == gate) else { return false };
        begun.good = report.verdict.passed() && delivery.health.is_none();
        if report.verdict.passed() && delivery.health.is_some() {
            self.state =
                PhaseState::Working { stage: Stage::Watching(DeliveryStep { attempt: number, gate, round: 0 }) };
            return true;
        }
        // Where the end of a command was not seen, a person looks first.
        let seen = matches!(report.verdict, Verdict::Fail { .. }) && !report.steps.is_empty();
        let failed = seen && !delivery.rollback.is_empty();
        failed && self.roll_back(number, gate, None, false).is_ok()
    }

    pub(super) fn health_checked(
        &mut self,
        context: &PhaseContext<'_>,
        step: DeliveryStep,
        report: &GateReport,
    ) -> Result<(), Illegal> {
        self.at_step(Stage::Watching(step))?;
        let begun = self.begun_at(step.attempt, step.gate)?;
        if step.round > 0 {
            begun.rollbacks.last_mut().into_iter().for_each(|last| last.health = Some(report.clone()));
            self.rolled_back(context, step, None);
            return Ok(());
        }
        begun.good = report.verdict.passed();
        self.check_tree(&report.tree)?;
        // The gate has passed when its health has: one answer, with all that was seen.
        let gate = self.attempts.last_mut().and_then(|last| last.gates.get_mut(step.gate));
        let Some(gate) = gate else { return Err(self.wrong_state()) };
        gate.verdict = report.verdict.clone();
        // That it was carried out counts where it is also healthy.
        let carried_out = if report.verdict.passed() { gate.words().and("; ") } else { Words::default() };
        *gate = summed_up(gate.clone(), carried_out.and(report.words()));
        gate.steps.extend(report.steps.iter().cloned());
        if !(gate.notes_said.is_empty() && report.notes_said.is_empty()) {
            gate.notes_said = gate.notes().chain(report.notes()).collect();
        }
        gate.notes.extend(report.notes.iter().cloned());
        gate.duration_ms = gate.duration_ms.saturating_add(report.duration_ms);
        let gate = gate.clone();
        let has_way_back = delivery_of(context.phase, step.gate).is_some_and(|one| !one.rollback.is_empty());
        match &report.verdict {
            Verdict::Fail { .. } if has_way_back => return self.roll_back(step.attempt, step.gate, None, false),
            Verdict::Pass | Verdict::Fail { .. } | Verdict::Inconclusive { .. } => {}
        }
        self.gate_answered(context, step.gate, &gate);
        Ok(())
    }

    pub(super) fn rollback_begun(&mut self, context: &PhaseContext<'_>, step: DeliveryStep) -> Result<(), Illegal> {
        self.at_step(Stage::RollingBack(step))?;
        let again = self.illegal("has begun to roll back already");
        let last = self.begun_at(step.attempt, step.gate)?.rollbacks.last_mut();
        match last.filter(|last| last.begun_at.is_none()) {
            Some(last) => last.begun_at = Some(context.at),
            None => return Err(again),
        }
        Ok(())
    }

    pub(super) fn rollback_finished(
        &mut self,
        context: &PhaseContext<'_>,
        step: DeliveryStep,
        report: &GateReport,
    ) -> Result<(), Illegal> {
        self.at_step(Stage::RollingBack(step))?;
        let not_begun = Illegal::NotBegun { phase: self.id.clone(), gate: step.gate };
        let last = self.begun_at(step.attempt, step.gate)?.rollbacks.last_mut().ok_or(not_begun.clone())?;
        if report.verdict.passed() && last.begun_at.is_none() {
            return Err(not_begun);
        }
        last.report = Some(report.clone());
        if report.verdict.passed() && self.begun_at(step.attempt, step.gate)?.watched && !context.cancelling {
            self.state = PhaseState::Working { stage: Stage::Watching(step) };
        } else {
            self.rolled_back(context, step, None);
        }
        Ok(())
    }

    /// Whether the rollback that is under way has begun.
    pub(super) fn has_begun_rollback(&self, step: DeliveryStep) -> bool {
        let attempt = self.attempts.iter().find(|one| one.begin.attempt == step.attempt);
        let last = attempt.and_then(|one| one.delivery(step.gate)).and_then(|begun| begun.rollbacks.last());
        last.is_some_and(|last| last.begun_at.is_some())
    }

    /// Whether it can only fail any more, or has.
    pub(super) fn has_failed(&self) -> bool {
        matches!(
            self.state,
            PhaseState::Failed { .. }
                | PhaseState::Working {
                    stage: Stage::RollingBack(_) | Stage::Watching(DeliveryStep { round: 1.., .. })
                }
        )
    }

    /// Whether something that it has delivered since the job was last resumed was taken back.
    pub(super) fn was_rolled_back(&self) -> bool {
        self.has_failed()
            || self.current_attempts().iter().flat_map(|one| &one.begun).any(|begun| !begun.rollbacks.is_empty())
    }

    fn roll_back(&mut self, attempt: u32, gate: usize, by: Option<Person>, over: bool) -> Result<(), Illegal> {
        let begun = self.begun_at(attempt, gate)?;
        begun.good = false;
        begun.rollbacks.push(Rollback { by, over, begun_at: None, report: None, health: None });
        let round = begun.rollbacks.len() as u32;
        self.state = PhaseState::Working { stage: Stage::RollingBack(DeliveryStep { attempt, gate, round }) };
        Ok(())
    }

    /// The phase has failed: by its delivery, or by a person's word. A fault is what kept the way back from its end.
    pub(super) fn rolled_back(&mut self, context: &PhaseContext<'_>, step: DeliveryStep, fault: Option<&Fault>) {
        let attempt = self.attempts.iter().find(|one| one.begin.attempt == step.attempt);
        let Some((attempt, begun)) = attempt.and_then(|one| Some((one, one.delivery(step.gate)?))) else { return };
        let Some(last) = begun.rollbacks.last() else { return };
        let why = match (&last.by, attempt.gates.get(step.gate)) {
            (Some(by), _) => recorded!("cause-rolled-back-by", by = by),
            (None, Some(report)) => recorded!("cause-gate", gate = &report.gate, why = report.words()),
            (None, None) => recorded!("cause-delivery"),
        };
        let hint = match last.state(begun) {
            DeliveryState::RolledBack if last.by.is_some() => recorded!("hint-deliver"),
            DeliveryState::RolledBack => recorded!("hint-deliver-again"),
            _ => recorded!("hint-person-needed"),
        };
        let trouble = fault.map(|fault| Words::from("; ").and(ErrorView::of_fault(fault).words())).unwrap_or_default();
        let message = why.and("; ").and(last.words(begun)).and(trouble);
        // A remedy that says the same is enough.
        let remedy = fault.map(|fault| ErrorView::of_fault(fault).hint_words());
        let remedy = remedy.filter(|remedy| !remedy.is_empty() && RECORD.words(remedy) != RECORD.words(&hint));
        let hint = remedy.map(|remedy| remedy.and("; ")).unwrap_or_default().and(hint);
        self.settle_failed(context, ErrorView::of_words(message, hint));
    }

    fn at_step(&self, stage: Stage) -> Result<(), Illegal> {
        if self.state == (PhaseState::Working { stage }) { Ok(()) } else { Err(self.wrong_state()) }
    }

    fn begun_at(&mut self, attempt: u32, gate: usize) -> Result<&mut Begun, Illegal> {
        let not_begun = Illegal::NotBegun { phase: self.id.clone(), gate };
        let this = self.attempts.iter_mut().find(|one| one.begin.attempt == attempt);
        this.and_then(|one| one.begun.iter_mut().find(|begun| begun.gate == gate)).ok_or(not_begun)
    }
}

impl Rollback {
    /// What it made of the delivery. Where the gate has a health check, only that proves that all of it went well.
    pub fn state(&self, begun: &Begun) -> DeliveryState {
        match (self.report.as_ref().map(|report| &report.verdict), self.health.as_ref().map(|health| &health.verdict)) {
            (Some(Verdict::Pass), Some(Verdict::Pass)) => DeliveryState::RolledBack,
            (Some(Verdict::Pass), None) if !begun.watched => DeliveryState::RolledBack,
            (Some(Verdict::Pass), None | Some(Verdict::Inconclusive { .. })) => DeliveryState::RollbackUnproved,
            (_, _) => DeliveryState::RollbackFailed,
        }
    }

    /// What came of it, for people.
    pub fn words(&self, begun: &Begun) -> Words {
        let to = begun.baseline.as_ref().map(|baseline| match &baseline.job {
            Some(_) => recorded!("rolled-back-to", commit = baseline.commit.as_str()),
            None => recorded!("rolled-back-first"),
        });
        let back = recorded!("rolled-back", to = to.unwrap_or_default());
        let because = |words: Words, why: Words| words.and(" (").and(why).and(")");
        match (self.report.as_ref().map(|report| (&report.verdict, report.words())), &self.health) {
            (None, _) if self.begun_at.is_none() => recorded!("rolled-back-not"),
            (None, _) => recorded!("rolled-back-unknown"),
            (Some((Verdict::Inconclusive { .. }, why)), _) => because(recorded!("rolled-back-unknown"), why),
            (Some((Verdict::Fail { .. }, why)), _) => because(recorded!("rolled-back-failed"), why),
            (Some((Verdict::Pass, _)), None) if begun.watched => back.and(recorded!("rolled-back-unseen")),
            (Some((Verdict::Pass, _)), None) => back.and(recorded!("rolled-back-unwatched")),
            (Some((Verdict::Pass, _)), Some(health)) => match &health.verdict {
                Verdict::Pass => back.and(recorded!("rolled-back-healthy")),
                Verdict::Fail { .. } => because(back.and(recorded!("rolled-back-unhealthy")), health.words()),
                Verdict::Inconclusive { .. } => because(back.and(recorded!("rolled-back-unclear")), health.words()),
            },
        }
    }
}

fn delivery_of(phase: &Phase, gate: usize) -> Option<&Delivery> {
    phase.gates.get(gate).and_then(GateSpec::delivery)
}
