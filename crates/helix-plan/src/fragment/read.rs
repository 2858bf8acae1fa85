//! From what a planning phase returned to phases of the plan, or to everything that is wrong with it.
//!
//! Must not know how the agent is told; each finding says where (a JSON pointer) and what to do.

use std::ops::Range;

use serde_json::Value;

use helix_core::diagnostic::{Diagnostic, Severity, did_you_mean};
use helix_core::finding::Finding;
use helix_core::ids::PhaseId;
use helix_core::source_text::SourceText;
use helix_core::yaml::{FieldReader, Node, Placed};

use super::super::check::{self, At, Outline};
use super::super::checked::CheckedPhase;
use super::super::codes;
use super::super::gates::paths;
use super::super::model::{GateSpec, GeneratePhases, OnFailure, Phase, PhaseType, Plan};
use super::super::parse::{Proof, distinct, gates, suggest_id, values};
use super::super::source::{self, required_text, text};
use super::super::words::gates_of_phase;
use super::MAX_BYTES;
use super::node::Pointers;
use super::schema::{AddedPhaseSource, claims_files};

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
    let mut reading = Reading { plan, generate, reader: &mut reader };
    let written = reading.fragment(&node);
    let mut findings: Vec<Finding> =
        reader.problems.iter().filter(|problem| problem.is_error()).map(|problem| told(problem, &pointers)).collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let placed = placed(written, planner);
    let added: Vec<Phase> = placed.iter().filter_map(|checked| checked.phase.clone()).collect();
    findings.extend(between(plan, planner, &placed, &pointers));
    if !findings.is_empty() {
        return Err(findings);
    }
    let plan = plan.grown(planner, &added)?;
    Ok(Growth { plan, added })
}

fn told(problem: &Diagnostic, pointers: &Pointers) -> Finding {
    finding(&problem.code, pointers.of(problem), &problem.message, problem.help.as_deref())
}

