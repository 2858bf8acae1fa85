//! What a gate is before it runs: which files of the repository decide how its command checks.
//!
//! Must not run anything.

mod closure;
mod decisive;
mod hidden;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use helix_adr::Adr;
use helix_core::finding::Finding;
use helix_core::ids::{CommitId, TreeId};
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::{GateSpec, Phase, Plan, Taken};
use serde::{Deserialize, Serialize};

use super::GateContext;
use super::judgement::finding;
use super::pattern::Pattern;
pub(crate) use closure::families;
use closure::{may_start, members};
use helix_git::{GitError, Repository};
pub(crate) use hidden::hidden;
pub(crate) use names::{Family, is_packaging, is_test};
use names::{is_entry_point, readers};

/// Whose work a judged tree is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkOf {
    /// One phase's, on what it started from.
    #[default]
    Phase,
    /// That of all phases of a job.
    Job,
    /// Also that of others, who may do with their tests what they want.
    Branch,
}

/// What the plan lets the judged change touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whose work is judged.
    pub of: WorkOf,
    /// Outputs of those whose work is judged; empty: one of them names none, or others' work is judged, too.
    pub own: Vec<String>,
    /// Outputs of the phases before it; of results put together, those of all phases.
    pub earlier: Vec<String>,
    /// Outputs with which the plan may name a test's file, so that the test may expect something else.
    pub named: Vec<String>,
    /// Outputs with which the plan may let the files be changed that decide how gates check.
    pub deciding: Vec<String>,
    /// A gate of another phase whose work is in the result allows that tests assert less.
    pub weaker_tests: bool,
    /// One of the phases before it names no outputs: it may have touched all.
    #[serde(default)]
    pub free_before: bool,
}

impl Claims {
    /// Those of one phase's result.
    pub fn of_phase(plan: &Plan, phase: &Phase) -> Self {
        let ancestry = plan.ancestry();
        let earlier = ancestry.before(&phase.id).flat_map(|phase| phase.outputs.iter().cloned());
        let (own, earlier) = (phase.outputs.clone(), earlier.collect::<Vec<_>>());
        let named: Vec<String> = own.iter().chain(&earlier).cloned().collect();
        let deciding = named.clone();
        let weaker_tests = ancestry.before(&phase.id).any(allows_weaker_tests);
        let free_before = ancestry.before(&phase.id).any(|phase| phase.outputs.is_empty());
        Self { of: WorkOf::Phase, own, earlier, named, deciding, weaker_tests, free_before }
    }

    /// The same of a phase that an agent added: what its outputs name excuses no test, or the agent would excuse itself.
    #[must_use]
    pub fn of_agent(self) -> Self {
        Self { named: Vec::new(), ..self }
    }

    /// Those of all results of a job and of nobody else; `free`: one of its phases names no outputs and changed something.
    pub fn of_job(plan: &Plan, free: bool) -> Self {
        let sum = Self::of_sum(plan);
        let own = if free { Vec::new() } else { sum.earlier.clone() };
        Self { of: WorkOf::Job, own, ..sum }
    }

    /// Those of all results of a plan put together, with what others did on the branch.
    pub fn of_sum(plan: &Plan) -> Self {
        let all: Vec<String> = plan.phases.iter().flat_map(|phase| phase.outputs.iter().cloned()).collect();
        let weaker_tests = plan.phases.iter().any(allows_weaker_tests);
        let (named, deciding) = (all.clone(), all.clone());
        Self { of: WorkOf::Branch, own: Vec::new(), earlier: all, named, deciding, weaker_tests, free_before: false }
    }

    /// Whether the change, or one of those before it, may touch a file.
    pub(crate) fn cover(&self, path: &str) -> bool {
        self.allow(path) || covers(&self.earlier, path)
    }

    /// Whether the plan names a file by its whole path.
    pub(crate) fn name(&self, path: &str) -> bool {
        self.named.iter().any(|output| output.trim_start_matches("./") == path)
    }

    /// Whether the plan names by its whole path a file that decides how gates check.
    fn decide_by_path(&self, path: &str) -> bool {
        self.deciding.iter().any(|output| output.trim_start_matches("./") == path)
    }

    /// The same with those outputs alone that the plan names, and no agent.
    #[must_use]
    pub fn only(mut self, by_plan: &HashSet<&String>) -> Self {
        for outputs in [&mut self.named, &mut self.deciding] {
            outputs.retain(|output| by_plan.contains(output));
        }
        self
    }

    /// Whether a phase so far might touch a file: what the phase itself claims may come from those before it.
    pub(crate) fn allow_before(&self, path: &str) -> bool {
        self.free_before || covers(&self.own, path) || covers(&self.earlier, path)
    }

    /// Whether the change may touch a file: one that names no files may touch all.
    pub(crate) fn allow(&self, path: &str) -> bool {
        self.own.is_empty() || covers(&self.own, path)
    }
}

