//! How a reviewer's answer moves a phase: the verifier's of the phase, or that of a `review_approved` gate.
//!
//! Must not know how a reviewer is asked.

use super::attempt::{Check, GiveUp, PhaseContext};
use super::event::Review;
use super::illegal::Illegal;
use super::state::{PhaseProgress, PhaseState, Stage};
use helix_core::evidence::GateReport;
use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::said::Words;
use helix_language::{ErrorView, correction, recorded};

/// Rounds of one review before a person has to look why it has no answer; the work is not done again for it.
const ROUNDS: u32 = 2;

impl PhaseProgress {
    pub(super) fn review_finished(
        &mut self,
        context: &PhaseContext<'_>,
        attempt: u32,
        gate: Option<usize>,
        round: u32,
        review: &Review,
    ) -> Result<(), Illegal> {
        self.at_stage(attempt, Stage::Reviewing { gate, round })?;
        self.check_tree(&review.tree)?;
        self.at_stage(attempt, Stage::Reviewing { gate, round })?.reviews.push((gate, review.clone()));
        if self.cancelled(context) {
            return Ok(());
        }
        match (&review.verdict, gate) {
            (Verdict::Inconclusive { fault }, _) if !round.is_multiple_of(ROUNDS) && !is_hopeless(fault) => {
                self.state = PhaseState::Working { stage: Stage::Reviewing { gate, round: round + 1 } };
                return Ok(());
            }
            (_, Some(gate)) => self.report_gate(context, gate, review),
            (_, None) => {}
        }
        match (&review.verdict, gate) {
            (Verdict::Pass, Some(gate)) => self.check(context, Check::Gate(gate + 1)),
            (Verdict::Pass, None) => self.check(context, Check::Person),
            (Verdict::Fail { findings }, _) => {
                let summary = recorded!("cause-rejected", who = who(gate), why = review.summary.trim_end_matches('.'));
                self.gate_rejected(context, correction(summary, findings.clone()));
            }
            // The work may be as good as can be: it is the review that has to be made again, not the work.
            (Verdict::Inconclusive { fault }, _) => {
                let (who, told) = (who(gate), ErrorView::of_fault(fault));
                let why = told.words();
                let message = match is_hopeless(fault) {
                    true => recorded!("cause-reviewer-not-asked", who = &who, why = why),
                    false => recorded!("cause-reviewer-silent", who = &who, times = ROUNDS, why = why),
                };
                let first = told.hint_words();
                let first = if first.is_empty() { first } else { first.and("; ") };
                let hint = first.and(recorded!("hint-review-again", who = &who));
                self.give_up(context, GiveUp::Environment, ErrorView::of_words(message, hint));
            }
        }
        Ok(())
    }

    /// The review of the last attempt that has ended without an answer, if one has: which gate asked for it, and its last round.
    pub(super) fn unanswered_review(&self) -> Option<(Option<usize>, u32)> {
        let stopped =
            matches!(self.state, PhaseState::Failed { .. } | PhaseState::Skipped { .. } | PhaseState::Cancelled);
        let reviews = &self.attempts.last().filter(|last| stopped && last.result.is_some())?.reviews;
        let (gate, last) = reviews.last()?;
        let rounds = reviews.iter().filter(|(other, _)| other == gate).count();
        matches!(last.verdict, Verdict::Inconclusive { .. }).then_some((*gate, rounds as u32))
    }

    /// Asks the reviewer of the last attempt once more.
    pub(super) fn review_again(&mut self, gate: Option<usize>, round: u32) {
        if let (Some(this), Some(gate)) = (self.attempts.last_mut(), gate) {
            // The answer of each gate has its index: that of this one is still to come.
            this.gates.truncate(gate);
        }
        self.state = PhaseState::Working { stage: Stage::Reviewing { gate, round } };
    }

    /// A reviewer's answer as the answer of the gate that asked for it.
    fn report_gate(&mut self, context: &PhaseContext<'_>, gate: usize, review: &Review) {
        let name = context.phase.gates.get(gate).map_or("review_approved", |spec| spec.name());
        if let Some(this) = self.attempts.last_mut() {
            this.gates.push(GateReport {
                notes: vec![format!("run {}", review.side.run)],
                duration_ms: review.side.duration_ms,
                ..GateReport::new(name, review.verdict.clone(), review.summary.clone(), review.tree.clone())
            });
        }
    }
}

/// Whether asking again cannot help before a person has changed something.
fn is_hopeless(fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::ToolMissing | FaultKind::Environment | FaultKind::Flaky => true,
        FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable => false,
    }
}

/// Who looks at a result, as words.
fn who(gate: Option<usize>) -> Words {
    recorded!("reviewer", who = if gate.is_some() { "gate" } else { "phase" })
}