fn finding(code: &str, pointer: &str, message: &str, fix: Option<&str>) -> Finding {
    let place = if pointer.is_empty() { "the fragment".into() } else { format!("`{pointer}`") };
    Finding {
        rule: format!("plan_fragment.{}", code.to_ascii_lowercase()),
        message: format!("{place}: {message}"),
        place: None,
        evidence: None,
        fix: fix.map(str::to_owned),
    }
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
    fn fragment(&mut self, node: &Node) -> Written {
        let Some(mut fields) = self.reader.open(node, "the fragment") else { return Written::default() };
        let feasibility = fields.entry("feasibility");
        let help = format!("write a list of {} phases", self.how_many());
        let phases = fields.require::<Items>("phases", &help, self.reader);
        fields.finish(self.reader);
        let feasibility = feasibility.and_then(|entry| self.phase(&entry.value, Kind::Feasibility));
        let Some(Placed { value: Items(items), range }) = phases else { return Written::default() };
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        if count < self.generate.min || count > self.generate.max {
            let message = format!("there are {count} phases, but the plan asks for {}", self.how_many());
            let help = if count > self.generate.max {
                "join phases that belong together, or leave out what the plan does not ask for"
            } else {
                "split the work so that each phase can be checked alone"
            };
            self.reader.error(codes::OUT_OF_RANGE, &range, message, help);
            return Written::default();
        }
        let phases: Vec<CheckedPhase> = items.iter().filter_map(|item| self.phase(item, Kind::Added)).collect();
        let written = Written { feasibility, phases };
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
        for id in written.feasibility.iter().chain(&written.phases).filter_map(|phase| phase.id.as_ref()) {
            if self.plan.phase(&id.value).is_some() {
                let message = format!("the plan has a phase `{}` already", id.value);
                self.reader.error(codes::DUPLICATE_PHASE_ID, &id.range, message, "choose another id");
            } else if seen.contains(&&id.value) {
                let message = format!("two phases have the id `{}`", id.value);
                self.reader.error(codes::DUPLICATE_PHASE_ID, &id.range, message, "give one of them another id");
            } else {
                seen.push(&id.value);
            }
        }
    }

    fn phase(&mut self, node: &Node, kind: Kind) -> Option<CheckedPhase> {
        let before = self.reader.problems.len();
        let (written, gates_readable) = self.source(node, kind)?;
        let readable = self.reader.problems.len() == before;
        let head = node.range.clone();
        let kind = match kind {
            Kind::Added => self.generate.template,
            Kind::Feasibility => PhaseType::Feasibility,
        };
        if let Some(other) = written.kind.filter(|written| written.value != kind) {
            let message = format!("the type is {}, but the plan decides it: {}", other.value.word(), kind.word());
            self.reader.error(codes::MISPLACED_KEY, &other.range, message, "leave `type` out");
        }
        let id = written.id.as_ref().and_then(|id| match PhaseId::new(&id.value) {
            Ok(good) => Some(Placed::new(good, id.range.clone())),
            Err(error) => {
                self.reader.error(codes::BAD_PHASE_ID, &id.range, error.to_string(), suggest_id(&id.value));
                None
            }
        });
        let list = |list: Option<source::Texts>| list.map(|list| list.value).unwrap_or_default();
        let depends_on = distinct(list(written.depends_on), "depends_on", self.reader);
        let skills = distinct(list(written.skills), "skills", self.reader);
        let inputs = paths(list(written.inputs), "inputs", self.reader);
        let written_outputs = list(written.outputs);
        let claims_nothing = readable && written_outputs.is_empty();
        let outputs = paths(written_outputs, "outputs", self.reader);
        if claims_nothing && claims_files(kind) {
            let help = "name the files that it will create or change";
            self.reader.error(codes::NOTHING_PROVES, &head, "a phase claims no files: `outputs` is empty", help);
        }
        let gates = if gates_readable { self.gates(written.gates, kind, &outputs, &head) } else { Vec::new() };
        for (what, used, named) in [
            (
                "agent",
                self.used(|phase| phase.agent.as_deref(), self.generate.defaults.agent.as_deref()),
                &written.agent,
            ),
            (
                "model",
                self.used(|phase| phase.model.as_deref(), self.generate.defaults.model.as_deref()),
                &written.model,
            ),
        ] {
            self.allowed(what, &used, named.as_ref());
        }
        let defaults = &self.generate.defaults;
        let phase = id.as_ref().map(|id| Phase {
            id: id.value.clone(),
            name: written.name.map_or_else(|| id.value.to_string(), |name| name.value),
            kind,
            description: written.description.map(|text| text.value).unwrap_or_default(),
            depends_on: depends_on.iter().filter_map(|id| PhaseId::new(&id.value).ok()).collect(),
            skills: values(&skills),
            inputs: values(&inputs),
            outputs: values(&outputs),
            gates,
            verify: self.generate.verify.clone(),
            approval: None,
            on_failure: OnFailure::default(),
            optional: false,
            generates_phases: None,
            agent: written.agent.map(|agent| agent.value).or_else(|| defaults.agent.clone()),
            model: written.model.map(|model| model.value).or_else(|| defaults.model.clone()),
            max_attempts: defaults.max_attempts,
            timeout: defaults.timeout,
            budget_usd: defaults.budget_usd,
            max_turns: defaults.max_turns,
        });
        Some(CheckedPhase { phase, id, head, depends_on, skills, inputs, outputs, agent: None, model: None })
    }

    /// The keys of a phase, and whether its gates could be read.
    fn source(&mut self, node: &Node, kind: Kind) -> Option<(AddedPhaseSource, bool)> {
        let reader = &mut *self.reader;
        let mut fields = reader.open(
            node,
            match kind {
                Kind::Added => "a phase",
                Kind::Feasibility => "the feasibility phase",
            },
        )?;
        let id = required_text(&mut fields, "id", "give it an id, such as `parser`", reader);
        let name = text(&mut fields, "name", reader);
        let phase_type = fields.take("type", reader);
        let help = "say what is to be done, in enough detail for an engineer who knows nothing else";
        let description = required_text(&mut fields, "description", help, reader);
        let depends_on = match kind {
            Kind::Added => fields.take("depends_on", reader),
            Kind::Feasibility => None,
        };
        let skills = fields.take("skills", reader);
        let inputs = fields.take("inputs", reader);
        let outputs = fields.require("outputs", "name the files that it will create or change", reader);
        let before = reader.problems.len();
        let gates = fields.take("gates", reader);
        let gates_readable = reader.problems.len() == before;
        let (agent, model) = (text(&mut fields, "agent", reader), text(&mut fields, "model", reader));
        fields.finish(reader);
        let source = AddedPhaseSource {
            id,
            name,
            kind: phase_type,
            description,
            depends_on,
            skills,
            inputs,
            outputs,
            gates,
            agent,
            model,
        };
        Some((source, gates_readable))
    }

    /// The least gates of the plan with those that the agent added. None can be taken away or written in a weaker form,
    /// because both stay.
    fn gates(
        &mut self,
        written: Option<Placed<Vec<Placed<GateSpec>>>>,
        kind: PhaseType,
        outputs: &[Placed<String>],
        head: &Range<usize>,
    ) -> Vec<GateSpec> {
        let has_outputs = !outputs.is_empty();
        let mut all: Vec<GateSpec> = if kind == self.generate.template && !self.generate.gates.is_empty() {
            self.generate.gates.clone()
        } else {
            let default = kind.default_gates().gates.iter();
            default.filter(|gate| has_outputs || !gate.needs_outputs()).map(|gate| gate.spec()).collect()
        };
        if let Some(written) = written.filter(|written| !written.value.is_empty()) {
            for gate in &written.value {
                if gate.value.delivery().is_some() {
                    let message = format!("an added phase cannot have the gate {}", gate.value.name());
                    let help = "only the plan itself can say what acts outside the repository; use `command`";
                    self.reader.error(codes::MISPLACED_KEY, &gate.range, message, help);
                }
            }
            let has_adr = self.plan.adr.is_some();
            let proof = Proof { kind: Some(kind), head: head.clone(), outputs: has_outputs, has_adr, generates: false };
            for gate in gates(Some(written), &proof, self.reader) {
                if !all.contains(&gate) {
                    all.push(gate);
                }
            }
        }
        if all.is_empty() {
            let message = "nothing proves that this phase did its work: it has no gates";
            self.reader.error(codes::NOTHING_PROVES, head, message, "add `gates`");
        }
        gates_of_phase(all, has_outputs)
    }

    /// What the plan's phases use, and what added phases use by default.
    fn used<'p>(&'p self, of: impl Fn(&'p Phase) -> Option<&'p str>, default: Option<&'p str>) -> Vec<String> {
        let mut used: Vec<String> = Vec::new();
        for name in self.plan.phases.iter().filter_map(of).chain(default) {
            if !used.iter().any(|known| known == name) {
                used.push(name.to_owned());
            }
        }
        used
    }

    /// Reports an agent or model that the plan does not use: what may be spent is the plan's decision.
    fn allowed(&mut self, what: &str, used: &[String], named: Option<&Placed<String>>) {
        let Some(named) = named.filter(|named| !used.contains(&named.value)) else { return };
        let help = match did_you_mean(&named.value, used.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if used.is_empty() => format!("leave `{what}` out"),
            None => format!("leave `{what}` out, or use one of: {}", used.join(", ")),
        };
        let message = format!("the plan uses no {what} `{}`", named.value);
        self.reader.error(codes::UNKNOWN_WORD, &named.range, message, help);
    }
}

