//! `helix jobs diff` and `helix jobs evidence`: read from the journal, the repository and the records, with or without a host.

use std::path::Path;

use helix_core::finding::Finding;
use helix_core::ids::PhaseId;
use helix_core::run::WallsHeld;
use helix_core::said::Words;
use helix_core::text::visible;
use helix_engine::audit::Audit;
use helix_engine::evidence::{
    DiffSelection, GateEvidence, JobEvidence, OutputEvidence, OutputState, PhaseEvidence, ReviewEvidence, Standing,
};
use helix_job::{CommandEvidence, Review, phrases};
use helix_language::{Language, say};
use serde::Serialize;

use crate::commands::gates::{last_audit, rate};
use crate::commands::verify::own_key;
use crate::context::Context;
use crate::error::{Ended, Exit};
use crate::files::write_new;
use crate::offline::{archive, open_or_missing};
use crate::terminal::{Meaning, Reading, of_patch};
use crate::watch::meaning;

pub(super) async fn diff(context: &Context, id: &str, phase: Option<PhaseId>, attempt: Option<u32>) -> Ended {
    let journal = open_or_missing(context, id).await?;
    let found = archive(context, &journal)?.diff(id, DiffSelection { phase, attempt }).await?;
    if context.terminal.reading == Reading::Programs {
        return context.terminal.json(&found);
    }
    if found.patch.is_empty() {
        let (from, to) = (found.from.to_string(), found.to.to_string());
        context.terminal.say(&say!(context.terminal.language, "diff-nothing", from = from, to = to));
    }
    // Of an agent's lines a terminal shows every character; a pipe gets the patch as it is.
    let shown = |line: &str| if context.terminal.columns().is_some() { visible(line) } else { line.to_owned() };
    for line in found.patch.lines() {
        let meaning = of_patch(line);
        let line = shown(line);
        context
            .terminal
            .data(&meaning.map_or_else(|| line.clone(), |meaning| context.terminal.paint(meaning, &line)))?;
    }
    if found.cut > 0 {
        let (from, to) = (found.from.to_string(), found.to.to_string());
        context.terminal.say(&say!(context.terminal.language, "diff-more", bytes = found.cut, from = from, to = to));
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
    let audit = last_audit(context, &found.job)?;
    let text = [report(context, context.terminal.language, found)]
        .into_iter()
        .chain(audit.iter().map(|audit| rate(context.terminal.language, audit)));
    let text = text.collect::<Vec<_>>().join("\n");
    context.terminal.answer(&Audited { evidence: found, audit }, &text)?;
    if let Some((file, key)) = written {
        let (file, key) = (file.display().to_string(), key.to_string());
        context.terminal.note(&say!(context.terminal.language, "evidence-written", file = file, key = key));
    }
    Ok(if found.proved { Exit::Success } else { Exit::NotProved })
}

/// Evidence, and what an audit of the job's gates found, which proves nothing of the job.
#[derive(Serialize)]
struct Audited<'a> {
    #[serde(flatten)]
    evidence: &'a JobEvidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<Audit>,
}

