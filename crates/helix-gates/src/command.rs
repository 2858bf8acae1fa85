//! `lint_pass`, `build_pass` and `command`: a command exits 0 on a clean checkout of the result.
//!
//! Must not read meaning out of the output: it is evidence for the agent, and is compared with what was printed before the job.

use std::sync::Arc;
use std::time::Duration;

use helix_core::finding::FaultKind;
use helix_core::ids::CommitId;
use helix_core::run::Wall;
use helix_core::said::Words;

use super::GateContext;
use super::baseline::{Baseline, BaselineEnd, Before, Cache, Measure, Measured, baselines};
use super::checkout::{Check, Checked, blocking, run_on, words};
use super::definition::{Purpose, Redefined, hidden, redefined};
use super::judgement::{Judgement, Trouble, fault, finding, last_part};
use helix_language::recorded;
use helix_process::{CommandEnd, CommandRun};

/// What is found where the gate `command` fails.
const COMMAND: &str = "command.failed";

pub(super) async fn command_passes(
    context: &Arc<GateContext>,
    gate: &'static str,
    command: &str,
    limit: Duration,
) -> Result<Judgement, Trouble> {
    let argv = words(command)?;
    let mut notes = as_submitted(context, Purpose::Anything, [command]).await?;
    let of = context.clone();
    let hidden = blocking(move || hidden(&of)).await??;
    if !hidden.is_empty() {
        return Err(Judgement::of(hidden, recorded!("gate-files-hidden"), notes).into());
    }
    let commanded = Commanded { context, argv: &argv, limit };
    let checked = commanded.run(&context.result.commit, "", &[]).await?;
    notes.extend(run_notes(&checked.run));
    if let Some(fault) = checked.fault() {
        return Err(Judgement::faulted(fault).with_command(checked.evidence).with_notes(notes).into());
    }
    let rule = match gate {
        "lint_pass" => "lint.failed",
        "build_pass" => "build.failed",
        _ => COMMAND,
    };
    let cache = commanded.cache().await;
    let now = Baseline::of_command(checked.run.end, &checked.output);
    // What this phase's result is, the next phase's base will be.
    cache.store(&context.result.tree, &now).await;
    let passed = checked.run.end == CommandEnd::Exited(0);
    let before = if passed { Vec::new() } else { baselines(context, &cache, &now, &commanded).await? };
    let judgement = judge(rule, command, &checked, &before);
    Ok(judgement.with_notes(notes).with_command(checked.evidence))
}

/// The answer of a command that is asked for nothing but its exit status. A linter or build that was as wrong before is nobody's doing; what
/// any other command asks for may be the phase's very task.
fn judge(rule: &'static str, command: &str, checked: &Checked, before: &[Before]) -> Judgement {
    let how = end_words(checked.run.end);
    if checked.run.end == CommandEnd::Exited(0) {
        let summary = recorded!("gate-command-ended", command = command, how = how);
        return Judgement::of(Vec::new(), summary, Vec::new());
    }
    let summary = recorded!("gate-command-failed", command = command, how = &how);
    // What a signal ended has not said why.
    let exited = matches!(checked.run.end, CommandEnd::Exited(_));
    let as_bad = |one: &&Before| exited && one.baseline.end == BaselineEnd::Ran(checked.run.end);
    let failed_before: Vec<&Before> = before.iter().filter(as_bad).collect();
    // What is new is new against where the job and the phase began: a phase may leave what it found.
    let news = failed_before.iter().map(|one| one.baseline.said.new_in(&checked.output)).min_by_key(Vec::len);
    let found = finding(rule, summary.clone());
    match news {
        Some(news) if failed_before.len() == before.len() && news.is_empty() && rule != COMMAND => {
            let message = recorded!("gate-command-not-phases", command = command, how = how);
            // No further try of the agent is to be paid for what it found there.
            Judgement::faulted(fault(FaultKind::Environment, message))
        }
        Some(news) if !news.is_empty() => {
            let note = recorded!("gate-command-new-lines", command = command);
            let new_lines = format!("new since then:\n{}", news.join("\n"));
            Judgement::of(vec![found.evidence(&new_lines)], summary, vec![note])
        }
        as_before => {
            let notes = as_before.map(|_| recorded!("gate-command-as-before", command = command));
            let found = found.evidence(last_part(&checked.output));
            Judgement::of(vec![found], summary, notes.into_iter().collect())
        }
    }
}

