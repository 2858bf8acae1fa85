//! What must hold between the phases of a plan: ids, dependencies, claims and inputs.
//!
//! Must not know keys or YAML; works on phases that may each be incomplete, so that one bad field hides no other problem.

use std::collections::HashMap;

use helix_core::diagnostic::{Severity, did_you_mean};
use helix_core::ids::PhaseId;

use super::codes;
use super::model::Phase;
use super::pattern::{Pattern, is_glob};
use super::reach::Reach;

/// Steps that the comparison of globs may take: some hundred milliseconds at the worst.
const GLOB_BUDGET: u64 = 20_000_000;

/// What of a phase the rules between phases look at.
#[derive(Debug, Clone)]
pub(super) struct Outline<'p> {
    /// `None` when the id could not be read.
    pub(super) id: Option<&'p str>,
    pub(super) depends_on: Vec<&'p str>,
    pub(super) inputs: Vec<&'p str>,
    pub(super) outputs: Vec<&'p str>,
}

impl<'p> Outline<'p> {
    /// The outline of a complete phase.
    pub(super) fn of(phase: &'p Phase) -> Self {
        Self {
            id: Some(phase.id.as_str()),
            depends_on: phase.depends_on.iter().map(PhaseId::as_str).collect(),
            inputs: phase.inputs.iter().map(String::as_str).collect(),
            outputs: phase.outputs.iter().map(String::as_str).collect(),
        }
    }

    fn name(&self) -> &'p str {
        self.id.unwrap_or("(no id)")
    }
}

/// A part of a phase: which phase, and what of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    /// Its number among the outlines.
    pub(super) phase: usize,
    pub(super) part: Part,
}

/// A part of a phase that can be wrong; numbers are those of the outline's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Id,
    DependsOn(usize),
    Input(usize),
    Output(usize),
}

/// Something that does not hold between phases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    pub(super) at: At,
    pub(super) message: String,
    pub(super) help: String,
    /// The other place that has to do with it, and what it is called.
    pub(super) other: Option<(&'static str, At)>,
}

impl Problem {
    fn error(code: &'static str, at: At, message: String, help: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, at, message, help: help.into(), other: None }
    }

    fn warning(code: &'static str, at: At, message: String, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, at, message, help) }
    }

    fn other(mut self, what: &'static str, at: At) -> Self {
        self.other = Some((what, at));
        self
    }
}

/// Finds everything that is wrong between phases. With a workflow whose phases are not among them, a dependency that
/// nobody has may be one of its phases, and claims are not compared yet.
pub(super) fn check(phases: &[Outline<'_>], workflow: Option<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let by_id = index(phases, &mut problems);
    let graph = Graph { edges: edges(phases, &by_id, workflow, &mut problems) };
    cycles(phases, &graph, &mut problems);
    if workflow.is_some() {
        // Which phases may run at the same time is known only with those of the workflow.
        return problems;
    }
    let reach = Reach::new(phases.len(), |at| graph.edges[at].iter().map(|edge| edge.to));
    let mut budget = GLOB_BUDGET;
    let claims = Claims::new(phases);
    let decided = claims.collisions(phases, &reach, &mut budget, &mut problems).is_some()
        && claims.inputs(phases, &reach, &mut budget, &mut problems).is_some();
    if !decided {
        let at = At { phase: 0, part: Part::Whole };
        let message = "the plan has too many globs to compare them all".into();
        let help = "claim directories such as `src/` instead of many globs";
        problems.push(Problem::warning(codes::TOO_LARGE, at, message, help));
    }
    problems
}

fn index<'p>(phases: &[Outline<'p>], problems: &mut Vec<Problem>) -> HashMap<&'p str, usize> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (number, phase) in phases.iter().enumerate() {
        let Some(id) = phase.id else { continue };
        match by_id.get(id) {
            None => {
                by_id.insert(id, number);
            }
            Some(first) => {
                let message = format!("two phases have the id `{id}`");
                let at = At { phase: number, part: Part::Id };
                problems.push(
                    Problem::error(codes::DUPLICATE_PHASE_ID, at, message, "give one of them another id")
                        .other("the first", At { phase: *first, part: Part::Id }),
                );
            }
        }
    }
    by_id
}

/// A dependency that exists: which phase, and where it was written.
struct Edge {
    to: usize,
    at: At,
}

