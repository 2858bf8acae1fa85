//! What must hold between the phases of a plan: ids, dependencies, claims and inputs.
//!
//! Must not know keys or YAML; works on phases that may each be incomplete, so that one bad field hides no other problem.

use std::collections::HashMap;
use std::ops::Range;

use crate::diagnostic::did_you_mean;
use crate::ids::PhaseId;
use crate::source_text::SourceText;
use crate::yaml::{FieldReader, Placed};

use super::codes;
use super::model::Phase;
use super::parse::PhasePlaces;
use super::pattern::{Pattern, is_glob};

/// Steps that the comparison of globs may take: some hundred milliseconds at the worst.
const GLOB_BUDGET: u64 = 20_000_000;

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
            id: source.span(self.id.as_ref().map_or_else(|| self.head.clone(), |id| id.range.clone())),
            depends_on: spans(&self.depends_on),
            skills: spans(&self.skills),
            inputs: spans(&self.inputs),
            outputs: spans(&self.outputs),
            agent: self.agent.clone().map(|range| source.span(range)),
            model: self.model.clone().map(|range| source.span(range)),
        }
    }

    fn name(&self) -> &str {
        self.id.as_ref().map_or("(no id)", |id| id.value.as_str())
    }
}

/// Reports everything that is wrong between the phases.
pub(super) fn check(phases: &[CheckedPhase], workflow: Option<&Placed<String>>, reader: &mut FieldReader<'_>) {
    let by_id = index(phases, reader);
    let graph = Graph { edges: edges(phases, &by_id, workflow, reader) };
    cycles(phases, &graph, reader);
    let reach = graph.reach();
    let mut budget = GLOB_BUDGET;
    let claims = Claims::new(phases);
    let decided = claims.collisions(phases, &reach, &mut budget, reader).is_some()
        && claims.inputs(phases, &reach, &mut budget, reader).is_some();
    if !decided {
        let range = phases.first().map_or(0..0, |phase| phase.head.clone());
        let message = "the globs in this plan are too many to compare all of them with each other";
        reader.warning(codes::TOO_LARGE, &range, message, "claim directories such as `src/` instead of many globs");
    }
}

fn index<'p>(phases: &'p [CheckedPhase], reader: &mut FieldReader<'_>) -> HashMap<&'p str, usize> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (number, phase) in phases.iter().enumerate() {
        let Some(id) = &phase.id else { continue };
        match by_id.get(id.value.as_str()) {
            None => {
                by_id.insert(id.value.as_str(), number);
            }
            Some(first) => {
                let line = phases[*first].id.as_ref().map_or(0, |first| reader.source.line_of(first.range.start));
                let message = format!("two phases have the id `{}`", id.value);
                let help = format!("give one of them another id; the first is in line {line}");
                reader.error(codes::DUPLICATE_PHASE_ID, &id.range, message, help);
            }
        }
    }
    by_id
}

/// A dependency that exists: which phase, and where it was written.
struct Edge {
    to: usize,
    range: Range<usize>,
}

fn edges(
    phases: &[CheckedPhase],
    by_id: &HashMap<&str, usize>,
    workflow: Option<&Placed<String>>,
    reader: &mut FieldReader<'_>,
) -> Vec<Vec<Edge>> {
    let mut all = Vec::with_capacity(phases.len());
    for (number, phase) in phases.iter().enumerate() {
        let mut edges: Vec<Edge> = Vec::new();
        for wanted in &phase.depends_on {
            if phase.id.as_ref().is_some_and(|id| id.value.as_str() == wanted.value) {
                let message = format!("the phase `{}` depends on itself", wanted.value);
                reader.error(codes::SELF_DEPENDENCY, &wanted.range, message, "remove it from `depends_on`");
                continue;
            }
            match by_id.get(wanted.value.as_str()) {
                Some(to) if *to != number => edges.push(Edge { to: *to, range: wanted.range.clone() }),
                Some(_) => {}
                None => unknown(wanted, by_id, workflow, reader),
            }
        }
        all.push(edges);
    }
    all
}