/// What proves a job, for people.
pub(crate) fn report(context: &Context, language: Language, found: &JobEvidence) -> String {
    let paint = |meaning, text: &str| context.terminal.paint(meaning, text);
    let missing = |what: &Words| {
        format!("  {} {}", paint(Meaning::Bad, &say!(language, "evidence-missing")), language.words(what))
    };
    let of = say!(language, "evidence-of", job = found.job.as_str(), commit = found.base.as_str());
    let mut lines = vec![format!("{} {of}", paint(Meaning::Strong, &found.name))];
    lines.extend(found.venv.iter().map(|venv| say!(language, "evidence-venv", venv = venv)));
    for phase in &found.phases {
        lines.push(String::new());
        let (sign, word) = phase.standing.said(language);
        lines.push(format!("{} {}", paint(Meaning::Strong, phase.phase.as_str()), paint(meaning(sign), &word)));
        lines.extend(phase.missing.iter().map(missing));
        lines.extend(details(language, phase));
    }
    lines.push(String::new());
    for conflict in &found.conflicts {
        let between: Vec<&str> = conflict.between.iter().map(PhaseId::as_str).collect();
        let (phase, paths) = (&conflict.phase, conflict.paths.join(", "));
        let is_proved = found.phases.iter().any(|one| one.phase == *phase && one.standing == Standing::Proved);
        let (phases, phase) = (between.join(", "), phase.as_str());
        lines.push(match is_proved {
            true => say!(language, "evidence-conflict", phases = phases, paths = paths, phase = phase),
            false => say!(language, "evidence-conflict-unproved", phases = phases, paths = paths, phase = phase),
        });
    }
    match (&found.integration, &found.refusal) {
        (Some(integration), _) => {
            let (sign, word) = integration.standing.said(language);
            let (commit, tree) = (integration.result.commit.as_str(), integration.result.tree.as_str());
            let integrated = say!(language, "evidence-integrated", commit = commit, tree = tree);
            lines.push(format!("{integrated} {}", paint(meaning(sign), &word)));
            lines.extend(integration.missing.iter().map(missing));
            if let Some(phase) = &integration.validated_by {
                lines.push(row(language, "tree", &say!(language, "evidence-validated", phase = phase.as_str())));
            }
            lines.extend(gates(language, &integration.gates));
        }
        (None, Some(refusal)) => {
            lines.push(paint(Meaning::Bad, &say!(language, "evidence-refused")));
            let finding =
                |finding: &Finding| say!(language, "evidence-finding", finding = phrases::found(language, finding));
            lines.extend(refusal.findings.iter().map(|one| format!("  {}", finding(one))));
            lines.extend(gates(language, &refusal.gates));
        }
        (None, None) => lines.push(say!(language, "evidence-not-integrated")),
    }
    for one in &found.deliveries {
        let (phase, delivery) = (one.phase.as_str(), phrases::delivery(language, one));
        lines.push(say!(language, "evidence-delivered", phase = phase, delivery = delivery));
        for back in &one.rollbacks {
            let helix = || say!(language, "evidence-rollback-helix");
            let who = back.by.as_ref().map_or_else(helix, |by| phrases::person(language, by));
            lines.push(match back.begun_at {
                Some(at) => format!("  {}", say!(language, "evidence-rollback", who = who, at = language.local(at))),
                None => format!("  {}", say!(language, "evidence-rollback-not-begun", who = who)),
            });
        }
    }
    lines.extend(gates(language, &found.rollbacks));
    lines.extend(found.reverted.as_ref().map(|done| phrases::reverted(language, done)));
    if !found.proved {
        let why: Vec<String> = found.lacking.iter().map(|what| language.words(what)).collect();
        lines.push(paint(Meaning::Bad, &say!(language, "evidence-nothing", why = why.join("; "))));
    }
    lines.join("\n")
}

