//! From the text of `phases.yaml` to a validated [`Plan`], with every problem of the file found in one go.
//!
//! Must not know the repository, the configured agents or the clock: what depends on them is checked at submit, with the
//! places that [`ParsedPlan`] keeps for that.

use std::collections::BTreeMap;
use std::ops::Range;

use helix_core::diagnostic::{Diagnostic, Span};
use helix_core::document::{FieldReader, FromNode, Limits, Node, Placed, ReadError, ReadErrorKind, read};
use helix_core::ids::{MAX_PHASE_ID, PhaseId};
use helix_core::slug::slug;
use helix_core::source_text::{SourceText, sort_by_place, utf8};
use helix_core::text::{one_line, plain};

use super::check::Outline;
use super::checked::{self, CheckedPhase, PhasePlaces};
use super::codes;
use super::defaults::{gates_of_phase, in_order_of_cost};
use super::dialects::{self, Normalised};
use super::gates::{distinct, paths};
use super::model::{Defaults, GateSpec, GeneratePhases, OnFailure, Phase, PhaseType, Plan, WorkflowCall};
use super::pattern::normal_path;
use super::source::{self, DefaultsSource, GeneratePhasesSource, PhaseSource, PlanSource, WorkflowSource};

/// As many characters of a name as are shown.
const LONGEST_NAME: usize = 200;

/// A plan without errors, what is worth knowing about it, and where its parts were written.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedPlan {
    pub plan: Plan,
    pub warnings: Vec<Diagnostic>,
    /// Where things stand, for checks that need the repository or the configuration.
    pub places: PlanPlaces,
    /// What the plan says for phases that do not say otherwise, with the built-in values filled in.
    pub defaults: Defaults,
    /// Older forms beside the modern ones as which they were read; each is also among the warnings.
    pub normalised: Vec<Normalised>,
}

impl ParsedPlan {
    /// Every older form of the plan beside the modern one, with its line; nothing when the plan has none.
    pub fn explanation(&self, place: impl Fn(u32) -> String) -> String {
        self.normalised.iter().map(|one| format!("{}\n{one}\n", place(one.span.line))).collect()
    }
}

/// Places of those parts of a plan that only the engine can check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanPlaces {
    pub adr: Option<Span>,
    pub workflow: Option<Span>,
    /// The values that the plan gives for inputs of the workflow, by their names.
    pub workflow_inputs: BTreeMap<String, Span>,
    /// One entry for each phase, in the order of the plan.
    pub phases: Vec<PhasePlaces>,
}

impl Plan {
    /// Reads a plan. `file_name` is what messages call it.
    ///
    /// # Errors
    /// Every problem that was found, warnings included, in the order of the file; at least one is an error.
    pub fn parse(file_name: &str, source: &str) -> Result<ParsedPlan, Vec<Diagnostic>> {
        let source = SourceText::new(file_name, source);
        let mut reader = source::reader(&source);
        let Some(node) = read_tree("plan", &source, &mut reader) else { return Err(reader.problems) };
        let modern = dialects::modernise(&node, &mut reader);
        let written = PlanSource::from_node(&modern.node, "a plan", &mut reader);
        let resolved = written.and_then(|written| resolve(written, &mut reader));
        let mut problems = reader.problems;
        problems.extend(resolved.iter().filter_map(|(plan, places, _)| unchecked_criteria(file_name, plan, places)));
        problems.extend(resolved.iter().flat_map(|(plan, places, _)| unverified(file_name, plan, places)));
        problems.extend(resolved.iter().flat_map(|(plan, places, _)| unedited(file_name, plan, places)));
        sort_by_place(&mut problems);
        match resolved {
            Some((plan, places, defaults)) if !problems.iter().any(Diagnostic::is_error) => {
                Ok(ParsedPlan { plan, warnings: problems, places, defaults, normalised: modern.normalised })
            }
            Some(_) | None => Err(problems),
        }
    }

