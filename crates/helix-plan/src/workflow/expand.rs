//! One plan out of a plan and the workflow that it names, by the rules that stand at the top of this module's parent.
//!
//! Must not know where the workflow comes from; every problem is told at a place of the plan.

use std::collections::{HashMap, HashSet};

use helix_core::diagnostic::{Diagnostic, Span};
use helix_core::ids::PhaseId;
use helix_core::source_text::SourceText;

use super::super::check::{At, Outline, check};
use super::super::checked::PhasePlaces;
use super::super::codes;
use super::super::model::{Phase, PhaseType};
use super::super::parse::{Criteria, ParsedPlan, Scope, unchecked_criteria};
use super::super::source;
use super::Workflow;
use super::inputs::Values;
use super::read::Read;

impl ParsedPlan {
    /// The plan with the phases of its workflow, which is then part of it and no longer named. `file` is what messages call
    /// the plan. Places of the workflow's phases are that of `workflow` in the plan.
    ///
    /// # Errors
    /// Every problem: inputs without a value, ids that both have, dependencies on no phase, claims that collide.
    pub fn with_workflow(mut self, file: &str, workflow: &Workflow) -> Result<Self, Vec<Diagnostic>> {
        let at_workflow = self.places.workflow;
        let read = self.phases_of(file, workflow)?;
        let clashes = self.clashes(file, workflow, &read);
        if !clashes.is_empty() {
            return Err(clashes);
        }
        let own = std::mem::take(&mut self.plan.phases).into_iter().zip(std::mem::take(&mut self.places.phases));
        let own = own.map(|(mut phase, places)| {
            if phase.kind == PhaseType::Development && places.verify.is_none() {
                phase.verify.clone_from(&read.verify);
            }
            Joined { phase, places: Some(places) }
        });
        let own = own.collect();
        let joined = join(read, own);
        let mut problems = between(file, &joined, at_workflow, workflow);
        if problems.iter().any(Diagnostic::is_error) {
            return Err(problems);
        }
        // A dependency that only the workflow could have was a warning as long as nobody had asked the workflow.
        self.warnings.retain(|warning| warning.code != codes::UNKNOWN_DEPENDENCY);
        problems.retain(|problem| !self.warnings.contains(problem));
        self.warnings.extend(problems);
        self.plan.workflow = None;
        for Joined { phase, places } in joined {
            self.places.phases.push(places.unwrap_or_else(|| everywhere(at_workflow, &phase)));
            self.plan.phases.push(phase);
        }
        self.warnings.extend(unchecked_criteria(file, &self.plan, &self.places));
        Ok(self)
    }

    /// The workflow's phases with this plan's values in them.
    fn phases_of(&self, file: &str, workflow: &Workflow) -> Result<Read, Vec<Diagnostic>> {
        let values = Values::of_plan(self, file, workflow)?;
        let source = SourceText::new(&workflow.file, &workflow.source);
        let mut reader = source::reader(&source);
        let criteria = if self.plan.adr.is_some() { Criteria::OfAdr } else { Criteria::LeftOut };
        let scope = Scope { defaults: self.defaults.clone(), criteria, ..Scope::default() };
        let read = workflow.phases(&values, &scope, &mut reader);
        let problems: Vec<Diagnostic> = reader
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .map(|problem| {
                let line = problem.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
                let message = format!("workflow `{}` at {}{line}: {}", workflow.name, workflow.file, problem.message);
                let span = self.places.workflow;
                Diagnostic { file: file.to_owned(), message, span, ..problem.clone() }
            })
            .collect();
        match read {
            Some(read) if problems.is_empty() => Ok(read),
            Some(_) | None => Err(problems),
        }
    }

    /// Ids that the plan and the workflow both have, and own phases for which the workflow has no slot.
    fn clashes(&self, file: &str, workflow: &Workflow, read: &Read) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for (phase, places) in self.plan.phases.iter().zip(&self.places.phases) {
            let other = read.phases.iter().enumerate().find(|(number, other)| {
                // The slot's own name is free, since the plan's phases take its place.
                Some(*number) != read.slot && other.outline.id.as_ref() == Some(&phase.id)
            });
            if other.is_some() {
                let message = format!("the workflow `{}` also has a phase `{}`", workflow.name, phase.id);
                let help = format!("rename yours; `helix workflow show {}` lists the workflow's", workflow.name);
                problems.push(Diagnostic::error(codes::DUPLICATE_PHASE_ID, file, message).help(help).at(places.id));
            }
        }
        if let (None, Some(first)) = (read.slot, self.places.phases.first()) {
            let message = format!("the workflow `{}` has no slot for phases of the plan", workflow.name);
            let help = "remove `phases`, or add `- slot: work` to the phases of the workflow";
            problems.push(Diagnostic::error(codes::BAD_SLOT, file, message).help(help).at(first.id));
        }
        problems
    }
}

/// A phase of the whole plan.
struct Joined {
    phase: Phase,
    /// `None` for a phase of the workflow, which the plan does not show.
    places: Option<PhasePlaces>,
}

