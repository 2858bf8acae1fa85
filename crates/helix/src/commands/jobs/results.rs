//! `helix jobs diff` and `helix jobs evidence`: read from the journal, the repository and the records, with or without a host.

use std::path::Path;

use helix_core::ids::PhaseId;
use helix_core::run::WallsHeld;
use helix_engine::evidence::{
    DiffSelection, GateEvidence, JobEvidence, OutputEvidence, OutputState, PhaseEvidence, ReviewEvidence, Standing,
};
use helix_job::{CommandEvidence, Language, Review, phrases};

use crate::commands::verify::own_key;
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::files::write_new;
use crate::offline::{archive, open_or_missing};
use crate::terminal::{Meaning, Reading};

pub(super) async fn diff(context: &Context, id: &str, phase: Option<PhaseId>, attempt: Option<u32>) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let found = archive(context, &journal)?.diff(id, DiffSelection { phase, attempt }).await?;
    if context.terminal.reading == Reading::Programs {
        return context.terminal.json(&found);
    }
    if found.patch.is_empty() {
        context.terminal.say(&format!("nothing changed between {} and {}", found.from, found.to));
    }
    for line in found.patch.lines() {
        context.terminal.data(&match line.as_bytes().first() {
            Some(b'+') => context.terminal.paint(Meaning::Good, line),
            Some(b'-') => context.terminal.paint(Meaning::Bad, line),
            Some(b'@') => context.terminal.paint(Meaning::Weak, line),
            _ => line.to_owned(),
        })?;
    }
    if found.cut > 0 {
        context.terminal.say(&format!("{} more bytes: git diff {} {}", found.cut, found.from, found.to));
    }
    Ok(Exit::Success)
}

/// Ends with a status of its own unless the job succeeded and everything is proved.
pub(super) async fn evidence(context: &Context, id: &str, bundle: Option<&Path>) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let archive = archive(context, &journal)?;
    let stated;
    let (found, written) = match bundle {
        None => (&archive.evidence(id).await?, None),
        Some(file) => {
            stated = archive.statement(id, env!("CARGO_PKG_VERSION")).await?;
            let key = own_key(context)?;
            write_new(&context.path(file), &stated.signed(&key)?)?;
            (stated.evidence(), Some((file, key.public())))
        }
    };
    context.terminal.answer(found, &report(context, found))?;
    if let Some((file, key)) = written {
        context.terminal.note(&format!("wrote {}, signed by {key}", file.display()));
    }
    Ok(if found.proved { Exit::Success } else { Exit::NotProved })
}

fn report(context: &Context, found: &JobEvidence) -> String {
    let paint = |meaning, text: &str| context.terminal.paint(meaning, text);
    let missing = |what: &String| format!("  {} {what}", paint(Meaning::Bad, "missing:"));
    let mut lines = vec![format!("{} {}, from commit {}", paint(Meaning::Strong, &found.name), found.job, found.base)];
    lines.extend(found.venv.iter().map(|venv| format!("in the virtual environment {venv}")));
    for phase in &found.phases {
        lines.push(String::new());
        let (meaning, word) = standing(phase.standing);
        lines.push(format!("{} {}", paint(Meaning::Strong, phase.phase.as_str()), paint(meaning, word)));
        lines.extend(phase.missing.iter().map(missing));
        lines.extend(details(phase));
    }
    lines.push(String::new());
    for conflict in &found.conflicts {
        let between: Vec<&str> = conflict.between.iter().map(PhaseId::as_str).collect();
        let (phase, paths) = (&conflict.phase, conflict.paths.join(", "));
        lines.push(format!("conflict of {} in {paths}: resolved by {phase}", between.join(", ")));
    }
    match (&found.integration, &found.refusal) {
        (Some(integration), _) => {
            let (meaning, word) = standing(integration.standing);
            let (commit, tree) = (&integration.result.commit, &integration.result.tree);
            lines.push(format!("integrated as {commit} tree {tree} {}", paint(meaning, word)));
            lines.extend(integration.missing.iter().map(missing));
            if let Some(phase) = &integration.validated_by {
                lines.push(format!("  tree    validated by phase {phase}"));
            }
            lines.extend(gates(&integration.gates));
        }
        (None, Some(refusal)) => {
            lines.push(paint(Meaning::Bad, "not integrated: the merged results do not pass"));
            lines.extend(refusal.findings.iter().map(|finding| format!("  finding {}", finding.message)));
            lines.extend(gates(&refusal.gates));
        }
        (None, None) => lines.push("not integrated".to_owned()),
    }
    for one in &found.deliveries {
        lines.push(format!("delivered by {}: {}", one.phase, phrases::delivery(Language::English, one)));
        for back in &one.rollbacks {
            let who =
                back.by.as_ref().map_or_else(|| "Helix, since the delivery failed".to_owned(), ToString::to_string);
            let at = back.begun_at.map_or_else(|| "did not begin".to_owned(), |at| format!("began at {at}"));
            lines.push(format!("  rollback by {who}, {at}"));
        }
    }
    lines.extend(gates(&found.rollbacks));
    lines.extend(found.reverted.as_ref().map(|done| phrases::reverted(Language::English, done)));
    if !found.proved {
        lines.push(paint(Meaning::Bad, &format!("NOT PROVED: {}", found.lacking.join("; "))));
    }
    lines.join("\n")
}