fn unknown(
    wanted: &Placed<String>,
    by_id: &HashMap<&str, usize>,
    workflow: Option<&Placed<String>>,
    reader: &mut FieldReader<'_>,
) {
    let mut known: Vec<&str> = by_id.keys().copied().collect();
    known.sort_by_key(|id| by_id.get(id));
    let near = did_you_mean(&wanted.value, known.iter().copied());
    let shown: Vec<&str> = known.iter().copied().take(20).collect();
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of: {}", shown.join(", ")),
    };
    match workflow {
        Some(workflow) if near.is_none() && PhaseId::new(&wanted.value).is_ok() => {
            let message = format!("no phase of this file has the id `{}`", wanted.value);
            let help = format!("it must be a phase of the workflow `{}`", workflow.value);
            reader.warning(codes::UNKNOWN_DEPENDENCY, &wanted.range, message, help);
        }
        Some(_) | None => {
            let message = format!("no phase has the id `{}`", wanted.value);
            reader.error(codes::UNKNOWN_DEPENDENCY, &wanted.range, message, help);
        }
    }
}

struct Graph {
    edges: Vec<Vec<Edge>>,
}

impl Graph {
    /// For each phase, which others it needs, direct or not.
    fn reach(&self) -> Reach {
        let words = self.edges.len().div_ceil(64);
        let mut rows = Vec::with_capacity(self.edges.len());
        for start in 0..self.edges.len() {
            let mut row = vec![0_u64; words];
            let mut open = vec![start];
            while let Some(next) = open.pop() {
                for edge in &self.edges[next] {
                    let bit = 1_u64 << (edge.to % 64);
                    if row[edge.to / 64] & bit == 0 {
                        row[edge.to / 64] |= bit;
                        open.push(edge.to);
                    }
                }
            }
            rows.push(row);
        }
        Reach { rows }
    }
}

struct Reach {
    rows: Vec<Vec<u64>>,
}

impl Reach {
    fn needs(&self, phase: usize, other: usize) -> bool {
        self.rows[phase][other / 64] >> (other % 64) & 1 == 1
    }

    fn ordered(&self, left: usize, right: usize) -> bool {
        left == right || self.needs(left, right) || self.needs(right, left)
    }
}

/// Finds cycles by a depth-first walk without recursion; each edge that closes one is reported once.
fn cycles(phases: &[CheckedPhase], graph: &Graph, reader: &mut FieldReader<'_>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![Mark::New; phases.len()];
    for start in 0..phases.len() {
        if marks[start] != Mark::New {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        marks[start] = Mark::OnPath;
        while let Some((at, next)) = path.last().copied() {
            let Some(edge) = graph.edges[at].get(next) else {
                marks[at] = Mark::Done;
                path.pop();
                continue;
            };
            if let Some(top) = path.last_mut() {
                top.1 += 1;
            }
            match marks[edge.to] {
                Mark::New => {
                    marks[edge.to] = Mark::OnPath;
                    path.push((edge.to, 0));
                }
                Mark::OnPath => {
                    let circle = path.iter().skip_while(|(phase, _)| *phase != edge.to).map(|(phase, _)| *phase);
                    let mut names: Vec<&str> = circle.map(|phase| phases[phase].name()).collect();
                    names.push(phases[edge.to].name());
                    if names.len() > 12 {
                        names.splice(6..names.len() - 5, ["…"]);
                    }
                    let message = format!("the phases depend on each other in a circle: {}", names.join(" → "));
                    let help = "remove one of these dependencies";
                    reader.error(codes::DEPENDENCY_CYCLE, &edge.range, message, help);
                }
                Mark::Done => {}
            }
        }
    }
}

/// One output claim.
struct Claim<'p> {
    phase: usize,
    path: &'p Placed<String>,
}

/// All output claims, made ready for look-up.
struct Claims<'p> {
    all: Vec<Claim<'p>>,
    /// Literal claims by their path without a final `/`.
    literal: HashMap<&'p str, Vec<usize>>,
    globs: Vec<(usize, Pattern)>,
}

impl<'p> Claims<'p> {
    fn new(phases: &'p [CheckedPhase]) -> Self {
        let mut claims = Self { all: Vec::new(), literal: HashMap::new(), globs: Vec::new() };
        for (phase, checked) in phases.iter().enumerate() {
            for path in &checked.outputs {
                let number = claims.all.len();
                claims.all.push(Claim { phase, path });
                if is_glob(&path.value) {
                    claims.globs.extend(Pattern::parse(&path.value).map(|pattern| (number, pattern)));
                } else {
                    claims.literal.entry(path.value.trim_end_matches('/')).or_default().push(number);
                }
            }
        }
        claims
    }

