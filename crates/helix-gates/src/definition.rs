//! What a gate is before it runs: which files of the repository define it.
//!
//! Must not run anything.

use std::collections::BTreeMap;

use helix_adr::Adr;
use helix_core::finding::Finding;
use helix_core::ids::{CommitId, TreeId};
use helix_plan::{GateSpec, Phase, Plan, split_words};
use sha2::{Digest, Sha256};

use super::GateContext;
use super::judgement::finding;
use super::pattern::Pattern;
use helix_git::{EntryKind, GitError, Repository};

/// Programs whose first argument is the script that they run.
const INTERPRETERS: [&str; 13] =
    ["sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "deno", "bun", "env", "tsx"];

/// Files that may define what a command does: the program itself, or the script given to an interpreter, or the makefile.
fn script_candidates(argv: &[String]) -> Vec<String> {
    let plain = |word: &str| word.trim_start_matches("./").to_owned();
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        let name = word.rsplit('/').next().unwrap_or(word);
        if matches!(name, "make" | "gmake") {
            return ["GNUmakefile", "makefile", "Makefile"].map(str::to_owned).to_vec();
        }
        if matches!(name, "just") {
            return ["justfile", "Justfile", ".justfile"].map(str::to_owned).to_vec();
        }
        if !INTERPRETERS.contains(&name) {
            return if word.starts_with('-') { Vec::new() } else { vec![plain(word)] };
        }
        // Options of one letter (`sh -e`, `python -u`) take no value, but for those that say that no script follows.
        while let Some(option) = words.as_slice().first().filter(|word| word.starts_with('-')) {
            if option.len() != 2
                || matches!(option.as_str(), "-c" | "-m" | "-e" | "-p") && name != "sh" && name != "bash"
            {
                return Vec::new();
            }
            if option == "-c" {
                return Vec::new();
            }
            words.next();
        }
    }
    Vec::new()
}

fn named_files(repository: &Repository, tree: &TreeId, command: &str) -> Result<BTreeMap<String, String>, GitError> {
    let mut files = BTreeMap::new();
    // A command that does not split is refused with the plan; here it names no file.
    let Ok(argv) = split_words(command) else { return Ok(files) };
    let candidates = script_candidates(&argv);
    if candidates.is_empty() {
        return Ok(files);
    }
    let listing = repository.listing(tree)?;
    for path in candidates {
        if let Some(entry) =
            listing.get(&path).filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Executable))
        {
            files.insert(path, format!("{:x}", Sha256::digest(&repository.blob(&entry.object)?)));
        }
    }
    Ok(files)
}

/// Hashes (SHA-256, hex) of the script files that the plan's gates run, as they are in a commit. Taken at submit.
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
    let given = |phase: &Phase| {
        let added = phase.generates_phases.iter().flat_map(|generate| &generate.gates);
        phase.gates.iter().chain(added).cloned().collect::<Vec<_>>()
    };
    for gate in plan.phases.iter().flat_map(given) {
        for command in gate.commands() {
            files.extend(named_files(repository, &tree, command)?);
        }
    }
    for command in criteria_commands(plan, repository, &tree)? {
        files.extend(named_files(repository, &tree, &command)?);
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

/// Findings for the gate's own files that the phase changed without claiming them: a gate that its examinee may edit
/// proves nothing.
pub(crate) fn tampering(context: &GateContext, command: &str) -> Result<Vec<Finding>, GitError> {
    let mut findings = Vec::new();
    let claims = Pattern::all(&context.phase.outputs);
    let Ok(argv) = split_words(command) else { return Ok(findings) };
    let mut now = None;
    for path in script_candidates(&argv) {
        let Some(at_submit) = context.gate_files.get(&path) else { continue };
        let changed = context.result.changed.iter().any(|file| file.path == path);
        if !changed || claims.iter().any(|claim| claim.matches(&path)) {
            continue;
        }
        let files = match &now {
            Some(files) => files,
            None => now.insert(named_files(context.repository(), &context.result.tree, command)?),
        };
        if files.get(&path) != Some(at_submit) {
            let message = format!("{path} defines this check and was changed by the phase, which does not claim it");
            findings.push(
                finding("gate.changed", message)
                    .at(&path, None, None)
                    .fix(format!("undo every change to {path} and make the check pass as it was")),
            );
        }
    }
    Ok(findings)
}

#[cfg(test)]
#[path = "definition_test.rs"]
mod tests;
