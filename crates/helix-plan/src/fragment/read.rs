//! From what a planning phase returned to phases of the plan, or to everything that is wrong with it.
//!
//! Must not know how the agent is told; each finding says where (a JSON pointer) and what to do.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use helix_core::diagnostic::{Diagnostic, Span, did_you_mean};
use helix_core::document::{FieldReader, FromNode, Placed, Pointers};
use helix_core::finding::Finding;
use helix_core::ids::PhaseId;
use helix_core::source_text::SourceText;

use super::super::check::{At, Outline, Part, Problem, check};
use super::super::checked::CheckedPhase;
use super::super::codes;
use super::super::defaults::gates_of_phase;
use super::super::grow;
use super::super::model::{GateSpec, GeneratePhases, Phase, PhaseType, Plan};
use super::super::parse::{Criteria, Proof, Scope, gates, resolve_phase};
use super::super::source::{self, PhaseSource};
use super::MAX_BYTES;
use super::schema::{AddedPhaseSource, FragmentSource, claims_files};

/// A plan with the phases that a planning phase added.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The plan with them.
    pub plan: Plan,
    /// The added phases alone, as [`Plan::grown`] takes them: the feasibility phase first, dependencies filled in.
    pub added: Vec<Phase>,
}

/// Reads what the phase `planner` of a plan returned. Nothing is added unless all of it is right.
///
/// # Errors
/// Every problem that was found, each with a JSON pointer and a remedy; never empty.
pub fn read(plan: &Plan, planner: &PhaseId, value: &Value) -> Result<Growth, Vec<Finding>> {
    let Some(generate) = plan.phase(planner).and_then(|phase| phase.generates_phases.as_ref()) else {
        return Err(vec![finding(codes::MISPLACED_KEY, "", &format!("the phase `{planner}` adds no phases"), None)]);
    };
    let bytes = value.to_string().len();
    if bytes > MAX_BYTES {
        let message = format!("it is {bytes} bytes long, more than the {MAX_BYTES} that are read");
        return Err(vec![finding(codes::TOO_LARGE, "", &message, Some("shorten the descriptions"))]);
    }
    let (node, pointers) = Pointers::tree(value);
    let ground = pointers.ground();
    let ground = SourceText::new("", &ground);
    let mut reader = source::reader(&ground);
    let fragment = FragmentSource::from_node(&node, "the fragment", &mut reader).unwrap_or_default();
    let mut reading = Reading { plan, generate, reader: &mut reader };
    let written = reading.fragment(fragment);
    let to_finding = |problem: &Diagnostic| {
        let pointer = pointers.for_diagnostic(problem, codes::MISSING_KEY);
        finding(&problem.code, pointer, &problem.message, problem.help.as_deref())
    };
    let findings: Vec<Finding> = reader.problems.iter().filter(|problem| problem.is_error()).map(to_finding).collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let placed = placed(written, planner);
    let added: Vec<Phase> = placed.iter().filter_map(|checked| checked.phase.clone()).collect();
    let findings = between(plan, planner, &placed, &pointers);
    if !findings.is_empty() {
        return Err(findings);
    }
    let plan = plan.grown(planner, &added)?;
    Ok(Growth { plan, added })
}

fn finding(code: &str, pointer: &str, message: &str, fix: Option<&str>) -> Finding {
    let place = if pointer.is_empty() { "the fragment".into() } else { format!("`{pointer}`") };
    let found = grow::finding(code, format!("{place}: {message}"));
    Finding { fix: fix.map(str::to_owned), ..found }
}

/// What a fragment is read against.
struct Reading<'r, 's> {
    plan: &'r Plan,
    generate: &'r GeneratePhases,
    reader: &'r mut FieldReader<'s>,
}

/// The phases of a fragment, before they are put into the plan.
#[derive(Default)]
struct Written {
    feasibility: Option<CheckedPhase>,
    phases: Vec<CheckedPhase>,
}

impl Reading<'_, '_> {
    fn fragment(&mut self, fragment: FragmentSource) -> Written {
        if let Some(before) = fragment.feasibility.as_ref().and_then(|phase| phase.value.depends_on.as_ref()) {
            let help = "remove it: the feasibility phase comes before all added phases";
            self.reader.error(codes::UNKNOWN_KEY, &before.range, "`feasibility` has no key `depends_on`", help);
        }
        let feasibility = fragment.feasibility.map(|phase| self.phase(phase, PhaseType::Feasibility));
        let Some(Placed { value: phases, range }) = fragment.phases else { return Written::default() };
        let count = u32::try_from(phases.len()).unwrap_or(u32::MAX);
        let readable = !fragment.unreadable.contains(&"phases");
        if readable && (count < self.generate.min || count > self.generate.max) {
            let message = format!("{count} phases, but the plan asks for {}", self.how_many());
            let help = if count > self.generate.max {
                "merge related phases, or omit what the plan does not ask for"
            } else {
                "split the work so that each phase can be checked separately"
            };
            self.reader.error(codes::OUT_OF_RANGE, &range, message, help);
            return Written::default();
        }
        let template = self.generate.template;
        let written =
            Written { feasibility, phases: phases.into_iter().map(|phase| self.phase(phase, template)).collect() };
        self.ids(&written);
        written
    }

