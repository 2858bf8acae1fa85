//! The order in which a plan's phases can run.
//!
//! Must not know which of them have run; the engine decides that from the journal.

use std::collections::HashSet;

use helix_core::ids::PhaseId;

use super::model::Plan;

impl Plan {
    /// The phases in waves: those of one wave depend only on those of earlier ones. For people; the engine starts each
    /// phase as soon as its own dependencies are done.
    ///
    /// A dependency that is not in the plan (a workflow's phase) counts as done. Phases of a cycle, which a validated
    /// plan does not have, are in no wave.
    pub fn waves(&self) -> Vec<Vec<&PhaseId>> {
        let known: HashSet<&PhaseId> = self.phases.iter().map(|phase| &phase.id).collect();
        let mut done: HashSet<&PhaseId> = HashSet::new();
        let mut open: Vec<_> = self.phases.iter().collect();
        let mut waves = Vec::new();
        while !open.is_empty() {
            let (ready, waiting): (Vec<_>, Vec<_>) = open.into_iter().partition(|phase| {
                phase.depends_on.iter().all(|needed| done.contains(needed) || !known.contains(needed))
            });
            if ready.is_empty() {
                break;
            }
            let wave: Vec<&PhaseId> = ready.into_iter().map(|phase| &phase.id).collect();
            done.extend(wave.iter().copied());
            waves.push(wave);
            open = waiting;
        }
        waves
    }
}
