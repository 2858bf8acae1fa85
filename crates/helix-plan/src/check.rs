//! What must hold between the phases of a plan: ids, dependencies, claims and inputs.
//!
//! Must not know keys or YAML; works on phases that may each be incomplete, so that one bad field hides no other problem.

use std::collections::HashMap;

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::ids::PhaseId;

use super::codes;
use super::model::Phase;
use super::pattern::{Pattern, is_glob};
use super::reach::{Graph, Reach};

/// Steps that the comparison of globs may take: some hundred milliseconds at the worst.
const GLOB_BUDGET: u64 = 20_000_000;
/// Most problems of a file for which similar names are looked up.
const MOST_SUGGESTIONS: usize = 100;
/// Most phases of a cycle that a message names.
const MOST_NAMED: usize = 12;

/// What of a phase the rules between phases look at.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    /// `None` when the id could not be read.
    pub(super) id: Option<PhaseId>,
    pub(super) depends_on: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

impl From<&Phase> for Outline {
    fn from(phase: &Phase) -> Self {
        Self {
            id: Some(phase.id.clone()),
            depends_on: phase.depends_on.iter().map(PhaseId::to_string).collect(),
            inputs: phase.inputs.clone(),
            outputs: phase.outputs.clone(),
        }
    }
}

impl Outline {
    fn name(&self) -> &str {
        self.id.as_ref().map_or("(no id)", PhaseId::as_str)
    }
}

/// A part of a phase: which phase, by its number among the outlines, and what of it.
pub(super) type At = (usize, Part);

/// A part of a phase that can be wrong; numbers are those of the outline's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Id,
    DependsOn(usize),
    Input(usize),
    Output(usize),
}

/// Something that does not hold between phases.
pub(super) struct Problem {
    /// Without a place.
    pub(super) diagnostic: Diagnostic,
    pub(super) at: At,
    /// The other place that has to do with it, and what it is called.
    pub(super) other: Option<(&'static str, At)>,
}

/// Finds everything that is wrong between the phases of a file. With a workflow whose phases are not among them, a
/// dependency that no phase of the file has as its id may be one of its phases, and claims are not compared yet.
pub(super) fn check(file: &str, phases: &[Outline], workflow: Option<&str>) -> Vec<Problem> {
    let mut checker = Checker { file, phases, problems: Vec::new(), budget: GLOB_BUDGET };
    let edges = checker.edges(workflow);
    let graph = Graph::new(edges.iter().map(|edges| edges.iter().map(|(to, _)| *to).collect()).collect());
    checker.cycles(&edges, &graph);
    // Which phases may run at the same time is known only with those of the workflow.
    if workflow.is_none() {
        let claims = Claims::new(phases, Reach::new(&graph));
        if checker.collisions(&claims).and_then(|()| checker.inputs(&claims)).is_none() {
            let message = "the plan has too many globs to compare them all".to_owned();
            let help = "claim directories such as `src/` instead of many globs";
            checker.warning((0, Part::Id), codes::TOO_LARGE, message, help);
        }
    }
    checker.problems
}

/// The phases that each phase depends on, with the numbers that they have in its list.
type Edges = Vec<Vec<(usize, usize)>>;

struct Checker<'p> {
    file: &'p str,
    phases: &'p [Outline],
    problems: Vec<Problem>,
    /// Steps that are left for comparing globs.
    budget: u64,
}

impl<'p> Checker<'p> {
    /// Notes an error; gives it for its other place.
    fn error(&mut self, at: At, code: &str, message: String, help: impl Into<String>) -> &mut Problem {
        self.report(at, Diagnostic::error(code, self.file, message).help(help))
    }

    fn warning(&mut self, at: At, code: &str, message: String, help: impl Into<String>) -> &mut Problem {
        self.report(at, Diagnostic::warning(code, self.file, message).help(help))
    }

    fn report(&mut self, at: At, diagnostic: Diagnostic) -> &mut Problem {
        self.problems.push_mut(Problem { diagnostic, at, other: None })
    }