    /// Reads a plan from bytes, which must be UTF-8.
    ///
    /// # Errors
    /// As [`Plan::parse`]; text in another encoding is one error at the first byte that is not UTF-8.
    pub fn parse_bytes(file_name: &str, bytes: &[u8]) -> Result<ParsedPlan, Vec<Diagnostic>> {
        Self::parse(file_name, utf8(file_name, bytes, codes::NOT_UTF8).map_err(|problem| vec![*problem])?)
    }
}

/// What a template says where the work is to be described; an agent would be paid for guessing it.
pub const TO_DESCRIBE: &str =
    "Say here what is to be built, as you would to a colleague who has never seen the repository.";

/// Phases that nobody has described yet.
fn unedited(file: &str, plan: &Plan, places: &PlanPlaces) -> Vec<Diagnostic> {
    let phases = plan.phases.iter().zip(&places.phases).filter(|(phase, _)| phase.description.trim() == TO_DESCRIBE);
    let problem = |(phase, place): (&Phase, &PhasePlaces)| {
        let message = format!("phase `{}` still has the description of the template", phase.id);
        Diagnostic::error(codes::UNEDITED, file, message)
            .at(place.id)
            .help("write what is to be built in its `description`")
    };
    phases.map(problem).collect()
}

/// A warning where nothing will check the criteria of the plan's decision; with a workflow that is not known yet.
pub(super) fn unchecked_criteria(file: &str, plan: &Plan, places: &PlanPlaces) -> Option<Diagnostic> {
    let checks = |gate: &GateSpec| *gate == GateSpec::CriteriaCovered {};
    if plan.adr.is_none() || plan.workflow.is_some() || plan.gates().any(checks) {
        return None;
    }
    let message = "no gate checks the acceptance criteria of the plan's `adr`";
    let help = "add `{ type: criteria_covered }` to the gates of the last phase";
    let warning = Diagnostic::warning(codes::CRITERIA_UNCHECKED, file, message).help(help);
    Some(Diagnostic { span: places.adr, ..warning })
}

/// Warnings where code for the plan's decision comes from a phase that nobody but its gates looks at, and does not say so.
fn unverified(file: &str, plan: &Plan, places: &PlanPlaces) -> Vec<Diagnostic> {
    let reviews = |gate: &GateSpec| matches!(gate, GateSpec::ReviewApproved { .. });
    let phases = plan.phases.iter().zip(&places.phases).filter(|(phase, place)| {
        phase.kind == PhaseType::Development && place.verify.is_none() && !phase.gates.iter().any(reviews)
    });
    let warning = |(phase, place): (&Phase, &PhasePlaces)| {
        let message = format!("no verifier looks at the result of phase `{}`", phase.id);
        let help = "add `verify: true`, or `verify: false` where its gates are enough";
        Diagnostic::warning(codes::UNVERIFIED, file, message).at(place.id).help(help)
    };
    if plan.adr.is_none() || plan.workflow.is_some() { Vec::new() } else { phases.map(warning).collect() }
}

/// Reads the tree of a file; a file without one is reported.
pub(super) fn read_tree(what: &str, source: &SourceText<'_>, reader: &mut FieldReader<'_>) -> Option<Node> {
    let problem = match read(source.text(), Limits::default()) {
        Ok(Some(node)) => return Some(node),
        Ok(None) => empty(what, source),
        Err(error) => unreadable(source, &error),
    };
    reader.problems.push(problem);
    None
}

fn empty(what: &str, source: &SourceText<'_>) -> Diagnostic {
    Diagnostic::error(codes::EMPTY_PLAN, source.file(), format!("the file contains no {what}"))
        .help(format!("write a `name` and `phases`; `helix {what} new NAME` writes a {what} to start from"))
}