/// A command of which only its end is asked for.
pub(super) struct Commanded<'a> {
    pub(super) context: &'a Arc<GateContext>,
    pub(super) argv: &'a [String],
    pub(super) limit: Duration,
}

impl Commanded<'_> {
    async fn run(&self, commit: &CommitId, suffix: &str, with: &[String]) -> Result<Checked, Trouble> {
        let check = Check { argv: self.argv, limit: self.limit, suffix, variables: &[], report: None, with };
        run_on(self.context, commit, check).await
    }

    pub(super) async fn cache(&self) -> Cache {
        Cache::of(self.context, "command", self.argv).await
    }
}

impl Measured for Commanded<'_> {
    async fn measure(&self, commit: &CommitId, suffix: &str, with: &[String]) -> Result<Measure, Trouble> {
        let measured = async {
            let checked = self.run(commit, suffix, with).await?;
            let baseline = Baseline::of_command(checked.run.end, &checked.output);
            Ok(Measure {
                fault: checked.fault(),
                output: Some(checked.output).filter(|_| !baseline.is_good()),
                baseline,
            })
        };
        Measure::begun(measured.await)
    }
}

/// What became of the scripts and configuration of these commands. Where somebody changed them who may not, that is the answer.
pub(super) async fn as_submitted<'c>(
    context: &Arc<GateContext>,
    purpose: Purpose,
    commands: impl IntoIterator<Item = &'c str>,
) -> Result<Vec<Words>, Trouble> {
    let (context, commands): (_, Vec<String>) = (context.clone(), commands.into_iter().map(str::to_owned).collect());
    let all = blocking(move || {
        commands.iter().map(|command| redefined(&context, purpose, command)).collect::<Result<Vec<_>, _>>()
    });
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for Redefined { findings: found, notes: noted } in all.await?? {
        findings.extend(found);
        notes.extend(noted);
    }
    match findings.is_empty() {
        true => Ok(notes),
        false => Err(Judgement::of(findings, recorded!("gate-check-changed"), notes).into()),
    }
}

/// What systems and tools say where something is closed.
const DENIED: [&str; 4] = ["Permission denied", "EACCES", "Operation not permitted", "EPERM"];

/// What people should know of a run besides its end: what it left running, and that it may have met a wall.
pub(super) fn run_notes(run: &CommandRun) -> Vec<Words> {
    let mut notes = Vec::new();
    if run.leftovers_killed > 0 {
        notes.push(recorded!("gate-leftovers", processes = run.leftovers_killed));
    }
    let walled = run.walls.as_ref().is_some_and(|walls| walls.holds(Wall::Files));
    if walled && run.end != CommandEnd::Exited(0) && DENIED.iter().any(|said| run.tail.contains(said)) {
        notes.push(recorded!("gate-sandbox"));
    }
    notes
}

pub(super) fn end_words(end: CommandEnd) -> Words {
    match end {
        CommandEnd::Exited(code) => recorded!("gate-end-exit", code = code.to_string()),
        CommandEnd::Signalled(signal) => recorded!("gate-end-signal", signal = signal.to_string()),
        CommandEnd::TimedOut => recorded!("gate-end-time"),
        CommandEnd::TooMuchOutput => recorded!("gate-end-output"),
        CommandEnd::TooMuchMemory => recorded!("gate-end-memory"),
        CommandEnd::Cancelled => recorded!("gate-end-cancelled"),
    }
}