fn standing(standing: Standing) -> (Meaning, &'static str) {
    match standing {
        Standing::Proved => (Meaning::Good, "proved"),
        Standing::Unproved => (Meaning::Bad, "NOT PROVED"),
        Standing::NotPassed => (Meaning::Weak, "has not passed"),
    }
}

fn details(phase: &PhaseEvidence) -> Vec<String> {
    let mut lines = Vec::new();
    let gone = |found: bool| if found { "" } else { " (gone)" };
    if let (Some(base), Some(result)) = (&phase.base, &phase.result) {
        lines.push(format!("  base    {base}"));
        lines.push(format!("  commit  {} tree {}{}", result.commit, result.tree, gone(result.found)));
    }
    if let Some(run) = &phase.run {
        lines.push(format!("  run     {}: {}{}", run.run, run.outcome, gone(run.found)));
        lines.push(format!("          {}", run.record));
        lines.extend(run.facts.iter().filter_map(|facts| walls(facts.walls.as_ref())));
    }
    if !phase.validation.is_empty() {
        lines.push("  checked before it was delivered:".to_owned());
        lines.extend(gates(&phase.validation));
    }
    lines.extend(gates(&phase.gates));
    for review in &phase.reviews {
        let verdict = phrases::review(Language::English, &review.review);
        let ReviewEvidence { asked_by, review: Review { agent, model, summary, side, .. }, found, .. } = review;
        let model = model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
        let gone = gone(*found);
        lines.push(format!("  review  {asked_by} by {agent}{model}: {verdict}: {summary} (run {}{gone})", side.run));
        lines.extend(review.review.checks_passed.iter().map(|check| format!("          checked: {check}")));
    }
    for answer in &phase.answers {
        lines.push(format!("  person  {} at {}: {}", answer.answer.by, answer.at, phrases::answer(&answer.answer)));
    }
    // The attempt that counts is above.
    for other in phase.attempts.iter().filter(|one| Some(one.attempt) != phase.attempt) {
        let kept = other.result.as_ref().map(|result| format!(" (branch {})", result.branch)).unwrap_or_default();
        lines.push(format!("  attempt {}: {}{kept}", other.attempt, other.summary));
    }
    lines
}

fn gates(gates: &[GateEvidence]) -> Vec<String> {
    let mut lines = Vec::new();
    for gate in gates {
        lines.push(format!("  gate    {} {} ({})", gate.report.gate, gate.report.verdict.word(), gate.report.summary));
        if let Some(command) = &gate.report.command {
            let exit = command.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
            lines.push(format!("          {} -> {exit}", command.argv.join(" ")));
            lines.extend(gate.output.iter().map(|found| output(command, found)));
            lines.extend(walls(command.walls.as_ref()));
        }
        let mut outputs = gate.step_outputs.iter();
        for step in &gate.report.steps {
            let attempts = if step.attempts == 1 { String::new() } else { format!(" ({} attempts)", step.attempts) };
            lines.push(format!("          {} -> {}{attempts}", step.step, step.seen));
            // Only steps with a command have an output.
            lines.extend(step.command.iter().zip(&mut outputs).map(|(command, found)| output(command, found)));
        }
        lines.extend(gate.report.notes.iter().map(|note| format!("          note: {note}")));
    }
    lines
}

/// What held a run back.
fn walls(held: Option<&WallsHeld>) -> Option<String> {
    Some(format!("          sandbox {}", held?))
}

fn output(command: &CommandEvidence, found: &OutputEvidence) -> String {
    let state = match found.state {
        OutputState::Intact => "intact",
        OutputState::Changed => "CHANGED since the gate ran",
        OutputState::Missing => "MISSING",
    };
    format!("          output {} sha256 {}: {state}", found.file, command.output_sha256)
}