fn join(read: Read, own: Vec<Joined>) -> Vec<Joined> {
    let behind = behind_the_slot(&read, &own);
    let slot = read.slot.and_then(|slot| read.phases.get(slot));
    let slot_id = slot.and_then(|slot| slot.outline.id.clone());
    let slot_needs: Vec<PhaseId> =
        slot.iter().flat_map(|slot| &slot.outline.depends_on).filter_map(|id| PhaseId::new(id).ok()).collect();
    let has_stand_in = slot.is_some_and(|slot| slot.phase.is_some());
    let (mut behind, mut in_slot): (Vec<Joined>, Vec<Joined>) =
        own.into_iter().partition(|own| behind.contains(&own.phase.id));
    let ids: Vec<PhaseId> = in_slot.iter().map(|own| own.phase.id.clone()).collect();
    // What stands for the slot in the dependencies of the workflow's phases.
    let for_slot: Vec<PhaseId> = if !ids.is_empty() {
        let needed: HashSet<&PhaseId> = in_slot.iter().flat_map(|own| &own.phase.depends_on).collect();
        ids.iter().filter(|id| !needed.contains(id)).cloned().collect()
    } else if has_stand_in {
        slot_id.iter().cloned().collect()
    } else {
        slot_needs.clone()
    };
    for own in &mut in_slot {
        if !own.phase.depends_on.iter().any(|needed| ids.contains(needed)) {
            extend(&mut own.phase.depends_on, &slot_needs);
        }
    }
    let mut joined: Vec<Joined> = Vec::new();
    for (number, checked) in read.phases.into_iter().enumerate() {
        if Some(number) == read.slot && !ids.is_empty() {
            joined.append(&mut in_slot);
            continue;
        }
        let Some(mut phase) = checked.phase else { continue };
        if let Some(slot_id) = slot_id.as_ref().filter(|id| Some(number) != read.slot && phase.depends_on.contains(id))
        {
            phase.depends_on.retain(|needed| needed != slot_id);
            extend(&mut phase.depends_on, &for_slot);
        }
        joined.push(Joined { phase, places: None });
    }
    joined.append(&mut behind);
    joined
}

fn extend(list: &mut Vec<PhaseId>, more: &[PhaseId]) {
    for id in more {
        if !list.contains(id) {
            list.push(id.clone());
        }
    }
}

/// The phases of the workflow behind the slot, and the plan's own that need one of them.
fn behind_the_slot(read: &Read, own: &[Joined]) -> HashSet<PhaseId> {
    let mut behind = HashSet::new();
    let Some(slot) = read.slot.and_then(|slot| read.phases.get(slot)?.outline.id.as_ref()) else { return behind };
    let mut waiting: HashMap<&str, Vec<&PhaseId>> = HashMap::new();
    for Outline { id, depends_on, .. } in read.phases.iter().map(|phase| &phase.outline) {
        depends_on.iter().for_each(|needed| waiting.entry(needed).or_default().extend(id));
    }
    let mut open = waiting.remove(slot.as_str()).unwrap_or_default();
    for Phase { id, depends_on, .. } in own.iter().map(|own| &own.phase) {
        depends_on.iter().for_each(|needed| waiting.entry(needed.as_str()).or_default().push(id));
    }
    while let Some(id) = open.pop() {
        open.extend(waiting.remove(id.as_str()).into_iter().flatten());
        behind.insert(id.clone());
    }
    behind
}

/// Places for a phase that the plan does not show: all of them where it names the workflow.
fn everywhere(workflow: Option<Span>, phase: &Phase) -> PhasePlaces {
    let at = workflow.unwrap_or(Span { line: 1, column: 1, start: 0, end: 0 });
    PhasePlaces {
        id: at,
        depends_on: vec![at; phase.depends_on.len()],
        skills: vec![at; phase.skills.len()],
        inputs: vec![at; phase.inputs.len()],
        outputs: vec![at; phase.outputs.len()],
        verify: phase.verify.as_ref().map(|_| at),
        agent: phase.agent.as_ref().map(|_| at),
        model: phase.model.as_ref().map(|_| at),
    }
}

/// Everything that is wrong between the phases of both.
fn between(file: &str, joined: &[Joined], at_workflow: Option<Span>, workflow: &Workflow) -> Vec<Diagnostic> {
    let outlines: Vec<Outline> = joined.iter().map(|one| Outline::from(&one.phase)).collect();
    let own = |(phase, part): At| Some(joined.get(phase)?.places.as_ref()?.at(part));
    let problems = check(file, &outlines, None).into_iter().map(|problem| {
        let mut diagnostic = problem.diagnostic;
        // A problem between both is shown at the plan's own phase.
        let at = own(problem.at).or_else(|| own(problem.other?.1));
        if at.is_none() {
            diagnostic.message = format!("workflow `{}`: {}", workflow.name, diagnostic.message);
        }
        diagnostic.span = at.or(at_workflow);
        diagnostic
    });
    problems.collect()
}
