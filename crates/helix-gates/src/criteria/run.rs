//! Whether a piece of evidence holds on the result commit.
//!
//! Must not know which criterion it belongs to. A test that did not run proves nothing, whatever the exit code.

use std::sync::Arc;

use helix_adr::Proof;
use helix_core::evidence::{CommandEvidence, TestCounts};
use helix_core::finding::{Fault, Verdict};
use helix_core::said::Words;
use helix_language::recorded;
use helix_plan::{GATE_TIMEOUT, GateSpec, split_words};

use super::super::GateContext;
use super::super::checkout::{Check, blocking, run_on, words};
use super::super::command::{as_submitted, end_words};
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
        how: Words,
    },
    Failed {
        rule: &'static str,
        message: Words,
        fix: Words,
        evidence: String,
    },
    /// It could not be checked.
    Faulted(Fault),
}

impl Answer {
    fn failed(rule: &'static str, message: Words) -> Self {
        let fix = message.hint();
        Self::Failed { rule, message, fix, evidence: String::new() }
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
            let first = findings.first().map(|found| (found.words(), found.fix_words()));
            let (message, fix) = first.unwrap_or_else(|| (recorded!("gate-check-changed"), Words::default()));
            return Ok(Answer::Failed { rule: "gate.changed", message, fix, evidence: String::new() }.into());
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
            let (how, exit) = (end_words(checked.run.end), exit.to_string());
            let message = recorded!("gate-criterion-exit", command = &line, how = how, exit = exit);
            Answer::failed("criteria.command_failed", message)
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
            return Ok(Answer::failed("criteria.file_empty", recorded!("gate-criterion-empty", path = name)));
        }
        found += 1;
    }
    Ok(match found {
        0 => Answer::failed("criteria.file_missing", recorded!("gate-criterion-missing", path = path)),
        files => Answer::Passed { how: recorded!("gate-criterion-there", files = files) },
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
    Ok(runner::argv(name, &project).map_err(|message| Answer::failed("criteria.test_unknown", message)))
}

/// What a command proves that ran tests and ended by itself.
fn tested(line: &str, end: CommandEnd, run: Option<&TestRun>) -> Answer {
    let how = end_words(end);
    let (rule, message) = match run {
        Some(run) if run.counts.failed > 0 => {
            let names: Vec<&str> = run.failures.iter().take(5).map(|failure| failure.name.as_str()).collect();
            let named = match names.is_empty() {
                true => recorded!("gate-criterion-failures", command = line),
                false => recorded!("gate-criterion-failed", tests = names.join(", ")),
            };
            ("criteria.test_failed", named)
        }
        Some(run) if run.total() == 0 => {
            ("criteria.test_not_run", recorded!("gate-criterion-no-test", command = line, how = how))
        }
        _ if end != CommandEnd::Exited(0) => {
            ("criteria.test_failed", recorded!("gate-criterion-command", command = line, how = how))
        }
        Some(run) => return Answer::Passed { how: recorded!("gate-criterion-passed", tests = run.counts.passed) },
        None => ("criteria.test_not_run", recorded!("gate-criterion-uncounted", command = line)),
    };
    Answer::failed(rule, message)
}

/// What a command proves that ended as it should.
fn as_expected(line: &str, output: &str, run: Option<&TestRun>, (exit, shows): (i32, &[String])) -> Answer {
    if exit == 0 && run.is_some_and(|run| run.total() == 0) {
        return Answer::failed("criteria.test_not_run", recorded!("gate-criterion-none-ran", command = line));
    }
    let output = squeezed(output);
    if let Some(missing) = shows.iter().find(|text| !output.contains(&squeezed(text))) {
        let message = recorded!("gate-criterion-not-shown", command = line, missing = missing);
        return Answer::failed("criteria.not_shown", message);
    }
    let exit = end_words(CommandEnd::Exited(exit));
    Answer::Passed { how: if shows.is_empty() { exit } else { recorded!("gate-criterion-shown", how = exit) } }
}

/// White space as it wraps in a paragraph makes no difference.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
