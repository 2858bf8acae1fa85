//! A result that is there and did not pass: it is checked again, or a person accepts it although a gate says no.
//!
//! Must not know how a person is asked. What was accepted is never proved.

use super::attempt::{Check, PhaseContext};
use super::illegal::Illegal;
use super::person::Person;
use super::reopen::ReopenError;
use super::state::{JobState, LeftOutBy, PhaseProgress, PhaseState, Stage};
use super::view::Accepted;
use crate::question::About;
use helix_core::ids::PhaseId;
use helix_plan::{GateSpec, Phase};

impl JobState {
    /// The phases that go on where they stopped, and those whose last result is checked again: this one, or all that can be.
    ///
    /// # Errors
    /// [`ReopenError`].
    pub fn to_check(&self, wanted: Option<&PhaseId>) -> Result<(Vec<PhaseId>, Vec<PhaseId>), ReopenError> {
        let (mut reopen, _) = self.to_reopen(&super::reopen::Reopen::Unfinished)?;
        let Some(active) = self.active() else { return Err(ReopenError::Running) };
        if let Some(phase) = wanted.filter(|phase| active.progress(phase).is_none()) {
            return Err(ReopenError::UnknownPhase { phase: phase.clone() });
        }
        let is_wanted = |progress: &&PhaseProgress| wanted.is_none_or(|phase| *phase == progress.id);
        let check: Vec<PhaseId> = active
            .phases
            .iter()
            .filter(is_wanted)
            .filter(|progress| progress.can_check())
            .map(|progress| progress.id.clone())
            .collect();
        if check.is_empty() {
            return Err(ReopenError::NothingToCheck);
        }
        reopen.retain(|phase| !check.contains(phase));
        Ok((reopen, check))
    }

    /// The phases that go on where they stopped, if this one is accepted as it is.
    ///
    /// # Errors
    /// [`ReopenError`].
    pub fn to_accept(&self, phase: &PhaseId) -> Result<Vec<PhaseId>, ReopenError> {
        let (reopen, _) = self.to_check(Some(phase))?;
        let pair = self.active().and_then(|active| active.pairs().find(|(one, _)| one.id == *phase));
        match pair.and_then(|(definition, progress)| progress.gate_to_accept(definition)) {
            Some(_) => Ok(reopen),
            None => Err(ReopenError::NothingToAccept { phase: phase.clone() }),
        }
    }
}

impl PhaseProgress {
    /// What persons have accepted of the last attempt although a gate did not pass.
    pub fn accepted(&self) -> &[Accepted] {
        self.last_attempt().map(|last| last.accepted.as_slice()).unwrap_or_default()
    }

    /// Whether the phase stands still with a result that gates have begun to judge. One that has acted outside of the repository
    /// is not judged twice.
    pub(super) fn can_check(&self) -> bool {
        let stands = match &self.state {
            PhaseState::Failed { .. } | PhaseState::Cancelled => true,
            PhaseState::Skipped { by, .. } => *by == LeftOutBy::Plan,
            PhaseState::Asking { about, .. } => matches!(about, About::Escalation { .. }),
            PhaseState::Pending
            | PhaseState::Working { .. }
            | PhaseState::Between(_)
            | PhaseState::Escalating { .. }
            | PhaseState::Passed { .. } => false,
        };
        stands
            && self
                .last_attempt()
                .is_some_and(|last| last.result.is_some() && !last.gates.is_empty() && last.begun.is_empty())
    }

    /// The gate that stopped the last attempt, if a person may overrule it: nobody's approval, and nothing that acts elsewhere.
    pub(super) fn gate_to_accept(&self, phase: &Phase) -> Option<usize> {
        let last = self.last_attempt().filter(|_| self.can_check())?;
        let gate = last.gates.len().checked_sub(1)?;
        let spec = phase.gates.get(gate)?;
        let is_persons = matches!(spec, GateSpec::Approval { .. } | GateSpec::Manual { .. });
        let stopped = !last.gates.get(gate)?.verdict.passed();
        (stopped && !is_persons && spec.delivery().is_none()).then_some(gate)
    }

    /// Has the gates judge the last result once more, from the first one.
    pub(super) fn check_again(&mut self, context: &PhaseContext<'_>) -> Result<(), Illegal> {
        if !self.can_check() {
            return Err(self.wrong_state());
        }
        self.fault = None;
        self.close_questions();
        if let Some(last) = self.attempts.last_mut() {
            last.fault = None;
            last.gates.clear();
            last.accepted.clear();
        }
        // Phases that did not fit the plan any more are read once more: without any, it has not done its work.
        let is_unread = self.last_attempt().is_some_and(|last| last.proposed.is_empty());
        if context.phase.generates_phases.is_some() && is_unread {
            self.state = PhaseState::Working { stage: Stage::Reading };
            return Ok(());
        }
        self.check(context, Check::Gate(0));
        Ok(())
    }

    /// Goes on after the gate that stopped the last attempt, as this person wants it. The gate's answer stays what it was.
    pub(super) fn accept(&mut self, context: &PhaseContext<'_>, by: &Person, reason: &str) -> Result<(), Illegal> {
        let Some(gate) = self.gate_to_accept(context.phase) else { return Err(self.wrong_state()) };
        self.fault = None;
        self.close_questions();
        if let Some(last) = self.attempts.last_mut() {
            last.fault = None;
            let name = last.gates.get(gate).map(|report| report.gate.clone()).unwrap_or_default();
            last.accepted.push(Accepted { gate, name, by: by.clone(), reason: reason.to_owned() });
        }
        self.check(context, Check::Gate(gate + 1));
        Ok(())
    }
}
