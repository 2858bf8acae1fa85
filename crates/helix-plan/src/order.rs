//! The order in which a plan's phases can run.
//!
//! Must not know which of them have run; the engine decides that from the journal.

use std::collections::{HashMap, VecDeque};

use helix_core::ids::PhaseId;

use super::model::{Phase, Plan};

impl Plan {
    /// The phases in waves: those of one wave depend only on those of earlier ones. For people; the engine starts each
    /// phase as soon as its own dependencies are done.
    ///
    /// A dependency that is not in the plan (a workflow's phase) counts as done. Phases of a cycle, which a validated
    /// plan does not have, are in no wave.
    pub fn waves(&self) -> Vec<Vec<&PhaseId>> {
        self.waves_of(|_| true)
    }

    /// The same of some of its phases: the others count as done.
    pub fn waves_of(&self, wanted: impl Fn(&Phase) -> bool) -> Vec<Vec<&PhaseId>> {
        let index: HashMap<&PhaseId, usize> = self.phases.iter().enumerate().map(|(at, one)| (&one.id, at)).collect();
        let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); self.phases.len()];
        let mut open = vec![0_usize; self.phases.len()];
        for (at, phase) in self.phases.iter().enumerate() {
            for needed in phase.depends_on.iter().filter_map(|needed| index.get(needed)) {
                dependents[*needed].push(at);
                open[at] += 1;
            }
        }
        let mut ready: VecDeque<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
        let mut wave = vec![0_usize; open.len()];
        let mut ordered = vec![false; open.len()];
        while let Some(at) = ready.pop_front() {
            ordered[at] = true;
            for &next in &dependents[at] {
                wave[next] = wave[next].max(wave[at] + usize::from(wanted(&self.phases[at])));
                open[next] -= 1;
                if open[next] == 0 {
                    ready.push_back(next);
                }
            }
        }
        let mut waves: Vec<Vec<&PhaseId>> = Vec::new();
        for (at, phase) in self.phases.iter().enumerate().filter(|(at, phase)| ordered[*at] && wanted(phase)) {
            if waves.len() <= wave[at] {
                waves.resize_with(wave[at] + 1, Vec::new);
            }
            waves[wave[at]].push(&phase.id);
        }
        waves
    }
}
