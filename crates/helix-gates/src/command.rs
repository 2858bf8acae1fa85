//! `lint_pass`, `build_pass` and `command`: a command exits 0 on a clean checkout of the result.
//!
//! Must not read meaning out of the output: it is evidence for the agent.

use std::sync::Arc;
use std::time::Duration;

use helix_core::run::Wall;

use super::GateContext;
use super::checkout::{Check, blocking, fault_of, run_on, words};
use super::definition::{Redefined, redefined};
use super::judgement::{Judgement, Trouble, finding, last_part};
use helix_process::{CommandEnd, CommandRun};

pub(super) async fn command_passes(
    context: &Arc<GateContext>,
    gate: &'static str,
    command: &str,
    limit: Duration,
) -> Result<Judgement, Trouble> {
    let argv = words(command)?;
    let mut notes = as_submitted(context, [command]).await?;
    let checked =
        run_on(context, &context.result.commit, Check { argv: &argv, limit, suffix: "", variables: &[], report: None });
    let checked = checked.await?;
    notes.extend(run_notes(&checked.run));
    if let Some(fault) = fault_of(&checked.run, &argv, limit) {
        return Err(Judgement::faulted(fault).with_command(checked.evidence).with_notes(notes).into());
    }
    let rule = match gate {
        "lint_pass" => "lint.failed",
        "build_pass" => "build.failed",
        _ => "command.failed",
    };
    let how = end_text(checked.run.end);
    let findings = match checked.run.end {
        CommandEnd::Exited(0) => Vec::new(),
        _ => vec![
            finding(rule, format!("`{command}` failed ({how})"))
                .evidence(last_part(&checked.output))
                .fix("fix what the output names, and run the command yourself until it exits 0"),
        ],
    };
    Ok(Judgement::of(findings, format!("`{command}`: {how}"), notes).with_command(checked.evidence))
}

/// What became of the scripts and configuration of these commands. Where somebody changed them who may not, that is the answer.
pub(super) async fn as_submitted<'c>(
    context: &Arc<GateContext>,
    commands: impl IntoIterator<Item = &'c str>,
) -> Result<Vec<String>, Trouble> {
    let (context, commands): (_, Vec<String>) = (context.clone(), commands.into_iter().map(str::to_owned).collect());
    let all =
        blocking(move || commands.iter().map(|command| redefined(&context, command)).collect::<Result<Vec<_>, _>>());
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for Redefined { findings: found, notes: noted } in all.await?? {
        findings.extend(found);
        notes.extend(noted);
    }
    match findings.is_empty() {
        true => Ok(notes),
        false => Err(Judgement::of(findings, "the check itself was changed".into(), notes).into()),
    }
}

/// What systems and tools say where something is closed.
const DENIED: [&str; 4] = ["Permission denied", "EACCES", "Operation not permitted", "EPERM"];

/// What people should know of a run besides its end: what it left running, and that it may have met a wall.
pub(super) fn run_notes(run: &CommandRun) -> Vec<String> {
    let mut notes = Vec::new();
    match run.leftovers_killed {
        0 => {}
        1 => notes.push("1 process that the command had left running was killed".to_owned()),
        count => notes.push(format!("{count} processes that the command had left running were killed")),
    }
    let walled = run.walls.as_ref().is_some_and(|walls| walls.holds(Wall::Files));
    if walled && run.end != CommandEnd::Exited(0) && DENIED.iter().any(|said| run.tail.contains(said)) {
        notes.push(
            "the sandbox lets a gate write to its checkout and to /tmp only, and read no other part of your home: see docs/sandbox.md".to_owned(),
        );
    }
    notes
}

pub(super) fn end_text(end: CommandEnd) -> String {
    match end {
        CommandEnd::Exited(code) => format!("exit {code}"),
        CommandEnd::Signalled(signal) => format!("signal {signal}"),
        CommandEnd::TimedOut => "timed out".into(),
        CommandEnd::TooMuchOutput => "printed too much".into(),
        CommandEnd::TooMuchMemory => "took too much memory".into(),
        CommandEnd::Cancelled => "cancelled".into(),
    }
}
