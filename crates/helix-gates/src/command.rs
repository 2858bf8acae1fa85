//! `lint_pass`, `build_pass` and `command`: a command exits 0 on a clean checkout of the result.
//!
//! Must not read meaning out of the output: it is evidence for the agent.

use std::sync::Arc;
use std::time::Duration;

use helix_core::finding::Finding;
use helix_core::run::Wall;

use super::GateContext;
use super::checkout::{Check, Checked, blocking, fault_of, run_on, words};
use super::definition::tampering;
use super::judgement::{Judgement, Trouble, finding};
use helix_process::{CommandEnd, CommandRun};

pub(super) async fn command_passes(
    context: &Arc<GateContext>,
    gate: &'static str,
    command: &str,
    limit: Duration,
) -> Result<Judgement, Trouble> {
    let Ran { checked, notes, .. } = run_unchanged(context, command, limit, |_| None).await?;
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

/// A gate's command that ran to its own end.
pub(super) struct Ran {
    pub(super) argv: Vec<String>,
    /// What came of it.
    pub(super) checked: Checked,
    /// What people should know besides.
    pub(super) notes: Vec<String>,
}

/// Runs a gate's command on a clean checkout of the result, if it can be run and nobody has changed what it runs. `report` names
/// the file that the command writes. Where nothing can be said of its end, that is the error.
pub(super) async fn run_unchanged(
    context: &Arc<GateContext>,
    command: &str,
    limit: Duration,
    report: fn(&[String]) -> Option<&str>,
) -> Result<Ran, Trouble> {
    let argv = words(command)?;
    let tampered = tampered(context, [command]).await?;
    if !tampered.is_empty() {
        return Err(Judgement::of(tampered, "the check itself was changed".into(), Vec::new()).into());
    }
    let check = Check { argv: &argv, limit, suffix: "", report: report(&argv) };
    let checked = run_on(context, &context.result.commit, check).await?;
    let notes = [leftover_note(&checked.run), denied_note(&checked.run)].concat();
    match fault_of(&checked.run, &argv, limit) {
        Some(fault) => Err(Judgement::faulted(fault).with_command(checked.evidence).with_notes(notes).into()),
        None => Ok(Ran { argv, checked, notes }),
    }
}

/// Findings for scripts of these commands that the phase changed although they define the check.
pub(super) async fn tampered<'c>(
    context: &Arc<GateContext>,
    commands: impl IntoIterator<Item = &'c str>,
) -> Result<Vec<Finding>, Trouble> {
    let (context, commands): (_, Vec<String>) = (context.clone(), commands.into_iter().map(str::to_owned).collect());
    let found =
        blocking(move || commands.iter().map(|command| tampering(&context, command)).collect::<Result<Vec<_>, _>>());
    Ok(found.await??.concat())
}

pub(super) fn leftover_note(run: &CommandRun) -> Vec<String> {
    match run.leftovers_killed {
        0 => Vec::new(),
        count => vec![format!("{count} process(es) that the command had left running were killed")],
    }
}

/// What systems and tools say where something is closed.
const DENIED: [&str; 4] = ["Permission denied", "EACCES", "Operation not permitted", "EPERM"];

/// A command that failed and was refused something may have met a wall.
fn denied_note(run: &CommandRun) -> Vec<String> {
    let walled = run.walls.as_ref().is_some_and(|walls| walls.holds(Wall::Files));
    let denied = walled && run.end != CommandEnd::Exited(0) && DENIED.iter().any(|said| run.tail.contains(said));
    let note = "the sandbox lets a gate write to its checkout and to /tmp only, and read no other part of your home: see docs/sandbox.md";
    denied.then(|| note.to_owned()).into_iter().collect()
}

pub(super) fn end_text(end: CommandEnd) -> String {
    match end {
        CommandEnd::Exited(code) => format!("exit {code}"),
        CommandEnd::Signalled(signal) => format!("signal {signal}"),
        CommandEnd::TimedOut => "timed out".into(),
        CommandEnd::Cancelled => "cancelled".into(),
    }
}

/// The end of an output, where tools say what is wrong.
pub(super) fn last_part(output: &str) -> &str {
    let text = output.trim_end();
    &text[text.ceil_char_boundary(text.len().saturating_sub(helix_core::finding::MAX_EVIDENCE))..]
}
