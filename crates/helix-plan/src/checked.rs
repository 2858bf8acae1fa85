//! Phases as they were written, with their places, and how what is wrong between them is told.
//!
//! Must not know the rules between phases; those are `check`'s.

use std::ops::Range;

use helix_core::diagnostic::{Severity, Span};
use helix_core::document::{FieldReader, Placed};
use helix_core::ids::PhaseId;
use helix_core::source_text::SourceText;

use super::check::{self, At, Outline, Part};
use super::model::Phase;

/// Places of the parts of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhasePlaces {
    pub id: Span,
    /// Each dependency, as in [`Phase::depends_on`].
    pub depends_on: Vec<Span>,
    /// Each skill, as in [`Phase::skills`].
    pub skills: Vec<Span>,
    /// Each input, as in [`Phase::inputs`].
    pub inputs: Vec<Span>,
    /// Each output, as in [`Phase::outputs`].
    pub outputs: Vec<Span>,
    /// The agent, where the phase or the defaults name one.
    pub agent: Option<Span>,
    /// The model, where the phase or the defaults name one.
    pub model: Option<Span>,
}

/// A phase as far as it could be read.
#[derive(Debug)]
pub(super) struct CheckedPhase {
    pub(super) phase: Option<Phase>,
    pub(super) id: Option<Placed<PhaseId>>,
    pub(super) head: Range<usize>,
    pub(super) depends_on: Vec<Placed<String>>,
    pub(super) skills: Vec<Placed<String>>,
    pub(super) inputs: Vec<Placed<String>>,
    pub(super) outputs: Vec<Placed<String>>,
    pub(super) agent: Option<Range<usize>>,
    pub(super) model: Option<Range<usize>>,
}

impl CheckedPhase {
    pub(super) fn places(&self, source: &SourceText<'_>) -> PhasePlaces {
        let spans = |list: &[Placed<String>]| list.iter().map(|item| source.span(item.range.clone())).collect();
        PhasePlaces {
            id: source.span(self.range(Part::Id)),
            depends_on: spans(&self.depends_on),
            skills: spans(&self.skills),
            inputs: spans(&self.inputs),
            outputs: spans(&self.outputs),
            agent: self.agent.clone().map(|range| source.span(range)),
            model: self.model.clone().map(|range| source.span(range)),
        }
    }

    /// What the rules between phases look at.
    pub(super) fn outline(&self) -> Outline<'_> {
        fn texts(list: &[Placed<String>]) -> Vec<&str> {
            list.iter().map(|item| item.value.as_str()).collect()
        }
        Outline {
            id: self.id.as_ref().map(|id| id.value.as_str()),
            depends_on: texts(&self.depends_on),
            inputs: texts(&self.inputs),
            outputs: texts(&self.outputs),
        }
    }

    /// Where a part was written; the phase's head for what was not written.
    pub(super) fn range(&self, part: Part) -> Range<usize> {
        let item = |list: &[Placed<String>], number: usize| list.get(number).map(|item| item.range.clone());
        let written = match part {
            Part::Whole => None,
            Part::Id => self.id.as_ref().map(|id| id.range.clone()),
            Part::DependsOn(number) => item(&self.depends_on, number),
            Part::Input(number) => item(&self.inputs, number),
            Part::Output(number) => item(&self.outputs, number),
        };
        written.unwrap_or_else(|| self.head.clone())
    }
}

/// Reports everything that is wrong between the phases of one file.
pub(super) fn report(phases: &[CheckedPhase], workflow: Option<&str>, reader: &mut FieldReader<'_>) {
    let outlines: Vec<Outline<'_>> = phases.iter().map(CheckedPhase::outline).collect();
    let range = |at: At| phases.get(at.phase).map_or(0..0, |phase| phase.range(at.part));
    for problem in check::check(&outlines, workflow) {
        let help = match problem.other {
            Some((what, at)) if !what.is_empty() => {
                format!("{}; {what} is in line {}", problem.help, reader.source.line_of(range(at).start))
            }
            Some(_) | None => problem.help,
        };
        match problem.severity {
            Severity::Error => reader.error(problem.code, &range(problem.at), problem.message, help),
            Severity::Warning => reader.warning(problem.code, &range(problem.at), problem.message, help),
        }
    }
}
