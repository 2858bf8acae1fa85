//! Gates that could give no answer with what is there at submit: told before anything runs, not when the work is done.
//!
//! Must not run anything.

use helix_core::adr::Adr;
use helix_core::diagnostic::{Diagnostic, Span};
use helix_core::job::AdrText;
use helix_core::plan::{GateSpec, Phase, Plan, PlanPlaces, split_words};

use super::plan_file::PlanFile;
use crate::codes;
use crate::command::ToolEnvironment;
use crate::gates::command_of;

/// What gates of a plan would miss. `search_path` says where the programs of a phase's gates are looked for.
pub(super) fn problems(
    file: &PlanFile,
    plan: &Plan,
    places: &PlanPlaces,
    adr: Option<&AdrText>,
    search_path: impl Fn(&Phase) -> Option<String>,
) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let without_criteria = adr.filter(|adr| Adr::parse(&adr.path, &adr.text).criteria.is_empty());
    for (index, phase) in plan.phases.iter().enumerate() {
        let span = places.phases.get(index).map(|place| place.id);
        let path = search_path(phase);
        for gate in &phase.gates {
            if let (GateSpec::CriteriaCovered {}, Some(adr)) = (gate, without_criteria) {
                let message =
                    format!("phase {} has the gate criteria_covered, and {} has no criteria", phase.id, adr.path);
                let help = "write acceptance criteria as checkboxes (docs/adr.md), or remove the gate".to_owned();
                problems.push(file.error(codes::GATE_CANNOT_ANSWER, places.adr.or(span), message, help));
            }
            if let Some(program) = command_of(gate).and_then(|command| missing_program(command, path.as_deref())) {
                problems.push(no_program(file, span, phase, gate, &program));
            }
        }
    }
    problems
}

/// The environment's own search path, where an agent has none of its own.
pub(super) fn own_search_path() -> Option<String> {
    ToolEnvironment::from_process(&[]).get("PATH").map(str::to_owned)
}

/// The program of a command, when it is a bare name that is nowhere on the path. One with a directory lies in the repository, or
/// will: a phase may write it.
fn missing_program(command: &str, path: Option<&str>) -> Option<String> {
    let program = split_words(command).ok()?.into_iter().next()?;
    let there = std::env::split_paths(path?).any(|directory| directory.join(&program).is_file());
    (!program.contains('/') && !there).then_some(program)
}

/// A warning: the agent may install it before the gate runs.
fn no_program(file: &PlanFile, span: Option<Span>, phase: &Phase, gate: &GateSpec, program: &str) -> Diagnostic {
    let message = format!("gate {} of phase {} runs `{program}`, which is not in PATH", gate.name(), phase.id);
    let help = format!("install {program} where Helix finds it: without it the gate stays inconclusive");
    file.warning(codes::GATE_CANNOT_ANSWER, span, message, help)
}
