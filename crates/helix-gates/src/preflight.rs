//! Whether the commands of gates can say anything at all, seen on the commit that a job starts from before anybody works: what cannot run
//! there is the surroundings' fault, and no agent can fix it.
//!
//! Must not take a failure for one of the environment where the work may be what is missing: only what was seen to be missing counts.

use std::path::Path;
use std::sync::Arc;

use helix_core::finding::{Fault, FaultKind, Verdict};
use helix_core::said::Words;
use helix_language::{ErrorView, RECORD, recorded};
use helix_plan::GateSpec;
use helix_process::find_program;
use helix_project::survey::{program_of, survey};
use sha2::{Digest as _, Sha256};

use super::GateContext;
use super::baseline::{Baseline, BaselineEnd, Cache, Lacks, Measured};
use super::checkout::{Checkout, blocking, forget_seen, words};
use super::command::{Commanded, end_words};
use super::elsewhere::is_elsewhere;
use super::judgement::{Trouble, retold};
use super::lacking::{ignored, remedy};
use super::pattern::Pattern;
use super::test_run::TestRun;
use super::tests::Testing;
use super::unmet::unmet;

/// How many ignored files are tried one by one.
const MOST_ALONE: usize = 8;

/// What the command of a gate gives before the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// Nothing is wrong.
    Passes,
    /// It runs and fails: what it says then, for people. The gate compares its answer with that.
    Fails(Words),
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
    let measured = cache.measured_unless(command, (commit, tree), ".base", async |measure| {
        let Some(output) = measure.output.clone() else { return Ok(None) };
        let (of, line, baseline) = (context.clone(), line.to_owned(), measure.baseline.clone());
        blocking(move || unmet(&of, &line, &output, &baseline)).await?
    });
    let measure = match measured.await? {
        Ok(measure) => measure,
        Err(fault) => return Ok(Ready::Cannot(fault)),
    };
    if measure.baseline.is_good() {
        return Ok(Ready::Passes);
    }
    if let Some(names) = lacking(context, command, cache, &measure.baseline).await? {
        let of = context.clone();
        let files = blocking(move || of.files()).await??;
        let message = unprepared(line, &measure.baseline, &names);
        let remedy = remedy(&names, &files, &context.users_tree);
        return Ok(Ready::Cannot(helix_language::fault_with_hint(FaultKind::Environment, message, remedy)));
    }
    Ok(match measure.fault {
        Some(fault) if is_of_surroundings(context, &fault, argv) => {
            let fault = retold(&fault, |why| recorded!("gate-command-cannot", command = line, why = why));
            Ready::Cannot(with_setup(context, line, fault))
        }
        Some(fault) => Ready::Fails(ErrorView::of_fault(&fault).words()),
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
fn unprepared(line: &str, baseline: &Baseline, names: &[String]) -> Words {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    let failed: Vec<&str> = baseline.run.iter().flat_map(|run| &run.failures).map(|one| one.name.as_str()).collect();
    let (shown, names) = (shown.join(", "), names.len());
    match baseline.run.as_ref().filter(|run| run.counts.passed > 0 && !failed.is_empty()) {
        Some(run) => recorded!(
            "gate-unprepared-tests",
            tests = run.counts.failed,
            command = line,
            shown = shown,
            names = names,
            failed = failed.iter().take(5).copied().collect::<Vec<_>>().join(", ")
        ),
        None => recorded!("gate-unprepared", command = line, shown = shown, names = names),
    }
}

/// Whether a fault is there whatever a phase does: what it may write itself, or have installed by a manifest of its own, may come with
/// the work.
fn is_of_surroundings(context: &GateContext, fault: &Fault, argv: &[String]) -> bool {
    let told = fault.said.as_ref().map(|said| &said.message);
    match fault.kind {
        FaultKind::ToolMissing => {
            let said = told.and_then(|told| told.value("said"));
            let missing = said.and_then(|said| missing_program(&RECORD.words(said)));
            let missing = missing.or(argv.first().cloned()).unwrap_or_default();
            !missing.contains('/') && !brings_manifest(context)
        }
        // Of those that a run itself can have, only that it reads the user's work tree: time, memory and modes may be the work's.
        FaultKind::Environment => told.is_some_and(is_elsewhere),
        FaultKind::Timeout | FaultKind::NothingChecked | FaultKind::Unreadable | FaultKind::Flaky => false,
    }
}

/// The same with what would install what the repository needs, where nothing is set up and its files say what does that.
fn with_setup(context: &GateContext, line: &str, fault: Fault) -> Fault {
    let installs = if context.workspace.setup.is_empty() { survey(&context.users_tree).installs } else { Vec::new() };
    let commands: Vec<&String> = installs.iter().flat_map(|install| &install.commands).collect();
    let keys = format!("setup = {}", serde_json::to_string(&commands).unwrap_or_default());
    let search = context.environment.get("PATH").unwrap_or_default();
    let is_missing = |program: &str| find_program(Path::new(program), search, &context.users_tree).is_err();
    // Nothing that is set up brings a language itself.
    let is_language = program_of(line)
        .is_some_and(|program| is_missing(program) && installs.iter().all(|install| install.program != program));
    if fault.kind != FaultKind::ToolMissing || commands.is_empty() || is_language {
        return fault;
    }
    let remedy = match installs.iter().find(|install| is_missing(install.program)) {
        Some(install) => {
            recorded!("gate-lacks-installer", program = install.program, file = install.evidence, keys = keys)
        }
        None => recorded!("gate-lacks", keys = keys),
    };
    let message = ErrorView::of_fault(&fault).words();
    helix_language::fault_with_hint(fault.kind, message, remedy)
}

/// What a shell says that it has not found.
fn missing_program(said: &str) -> Option<String> {
    let word = match said.split_once("command not found: ") {
        Some((_, after)) => after.split_whitespace().next(),
        None => {
            let before = said.split_once(": not found").or_else(|| said.split_once(": command not found"))?.0;
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

fn said(baseline: &Baseline) -> Words {
    let how = match &baseline.end {
        BaselineEnd::Ran(end) => end_words(*end),
        BaselineEnd::NotRun(why) => why.into(),
    };
    match &baseline.run {
        Some(TestRun { counts, .. }) => {
            recorded!("gate-counted", passed = counts.passed, failed = counts.failed, how = how)
        }
        None => how,
    }
}

#[cfg(test)]
#[path = "preflight_test.rs"]
mod tests;
