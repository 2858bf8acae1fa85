//! Gates that could give no answer with what is there at submit: told before anything runs, not when the work is done.
//!
//! Must not run anything.

use helix_adr::Adr;
use helix_core::diagnostic::{Diagnostic, Span};
use helix_job::AdrText;
use helix_plan::{Ancestry, GateSpec, Phase, Plan, PlanPlaces, split_words};

use super::plan_file::PlanFile;
use crate::codes;
use helix_gates::delivery_programs;
use helix_process::ToolEnvironment;

/// What gates of a plan would miss. `search_paths` says for each phase where the programs of its gates are looked for.
pub(super) fn problems(
    file: &PlanFile,
    plan: &Plan,
    places: &PlanPlaces,
    adr: Option<&AdrText>,
    search_paths: &[Option<String>],
) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let without_criteria = adr.filter(|adr| Adr::parse(&adr.path, &adr.text).criteria.is_empty());
    let ancestry = plan.ancestry();
    for (index, phase) in plan.phases.iter().enumerate() {
        let span = places.phases.get(index).map(|place| place.id);
        let path = search_paths.get(index).and_then(Option::as_deref);
        for (at, gate) in phase.gates.iter().enumerate() {
            if let (GateSpec::CriteriaCovered {}, Some(adr)) = (gate, without_criteria) {
                let message =
                    format!("phase {} has the gate criteria_covered, and {} has no criteria", phase.id, adr.path);
                let help = "write acceptance criteria as checkboxes (docs/adr.md), or remove the gate".to_owned();
                problems.push(file.error(codes::GATE_CANNOT_ANSWER, places.adr.or(span), message, help));
            }
            let programs = match gate.delivery() {
                Some(delivery) => delivery_programs(delivery),
                None => gate.commands().into_iter().filter_map(program_of).collect(),
            };
            for program in programs.iter().filter(|program| is_missing(program, path)) {
                problems.push(no_program(file, span, phase, gate, program));
            }
            if gate.delivery().is_some() && !is_vouched_for(&ancestry, phase, at) {
                let message = format!("nothing validates what gate {} of phase {} delivers", gate.name(), phase.id);
                let help = "put a gate before it, such as `tests_pass`, or let the phase depend on one that has gates";
                problems.push(file.error(codes::GATE_CANNOT_ANSWER, span, message, help.to_owned()));
            }
        }
    }
    problems
}

/// The environment's own search path, where an agent has none of its own.
pub(super) fn own_search_path() -> Option<String> {
    ToolEnvironment::from_process(&[]).get("PATH").map(str::to_owned)
}

fn program_of(command: &str) -> Option<String> {
    split_words(command).ok()?.into_iter().next()
}

/// Whether a program is a bare name that is nowhere on the path. One with a directory lies in the repository, or will: a phase
/// may write it.
fn is_missing(program: &str, path: Option<&str>) -> bool {
    let there = |path| std::env::split_paths(path).any(|directory| directory.join(program).is_file());
    !program.contains('/') && path.is_some_and(|path| !there(path))
}

/// Whether a gate ahead of a delivery says anything about what is delivered: the phase's own, or one of the phases before it,
/// those that they may add included.
fn is_vouched_for(ancestry: &Ancestry<'_>, phase: &Phase, at: usize) -> bool {
    let own = phase.gates.iter().take(at).any(|gate| match gate {
        GateSpec::OutputsClaimed { .. } => false,
        other => other.delivery().is_none(),
    });
    own || ancestry
        .before(&phase.id)
        .any(|phase| phase.generates_phases.is_some() || phase.gates.iter().any(GateSpec::checks_a_sum))
}

/// A warning: the agent may install it before the gate runs.
fn no_program(file: &PlanFile, span: Option<Span>, phase: &Phase, gate: &GateSpec, program: &str) -> Diagnostic {
    let message = format!("gate {} of phase {} runs `{program}`, which is not in PATH", gate.name(), phase.id);
    let help = format!("install {program} where Helix finds it: without it the gate stays inconclusive");
    file.warning(codes::GATE_CANNOT_ANSWER, span, message, help)
}
