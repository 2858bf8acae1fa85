//! A plan with phases added to it while it is carried out: where they stand, and who waits for them.
//!
//! Must not know how the phases were written; it is applied again each time a job's journal is read.

use std::collections::HashSet;

use helix_core::finding::Finding;
use helix_core::ids::PhaseId;

use super::codes;
use super::model::{Phase, Plan};
use super::reach::Graph;

impl Plan {
    /// The plan with the phases that the phase `by` added, where `place` puts them, with the dependencies that they
    /// have; every phase that depends on `by` directly depends on all of them too. Pure: the same phases give the same plan
    /// each time.
    ///
    /// # Errors
    /// Every reason why the result would not be a plan: `by` or a dependency is nowhere, an id is taken, phases depend on
    /// each other in a cycle.
    pub fn grown(&self, by: &PhaseId, phases: &[Phase]) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        if self.phase(by).is_none() {
            let message = format!("the plan has no phase `{by}`, which is said to add phases");
            findings.push(finding(codes::UNKNOWN_DEPENDENCY, message).fix("name a phase of the plan"));
        }
        let mut known: HashSet<&PhaseId> = self.phases.iter().map(|phase| &phase.id).collect();
        for phase in phases {
            if !known.insert(&phase.id) {
                let message = format!("the plan already has a phase `{}`", phase.id);
                findings.push(finding(codes::DUPLICATE_PHASE_ID, message).fix("choose another id"));
            }
        }
        for phase in phases {
            for wanted in phase.depends_on.iter().filter(|wanted| !known.contains(wanted)) {
                let message = format!("the added phase `{}` depends on `{wanted}`, which is not a phase", phase.id);
                findings.push(finding(codes::UNKNOWN_DEPENDENCY, message).fix("remove it from `depends_on`"));
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        let mut grown = self.clone();
        for phase in grown.phases.iter_mut().filter(|phase| phase.depends_on.contains(by)) {
            phase.depends_on.extend(phases.iter().map(|added| added.id.clone()));
        }
        grown.place(by, phases);
        if !Graph::new(grown.needed()).cycles().is_empty() {
            let message = format!("with the phases that `{by}` adds, phases depend on each other in a cycle");
            return Err(vec![finding(codes::DEPENDENCY_CYCLE, message).fix("remove one of these dependencies")]);
        }
        Ok(grown)
    }

    /// Puts phases that were added later where they belong: each directly after the last of those that it stands on (its
    /// dependencies, the phase `by` that it comes from, the added one before it). Nobody else changes places.
    pub fn place(&mut self, by: &PhaseId, added: &[Phase]) {
        let mut before = by;
        for phase in added {
            let stands_on =
                |other: &Phase| &other.id == before || &other.id == by || phase.depends_on.contains(&other.id);
            let last = self.phases.iter().rposition(stands_on);
            self.phases.insert(last.map_or(self.phases.len(), |last| last + 1), phase.clone());
            before = &phase.id;
        }
    }
}

/// What is wrong with added phases.
pub(super) fn finding(code: &str, message: String) -> Finding {
    Finding::new(format!("plan_fragment.{}", code.to_ascii_lowercase()), message)
}
