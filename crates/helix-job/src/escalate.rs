//! What becomes of a phase that cannot go on: advisers first, then a person.
//!
//! Must not know who the adviser is or how a person is reached.

use super::attempt::PhaseContext;
use super::event::{Advice, AdviceAction};
use super::illegal::Illegal;
use super::spec::AskPerson;
use super::state::{Dependents, LeftOutBy, PhaseProgress, PhaseState};
use crate::question::About;
use helix_core::run::{Outcome, Retry, Terminal, TerminalKind};
use helix_language::{ErrorView, correction, recorded};

impl PhaseProgress {
    /// The next stage of the escalation.
    pub(super) fn escalate(&mut self, context: &PhaseContext<'_>, error: ErrorView) {
        // Rounds are never used twice: the run of a round is found again by its name, with its old answer.
        let round = self.advice.len() as u32 + 1;
        let asked = self.advice.len().saturating_sub(self.advice_epoch) as u32;
        if context.adviser && asked < context.policy.escalation.advice_rounds {
            self.state = PhaseState::Escalating { round, error };
            return;
        }
        self.ask_person(context, error);
    }

    fn ask_person(&mut self, context: &PhaseContext<'_>, error: ErrorView) {
        // What the plan calls optional is not worth anybody's night.
        if context.phase.optional || context.policy.escalation.person == AskPerson::Never {
            return self.settle_failed(context, error);
        }
        let about = About::Escalation { conflict: context.conflict };
        self.state = PhaseState::Asking { about, trouble: Some(error) };
    }

    /// Carries out what an adviser proposed; the phases of a split are added by the caller.
    pub(super) fn advised(&mut self, context: &PhaseContext<'_>, round: u32, advice: &Advice) -> Result<(), Illegal> {
        let error = match &self.state {
            PhaseState::Escalating { round: at, error } if *at == round => error.clone(),
            _ => return Err(self.wrong_state()),
        };
        self.advice.push(advice.clone());
        if self.cancelled(context) {
            return Ok(());
        }
        match &advice.action {
            AdviceAction::Retry { hint } => self.try_with_hint(context, &error, hint),
            AdviceAction::OtherModel { model, hint } => {
                self.model = Some(model.clone());
                self.try_with_hint(context, &error, hint);
            }
            AdviceAction::Split { phases } => {
                let names: Vec<&str> = phases.iter().map(|phase| phase.id.as_str()).collect();
                let why = recorded!("cause-replaced", phases = names.join(", "));
                self.state = PhaseState::Skipped { why, dependents: Dependents::Run, by: LeftOutBy::Replacement };
            }
            AdviceAction::Skip if context.phase.optional => self.settle_failed(context, error),
            AdviceAction::Unusable { .. } if may_give_some_next_time(advice) => self.escalate(context, error),
            // Only a person may leave out what the plan needs.
            AdviceAction::Skip | AdviceAction::GiveUp | AdviceAction::Unusable { .. } => {
                self.ask_person(context, error);
            }
        }
        Ok(())
    }

    /// One more try that is told what was wrong and what to do about it.
    pub(super) fn try_with_hint(&mut self, context: &PhaseContext<'_>, error: &ErrorView, hint: &str) {
        let hint = hint.trim();
        let summary = match hint {
            "" => error.words(),
            hint => error.words().and("\n\n").and(recorded!("cause-with-hint", hint = hint)),
        };
        let findings = self.last_findings();
        self.grant_attempt(context, correction(summary, findings));
    }
}

/// Whether to ask again: an agent that knows no structured output gives none the next time, and what a provider refuses for good it
/// refuses again.
fn may_give_some_next_time(advice: &Advice) -> bool {
    let Some(facts) = &advice.side.facts else { return true };
    let well = |terminal: &&Terminal| terminal.kind == TerminalKind::Success && !terminal.is_error;
    let without = facts.terminal.as_ref().filter(well).is_some_and(|terminal| !terminal.structured_output);
    !facts.record_unknown && !without && Outcome::from_facts(facts).retry() != Retry::Never
}