    fn how_many(&self) -> String {
        let GeneratePhases { min, max, .. } = self.generate;
        if min == max { format!("exactly {min}") } else { format!("{min} to {max}") }
    }

    /// Reports ids that the plan has already or that are there twice.
    fn ids(&mut self, written: &Written) {
        let mut seen: Vec<&PhaseId> = Vec::new();
        for phase in written.feasibility.iter().chain(&written.phases) {
            let Some(id) = &phase.outline.id else { continue };
            let (message, help) = if self.plan.phase(id).is_some() {
                (format!("the plan already has a phase `{id}`"), "choose another id")
            } else if seen.contains(&id) {
                (format!("two phases have the id `{id}`"), "give one of them another id")
            } else {
                seen.push(id);
                continue;
            };
            self.reader.error(codes::DUPLICATE_PHASE_ID, &phase.places.id.range(), message, help);
        }
    }

    fn phase(&mut self, written: Placed<AddedPhaseSource>, kind: PhaseType) -> CheckedPhase {
        let Placed { value: written, range: head } = written;
        if let Some(other) = written.kind.filter(|written| written.value != kind) {
            let message = format!("the type is {}, but the plan decides it: {}", other.value.word(), kind.word());
            self.reader.error(codes::MISPLACED_KEY, &other.range, message, "omit `type`");
        }
        let has_outputs = written.outputs.as_ref().is_some_and(|outputs| !outputs.value.is_empty());
        if written.unreadable.is_empty() && !has_outputs && claims_files(kind) {
            let help = "list the files that it will create or change";
            self.reader.error(codes::NOTHING_PROVES, &head, "a phase claims no files: `outputs` is empty", help);
        }
        let (phases, defaults) = (&self.plan.phases, &self.generate.defaults);
        let agents = phases.iter().map(|phase| phase.agent.as_deref()).chain([defaults.agent.as_deref()]);
        allowed("agent", agents, written.agent.as_ref(), self.reader);
        let models = phases.iter().map(|phase| phase.model.as_deref()).chain([defaults.model.as_deref()]);
        allowed("model", models, written.model.as_ref(), self.reader);
        let readable = !written.unreadable.contains(&"gates");
        let gates = if readable { self.gates(written.gates, kind, has_outputs, &head) } else { Vec::new() };
        let source = PhaseSource {
            id: written.id,
            name: written.name,
            kind: Some(Placed::new(kind, head.clone())),
            description: written.description,
            depends_on: written.depends_on,
            skills: written.skills,
            inputs: written.inputs,
            outputs: written.outputs,
            agent: written.agent,
            model: written.model,
            head,
            // Both were looked at here.
            unreadable: vec!["gates", "description"],
            ..PhaseSource::default()
        };
        let scope = Scope { defaults: self.generate.defaults.clone(), ..Scope::default() };
        let mut checked = resolve_phase(source, &scope, self.reader);
        if let Some(phase) = &mut checked.phase {
            phase.gates = gates;
            phase.verify.clone_from(&self.generate.verify);
        }
        checked
    }

    /// The least gates of the plan with those that the agent added. None can be taken away or written in a weaker form,
    /// because both stay.
    fn gates(
        &mut self,
        written: Option<Placed<Vec<Placed<GateSpec>>>>,
        kind: PhaseType,
        has_outputs: bool,
        head: &Range<usize>,
    ) -> Vec<GateSpec> {
        let mut all: Vec<GateSpec> = if kind == self.generate.template && !self.generate.gates.is_empty() {
            self.generate.gates.clone()
        } else {
            kind.useful_default_gates(has_outputs)
        };
        if let Some(written) = written.filter(|written| !written.value.is_empty()) {
            for gate in &written.value {
                if gate.value.delivery().is_some() {
                    let message = format!("an added phase cannot have the gate {}", gate.value.name());
                    let help = "only the plan can contain deliveries; use `command`";
                    self.reader.error(codes::MISPLACED_KEY, &gate.range, message, help);
                }
            }
            let criteria = if self.plan.adr.is_some() { Criteria::OfAdr } else { Criteria::Missing };
            let proof =
                Proof { kind: Some(kind), head: head.clone(), outputs: has_outputs, criteria, generates: false };
            for gate in gates(Some(written), &proof, self.reader) {
                if !all.contains(&gate) {
                    all.push(gate);
                }
            }
        }
        if all.is_empty() {
            let message = "nothing verifies this phase: it has no gates";
            self.reader.error(codes::NOTHING_PROVES, head, message, "add `gates`");
        }
        gates_of_phase(all, has_outputs)
    }
}

