//! One plan out of a plan and the workflow that it names, by the rules that stand at the top of this module's parent.
//!
//! Must not know where the workflow comes from; every problem is told at a place of the plan.

use std::collections::HashSet;

use helix_core::diagnostic::{Diagnostic, Severity, Span};
use helix_core::ids::PhaseId;
use helix_core::source_text::SourceText;

use super::super::check::{self, At, Outline, Part};
use super::super::checked::PhasePlaces;
use super::super::codes;
use super::super::model::Phase;
use super::super::parse::ParsedPlan;
use super::super::source;
use super::Workflow;
use super::inputs::Values;
use super::read::{Read, Use};

impl ParsedPlan {
    /// The plan with the phases of its workflow, which is then part of it and no longer named. `file` is what messages call
    /// the plan. Places of the workflow's phases are that of `workflow` in the plan.
    ///
    /// # Errors
    /// Every problem: inputs without a value, ids that both have, dependencies that nobody has, claims that collide.
    pub fn with_workflow(mut self, file: &str, workflow: &Workflow) -> Result<Self, Vec<Diagnostic>> {
        let at_workflow = self.places.workflow;
        let read = self.phases_of(file, workflow)?;
        let clashes = self.clashes(file, workflow, &read);
        if !clashes.is_empty() {
            return Err(clashes);
        }
        let own = std::mem::take(&mut self.plan.phases);
        let own_places = std::mem::take(&mut self.places.phases);
        let joined = join(read, own);
        let phases: Vec<Phase> = joined.iter().map(|(phase, _)| phase.clone()).collect();
        let place = |of: &Option<usize>, phase: &Phase| match of.and_then(|own| own_places.get(own)) {
            Some(places) => places.clone(),
            None => everywhere(at_workflow, phase),
        };
        let places: Vec<PhasePlaces> = joined.iter().map(|(phase, own)| place(own, phase)).collect();
        let mut problems = between(file, &phases, &joined, &places, at_workflow, workflow);
        if problems.iter().any(Diagnostic::is_error) {
            return Err(problems);
        }
        // A dependency that only the workflow could have was a warning as long as nobody had asked the workflow.
        self.warnings.retain(|warning| warning.code != codes::UNKNOWN_DEPENDENCY);
        problems.retain(|problem| !self.warnings.contains(problem));
        self.warnings.extend(problems);
        self.plan.phases = phases;
        self.plan.workflow = None;
        self.places.phases = places;
        Ok(self)
    }

