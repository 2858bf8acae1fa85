//! Deliveries: gates that act outside of the repository. They act on a tree that was validated, and what they have begun is on
//! record before they begin, so that nothing is delivered twice without a word.
//!
//! Must not know how anything is delivered.

use super::event::{Baseline, Validated};
use super::illegal::Illegal;
use super::state::{Active, Begun, PhaseState, Stage};
use helix_core::evidence::GateReport;
use helix_core::finding::Verdict;
use helix_core::ids::{PhaseId, TreeId};
use helix_plan::{GateSpec, Phase};

/// Where a gate of a phase delivers to; `None` if it delivers nothing.
pub fn target_of(phase: &Phase, gate: usize) -> Option<String> {
    let delivery = phase.gates.get(gate)?.delivery()?;
    Some(delivery.target.clone().unwrap_or_else(|| phase.id.to_string()))
}

impl Active {
    /// The gates that have to pass on what a phase delivers: those of all phases before it, each with its index in the list
    /// of its phase. A phase that was not asked for this time has not run and has changed nothing; its checks of the whole are
    /// made all the same.
    pub fn gates_before(&self, phase: &PhaseId) -> Vec<(&Phase, usize)> {
        let ancestry = self.spec.plan.ancestry();
        let left_out = |id: &PhaseId| self.spec.only.as_ref().is_some_and(|only| !only.contains(id));
        let mut gates = self.union_of_gates(|other, progress| {
            ancestry.is_before(&other.id, phase)
                && (matches!(progress.state, PhaseState::Passed { .. }) || left_out(&other.id))
        });
        gates.retain(|(owner, index)| {
            !left_out(&owner.id) || owner.gates.get(*index).is_some_and(GateSpec::is_about_everything)
        });
        gates
    }

    /// Those of them that have not passed on this tree, as far as is recorded.
    pub fn unvalidated(&self, phase: &PhaseId, tree: &TreeId) -> Vec<(&Phase, usize)> {
        let mut gates = self.gates_before(phase);
        gates.retain(|(owner, index)| !self.has_passed_on(tree, owner, *index));
        gates
    }

    /// Whether anything at all speaks for the tree before a gate of the phase: a gate that had to pass before, or the phase's
    /// own gates ahead of it. That files are where they were claimed to be is no check of what is in them.
    pub fn is_vouched_for(&self, phase: &Phase, gate: usize) -> bool {
        let own = phase.gates.iter().take(gate);
        own.filter(|spec| spec.delivery().is_none()).any(|spec| !matches!(spec, GateSpec::OutputsClaimed { .. }))
            || !self.gates_before(&phase.id).is_empty()
    }

    /// Whether this gate of this phase, or the same check of another one, has passed on the tree.
    fn has_passed_on(&self, tree: &TreeId, owner: &Phase, index: usize) -> bool {
        let Some(wanted) = owner.gates.get(index) else { return false };
        let same = |phase: &PhaseId, spec: Option<&GateSpec>| {
            spec == Some(wanted) && (*phase == owner.id || !wanted.is_about_claims())
        };
        let good = |report: &GateReport| report.tree == *tree && report.verdict.passed();
        self.pairs().any(|(phase, progress)| {
            progress.attempts.iter().any(|one| {
                let own = one.gates.iter().enumerate();
                let validated = one.begun.iter().flat_map(|begun| &begun.validation);
                own.into_iter().any(|(at, report)| good(report) && same(&phase.id, phase.gates.get(at)))
                    || validated.into_iter().any(|one| {
                        let spec = self.spec.plan.phase(&one.phase).and_then(|phase| phase.gates.get(one.gate));
                        good(&one.report) && same(&one.phase, spec)
                    })
            })
        })
    }

    /// What is worth knowing about former deliveries of the tree by this gate of the phase, oldest first; the current attempt's own
    /// is not one of them.
    pub fn delivered_before(&self, phase: &PhaseId, gate: usize, tree: &TreeId) -> Vec<String> {
        let attempts = self.progress(phase).map(|progress| progress.attempts.as_slice()).unwrap_or_default();
        let former = attempts.split_last().map(|(_, former)| former).unwrap_or_default();
        let same = former.iter().filter(|one| one.result.as_ref().is_some_and(|result| result.tree == *tree));
        same.filter(|one| one.has_begun(gate))
            .map(|one| match one.gates.get(gate).map(|report| &report.verdict) {
                Some(Verdict::Pass | Verdict::Fail { .. }) => {
                    format!("attempt {} had delivered the same tree before", one.begin.attempt)
                }
                Some(Verdict::Inconclusive { .. }) | None => format!(
                    "attempt {} had begun to deliver the same tree, and its end was not seen",
                    one.begin.attempt
                ),
            })
            .collect()
    }

    pub(super) fn delivery_begun(
        &mut self,
        id: &PhaseId,
        attempt: u32,
        gate: usize,
        tree: &TreeId,
        validation: &[Validated],
        baseline: Option<&Baseline>,
    ) -> Result<(), Illegal> {
        let at = self.last_at;
        let unknown = || Illegal::UnknownPhase(id.clone());
        let phase = self.spec.plan.phase(id).ok_or_else(unknown)?;
        let vouched_for = self.is_vouched_for(phase, gate);
        let delivery = phase.gates.get(gate).and_then(GateSpec::delivery);
        let watched = delivery.is_some_and(|delivery| delivery.health.is_some());
        let progress = self.phases.iter_mut().find(|progress| progress.id == *id).ok_or_else(unknown)?;
        if delivery.is_none() {
            return Err(progress.illegal("delivers nothing"));
        }
        if !vouched_for {
            return Err(progress.illegal("has no gate that has validated what it is to deliver"));
        }
        progress.check_tree(tree)?;
        let again = progress.illegal(format!("has begun to deliver by gate {gate} already"));
        let this = progress.at_stage(attempt, Stage::Gating { gate })?;
        if this.has_begun(gate) {
            return Err(again);
        }
        let (validation, baseline) = (validation.to_vec(), baseline.cloned());
        this.begun.push(Begun { gate, at, validation, baseline, watched, good: false, rollbacks: Vec::new() });
        match self.unvalidated(id, tree).first() {
            None => Ok(()),
            Some((owner, gate)) => Err(Illegal::Phase {
                phase: owner.id.clone(),
                why: format!("has a gate, number {gate}, that has not passed on tree {tree}"),
            }),
        }
    }
}