/// Whether a gate of a phase allows that tests assert less.
pub(crate) fn allows_weaker_tests(phase: &Phase) -> bool {
    let allows = |gate: &GateSpec| matches!(gate, GateSpec::TestsPass(tests) if tests.weaker_tests == Taken::Note);
    phase.gates.iter().any(allows)
}

/// Whether one of these claims is about a path.
fn covers(claims: &[String], path: &str) -> bool {
    Pattern::all(claims).iter().any(|claim| claim.matches(path))
}

/// The files that decide how the plan's gates check, each with the id of what of it decides, as they are in a commit. Taken at submit.
///
/// # Errors
/// Git failed.
pub fn gate_files(
    plan: &Plan,
    repository: &Repository,
    commit: &CommitId,
) -> Result<BTreeMap<String, String>, GitError> {
    let tree = repository.commit(commit.as_str())?.tree;
    let mut files = BTreeMap::new();
    // Added phases have the gates that the plan gives them; those are what it is when the plan is submitted, too.
    for gate in plan.gates() {
        for command in gate.commands() {
            files.extend(members(repository, &tree, command, Purpose::Anything)?);
        }
    }
    for command in criteria_commands(plan, repository, &tree)? {
        files.extend(members(repository, &tree, &command, Purpose::Anything)?);
    }
    Ok(files)
}

/// The commands that the plan's ADR names as evidence, if a gate runs them.
fn criteria_commands(plan: &Plan, repository: &Repository, tree: &TreeId) -> Result<Vec<String>, GitError> {
    let covered = |gate: &GateSpec| matches!(gate, GateSpec::CriteriaCovered {});
    let Some(path) = plan.adr.as_ref().filter(|_| plan.phases.iter().flat_map(|phase| &phase.gates).any(covered))
    else {
        return Ok(Vec::new());
    };
    let listing = repository.listing(tree)?;
    let Some(text) = super::text(repository, &listing, path)? else { return Ok(Vec::new()) };
    let adr = Adr::parse(path, &text);
    let evidence = adr.criteria.iter().flat_map(|criterion| &criterion.evidence);
    Ok(evidence.filter_map(|evidence| evidence.proof.command().map(str::to_owned)).collect())
}

/// The files that decide how a command checks.
pub(crate) fn gate_members(
    repository: &Repository,
    tree: &TreeId,
    command: &str,
) -> Result<BTreeSet<String>, GitError> {
    Ok(members(repository, tree, command, Purpose::Anything)?.into_keys().collect())
}

/// What became of the files that decide how a command checks.
#[derive(Debug, Default)]
pub(crate) struct Redefined {
    /// Changes that nobody has claimed: a gate that its examinee may edit proves nothing.
    pub(crate) findings: Vec<Finding>,
    /// Changes that the plan has foreseen: those who judge the result should know of them.
    pub(crate) notes: Vec<Words>,
}

/// What a command is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It runs tests: what linters and the like read is part of it only where it starts them.
    Tests,
    /// It delivers: what it copies, packs or publishes is the result, and no part of it.
    Delivery,
    Anything,
}

/// Compares the files that decide how a command checks with those at submit.
pub(crate) fn redefined(context: &GateContext, purpose: Purpose, command: &str) -> Result<Redefined, GitError> {
    let repository = context.repository();
    let origin = repository.commit(context.origin.as_str())?.tree;
    let mut submitted = members(repository, &origin, command, purpose)?;
    let now = members(repository, &context.result.tree, command, purpose)?;
    let files = context.files()?;
    for path in now.keys() {
        if let Some(known) = context.gate_files.get(path) {
            submitted.insert(path.clone(), known.clone());
        }
    }
    let mut redefined = Redefined::default();
    let gone = submitted.keys().filter(|path| !files.contains_key(*path));
    let different = now.iter().filter(|(path, id)| submitted.get(*path) != Some(id)).map(|(path, _)| path);
    for path in gone.chain(different) {
        let word = match (submitted.contains_key(path), files.contains_key(path)) {
            (true, true) => "changed",
            (true, false) => "deleted",
            (false, _) => "added",
        };
        let by_phase = context.result.changed.iter().any(|file| &file.path == path);
        let claims = &context.claims;
        // Of what makes a directory of code another tool's plugin, nobody thinks who claims the directory.
        let by_path = is_entry_point(path);
        let claimed = if by_path { claims.decide_by_path(path) } else { covers(&claims.deciding, path) };
        let free = word == "added" && !by_path && (claims.own.is_empty() || !by_phase);
        if claimed || free {
            redefined.notes.push(match claimed {
                true => recorded!("gate-decides-claimed", path = path, command = command, how = word),
                false => recorded!("gate-decides-free", path = path, command = command, how = word),
            });
            continue;
        }
        let readers = if purpose == Purpose::Tests { readers(path, command) } else { Vec::new() };
        if !readers.is_empty()
            && !may_start(repository, &origin, command, &readers)?
            && !may_start(repository, &context.result.tree, command, &readers)?
        {
            continue;
        }
        let message = recorded!("gate-decides", path = path, command = command, how = word);
        redefined.findings.push(finding("gate.changed", message).at(path, None, None));
    }
    Ok(redefined)
}