fn unreadable(source: &SourceText<'_>, error: &ReadError) -> Diagnostic {
    let next = error.range.clone().and_then(|range| source.text().get(range.start..)?.chars().next());
    let (code, help) = match &error.kind {
        ReadErrorKind::TooLong { .. } => {
            (codes::TOO_LARGE, "move long descriptions into files and list them as `inputs`")
        }
        ReadErrorKind::TooMuch { .. } => (codes::TOO_LARGE, "write the values out instead of nesting aliases"),
        ReadErrorKind::Syntax(message) => (codes::INVALID_YAML, syntax_help(message, next)),
        ReadErrorKind::SeveralDocuments => {
            (codes::SEVERAL_DOCUMENTS, "put each plan into its own file: remove the `---` and what follows")
        }
        ReadErrorKind::KeyNotText => (codes::INVALID_YAML, "put the key in quotes"),
        ReadErrorKind::UnknownTag(_) => (codes::INVALID_YAML, "remove the tag; plans need none"),
        ReadErrorKind::BadAlias(_) => (codes::INVALID_YAML, "write the value out"),
    };
    let mut problem = Diagnostic::error(code, source.file(), error.to_string()).help(help);
    problem.span = error.range.clone().map(|range| source.span(range));
    problem
}

fn syntax_help(message: &str, next: Option<char>) -> &'static str {
    match next {
        Some('\t') => "YAML is indented with spaces, never with tabs",
        _ if message.contains("tab") => "YAML is indented with spaces, never with tabs",
        Some('*') => "a value that begins with `*` needs quotes: \"*.py\"",
        Some('@' | '`' | '%') => "a value that begins with this character needs quotes",
        _ => {
            "check the indentation here and in the line above; a value with `: `, ` #`, quotes or brackets needs quotes"
        }
    }
}

fn resolve(written: PlanSource, reader: &mut FieldReader<'_>) -> Option<(Plan, PlanPlaces, Defaults)> {
    let adr = written.adr.and_then(|adr| match normal_path(&adr.value) {
        Ok(path) => Some(Placed::new(path, adr.range)),
        Err(error) => {
            reader.error(codes::BAD_PATH, &adr.range, format!("`adr`: {error}"), error.remedy);
            None
        }
    });
    let has_none = written.phases.as_ref().is_none_or(|phases| phases.value.is_empty());
    if has_none && written.workflow.is_none() && written.unreadable.is_empty() {
        let (at, message) = match &written.phases {
            Some(phases) => (&phases.range, "`phases` is empty"),
            None => (&written.head, "the plan has no phases"),
        };
        reader.error(codes::EMPTY_PLAN, at, message, "add at least one phase, or name a `workflow`");
    }
    let phases = written.phases.map(|phases| phases.value).unwrap_or_default();
    let own = written.defaults.map(|defaults| defaults.value).unwrap_or_default();
    let scope = Scope {
        agent_at: own.agent.as_ref().map(|agent| agent.range.clone()),
        model_at: own.model.as_ref().map(|model| model.range.clone()),
        defaults: with_defaults(own, &Defaults::default()),
        criteria: if adr.is_some() { Criteria::OfAdr } else { Criteria::Missing },
    };
    let read: Vec<CheckedPhase> = phases.into_iter().map(|phase| resolve_phase(phase.value, &scope, reader)).collect();
    let mut places =
        PlanPlaces { adr: adr.as_ref().map(|adr| reader.source.span(adr.range.clone())), ..PlanPlaces::default() };
    let workflow = called(written.workflow, &mut places, reader.source);
    let called = workflow.as_ref().map(|workflow| workflow.name.as_str());
    reader.problems.extend(checked::problems(reader.source.file(), &read, called));
    let mut resolved = Vec::with_capacity(read.len());
    for phase in read {
        places.phases.push(phase.places);
        resolved.push(phase.phase?);
    }
    let plan = Plan {
        name: display_name(&written.name?.value),
        description: written.description.map(|text| text.value).unwrap_or_default(),
        adr: adr.map(|adr| adr.value),
        issue: value(written.issue),
        land: value(written.land),
        workflow,
        phases: resolved,
    };
    Some((plan, places, scope.defaults))
}

fn called(
    written: Option<Placed<WorkflowSource>>,
    places: &mut PlanPlaces,
    source: &SourceText<'_>,
) -> Option<WorkflowCall> {
    let Placed { value: written, range } = written?;
    let (name, given) = match written {
        WorkflowSource::Name(name) => (Placed::new(name, range), Vec::new()),
        WorkflowSource::Call(call) => (call.name?, value(call.inputs).unwrap_or_default()),
    };
    places.workflow = Some(source.span(name.range));
    let mut inputs = BTreeMap::new();
    for (name, input) in given {
        places.workflow_inputs.insert(name.value.clone(), source.span(input.range));
        inputs.insert(name.value, input.value);
    }
    Some(WorkflowCall { name: name.value, inputs })
}