    /// The workflow's phases with this plan's values in them.
    fn phases_of(&self, file: &str, workflow: &Workflow) -> Result<Read, Vec<Diagnostic>> {
        let at = |span: Option<Span>, diagnostic: Diagnostic| match span.or(self.places.workflow) {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        };
        let values = Values::of(&self.plan, &workflow.inputs).map_err(|missing| {
            let tell = |one: super::inputs::NoValue| {
                let message = format!("workflow `{}`: {}", workflow.name, one.message);
                let span = self.places.workflow_inputs.get(&one.input).copied();
                at(span, Diagnostic::error(codes::WORKFLOW_INPUT, file, message).help(one.help))
            };
            missing.into_iter().map(tell).collect::<Vec<_>>()
        })?;
        let source = SourceText::new(&workflow.file, &workflow.source);
        let mut reader = source::reader(&source);
        let has_adr = self.plan.adr.is_some();
        let using = Use { values: &values, defaults: self.defaults.clone(), has_adr };
        let read = workflow.phases(using, &mut reader);
        let problems: Vec<Diagnostic> = reader
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .map(|problem| {
                let line = problem.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
                let message = format!("workflow `{}` at {}{line}: {}", workflow.name, workflow.file, problem.message);
                let help = problem.help.clone().unwrap_or_default();
                at(None, Diagnostic::error(&problem.code, file, message).help(help))
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
                Some(*number) != read.slot && other.id.as_ref().is_some_and(|id| id.value == phase.id)
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

/// A phase, and its number among the plan's own where it is one of them.
type Joined = Vec<(Phase, Option<usize>)>;

fn join(read: Read, own: Vec<Phase>) -> Joined {
    let Read { phases: of_workflow, slot } = read;
    let behind = behind_the_slot(&of_workflow, slot, &own);
    let in_slot: Vec<PhaseId> =
        own.iter().filter(|phase| !behind.contains(&phase.id)).map(|phase| phase.id.clone()).collect();
    let slot_id = slot.and_then(|slot| of_workflow.get(slot)?.id.as_ref()).map(|id| id.value.clone());
    let slot_needs: Vec<PhaseId> = slot
        .and_then(|slot| of_workflow.get(slot))
        .map(|slot| slot.depends_on.iter().filter_map(|id| PhaseId::new(&id.value).ok()).collect())
        .unwrap_or_default();
    let has_stand_in = slot.and_then(|slot| of_workflow.get(slot)).is_some_and(|slot| slot.phase.is_some());
    // What stands for the slot in the dependencies of the workflow's phases.
    let for_slot: Vec<PhaseId> = if !in_slot.is_empty() {
        let needed: HashSet<&PhaseId> =
            own.iter().filter(|phase| in_slot.contains(&phase.id)).flat_map(|phase| &phase.depends_on).collect();
        in_slot.iter().filter(|id| !needed.contains(id)).cloned().collect()
    } else if has_stand_in {
        slot_id.iter().cloned().collect()
    } else {
        slot_needs.clone()
    };
    let mut own_in: Joined = Vec::new();
    let mut own_behind: Joined = Vec::new();
    for (number, mut phase) in own.into_iter().enumerate() {
        if in_slot.contains(&phase.id) {
            if !phase.depends_on.iter().any(|needed| in_slot.contains(needed)) {
                extend(&mut phase.depends_on, &slot_needs);
            }
            own_in.push((phase, Some(number)));
        } else {
            own_behind.push((phase, Some(number)));
        }
    }
    let mut joined: Joined = Vec::new();
    for (number, checked) in of_workflow.into_iter().enumerate() {
        if Some(number) == slot && !in_slot.is_empty() {
            joined.append(&mut own_in);
            continue;
        }
        let Some(mut phase) = checked.phase else { continue };
        if let Some(slot_id) = slot_id.as_ref().filter(|id| Some(number) != slot && phase.depends_on.contains(id)) {
            phase.depends_on.retain(|needed| needed != slot_id);
            extend(&mut phase.depends_on, &for_slot);
        }
        joined.push((phase, None));
    }
    joined.append(&mut own_behind);
    joined
}

fn extend(list: &mut Vec<PhaseId>, more: &[PhaseId]) {
    for id in more {
        if !list.contains(id) {
            list.push(id.clone());
        }
    }
}

/// The plan's own phases that need a phase of the workflow behind the slot.
fn behind_the_slot(
    of_workflow: &[super::super::checked::CheckedPhase],
    slot: Option<usize>,
    own: &[Phase],
) -> HashSet<PhaseId> {
    let mut behind: HashSet<String> = HashSet::new();
    let slot_id = slot.and_then(|slot| of_workflow.get(slot)?.id.as_ref()).map(|id| id.value.to_string());
    let reaches =
        |needed: &str, behind: &HashSet<String>| Some(needed) == slot_id.as_deref() || behind.contains(needed);
    // Each round adds at least one phase, or is the last.
    loop {
        let before = behind.len();
        for phase in of_workflow {
            if phase.depends_on.iter().any(|needed| reaches(&needed.value, &behind)) {
                behind.extend(phase.id.as_ref().map(|id| id.value.to_string()));
            }
        }
        if behind.len() == before {
            break;
        }
    }
    let mut own_behind: HashSet<PhaseId> = HashSet::new();
    loop {
        let before = own_behind.len();
        for phase in own {
            let needs = |needed: &PhaseId| behind.contains(needed.as_str()) || own_behind.contains(needed);
            if phase.depends_on.iter().any(needs) {
                own_behind.insert(phase.id.clone());
            }
        }
        if own_behind.len() == before {
            return own_behind;
        }
    }
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
        agent: phase.agent.as_ref().map(|_| at),
        model: phase.model.as_ref().map(|_| at),
    }
}

/// Everything that is wrong between the phases of both.
fn between(
    file: &str,
    phases: &[Phase],
    joined: &Joined,
    places: &[PhasePlaces],
    at_workflow: Option<Span>,
    workflow: &Workflow,
) -> Vec<Diagnostic> {
    let outlines: Vec<Outline<'_>> = phases.iter().map(Outline::of).collect();
    let span = |at: At| {
        let places = places.get(at.phase)?;
        let item = match at.part {
            Part::Whole | Part::Id => None,
            Part::DependsOn(number) => places.depends_on.get(number),
            Part::Input(number) => places.inputs.get(number),
            Part::Output(number) => places.outputs.get(number),
        };
        Some(item.copied().unwrap_or(places.id))
    };
    let is_own = |at: &At| joined.get(at.phase).is_some_and(|(_, own)| own.is_some());
    let mut problems = Vec::new();
    for problem in check::check(&outlines, None) {
        // A problem between both is shown at the plan's own phase.
        let at = [Some(problem.at), problem.other.map(|(_, at)| at)].into_iter().flatten().find(is_own);
        let message = match at {
            Some(_) => problem.message,
            None => format!("workflow `{}`: {}", workflow.name, problem.message),
        };
        let diagnostic = match problem.severity {
            Severity::Error => Diagnostic::error(problem.code, file, message),
            Severity::Warning => Diagnostic::warning(problem.code, file, message),
        };
        let diagnostic = diagnostic.help(problem.help);
        problems.push(match at.and_then(span).or(at_workflow) {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        });
    }
    problems
}
