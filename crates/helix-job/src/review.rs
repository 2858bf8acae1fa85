//! How a reviewer's answer moves a phase: the verifier's of the phase, or that of a `review_approved` gate.
//!
//! Must not know how a reviewer is asked.

use super::attempt::{Check, GiveUp, PhaseContext};
use super::event::Review;
use super::illegal::Illegal;
use super::phrases::reviewer;
use super::state::{PhaseProgress, PhaseState, Stage};
use super::view::ErrorView;
use helix_core::evidence::GateReport;
use helix_core::finding::{Correction, Fault, FaultKind, Finding, Verdict};

/// Rounds of one review: an unusable answer is asked for once more, then it counts as a failure (the engine's issue).
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
            (Verdict::Inconclusive { fault }, _) if round < ROUNDS && !is_hopeless(fault) => {
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
                let summary = format!("the {} rejects the result: {}", reviewer(gate), review.summary);
                self.gate_rejected(context, Correction { summary, findings: findings.clone() });
            }
            (Verdict::Inconclusive { fault }, _) if is_hopeless(fault) => {
                let message = format!("the {} could not be asked: {}", reviewer(gate), fault.message);
                self.give_up(context, GiveUp::Surroundings, ErrorView { message, hint: fault.hint.clone() });
            }
            (Verdict::Inconclusive { fault }, _) => {
                let finding = Finding::new(format!("{}.inconclusive", reviewer(gate)), fault.message.clone())
                    .fix("make it clear from the files that the task is done, and how to check it");
                let summary = format!("the {} gave no usable answer {ROUNDS} times: {}", reviewer(gate), fault.message);
                self.gate_rejected(context, Correction { summary, findings: vec![finding] });
            }
        }
        Ok(())
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
        FaultKind::ToolMissing | FaultKind::Environment => true,
        FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable => false,
    }
}