/// What is written for phases that do not say otherwise, with weaker values filled in.
fn with_defaults(own: DefaultsSource, weaker: &Defaults) -> Defaults {
    Defaults {
        agent: value(own.agent).or_else(|| weaker.agent.clone()),
        model: value(own.model).or_else(|| weaker.model.clone()),
        max_attempts: value(own.max_attempts).unwrap_or(weaker.max_attempts),
        timeout: value(own.timeout).unwrap_or(weaker.timeout),
        budget_usd: value(own.budget_usd).or(weaker.budget_usd),
        max_turns: value(own.max_turns).or(weaker.max_turns),
    }
}

fn value<T>(written: Option<Placed<T>>) -> Option<T> {
    written.map(|written| written.value)
}

/// What a phase is read against.
#[derive(Default)]
pub(super) struct Scope {
    /// What holds where the phase does not say otherwise.
    pub(super) defaults: Defaults,
    /// Where the defaults name an agent.
    pub(super) agent_at: Option<Range<usize>>,
    /// Where the defaults name a model.
    pub(super) model_at: Option<Range<usize>>,
    pub(super) criteria: Criteria,
}

/// What the gate `criteria_covered` has to check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Criteria {
    /// The criteria of the plan's decision.
    OfAdr,
    /// The plan names no decision.
    #[default]
    Missing,
    /// The same for a phase that plans with and without a decision share: the gate is left out where others remain.
    LeftOut,
}

/// Fills in what a phase leaves out, and reports what is wrong within it.
pub(super) fn resolve_phase(written: PhaseSource, scope: &Scope, reader: &mut FieldReader<'_>) -> CheckedPhase {
    let kind = written.kind.as_ref().map(|kind| kind.value);
    let id = written.id.as_ref().and_then(|id| match PhaseId::new(&id.value) {
        Ok(good) => Some(Placed::new(good, id.range.clone())),
        Err(error) => {
            reader.error(codes::BAD_PHASE_ID, &id.range, error.to_string(), suggest_id(&id.value));
            None
        }
    });
    let says_nothing = written.name.is_none() && written.description.is_none();
    if written.id.is_some() && says_nothing && !written.unreadable.contains(&"description") {
        let help = "add a `description` of the agent's task";
        reader.error(codes::MISSING_KEY, &written.head, "a phase has neither `name` nor `description`", help);
    }
    let depends_on = distinct(value(written.depends_on).unwrap_or_default(), "depends_on", reader);
    let skills = distinct(value(written.skills).unwrap_or_default(), "skills", reader);
    let inputs = paths(value(written.inputs).unwrap_or_default(), "inputs", reader);
    let outputs = paths(value(written.outputs).unwrap_or_default(), "outputs", reader);
    let generates_phases = generates(written.generates_phases, kind, scope, reader);
    let proof = Proof {
        kind,
        head: written.head.clone(),
        outputs: !outputs.is_empty(),
        criteria: scope.criteria,
        generates: generates_phases.is_some(),
    };
    let readable = !written.unreadable.contains(&"gates");
    let verify_at = written.verify.as_ref().map(|verify| verify.range.clone());
    let gates = if readable { gates(written.gates, &proof, reader) } else { Vec::new() };
    if let Some(kind) = kind.filter(|kind| kind.checks_others()) {
        never_left_out(kind, written.optional.as_ref(), written.on_failure.as_ref(), reader);
    }
    let defaults = &scope.defaults;
    let agent_at = written.agent.as_ref().map(|agent| agent.range.clone()).or_else(|| scope.agent_at.clone());
    let model_at = written.model.as_ref().map(|model| model.range.clone()).or_else(|| scope.model_at.clone());
    let phase = id.as_ref().zip(kind).map(|(id, kind)| Phase {
        id: id.value.clone(),
        name: written.name.map_or_else(|| id.value.to_string(), |name| display_name(&name.value)),
        kind,
        description: written.description.map(|text| text.value).unwrap_or_default(),
        depends_on: depends_on.iter().filter_map(|id| PhaseId::new(&id.value).ok()).collect(),
        skills: values(&skills),
        inputs: values(&inputs),
        outputs: values(&outputs),
        gates: gates_of_phase(gates, !outputs.is_empty()),
        verify: value(written.verify).flatten(),
        approval: written.approval.map(|approval| approval.value),
        on_failure: written.on_failure.map(|policy| policy.value).unwrap_or_default(),
        optional: written.optional.is_some_and(|optional| optional.value),
        generates_phases,
        agent: value(written.agent).or_else(|| defaults.agent.clone()),
        model: value(written.model).or_else(|| defaults.model.clone()),
        max_attempts: value(written.max_attempts).unwrap_or(defaults.max_attempts),
        timeout: value(written.timeout).unwrap_or(defaults.timeout),
        budget_usd: value(written.budget_usd).or(defaults.budget_usd),
        max_turns: value(written.max_turns).or(defaults.max_turns),
        network: value(written.network),
    });
    let source = reader.source;
    let spans = |list: &[Placed<String>]| list.iter().map(|item| source.span(item.range.clone())).collect();
    CheckedPhase {
        phase,
        places: PhasePlaces {
            id: source.span(id.as_ref().map_or(written.head, |id| id.range.clone())),
            depends_on: spans(&depends_on),
            skills: spans(&skills),
            inputs: spans(&inputs),
            outputs: spans(&outputs),
            verify: verify_at.map(|range| source.span(range)),
            agent: agent_at.map(|range| source.span(range)),
            model: model_at.map(|range| source.span(range)),
        },
        outline: Outline {
            id: id.map(|id| id.value),
            depends_on: values(&depends_on),
            inputs: values(&inputs),
            outputs: values(&outputs),
        },
    }
}