/// Reports an agent or model that neither the plan's phases use nor added phases by default: what may be spent is the plan's
/// decision.
fn allowed<'p>(
    what: &str,
    used: impl Iterator<Item = Option<&'p str>>,
    named: Option<&Placed<String>>,
    reader: &mut FieldReader<'_>,
) {
    let mut known: Vec<&str> = used.flatten().collect();
    let Some(named) = named.filter(|named| !known.contains(&named.value.as_str())) else { return };
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(*name));
    let help = match did_you_mean(&named.value, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("omit `{what}`"),
        None => format!("omit `{what}`, or use one of: {}", known.join(", ")),
    };
    let message = format!("the plan uses no {what} `{}`", named.value);
    reader.error(codes::UNKNOWN_WORD, &named.range, message, help);
}

/// Fills in the dependencies by which the phases stand in the plan. What was written keeps its place in the lists, so that
/// findings can point to it.
fn placed(written: Written, planner: &PhaseId) -> Vec<CheckedPhase> {
    let Written { feasibility, mut phases } = written;
    let own: Vec<PhaseId> = phases.iter().filter_map(|phase| phase.outline.id.clone()).collect();
    let first = feasibility.as_ref().and_then(|phase| phase.outline.id.as_ref()).unwrap_or(planner).clone();
    for phase in &mut phases {
        let is_root = !phase.outline.depends_on.iter().any(|needed| own.iter().any(|id| id.as_str() == needed));
        if is_root {
            add_dependency(phase, &first);
        }
    }
    let mut all: Vec<CheckedPhase> = Vec::with_capacity(phases.len() + 1);
    if let Some(mut feasibility) = feasibility {
        add_dependency(&mut feasibility, planner);
        all.push(feasibility);
    }
    all.extend(phases);
    all
}

fn add_dependency(phase: &mut CheckedPhase, on: &PhaseId) {
    if phase.outline.depends_on.iter().any(|needed| needed == on.as_str()) {
        return;
    }
    phase.outline.depends_on.push(on.to_string());
    if let Some(phase) = &mut phase.phase {
        phase.depends_on.push(on.clone());
    }
}

/// Everything that is wrong between the added phases and those of the plan.
fn between(plan: &Plan, planner: &PhaseId, placed: &[CheckedPhase], pointers: &Pointers) -> Vec<Finding> {
    let pointer = |span: Span| pointers.pointer(&span.range());
    let mut findings = Vec::new();
    let ancestry = plan.ancestry();
    for phase in placed {
        for (number, needed) in phase.outline.depends_on.iter().enumerate() {
            if PhaseId::new(needed).is_ok_and(|id| ancestry.is_before(planner, &id)) {
                let message = format!("the phase `{needed}` waits for the added phases, so they cannot depend on it");
                let fix = Some("remove it from `depends_on`");
                let at = pointer(phase.places.at(Part::DependsOn(number)));
                findings.push(finding(codes::DEPENDENCY_CYCLE, at, &message, fix));
            }
        }
    }
    if !findings.is_empty() {
        return findings;
    }
    let mut outlines: Vec<Outline> = plan.phases.iter().map(Outline::from).collect();
    let old = outlines.len();
    for waiting in outlines.iter_mut().filter(|old| old.depends_on.iter().any(|needed| needed == planner.as_str())) {
        waiting.depends_on.extend(placed.iter().filter_map(|added| added.outline.id.as_ref()).map(PhaseId::to_string));
    }
    // The added phases come last, so that of two phases that clash the added one is the one that is named.
    outlines.extend(placed.iter().map(|added| added.outline.clone()));
    let added = |(phase, part): At| Some(placed.get(phase.checked_sub(old)?)?.places.at(part));
    for Problem { diagnostic, at, other } in check("", &outlines, None) {
        if let Some(span) = added(at).or_else(|| added(other?.1)).filter(|_| diagnostic.is_error()) {
            findings.push(finding(&diagnostic.code, pointer(span), &diagnostic.message, diagnostic.help.as_deref()));
        }
    }
    findings
}