/// Which phase of a fragment is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Added,
    Feasibility,
}

/// The items of a list, whatever they are.
struct Items(Vec<Node>);

impl helix_core::yaml::FromYaml for Items {
    fn from_yaml(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        match &node.value {
            helix_core::yaml::Value::Sequence(items) => Some(Self(items.to_vec())),
            helix_core::yaml::Value::Scalar(_) | helix_core::yaml::Value::Mapping(_) => {
                reader.wrong_type(node, what, "a list of phases", None);
                None
            }
        }
    }
}

/// Fills in the dependencies by which the phases stand in the plan. What was written keeps its place in the lists, so that
/// findings can point to it.
fn placed(written: Written, planner: &PhaseId) -> Vec<CheckedPhase> {
    let Written { feasibility, mut phases } = written;
    let own: Vec<PhaseId> = phases.iter().filter_map(|phase| phase.id.as_ref()).map(|id| id.value.clone()).collect();
    let first = feasibility.as_ref().and_then(|phase| phase.id.as_ref()).map_or(planner, |id| &id.value).clone();
    for phase in &mut phases {
        let is_root = !phase.depends_on.iter().any(|needed| own.iter().any(|id| id.as_str() == needed.value));
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
    if phase.depends_on.iter().any(|needed| needed.value == on.as_str()) {
        return;
    }
    phase.depends_on.push(Placed::new(on.to_string(), phase.head.clone()));
    if let Some(phase) = &mut phase.phase {
        phase.depends_on.push(on.clone());
    }
}

/// Everything that is wrong between the added phases and those of the plan.
fn between(plan: &Plan, planner: &PhaseId, placed: &[CheckedPhase], pointers: &Pointers) -> Vec<Finding> {
    let mut old: Vec<Phase> = plan.phases.clone();
    for phase in old.iter_mut().filter(|phase| phase.depends_on.contains(planner)) {
        phase.depends_on.extend(placed.iter().filter_map(|added| added.id.as_ref()).map(|id| id.value.clone()));
    }
    let outlines: Vec<Outline<'_>> =
        old.iter().map(Outline::of).chain(placed.iter().map(CheckedPhase::outline)).collect();
    // The added phases come last, so that of two phases that clash the added one is the one that is told.
    let added = |at: At| {
        let phase = placed.get(at.phase.checked_sub(old.len())?)?;
        Some(phase.range(at.part))
    };
    let mut findings = Vec::new();
    let ancestry = plan.ancestry();
    for phase in placed {
        for needed in &phase.depends_on {
            let after = PhaseId::new(&needed.value).ok().filter(|id| ancestry.is_before(planner, id));
            if let Some(after) = after {
                let message = format!("the phase `{after}` waits for the added phases, so none of them can need it");
                let fix = Some("remove it from `depends_on`");
                findings.push(finding(codes::DEPENDENCY_CYCLE, pointers.pointer(&needed.range), &message, fix));
            }
        }
    }
    if !findings.is_empty() {
        return findings;
    }
    for problem in check::check(&outlines, None) {
        let other = problem.other.map(|(_, at)| at);
        let (Severity::Error, Some(range)) = (problem.severity, added(problem.at).or_else(|| other.and_then(added)))
        else {
            continue;
        };
        findings.push(finding(problem.code, pointers.pointer(&range), &problem.message, Some(&problem.help)));
    }
    findings
}