fn details(language: Language, phase: &PhaseEvidence) -> Vec<String> {
    let mut lines = Vec::new();
    let gone = |found: bool| if found { String::new() } else { format!(" {}", say!(language, "evidence-gone")) };
    if let (Some(base), Some(result)) = (&phase.base, &phase.result) {
        lines.push(row(language, "base", base.as_str()));
        let text = say!(language, "evidence-result", commit = result.commit.as_str(), tree = result.tree.as_str());
        lines.push(row(language, "commit", &format!("{text}{}", gone(result.found))));
    }
    if let Some(run) = &phase.run {
        let text = format!("{}: {}{}", run.run, language.words(&run.outcome), gone(run.found));
        lines.push(row(language, "run", &text));
        lines.push(format!("          {}", run.record));
        lines.extend(run.facts.iter().filter_map(|facts| walls(language, facts.walls.as_ref())));
    }
    if !phase.validation.is_empty() {
        lines.push(format!("  {}", say!(language, "evidence-checked-before")));
        lines.extend(gates(language, &phase.validation));
    }
    lines.extend(gates(language, &phase.gates));
    for review in &phase.reviews {
        let verdict = phrases::review(language, &review.review);
        let ReviewEvidence { asked_by, review: Review { agent, model, summary, side, .. }, found, .. } = review;
        let model = model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
        let (asked, who) = (asked_by.to_string(), format!("{agent}{model}"));
        let run = format!("{}{}", side.run, gone(*found));
        let line = say!(
            language,
            "evidence-review",
            asked = asked,
            who = who,
            verdict = verdict,
            summary = summary,
            run = run
        );
        lines.push(row(language, "review", &line));
        let checked = |check: &String| format!("          {}", say!(language, "evidence-checked", check = check));
        lines.extend(review.review.checks_passed.iter().map(checked));
    }
    for answer in &phase.answers {
        let (by, at, answer) = (&answer.answer.by, language.local(answer.at), phrases::answer(&answer.answer));
        let text = say!(language, "evidence-person", by = phrases::person(language, by), at = at, answer = answer);
        lines.push(row(language, "person", &text));
    }
    // The attempt that counts is above.
    for other in phase.attempts.iter().filter(|one| Some(one.attempt) != phase.attempt) {
        let (attempt, summary) = (other.attempt, language.words(&other.summary));
        let line = match other.result.as_ref().map(|result| result.branch.to_string()) {
            Some(branch) => {
                say!(language, "evidence-attempt-kept", attempt = attempt, summary = summary, branch = branch)
            }
            None => say!(language, "evidence-attempt", attempt = attempt, summary = summary),
        };
        lines.push(format!("  {line}"));
    }
    lines
}

fn gates(language: Language, gates: &[GateEvidence]) -> Vec<String> {
    let mut lines = Vec::new();
    for gate in gates {
        let verdict = say!(language, "report-verdict", verdict = gate.report.verdict.word());
        let summary = phrases::gate_summary(language, &gate.report);
        let summary = if summary.is_empty() { summary } else { format!(" ({summary})") };
        lines.push(row(language, "gate", &format!("{} {verdict}{summary}", gate.report.gate)));
        if let Some(command) = &gate.report.command {
            let exit = match command.exit_code {
                Some(code) => say!(language, "evidence-exit", code = code.to_string()),
                None => say!(language, "evidence-no-exit"),
            };
            lines.push(format!("          {} -> {exit}", command.argv.join(" ")));
            lines.extend(gate.output.iter().map(|found| output(language, command, found)));
            lines.extend(walls(language, command.walls.as_ref()));
        }
        let mut outputs = gate.step_outputs.iter();
        for step in &gate.report.steps {
            let attempts = match step.attempts {
                1 => String::new(),
                more => format!(" {}", say!(language, "evidence-tries", attempts = more)),
            };
            lines.push(format!("          {} -> {}{attempts}", step.step, language.words(&step.words())));
            // Only steps with a command have an output.
            lines
                .extend(step.command.iter().zip(&mut outputs).map(|(command, found)| output(language, command, found)));
        }
        let notes = gate.report.notes().map(|note| phrases::note(language, &language.words(&note)));
        lines.extend(notes.map(|note| format!("          {note}")));
    }
    lines
}

/// What held a run back.
fn walls(language: Language, held: Option<&WallsHeld>) -> Option<String> {
    Some(format!("          {} {}", say!(language, "evidence-sandbox"), phrases::walls(language, held?)))
}

/// What a line is about, and what it says.
fn row(language: Language, label: &str, text: &str) -> String {
    format!("  {:<7} {text}", say!(language, "evidence-label", label = label))
}

fn output(language: Language, command: &CommandEvidence, found: &OutputEvidence) -> String {
    let state = match found.state {
        OutputState::Intact => "intact",
        OutputState::Changed => "changed",
        OutputState::Missing => "missing",
    };
    let (file, hash) = (found.file.to_string(), command.output_sha256.to_string());
    format!("          {}", say!(language, "evidence-output", file = file, hash = hash, state = state))
}