fn edges(
    phases: &[Outline<'_>],
    by_id: &HashMap<&str, usize>,
    workflow: Option<&str>,
    problems: &mut Vec<Problem>,
) -> Vec<Vec<Edge>> {
    let mut all = Vec::with_capacity(phases.len());
    for (number, phase) in phases.iter().enumerate() {
        let mut edges: Vec<Edge> = Vec::new();
        for (position, wanted) in phase.depends_on.iter().enumerate() {
            let at = At { phase: number, part: Part::DependsOn(position) };
            if phase.id == Some(wanted) {
                let message = format!("the phase `{wanted}` depends on itself");
                let help = "remove it from `depends_on`";
                problems.push(Problem::error(codes::SELF_DEPENDENCY, at, message, help));
                continue;
            }
            match by_id.get(wanted) {
                Some(to) if *to != number => edges.push(Edge { to: *to, at }),
                Some(_) => {}
                None => problems.push(unknown(wanted, at, by_id, workflow)),
            }
        }
        all.push(edges);
    }
    all
}

fn unknown(wanted: &str, at: At, by_id: &HashMap<&str, usize>, workflow: Option<&str>) -> Problem {
    let mut known: Vec<&str> = by_id.keys().copied().collect();
    known.sort_by_key(|id| by_id.get(id));
    let near = did_you_mean(wanted, known.iter().copied());
    let shown: Vec<&str> = known.iter().copied().take(20).collect();
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of: {}", shown.join(", ")),
    };
    match workflow {
        Some(workflow) if near.is_none() && PhaseId::new(wanted).is_ok() => {
            let message = format!("no phase of this file has the id `{wanted}`");
            let help = format!("it must be a phase of the workflow `{workflow}`");
            Problem::warning(codes::UNKNOWN_DEPENDENCY, at, message, help)
        }
        Some(_) | None => {
            Problem::error(codes::UNKNOWN_DEPENDENCY, at, format!("no phase has the id `{wanted}`"), help)
        }
    }
}

struct Graph {
    edges: Vec<Vec<Edge>>,
}

/// Finds cycles by a depth-first walk without recursion; each edge that closes one is reported once.
fn cycles(phases: &[Outline<'_>], graph: &Graph, problems: &mut Vec<Problem>) {
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
                    let message = format!("circular dependencies: {}", names.join(" → "));
                    let help = "remove one of these dependencies";
                    problems.push(Problem::error(codes::DEPENDENCY_CYCLE, edge.at, message, help));
                }
                Mark::Done => {}
            }
        }
    }
}

fn ordered(reach: &Reach, left: usize, right: usize) -> bool {
    left == right || reach.reaches(left, right) || reach.reaches(right, left)
}

struct Claim<'p> {
    phase: usize,
    /// Its number among the outputs of its phase.
    position: usize,
    path: &'p str,
}

impl Claim<'_> {
    fn at(&self) -> At {
        At { phase: self.phase, part: Part::Output(self.position) }
    }
}

/// All output claims, made ready for look-up.
struct Claims<'p> {
    all: Vec<Claim<'p>>,
    /// Literal claims by their path without a final `/`.
    literal: HashMap<&'p str, Vec<usize>>,
    globs: Vec<(usize, Pattern)>,
}

