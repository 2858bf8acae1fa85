//! Whether a piece of evidence holds on the result commit.
//!
//! Must not know which criterion it belongs to. A test that did not run proves nothing, whatever the exit code.

use std::sync::Arc;

use helix_adr::Proof;
use helix_core::evidence::{CommandEvidence, TestCounts};
use helix_core::finding::{Fault, Finding, Verdict};
use helix_plan::{GATE_TIMEOUT, GateSpec, split_words};

use super::super::GateContext;
use super::super::checkout::{Check, blocking, run_on, words};
use super::super::command::{as_submitted, end_text};
use super::super::definition::Purpose;
use super::super::judgement::{Trouble, last_part};
use super::super::output::{Counted, Runner, report_path};
use super::super::pattern::Pattern;
use super::super::test_run::TestRun;
use super::super::tests::read_run;
use super::runner;
use helix_process::CommandEnd;

/// What came of a piece of evidence.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) answer: Answer,
    /// The command that ran for it.
    pub(super) command: Option<CommandEvidence>,
    pub(super) tests: Option<TestCounts>,
}

/// Whether the evidence holds.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Passed {
        how: String,
    },
    Failed {
        rule: &'static str,
        message: String,
        fix: String,
        evidence: String,
    },
    /// It could not be checked.
    Faulted(Fault),
}

impl Answer {
    fn failed(rule: &'static str, message: String, fix: &str) -> Self {
        Self::Failed { rule, message, fix: fix.to_owned(), evidence: String::new() }
    }
}

impl From<Answer> for Outcome {
    /// Nothing ran for it.
    fn from(answer: Answer) -> Self {
        Self { answer, command: None, tests: None }
    }
}

/// Checks a proof; `number` tells the records of one gate apart.
pub(super) async fn run(context: &Arc<GateContext>, proof: &Proof, number: usize) -> Result<Outcome, Trouble> {
    let of = context.clone();
    let argv = match proof.clone() {
        Proof::File { path } => return Ok(blocking(move || file(&of, &path)).await??.into()),
        Proof::Test { name } => blocking(move || test_command(&of, &name)).await??,
        Proof::TestCommand { line } | Proof::Command { line, .. } => words(&line).map_err(Answer::Faulted),
    };
    let argv = match argv {
        Ok(argv) => argv,
        Err(answer) => return Ok(answer.into()),
    };
    match as_submitted(context, Purpose::Anything, [argv.join(" ").as_str()]).await {
        Ok(_) => {}
        Err(Trouble::Answered(judgement)) => {
            let Verdict::Fail { findings } = judgement.verdict else { return Err(Trouble::Answered(judgement)) };
            let found =
                findings.into_iter().next().unwrap_or_else(|| Finding::new("gate.changed", "the check was changed"));
            let fix = found.fix.as_deref().unwrap_or("undo the change");
            return Ok(Answer::failed("gate.changed", found.message, fix).into());
        }
        Err(trouble) => return Err(trouble),
    }
    let (suffix, limit) = (format!(".criterion-{}", number + 1), GATE_TIMEOUT.duration());
    let check = Check { argv: &argv, limit, suffix: &suffix, variables: &[], report: report_path(&argv), with: &[] };
    let checked = match run_on(context, &context.result.commit, check).await {
        Ok(checked) => checked,
        Err(Trouble::Command(error)) => return Ok(Answer::Faulted(error.fault()).into()),
        Err(trouble) => return Err(trouble),
    };
    let (checked, Counted { run: ran, .. }) = read_run(context, checked, Runner::Other).await?;
    let line = argv.join(" ");
    let mut answer = match (proof, checked.fault()) {
        (Proof::Command { exit, shows, .. }, _) if checked.run.end == CommandEnd::Exited(*exit) => {
            as_expected(&line, &checked.output, ran.as_ref(), (*exit, shows))
        }
        (_, Some(fault)) => return Ok(Answer::Faulted(fault).into()),
        (Proof::Command { exit, .. }, None) => {
            let message = format!("`{line}` ended with {}, not with exit {exit}", end_text(checked.run.end));
            Answer::failed(
                "criteria.command_failed",
                message,
                "fix what the output names, and run the command yourself",
            )
        }
        (Proof::File { .. } | Proof::Test { .. } | Proof::TestCommand { .. }, None) => {
            tested(&line, checked.run.end, ran.as_ref())
        }
    };
    if let Answer::Failed { evidence, .. } = &mut answer {
        last_part(&checked.output).clone_into(evidence);
    }
    let tests = ran.map(|run| run.counts).filter(|_| !matches!(proof, Proof::Command { .. }));
    Ok(Outcome { answer, command: Some(checked.evidence), tests })
}