    /// Reports each claim that another phase may make at the same time; `None` when the budget ran out.
    fn collisions(
        &self,
        phases: &[CheckedPhase],
        reach: &Reach,
        budget: &mut u64,
        reader: &mut FieldReader<'_>,
    ) -> Option<()> {
        let mut hit = vec![false; self.all.len()];
        for (number, claim) in self.all.iter().enumerate().filter(|(_, claim)| !is_glob(&claim.path.value)) {
            let others = self.literal_claims_of(claim.path.value.trim_end_matches('/'));
            // Of two claims the later one is reported; a claim inside a directory is, wherever it stands.
            let other = others.into_iter().find(|other| {
                let same = self.all[*other].path.value.trim_end_matches('/').len()
                    == claim.path.value.trim_end_matches('/').len();
                (!same || *other < number) && !reach.ordered(self.all[*other].phase, claim.phase)
            });
            if let Some(other) = other {
                hit[number] = true;
                self.report(number, other, phases, reader);
            }
        }
        for (index, (number, pattern)) in self.globs.iter().enumerate() {
            let phase = self.all[*number].phase;
            for (other, other_pattern) in &self.globs[..index] {
                if !reach.ordered(self.all[*other].phase, phase) && pattern.overlaps(other_pattern, budget)? {
                    hit[*number] = true;
                    self.report(*number, *other, phases, reader);
                    break;
                }
            }
        }
        for (number, pattern) in &self.globs {
            for (other, claim) in self.all.iter().enumerate() {
                if hit[other] || is_glob(&claim.path.value) || reach.ordered(claim.phase, self.all[*number].phase) {
                    continue;
                }
                let literal = Pattern::parse(&claim.path.value);
                if let Some(literal) = literal
                    && pattern.overlaps(&literal, budget)?
                {
                    hit[other] = true;
                    self.report(other, *number, phases, reader);
                }
            }
        }
        Some(())
    }

    fn report(&self, number: usize, other: usize, phases: &[CheckedPhase], reader: &mut FieldReader<'_>) {
        let (claim, other) = (&self.all[number], &self.all[other]);
        let (mine, theirs) = (phases[claim.phase].name(), phases[other.phase].name());
        let line = reader.source.line_of(other.path.range.start);
        let also =
            if claim.path.value == other.path.value { String::new() } else { format!(" (as `{}`)", other.path.value) };
        let message =
            format!("`{mine}` and `{theirs}` may run at the same time, and both claim `{}`{also}", claim.path.value);
        let help = format!(
            "add `{theirs}` to the `depends_on` of `{mine}`, or give them different files; the other claim is in line {line}"
        );
        reader.error(codes::CLAIMS_COLLIDE, &claim.path.range, message, help);
    }

    /// Reports inputs that a phase writes which does not come before; `None` when the budget ran out.
    fn inputs(
        &self,
        phases: &[CheckedPhase],
        reach: &Reach,
        budget: &mut u64,
        reader: &mut FieldReader<'_>,
    ) -> Option<()> {
        for (number, phase) in phases.iter().enumerate() {
            for input in &phase.inputs {
                let mut writers: Vec<usize> = self
                    .literal_claims_of(input.value.trim_end_matches('/'))
                    .into_iter()
                    .map(|claim| self.all[claim].phase)
                    .collect();
                if !is_glob(&input.value) && !self.globs.is_empty() {
                    let wanted = Pattern::parse(&input.value);
                    for (claim, pattern) in &self.globs {
                        if let Some(wanted) = &wanted
                            && pattern.overlaps(wanted, budget)?
                        {
                            writers.push(self.all[*claim].phase);
                        }
                    }
                }
                if writers.iter().any(|writer| *writer == number || reach.needs(number, *writer)) {
                    continue;
                }
                // A writer that may run at any time is worse than one that comes later.
                let unordered = writers.iter().find(|writer| !reach.needs(**writer, number));
                if let Some(writer) = unordered {
                    let (mine, theirs) = (phase.name(), phases[*writer].name());
                    let message = format!(
                        "the input `{}` is written by `{theirs}`, which `{mine}` does not depend on",
                        input.value
                    );
                    let help = format!("add `{theirs}` to the `depends_on` of `{mine}`");
                    reader.error(codes::INPUT_NOT_READY, &input.range, message, help);
                } else if let Some(writer) = writers.first() {
                    let theirs = phases[*writer].name();
                    let message = format!("the input `{}` is written by `{theirs}`, which comes later", input.value);
                    let help = "it must be in the repository already; if it is not, turn the dependency round";
                    reader.warning(codes::INPUT_NOT_READY, &input.range, message, help);
                }
            }
        }
        Some(())
    }

    /// Literal claims of the path itself or of a directory above it.
    fn literal_claims_of(&self, path: &str) -> Vec<usize> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| self.literal.get(&path[..end])).flatten().copied().collect()
    }
}
