//! Whether the commands of gates can say anything at all, seen on the commit that a job starts from before anybody works: what cannot run
//! there is the surroundings' fault, and no agent can fix it.
//!
//! Must not take a failure for one of the environment where the work may be what is missing: only what was seen to be missing counts.

use std::sync::Arc;

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::text::count;
use helix_plan::GateSpec;
use sha2::{Digest as _, Sha256};

use super::GateContext;
use super::baseline::{Baseline, BaselineEnd, Cache, Lacks, Measured};
use super::checkout::{Checkout, blocking, forget_seen, words};
use super::command::{Commanded, end_text};
use super::judgement::Trouble;
use super::lacking::{ignored, remedy};
use super::pattern::Pattern;
use super::tests::Testing;

/// How many ignored files are tried one by one.
const MOST_ALONE: usize = 8;

/// What the command of a gate gives before the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// Nothing is wrong.
    Passes,
    /// It runs and fails: what it says then, for people. The gate compares its answer with that.
    Fails(String),
    /// It can say nothing about the work here.
    Cannot(Fault),
}

/// Files that say what is to be installed: a phase that may change one may bring what is missing.
const MANIFESTS: [&str; 10] = [
    "package.json",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "Cargo.toml",
    "go.mod",
    "Gemfile",
    "composer.json",
    "pom.xml",
    "build.gradle",
];

/// Runs the command of a gate on the commit that is both base and result, unless it is known what it gives there; `None` for gates that
/// have no command of this kind.
///
/// # Errors
/// Why it could not be looked at.
pub async fn preflight(context: Arc<GateContext>, gate: &GateSpec) -> Result<Option<Ready>, Fault> {
    let seen = match gate {
        GateSpec::TestsPass(gate) => match words(&gate.command) {
            Ok(argv) => {
                let testing = Testing::new(&context, gate, &argv);
                look(&context, &testing, &testing.cache().await, &gate.command, &argv).await
            }
            Err(fault) => Ok(Ready::Cannot(fault)),
        },
        GateSpec::LintPass { command, timeout }
        | GateSpec::BuildPass { command, timeout }
        | GateSpec::Command { command, timeout } => match words(command) {
            Ok(argv) => {
                let commanded = Commanded { context: &context, argv: &argv, limit: timeout.duration() };
                look(&context, &commanded, &commanded.cache().await, command, &argv).await
            }
            Err(fault) => Ok(Ready::Cannot(fault)),
        },
        _ => return Ok(None),
    };
    forget_seen(&context).await;
    match seen {
        Ok(ready) => Ok(Some(ready)),
        Err(trouble) => match trouble.judgement().verdict {
            Verdict::Inconclusive { fault } => Err(fault),
            Verdict::Pass | Verdict::Fail { .. } => Ok(None),
        },
    }
}

async fn look(
    context: &Arc<GateContext>,
    command: &impl Measured,
    cache: &Cache,
    line: &str,
    argv: &[String],
) -> Result<Ready, Trouble> {
    let (commit, tree) = (&context.result.commit, &context.result.tree);
    let measure = cache.measured(command, (commit, tree), ".base").await?;
    if measure.baseline.is_good() {
        return Ok(Ready::Passes);
    }
    if let Some(names) = lacking(context, command, cache, &measure.baseline).await? {
        let of = context.clone();
        let files = blocking(move || of.files()).await??;
        return Ok(Ready::Cannot(unprepared(
            line,
            &measure.baseline,
            &names,
            remedy(&names, &files, &context.users_tree),
        )));
    }
    Ok(match measure.fault {
        Some(fault) if is_of_surroundings(context, &fault, argv) => {
            let message = format!("`{line}` cannot run: {}", fault.message);
            Ready::Cannot(Fault { message, ..fault })
        }
        Some(fault) => Ready::Fails(fault.message),
        None => Ready::Fails(said(&measure.baseline)),
    })
}

/// The ignored files of the user's work tree that the command needs: with them it gets on better, and without them it does not.
async fn lacking(
    context: &Arc<GateContext>,
    command: &impl Measured,
    cache: &Cache,
    baseline: &Baseline,
) -> Result<Option<Vec<String>>, Trouble> {
    let of = context.clone();
    let candidates = blocking(move || ignored(&of)).await??;
    let digest = format!("{:x}", Sha256::digest(candidates.join("\0")));
    let known = baseline.lacks.as_ref().filter(|known| known.of == digest);
    let names = match known {
        Some(known) => known.names.clone(),
        None => {
            let names = needed(context, command, baseline, candidates).await?;
            let lacks = Some(Lacks { of: digest, names: names.clone() });
            cache.replace(&context.result.tree, &Baseline { lacks, ..baseline.clone() }).await;
            names
        }
    };
    Ok((!names.is_empty()).then_some(names))
}