fn file(context: &GateContext, path: &str) -> Result<Answer, Trouble> {
    let repository = context.repository();
    let listing = context.files()?;
    let pattern = Pattern::new(path);
    let mut found = 0_usize;
    for (name, entry) in listing.iter().filter(|(name, _)| pattern.matches(name)) {
        if entry.kind != helix_git::EntryKind::Submodule && repository.size(&entry.object)? == 0 {
            return Ok(Answer::failed("criteria.file_empty", format!("{name} is empty"), "write its content"));
        }
        found += 1;
    }
    Ok(match found {
        0 => Answer::failed(
            "criteria.file_missing",
            format!("{path} is not in the result"),
            "create it in the repository, at exactly this path",
        ),
        1 => Answer::Passed { how: "it exists".into() },
        several => Answer::Passed { how: format!("{several} files exist") },
    })
}

/// The command that runs a named test, by the phase's own test command, the test's file and what the project is.
fn test_command(context: &GateContext, name: &str) -> Result<Result<Vec<String>, Answer>, Trouble> {
    let listing = context.files()?;
    let own = context.phase.gates.iter().find_map(|gate| {
        let GateSpec::TestsPass(tests) = gate else { return None };
        split_words(&tests.command).ok()
    });
    let manifest = context.text(&listing, "package.json")?;
    let project = runner::Project {
        own_command: own.as_deref(),
        has: &|path| listing.contains_key(path),
        package_json: manifest.as_deref(),
    };
    let fix = "name the test with its file, or write the command that runs it: `— test: `<command>``";
    Ok(runner::argv(name, &project).map_err(|message| Answer::failed("criteria.test_unknown", message, fix)))
}

/// What a command proves that ran tests and ended by itself.
fn tested(line: &str, end: CommandEnd, run: Option<&TestRun>) -> Answer {
    let how = end_text(end);
    let (rule, message, fix) = match run {
        Some(run) if run.counts.failed > 0 => {
            let names: Vec<&str> = run.failures.iter().take(5).map(|failure| failure.name.as_str()).collect();
            let named = if names.is_empty() { format!("`{line}` has failures") } else { names.join(", ") + " failed" };
            ("criteria.test_failed", named, "fix the code until the test passes")
        }
        Some(run) if run.total() == 0 => (
            "criteria.test_not_run",
            format!("`{line}` ran no test ({how})"),
            "write the test that the criterion names, under exactly this name, and commit it",
        ),
        _ if end != CommandEnd::Exited(0) => {
            ("criteria.test_failed", format!("`{line}` failed ({how})"), "fix what the output names")
        }
        Some(run) => return Answer::Passed { how: format!("{} passed", run.counts.passed) },
        None => (
            "criteria.test_not_run",
            format!("`{line}` does not print how many tests ran"),
            "use a runner whose summary Helix reads (docs/gates.md)",
        ),
    };
    Answer::failed(rule, message, fix)
}

/// What a command proves that ended as it should.
fn as_expected(line: &str, output: &str, run: Option<&TestRun>, (exit, shows): (i32, &[String])) -> Answer {
    if exit == 0 && run.is_some_and(|run| run.total() == 0) {
        let message = format!("`{line}` ran no test");
        return Answer::failed("criteria.test_not_run", message, "write the tests that the criterion asks for");
    }
    let output = squeezed(output);
    if let Some(missing) = shows.iter().find(|text| !output.contains(&squeezed(text))) {
        let message = format!("`{line}` does not show `{missing}`");
        return Answer::failed(
            "criteria.not_shown",
            message,
            "fix the code so that the output contains exactly this text",
        );
    }
    let shown = if shows.is_empty() { "" } else { ", with the expected output" };
    Answer::Passed { how: format!("exit {exit}{shown}") }
}

/// White space as it wraps in a paragraph makes no difference.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