/// A phase that checks what others made is not left out without anybody saying so: the job would succeed unproven.
fn never_left_out(
    kind: PhaseType,
    optional: Option<&Placed<bool>>,
    on_failure: Option<&Placed<OnFailure>>,
    reader: &mut FieldReader<'_>,
) {
    let skips = on_failure.filter(|policy| policy.value == OnFailure::Skip).map(|policy| ("on_failure: skip", policy));
    let written = optional.filter(|optional| optional.value).map(|optional| ("optional: true", &optional.range));
    for (key, range) in written.into_iter().chain(skips.map(|(key, policy)| (key, &policy.range))) {
        let message = format!("`{key}` in a phase of type {}, which checks the work of other phases", kind.word());
        let help = "remove it: with `on_failure: escalate`, the default, a person may skip the phase";
        reader.error(codes::MISPLACED_KEY, range, message, help);
    }
}

fn values(list: &[Placed<String>]) -> Vec<String> {
    list.iter().map(|item| item.value.clone()).collect()
}

/// What to do about an id of the wrong form.
fn suggest_id(written: &str) -> String {
    match slug(written, MAX_PHASE_ID) {
        id if id.is_empty() => "write an id such as `implement`".into(),
        id => format!("write `{id}`"),
    }
}

fn generates(
    written: Option<Placed<GeneratePhasesSource>>,
    kind: Option<PhaseType>,
    scope: &Scope,
    reader: &mut FieldReader<'_>,
) -> Option<GeneratePhases> {
    let Placed { value: written, range } = written?;
    if let Some(kind) = kind
        && kind != PhaseType::Planning
    {
        let message = format!("`generates_phases` is not allowed in a phase of type {}", kind.word());
        reader.error(codes::MISPLACED_KEY, &range, message, "remove it, or make the phase `type: planning`");
        return None;
    }
    let min = written.min.as_ref().map_or(1, |min| min.value);
    let max = written.max?;
    if max.value == 0 {
        reader.error(codes::OUT_OF_RANGE, &max.range, "`max` is 0", "write at least 1, or remove `generates_phases`");
    } else if min > max.value {
        let place = written.min.map_or_else(|| max.range.clone(), |min| min.range);
        let message = format!("`min` is {min}, more than `max`, which is {}", max.value);
        reader.error(codes::OUT_OF_RANGE, &place, message, "exchange them");
    }
    let template = value(written.template).unwrap_or_else(GeneratePhases::default_template);
    let proof = Proof { kind: Some(template), head: range, outputs: true, criteria: scope.criteria, generates: false };
    let gates = match written.gates {
        Some(written_gates) if !written.unreadable.contains(&"gates") => gates(Some(written_gates), &proof, reader),
        Some(_) => Vec::new(),
        // Reports a type that has no default gates; those of the others are filled in when phases are added.
        None => {
            default_gates(&proof, reader);
            Vec::new()
        }
    };
    Some(GeneratePhases {
        min,
        max: max.value,
        template,
        gates: in_order_of_cost(gates),
        verify: value(written.verify).flatten(),
        defaults: with_defaults(value(written.defaults).unwrap_or_default(), &scope.defaults),
    })
}