impl<'p> Claims<'p> {
    fn new(phases: &[Outline<'p>]) -> Self {
        let mut claims = Self { all: Vec::new(), literal: HashMap::new(), globs: Vec::new() };
        for (phase, outline) in phases.iter().enumerate() {
            for (position, path) in outline.outputs.iter().copied().enumerate() {
                let number = claims.all.len();
                claims.all.push(Claim { phase, position, path });
                if is_glob(path) {
                    claims.globs.extend(Pattern::parse(path).map(|pattern| (number, pattern)));
                } else {
                    claims.literal.entry(path.trim_end_matches('/')).or_default().push(number);
                }
            }
        }
        claims
    }

    /// Reports each claim that another phase may make at the same time; `None` when the budget ran out.
    fn collisions(
        &self,
        phases: &[Outline<'_>],
        reach: &Reach,
        budget: &mut u64,
        problems: &mut Vec<Problem>,
    ) -> Option<()> {
        let mut hit = vec![false; self.all.len()];
        for (number, claim) in self.all.iter().enumerate().filter(|(_, claim)| !is_glob(claim.path)) {
            let others = self.literal_claims_of(claim.path.trim_end_matches('/'));
            // Of two claims the later one is reported; a claim inside a directory is, wherever it stands.
            let other = others.into_iter().find(|other| {
                let same = self.all[*other].path.trim_end_matches('/').len() == claim.path.trim_end_matches('/').len();
                (!same || *other < number) && !ordered(reach, self.all[*other].phase, claim.phase)
            });
            if let Some(other) = other {
                hit[number] = true;
                problems.push(self.collision(number, other, phases));
            }
        }
        for (index, (number, pattern)) in self.globs.iter().enumerate() {
            let phase = self.all[*number].phase;
            for (other, other_pattern) in &self.globs[..index] {
                if !ordered(reach, self.all[*other].phase, phase) && pattern.overlaps(other_pattern, budget)? {
                    hit[*number] = true;
                    problems.push(self.collision(*number, *other, phases));
                    break;
                }
            }
        }
        for (number, pattern) in &self.globs {
            for (other, claim) in self.all.iter().enumerate() {
                if hit[other] || is_glob(claim.path) || ordered(reach, claim.phase, self.all[*number].phase) {
                    continue;
                }
                let literal = Pattern::parse(claim.path);
                if let Some(literal) = literal
                    && pattern.overlaps(&literal, budget)?
                {
                    hit[other] = true;
                    problems.push(self.collision(other, *number, phases));
                }
            }
        }
        Some(())
    }

    fn collision(&self, number: usize, other: usize, phases: &[Outline<'_>]) -> Problem {
        let (claim, other) = (&self.all[number], &self.all[other]);
        let (mine, theirs) = (phases[claim.phase].name(), phases[other.phase].name());
        let also = if claim.path == other.path { String::new() } else { format!(" (as `{}`)", other.path) };
        let message =
            format!("`{mine}` and `{theirs}` may run at the same time, and both claim `{}`{also}", claim.path);
        let help = format!("add `{theirs}` to the `depends_on` of `{mine}`, or give them different files");
        Problem::error(codes::CLAIMS_COLLIDE, claim.at(), message, help).other("the other claim", other.at())
    }

    /// Reports inputs that a phase writes which does not come before; `None` when the budget ran out.
    fn inputs(
        &self,
        phases: &[Outline<'_>],
        reach: &Reach,
        budget: &mut u64,
        problems: &mut Vec<Problem>,
    ) -> Option<()> {
        for (number, phase) in phases.iter().enumerate() {
            for (position, input) in phase.inputs.iter().copied().enumerate() {
                let mut writers: Vec<usize> = self
                    .literal_claims_of(input.trim_end_matches('/'))
                    .into_iter()
                    .map(|claim| self.all[claim].phase)
                    .collect();
                if !is_glob(input) && !self.globs.is_empty() {
                    let wanted = Pattern::parse(input);
                    for (claim, pattern) in &self.globs {
                        if let Some(wanted) = &wanted
                            && pattern.overlaps(wanted, budget)?
                        {
                            writers.push(self.all[*claim].phase);
                        }
                    }
                }
                if writers.iter().any(|writer| *writer == number || reach.reaches(number, *writer)) {
                    continue;
                }
                // A writer that may run at any time is worse than one that comes later.
                let unordered = writers.iter().find(|writer| !reach.reaches(**writer, number));
                let at = At { phase: number, part: Part::Input(position) };
                let claim_of = |writer: usize| At { phase: writer, part: Part::Whole };
                if let Some(writer) = unordered {
                    let (mine, theirs) = (phase.name(), phases[*writer].name());
                    let message =
                        format!("the input `{input}` is written by `{theirs}`, which `{mine}` does not depend on");
                    let help = format!("add `{theirs}` to the `depends_on` of `{mine}`");
                    let problem = Problem::error(codes::INPUT_NOT_READY, at, message, help);
                    problems.push(problem.other("", claim_of(*writer)));
                } else if let Some(writer) = writers.first() {
                    let theirs = phases[*writer].name();
                    let message = format!("the input `{input}` is written by `{theirs}`, which comes later");
                    let help = "it must be in the repository already; if it is not, reverse the dependency";
                    let problem = Problem::warning(codes::INPUT_NOT_READY, at, message, help);
                    problems.push(problem.other("", claim_of(*writer)));
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
