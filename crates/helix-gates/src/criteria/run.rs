//! Whether a piece of evidence holds on the result commit.
//!
//! Must not know which criterion it belongs to. A test that did not run proves nothing, whatever the exit code.

use std::sync::Arc;

use helix_adr::Proof;
use helix_core::evidence::{CommandEvidence, TestCounts};
use helix_core::finding::Fault;
use helix_plan::{GATE_TIMEOUT, GateSpec, split_words};
use tokio_util::sync::CancellationToken;

use super::super::GateContext;
use super::super::checkout::{Check, Checked, blocking, fault_of, run_on, words};
use super::super::command::{end_text, last_part, tampered};
use super::super::judgement::Trouble;
use super::super::pattern::Pattern;
use super::super::tests::read_run;
use super::runner;
use helix_process::CommandEnd;

/// What came of a piece of evidence.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Passed {
        how: String,
        command: Option<CommandEvidence>,
        tests: Option<TestCounts>,
    },
    Failed {
        rule: &'static str,
        message: String,
        fix: String,
        evidence: String,
        command: Option<CommandEvidence>,
        tests: Option<TestCounts>,
    },
    /// It could not be checked.
    Faulted {
        fault: Fault,
    },
}

impl Outcome {
    /// A command that ran and proves nothing.
    fn of_command(
        checked: &Checked,
        tests: Option<TestCounts>,
        (rule, message, fix): (&'static str, String, &str),
    ) -> Self {
        Self::Failed {
            rule,
            message,
            fix: fix.to_owned(),
            evidence: last_part(&checked.output),
            command: Some(checked.evidence.clone()),
            tests,
        }
    }

    fn failed(rule: &'static str, message: String, fix: &str) -> Self {
        Self::Failed { rule, message, fix: fix.to_owned(), evidence: String::new(), command: None, tests: None }
    }
}

/// Checks a proof; `number` tells the records of one gate apart.
pub(super) async fn run(
    context: &Arc<GateContext>,
    proof: &Proof,
    number: usize,
    cancel: &CancellationToken,
) -> Result<Outcome, Trouble> {
    match proof {
        Proof::File { path } => {
            let (context, path) = (context.clone(), path.clone());
            blocking(move || file(&context, &path)).await?
        }
        Proof::Test { name } => {
            let argv = {
                let (context, name) = (context.clone(), name.clone());
                blocking(move || test_command(&context, &name)).await??
            };
            match argv {
                Ok(argv) => tests(context, &argv, number, cancel).await,
                Err(message) => Ok(Outcome::failed(
                    "criteria.test_unknown",
                    message,
                    "name the test with its file, or write the command that runs it: `— test: `<command>``",
                )),
            }
        }
        Proof::TestCommand { line } => match ready(context, line).await? {
            Ok(argv) => tests(context, &argv, number, cancel).await,
            Err(outcome) => Ok(outcome),
        },
        Proof::Command { line, exit, shows } => match ready(context, line).await? {
            Ok(argv) => command(context, &argv, (*exit, shows), number, cancel).await,
            Err(outcome) => Ok(outcome),
        },
    }
}

/// The words of a command line, if it splits and nobody has changed what it runs.
async fn ready(context: &Arc<GateContext>, line: &str) -> Result<Result<Vec<String>, Outcome>, Trouble> {
    let argv = match words(line) {
        Ok(argv) => argv,
        Err(fault) => return Ok(Err(Outcome::Faulted { fault })),
    };
    Ok(match tampered(context, line).await?.into_iter().next() {
        Some(found) => {
            Err(Outcome::failed("gate.changed", found.message, &found.fix.unwrap_or_else(|| "undo the change".into())))
        }
        None => Ok(argv),
    })
}

fn file(context: &GateContext, path: &str) -> Result<Outcome, Trouble> {
    let repository = context.repository();
    let listing = repository.listing(&context.result.tree)?;
    let pattern = Pattern::new(path);
    let mut found = 0_usize;
    for (name, entry) in listing.iter().filter(|(name, _)| pattern.matches(name)) {
        if entry.kind != helix_git::EntryKind::Submodule && repository.size(&entry.object)? == 0 {
            return Ok(Outcome::failed("criteria.file_empty", format!("{name} is empty"), "write its content"));
        }
        found += 1;
    }
    Ok(match found {
        0 => Outcome::failed(
            "criteria.file_missing",
            format!("{path} is not in the result"),
            "create it in the repository, at exactly this path",
        ),
        1 => Outcome::Passed { how: "it exists".into(), command: None, tests: None },
        several => Outcome::Passed { how: format!("{several} files exist"), command: None, tests: None },
    })
}

/// The command that runs a named test, by the phase's own test command, the test's file and what the project is.
fn test_command(context: &GateContext, name: &str) -> Result<Result<Vec<String>, String>, Trouble> {
    let repository = context.repository();
    let listing = repository.listing(&context.result.tree)?;
    let own = context.phase.gates.iter().find_map(|gate| {
        let GateSpec::TestsPass { command, .. } = gate else { return None };
        split_words(command).ok()
    });
    let manifest = match listing.get("package.json") {
        Some(entry) => Some(String::from_utf8_lossy(&repository.blob(&entry.object)?).into_owned()),
        None => None,
    };
    let project = runner::Project {
        own_command: own.as_deref(),
        has: &|path| listing.contains_key(path),
        package_json: manifest.as_deref(),
    };
    Ok(runner::argv(name, &project))
}

/// Runs a proof's command; a fault where it cannot be run at all.
async fn check(
    context: &Arc<GateContext>,
    argv: &[String],
    number: usize,
    cancel: &CancellationToken,
) -> Result<Result<Checked, Fault>, Trouble> {
    let commit = context.result.commit.clone();
    let suffix = format!(".criterion-{}", number + 1);
    let limit = GATE_TIMEOUT.duration();
    let report = super::super::tests::report_path(argv);
    match run_on(context, &commit, Check { argv, limit, suffix: &suffix, report }, cancel).await {
        Ok(checked) => Ok(Ok(checked)),
        Err(Trouble::Command(error)) => Ok(Err(Trouble::Command(error).fault())),
        Err(trouble) => Err(trouble),
    }
}

async fn tests(
    context: &Arc<GateContext>,
    argv: &[String],
    number: usize,
    cancel: &CancellationToken,
) -> Result<Outcome, Trouble> {
    let checked = match check(context, argv, number, cancel).await? {
        Ok(checked) => checked,
        Err(fault) => return Ok(Outcome::Faulted { fault }),
    };
    if let Some(fault) = fault_of(checked.run.end, argv, GATE_TIMEOUT.duration(), &checked.run.tail) {
        return Ok(Outcome::Faulted { fault });
    }
    let line = argv.join(" ");
    let how = end_text(checked.run.end);
    let run = read_run(&checked);
    let counts = run.as_ref().map(|run| run.counts);
    let failed = |rule, message, fix| Outcome::of_command(&checked, counts, (rule, message, fix));
    Ok(match &run {
        Some(run) if run.counts.failed > 0 => {
            let names: Vec<&str> = run.failures.iter().take(5).map(|failure| failure.name.as_str()).collect();
            let named = if names.is_empty() { format!("`{line}` has failures") } else { names.join(", ") + " failed" };
            failed("criteria.test_failed", named, "fix the code until the test passes")
        }
        Some(run) if run.total() == 0 => failed(
            "criteria.test_not_run",
            format!("`{line}` ran no test ({how})"),
            "write the test that the criterion names, under exactly this name, and commit it",
        ),
        _ if checked.run.end != CommandEnd::Exited(0) => {
            failed("criteria.test_failed", format!("`{line}` failed ({how})"), "fix what the output names")
        }
        Some(run) => Outcome::Passed {
            how: format!("{} passed", run.counts.passed),
            command: Some(checked.evidence.clone()),
            tests: counts,
        },
        None => failed(
            "criteria.test_not_run",
            format!("`{line}` does not print how many tests ran"),
            "use a runner whose summary Helix reads (docs/gates.md)",
        ),
    })
}

async fn command(
    context: &Arc<GateContext>,
    argv: &[String],
    (exit, shows): (i32, &[String]),
    number: usize,
    cancel: &CancellationToken,
) -> Result<Outcome, Trouble> {
    let checked = match check(context, argv, number, cancel).await? {
        Ok(checked) => checked,
        Err(fault) => return Ok(Outcome::Faulted { fault }),
    };
    let line = argv.join(" ");
    let failed = |rule, message, fix| Outcome::of_command(&checked, None, (rule, message, fix));
    if checked.run.end != CommandEnd::Exited(exit) {
        if let Some(fault) = fault_of(checked.run.end, argv, GATE_TIMEOUT.duration(), &checked.run.tail) {
            return Ok(Outcome::Faulted { fault });
        }
        let message = format!("`{line}` ended with {}, not with exit {exit}", end_text(checked.run.end));
        return Ok(failed(
            "criteria.command_failed",
            message,
            "fix what the output names, and run the command yourself",
        ));
    }
    if exit == 0 && read_run(&checked).is_some_and(|run| run.total() == 0) {
        let message = format!("`{line}` ran no test");
        return Ok(failed("criteria.test_not_run", message, "write the tests that the criterion asks for"));
    }
    let output = squeezed(&checked.output);
    if let Some(missing) = shows.iter().find(|text| !output.contains(&squeezed(text))) {
        let message = format!("`{line}` does not show `{missing}`");
        return Ok(failed("criteria.not_shown", message, "fix the code so that the output contains exactly this text"));
    }
    let how = if shows.is_empty() { format!("exit {exit}") } else { format!("exit {exit}, with the expected output") };
    Ok(Outcome::Passed { how, command: Some(checked.evidence), tests: None })
}

/// White space as it wraps in a paragraph makes no difference.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