async fn needed(
    context: &Arc<GateContext>,
    command: &impl Measured,
    baseline: &Baseline,
    candidates: Vec<String>,
) -> Result<Vec<String>, Trouble> {
    let commit = &context.result.commit;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let with = command.measure(commit, ".with", &candidates).await?.baseline;
    let mut names = Vec::new();
    // What fails now and then does not lack anything.
    if with.is_better_than(baseline) && with.is_better_than(&command.measure(commit, ".again", &[]).await?.baseline) {
        names = candidates;
        let several = if names.len() > 1 { names.clone() } else { Vec::new() };
        for (number, name) in several.iter().enumerate().take(MOST_ALONE) {
            let alone = command.measure(commit, &format!(".with-{number}"), std::slice::from_ref(name)).await?.baseline;
            if !with.is_better_than(&alone) {
                names = vec![name.clone()];
                break;
            }
        }
        for (number, name) in several.iter().enumerate().take(MOST_ALONE) {
            let others: Vec<String> = names.iter().filter(|other| *other != name).cloned().collect();
            if others.is_empty() || others.len() == names.len() {
                continue;
            }
            let without = command.measure(commit, &format!(".without-{number}"), &others).await?.baseline;
            if !with.is_better_than(&without) {
                names = others;
            }
        }
    }
    // Nothing of the user's is left in the checkout.
    drop(Checkout::enter(context, commit).await?);
    Ok(names)
}

/// A work tree that has not what the user's has.
fn unprepared(line: &str, baseline: &Baseline, names: &[String], remedy: String) -> Fault {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    let (are, them) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    let failed: Vec<&str> = baseline.run.iter().flat_map(|run| &run.failures).map(|one| one.name.as_str()).collect();
    let shown = shown.join(", ");
    let message = match baseline.run.as_ref().filter(|run| run.counts.passed > 0 && !failed.is_empty()) {
        Some(run) => format!(
            "{} of `{line}` fail(s) in a clean checkout only because {shown} {are} ignored by git and missing there: {}",
            count(usize::try_from(run.counts.failed).unwrap_or(failed.len()), "test"),
            failed.iter().take(5).copied().collect::<Vec<_>>().join(", ")
        ),
        None => {
            format!("`{line}` cannot run in a clean checkout: {shown} {are} ignored by git, and with {them} it runs")
        }
    };
    Fault { kind: FaultKind::Environment, message, hint: Some(remedy), said: None }
}

/// Whether a fault is there whatever a phase does: what it may write itself, or have installed by a manifest of its own, may come with
/// the work.
fn is_of_surroundings(context: &GateContext, fault: &Fault, argv: &[String]) -> bool {
    match fault.kind {
        FaultKind::ToolMissing => {
            let missing = missing_program(&fault.message).or(argv.first().cloned()).unwrap_or_default();
            !missing.contains('/') && !brings_manifest(context)
        }
        // Of those that a run itself can have, only that it reads the user's work tree: time, memory and modes may be the work's.
        FaultKind::Environment => context.users_tree.to_str().is_some_and(|users| fault.message.contains(users)),
        FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable | FaultKind::Flaky => false,
    }
}

/// What a shell says that it has not found.
fn missing_program(message: &str) -> Option<String> {
    let word = match message.split_once("command not found: ") {
        Some((_, after)) => after.split_whitespace().next(),
        None => {
            let before = message.split_once(": not found").or_else(|| message.split_once(": command not found"))?.0;
            before.rsplit([':', ' ']).next()
        }
    };
    word.map(str::to_owned).filter(|word| !word.is_empty())
}

fn brings_manifest(context: &GateContext) -> bool {
    let claims = [&context.claims.own, &context.claims.earlier];
    claims.into_iter().flat_map(|outputs| Pattern::all(outputs)).any(|claim| {
        let name = claim.text().rsplit('/').next().unwrap_or_default();
        MANIFESTS.iter().any(|manifest| *manifest == name || claim.matches(manifest))
    })
}

fn said(baseline: &Baseline) -> String {
    let how = match &baseline.end {
        BaselineEnd::Ran(end) => end_text(*end),
        BaselineEnd::NotRun(why) => why.clone(),
    };
    match &baseline.run {
        Some(run) => format!("{} passed, {} failed ({how})", run.counts.passed, run.counts.failed),
        None => how,
    }
}

#[cfg(test)]
#[path = "preflight_test.rs"]
mod tests;
