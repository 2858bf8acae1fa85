//! Which pending phases can never start, since one that they need was skipped with all that depends on it.
//!
//! Must not know what is to be done about them.

use std::collections::{HashMap, HashSet};

use super::state::{Active, Dependents, PhaseState};
use helix_core::ids::PhaseId;

impl Active {
    /// The blocked phases. Only a phase that has not started can be blocked, and only such a phase blocks others in turn.
    pub(super) fn blocked(&self) -> HashSet<&PhaseId> {
        let skips = |state: &PhaseState| matches!(state, PhaseState::Skipped { dependents: Dependents::Skip, .. });
        let mut open: Vec<&PhaseId> =
            self.phases.iter().filter(|progress| skips(&progress.state)).map(|progress| &progress.id).collect();
        let mut blocked = HashSet::new();
        if open.is_empty() {
            return blocked;
        }
        let mut waiting: HashMap<&PhaseId, Vec<&PhaseId>> = HashMap::new();
        for (phase, _) in self.pairs().filter(|(_, progress)| progress.state == PhaseState::Pending) {
            for needed in &phase.depends_on {
                waiting.entry(needed).or_default().push(&phase.id);
            }
        }
        while let Some(skipped) = open.pop() {
            for id in waiting.remove(skipped).unwrap_or_default() {
                if blocked.insert(id) {
                    open.push(id);
                }
            }
        }
        blocked
    }
}
