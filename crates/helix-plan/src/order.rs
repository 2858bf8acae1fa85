//! The order in which a plan's phases can run.
//!
//! Must not know which of them have run; the engine decides that from the journal.

use helix_core::ids::PhaseId;

use super::model::{Phase, Plan};
use super::reach::post_order;

impl Plan {
    /// The phases in waves: those of one wave depend only on those of earlier ones. For people; the engine starts each
    /// phase as soon as its own dependencies are done.
    /// A dependency that is not in the plan (a workflow's phase) counts as done.
    pub fn waves(&self) -> Vec<Vec<&PhaseId>> {
        self.waves_of(|_| true)
    }

    /// The same of some of its phases: the others count as done.
    pub fn waves_of(&self, wanted: impl Fn(&Phase) -> bool) -> Vec<Vec<&PhaseId>> {
        let needed = self.needed();
        let mut wave = vec![0_usize; needed.len()];
        for at in post_order(needed.len(), |at| needed[at].iter().copied()) {
            let after = needed[at].iter().map(|one| wave[*one] + usize::from(wanted(&self.phases[*one])));
            wave[at] = after.max().unwrap_or(0);
        }
        let mut waves: Vec<Vec<&PhaseId>> = Vec::new();
        for (phase, wave) in self.phases.iter().zip(wave).filter(|(phase, _)| wanted(phase)) {
            if waves.len() <= wave {
                waves.resize_with(wave + 1, Vec::new);
            }
            waves[wave].push(&phase.id);
        }
        waves
    }
}