/// What can prove a phase.
pub(super) struct Proof {
    pub(super) kind: Option<PhaseType>,
    pub(super) head: Range<usize>,
    pub(super) outputs: bool,
    pub(super) criteria: Criteria,
    pub(super) generates: bool,
}

/// The gates of a phase: those that are written, else those of its type.
pub(super) fn gates(
    written: Option<Placed<Vec<Placed<GateSpec>>>>,
    proof: &Proof,
    reader: &mut FieldReader<'_>,
) -> Vec<GateSpec> {
    let Some(Placed { value: mut written, range }) = written else { return default_gates(proof, reader) };
    if proof.criteria == Criteria::LeftOut && written.iter().any(|gate| gate.value != GateSpec::CriteriaCovered {}) {
        written.retain(|gate| gate.value != GateSpec::CriteriaCovered {});
    }
    if written.is_empty() && !proof.outputs {
        let help = "remove `gates` for the type's default gates, or name at least one";
        reader.warning(codes::NOTHING_PROVES, &range, "nothing verifies this phase: `gates` is empty", help);
    }
    for gate in &written {
        let missing = match &gate.value {
            GateSpec::FilesExist { files } if files.is_empty() && !proof.outputs => {
                Some(("has no files to look for", "add `files`, or give the phase `outputs`"))
            }
            GateSpec::OutputsClaimed { strict: false } if !proof.outputs => {
                Some(("has no claims to check", "give the phase `outputs`, or set `strict: true` to forbid changes"))
            }
            GateSpec::CriteriaCovered {} if proof.criteria != Criteria::OfAdr => {
                Some(("has no acceptance criteria to check", "set the plan's `adr`"))
            }
            _ => None,
        };
        if let Some((what, help)) = missing {
            let message = format!("the gate {} {what}", gate.value.name());
            reader.error(codes::NOTHING_PROVES, &gate.range, message, help);
        }
    }
    written.into_iter().map(|gate| gate.value).collect()
}

fn default_gates(proof: &Proof, reader: &mut FieldReader<'_>) -> Vec<GateSpec> {
    let Some(kind) = proof.kind else { return Vec::new() };
    if let Some(own) = kind.own_gate() {
        let message = format!("nothing verifies this phase: a {} phase needs a gate", kind.word());
        let help = format!("add it with its command: gates: [{{ type: {own}, command: \"…\" }}]");
        reader.error(codes::NOTHING_PROVES, &proof.head, message, help);
    }
    let gates = kind.useful_default_gates(proof.outputs);
    if gates.is_empty() && kind.own_gate().is_none() && !proof.generates {
        let message = "nothing verifies this phase: it has neither `outputs` nor `gates`";
        let help = "list the files that it writes under `outputs`, or add `gates`";
        reader.warning(codes::NOTHING_PROVES, &proof.head, message, help);
    }
    gates
}

/// A name as it is shown everywhere: on one line.
fn display_name(written: &str) -> String {
    let line = one_line(&plain(written), LONGEST_NAME);
    // What nobody can see is written out.
    if line.is_empty() { written.escape_default().to_string() } else { line }
}
