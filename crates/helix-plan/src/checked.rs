//! Phases as far as they could be read, with their places, and how what is wrong between them is shown.
//!
//! Must not know the rules between phases; those are `check`'s.

use helix_core::diagnostic::{Diagnostic, Span};

use super::check::{At, Outline, Part, check};
use super::model::Phase;

/// Places of the parts of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhasePlaces {
    /// The id; the first key of a phase without one.
    pub id: Span,
    /// Each dependency, as in [`Phase::depends_on`].
    pub depends_on: Vec<Span>,
    /// Each skill, as in [`Phase::skills`].
    pub skills: Vec<Span>,
    /// Each input, as in [`Phase::inputs`].
    pub inputs: Vec<Span>,
    /// Each output, as in [`Phase::outputs`].
    pub outputs: Vec<Span>,
    /// What the phase says about its verification, where it says anything.
    pub verify: Option<Span>,
    /// The agent, where the phase or the defaults name one.
    pub agent: Option<Span>,
    /// The model, where the phase or the defaults name one.
    pub model: Option<Span>,
}

impl PhasePlaces {
    /// Where a part stands; the phase's id for what was not written.
    pub(super) fn at(&self, part: Part) -> Span {
        let written = match part {
            Part::Id => None,
            Part::DependsOn(number) => self.depends_on.get(number),
            Part::Input(number) => self.inputs.get(number),
            Part::Output(number) => self.outputs.get(number),
        };
        written.copied().unwrap_or(self.id)
    }
}

/// A phase as far as it could be read.
#[derive(Debug)]
pub(super) struct CheckedPhase {
    pub(super) phase: Option<Phase>,
    pub(super) outline: Outline,
    pub(super) places: PhasePlaces,
}

/// Everything that is wrong between the phases of one file.
pub(super) fn problems(file: &str, phases: &[CheckedPhase], workflow: Option<&str>) -> Vec<Diagnostic> {
    let outlines: Vec<Outline> = phases.iter().map(|phase| phase.outline.clone()).collect();
    let span = |(phase, part): At| phases.get(phase).map(|phase| phase.places.at(part));
    let problems = check(file, &outlines, workflow).into_iter().map(|problem| {
        let mut diagnostic = problem.diagnostic;
        diagnostic.span = span(problem.at);
        let other = problem.other.filter(|(what, _)| !what.is_empty());
        if let Some((what, line)) = other.and_then(|(what, at)| Some((what, span(at)?.line))) {
            let help = diagnostic.help.unwrap_or_default();
            diagnostic.help = Some(format!("{help}; {what} is in line {line}"));
        }
        diagnostic
    });
    problems.collect()
}