    /// The dependencies that exist; reports ids that two phases have, and dependencies that are the id of none.
    fn edges(&mut self, workflow: Option<&str>) -> Edges {
        let mut by_id: HashMap<&'p str, usize> = HashMap::new();
        let mut known = Vec::new();
        for (number, phase) in self.phases.iter().enumerate() {
            let Some(id) = phase.id.as_ref().map(PhaseId::as_str) else { continue };
            let first = *by_id.entry(id).or_insert(number);
            if first == number {
                known.push(id);
            } else {
                let message = format!("two phases have the id `{id}`");
                let help = "give one of them another id";
                let problem = self.error((number, Part::Id), codes::DUPLICATE_PHASE_ID, message, help);
                problem.other = Some(("the first", (first, Part::Id)));
            }
        }
        let mut all = Vec::with_capacity(self.phases.len());
        for (number, phase) in self.phases.iter().enumerate() {
            let mut edges = Vec::new();
            for (position, wanted) in phase.depends_on.iter().enumerate() {
                let at = (number, Part::DependsOn(position));
                match by_id.get(wanted.as_str()) {
                    _ if phase.id.as_ref().is_some_and(|id| id.as_str() == wanted) => {
                        let message = format!("the phase `{wanted}` depends on itself");
                        self.error(at, codes::SELF_DEPENDENCY, message, "remove it from `depends_on`");
                    }
                    Some(to) => edges.push((*to, position)),
                    None => self.unknown(wanted, at, &known, workflow),
                }
            }
            all.push(edges);
        }
        all
    }

    fn unknown(&mut self, wanted: &str, at: At, known: &[&str], workflow: Option<&str>) {
        // Each suggestion is a search among all phases.
        let few = self.problems.len() < MOST_SUGGESTIONS;
        let near = did_you_mean(wanted, known.iter().copied().filter(|_| few));
        if let (Some(workflow), None, Ok(_)) = (workflow, near, PhaseId::new(wanted)) {
            let message = format!("no phase of this file has the id `{wanted}`");
            let help = format!("it must be a phase of the workflow `{workflow}`");
            self.warning(at, codes::UNKNOWN_DEPENDENCY, message, help);
            return;
        }
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of: {}", known[..known.len().min(20)].join(", ")),
        };
        self.error(at, codes::UNKNOWN_DEPENDENCY, format!("no phase has the id `{wanted}`"), help);
    }

    /// Reports one cycle of each group of phases that all depend on each other, at the dependency that closes it.
    fn cycles(&mut self, edges: &Edges, graph: &Graph) {
        for cycle in graph.cycles() {
            let (Some(start), Some(last)) = (cycle.first(), cycle.last()) else { continue };
            let mut names: Vec<&str> = cycle.iter().chain([start]).map(|phase| self.phases[*phase].name()).collect();
            if names.len() > MOST_NAMED {
                names.splice(MOST_NAMED / 2..names.len() - MOST_NAMED / 2 + 1, ["…"]);
            }
            let message = format!("circular dependencies: {}", names.join(" → "));
            let position = edges[*last].iter().find(|(to, _)| to == start).map_or(0, |(_, position)| *position);
            let at = (*last, Part::DependsOn(position));
            self.error(at, codes::DEPENDENCY_CYCLE, message, "remove one of these dependencies");
        }
    }

    /// Reports each claim that another phase may make at the same time; `None` when the budget ran out.
    fn collisions(&mut self, claims: &Claims<'_>) -> Option<()> {
        let mut hit = vec![false; claims.all.len()];
        for (number, claim) in claims.all.iter().enumerate().filter(|(_, claim)| !is_glob(claim.path)) {
            let path = claim.path.trim_end_matches('/');
            // Of two claims the later one is reported; a claim inside a directory is, wherever it stands.
            let other = claims.literal_claims_of(path).find(|other| {
                let same = claims.all[*other].path.trim_end_matches('/').len() == path.len();
                (!same || *other < number) && !claims.are_ordered(claims.all[*other].phase, claim.phase)
            });
            if let Some(other) = other {
                hit[number] = true;
                self.collision(claim, &claims.all[other]);
            }
        }
        for (index, (number, pattern)) in claims.globs.iter().enumerate() {
            let claim = &claims.all[*number];
            for (other, other_pattern) in &claims.globs[..index] {
                let other = &claims.all[*other];
                if !claims.are_ordered(other.phase, claim.phase) && pattern.overlaps(other_pattern, &mut self.budget)? {
                    hit[*number] = true;
                    self.collision(claim, other);
                    break;
                }
            }
        }
        for (number, pattern) in &claims.globs {
            let glob = &claims.all[*number];
            for (other, literal) in &claims.beside_globs {
                let claim = &claims.all[*other];
                if !hit[*other]
                    && !claims.are_ordered(claim.phase, glob.phase)
                    && pattern.overlaps(literal, &mut self.budget)?
                {
                    hit[*other] = true;
                    self.collision(claim, glob);
                }
            }
        }
        Some(())
    }

    fn collision(&mut self, claim: &Claim<'_>, other: &Claim<'_>) {
        let (mine, theirs) = (self.phases[claim.phase].name(), self.phases[other.phase].name());
        let also = if claim.path == other.path { String::new() } else { format!(" (as `{}`)", other.path) };
        let message =
            format!("`{mine}` and `{theirs}` may run at the same time, and both claim `{}`{also}", claim.path);
        let help = format!("add `{theirs}` to the `depends_on` of `{mine}`, or give them different files");
        let problem = self.error(claim.at(), codes::CLAIMS_COLLIDE, message, help);
        problem.other = Some(("the other claim", other.at()));
    }

    /// Reports inputs that a phase writes which does not come before; `None` when the budget ran out.
    fn inputs(&mut self, claims: &Claims<'_>) -> Option<()> {
        for (number, phase) in self.phases.iter().enumerate() {
            for (position, input) in phase.inputs.iter().enumerate() {
                let written = claims.literal_claims_of(input.trim_end_matches('/'));
                let mut writers: Vec<usize> = written.map(|claim| claims.all[claim].phase).collect();
                if !is_glob(input)
                    && !claims.globs.is_empty()
                    && let Some(wanted) = Pattern::parse(input)
                {
                    for (claim, pattern) in &claims.globs {
                        if pattern.overlaps(&wanted, &mut self.budget)? {
                            writers.push(claims.all[*claim].phase);
                        }
                    }
                }
                if writers.iter().any(|writer| *writer == number || claims.reach.reaches(number, *writer)) {
                    continue;
                }
                // A writer that may run at any time is worse than one that comes later.
                let unordered = writers.iter().find(|writer| !claims.reach.reaches(**writer, number));
                let Some(writer) = unordered.or(writers.first()) else { continue };
                let (mine, theirs) = (phase.name(), self.phases[*writer].name());
                let at = (number, Part::Input(position));
                let problem = if unordered.is_some() {
                    let message =
                        format!("the input `{input}` is written by `{theirs}`, which `{mine}` does not depend on");
                    let help = format!("add `{theirs}` to the `depends_on` of `{mine}`");
                    self.error(at, codes::INPUT_NOT_READY, message, help)
                } else {
                    let message = format!("the input `{input}` is written by `{theirs}`, which comes later");
                    let help = "it must be in the repository already; if it is not, reverse the dependency";
                    self.warning(at, codes::INPUT_NOT_READY, message, help)
                };
                problem.other = Some(("", (*writer, Part::Id)));
            }
        }
        Some(())
    }
}

