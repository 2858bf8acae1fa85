//! What becomes of a phase that cannot go on: advisers first, then a person.
//!
//! Must not know who the adviser is or how a person is reached.

use super::attempt::Ground;
use super::event::{Advice, AdviceAction};
use super::spec::AskPerson;
use super::state::{Dependents, LeftOutBy, PhaseProgress, PhaseState};
use super::view::ErrorView;
use crate::question::About;
use helix_core::finding::Correction;

impl PhaseProgress {
    /// The next stage of the escalation.
    pub(super) fn escalate(&mut self, ground: &Ground<'_>, error: ErrorView) {
        // Rounds are never used twice: the run of a round is found again by its name, with its old answer.
        let round = self.advice.len() as u32 + 1;
        let asked = self.advice.len().saturating_sub(self.advice_epoch) as u32;
        if ground.adviser && asked < ground.policy.escalation.advice_rounds {
            self.state = PhaseState::Escalating { round, error };
            return;
        }
        self.ask_person(ground, error);
    }

    fn ask_person(&mut self, ground: &Ground<'_>, error: ErrorView) {
        // What the plan calls optional is not worth anybody's night.
        if ground.phase.optional || ground.policy.escalation.person == AskPerson::Never {
            return self.settle_failed(ground, error);
        }
        let about = About::Escalation { conflict: ground.conflict };
        self.state = PhaseState::Asking { about, trouble: Some(error) };
    }

    /// Carries out what an adviser proposed; the phases of a split are added by the caller.
    pub(super) fn advised(&mut self, ground: &Ground<'_>, round: u32, advice: &Advice) -> Result<(), String> {
        // Journals of former versions count from the last time that the job was resumed.
        let since = round + self.advice_epoch as u32;
        let error = match &self.state {
            PhaseState::Escalating { round: at, error } if *at == round || *at == since => error.clone(),
            other => return Err(format!("phase {} is at {other:?}, not at advice {round}", self.id)),
        };
        self.advice.push(advice.clone());
        if self.cancelled(ground) {
            return Ok(());
        }
        match &advice.action {
            AdviceAction::Retry { hint } => self.try_with_hint(ground, &error, hint),
            AdviceAction::OtherModel { model, hint } => {
                self.model = Some(model.clone());
                self.try_with_hint(ground, &error, hint);
            }
            AdviceAction::Split { phases } => {
                let names: Vec<&str> = phases.iter().map(|phase| phase.id.as_str()).collect();
                let why = format!("replaced by {}", names.join(", "));
                self.state = PhaseState::Skipped { why, dependents: Dependents::Run, by: LeftOutBy::Replacement };
            }
            AdviceAction::Skip if ground.phase.optional => self.settle_failed(ground, error),
            // Only a person may leave out what the plan needs.
            AdviceAction::Skip | AdviceAction::GiveUp => self.ask_person(ground, error),
            AdviceAction::Unusable { .. } => self.escalate(ground, error),
        }
        Ok(())
    }

    /// One more try that is told what was wrong and what to do about it.
    pub(super) fn try_with_hint(&mut self, ground: &Ground<'_>, error: &ErrorView, hint: &str) {
        let hint = hint.trim();
        let summary = match hint {
            "" => error.message.clone(),
            hint => format!("{}\n\nHint for this try: {hint}", error.message),
        };
        let findings = self.last_findings();
        self.grant_try(ground, Correction { summary, findings });
    }
}