struct Claim<'p> {
    phase: usize,
    /// Its number among the outputs of its phase.
    position: usize,
    path: &'p str,
}

impl Claim<'_> {
    fn at(&self) -> At {
        (self.phase, Part::Output(self.position))
    }
}

/// All output claims, made ready for look-up.
struct Claims<'p> {
    reach: Reach,
    all: Vec<Claim<'p>>,
    /// Literal claims by their path without a final `/`.
    literal: HashMap<&'p str, Vec<usize>>,
    globs: Vec<(usize, Pattern)>,
    /// Literal claims, where there are globs to compare them with.
    beside_globs: Vec<(usize, Pattern)>,
}

impl<'p> Claims<'p> {
    fn new(phases: &'p [Outline], reach: Reach) -> Self {
        let mut claims =
            Self { reach, all: Vec::new(), literal: HashMap::new(), globs: Vec::new(), beside_globs: Vec::new() };
        for (phase, outline) in phases.iter().enumerate() {
            for (position, path) in outline.outputs.iter().enumerate() {
                let number = claims.all.len();
                claims.all.push(Claim { phase, position, path });
                if !is_glob(path) {
                    claims.literal.entry(path.trim_end_matches('/')).or_default().push(number);
                }
            }
        }
        let pattern = |(number, claim): (usize, &Claim<'_>)| Some((number, Pattern::parse(claim.path)?));
        if claims.all.iter().any(|claim| is_glob(claim.path)) {
            let all = claims.all.iter().enumerate().filter_map(pattern);
            (claims.globs, claims.beside_globs) = all.partition(|(number, _)| is_glob(claims.all[*number].path));
        }
        claims
    }

    /// Whether two phases never run at the same time.
    fn are_ordered(&self, left: usize, right: usize) -> bool {
        left == right || self.reach.reaches(left, right) || self.reach.reaches(right, left)
    }

    /// Literal claims of the path itself or of a directory above it.
    fn literal_claims_of(&self, path: &str) -> impl Iterator<Item = usize> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| self.literal.get(&path[..end])).flatten().copied()
    }
}
