//! Evidence for people, the same at the terminal and in a browser.
//!
//! Must not know colours.

use helix_core::finding::Finding;
use helix_core::ids::PhaseId;
use helix_core::run::WallsHeld;
use helix_core::said::Words;
use helix_job::phrases::Sign;
use helix_job::{CommandEvidence, Review, phrases};
use helix_language::{Language, say};

use super::{GateEvidence, JobEvidence, OutputEvidence, OutputState, PhaseEvidence, ReviewEvidence, Standing};

impl JobEvidence {
    /// This evidence for people. `paint` colours a text by its sign, and a name where there is none.
    pub fn text(&self, language: Language, paint: impl Fn(Option<Sign>, &str) -> String) -> String {
        lines(language, self, &paint).join("\n")
    }
}

fn lines(language: Language, found: &JobEvidence, paint: &dyn Fn(Option<Sign>, &str) -> String) -> Vec<String> {
    let missing = |what: &Words| {
        format!("  {} {}", paint(Some(Sign::Failed), &say!(language, "evidence-missing")), language.words(what))
    };
    let of = say!(language, "evidence-of", job = found.job.as_str(), commit = found.base.as_str());
    let mut lines = vec![format!("{} {of}", paint(None, &found.name))];
    lines.extend(found.venv.iter().map(|venv| say!(language, "evidence-venv", venv = venv)));
    for phase in &found.phases {
        lines.push(String::new());
        let (sign, word) = phase.standing.said(language);
        lines.push(format!("{} {}", paint(None, phase.phase.as_str()), paint(Some(sign), &word)));
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
            lines.push(format!("{integrated} {}", paint(Some(sign), &word)));
            lines.extend(integration.missing.iter().map(missing));
            if let Some(phase) = &integration.validated_by {
                lines.push(row(language, "tree", &say!(language, "evidence-validated", phase = phase.as_str())));
            }
            lines.extend(gates(language, &integration.gates));
        }
        (None, Some(refusal)) => {
            lines.push(paint(Some(Sign::Failed), &say!(language, "evidence-refused")));
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
        lines.push(paint(Some(Sign::Failed), &say!(language, "evidence-nothing", why = why.join("; "))));
    }
    lines
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
        let summary = phrases::review_summary(language, &review.review.verdict, summary);
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
        let (by, at, answer) =
            (&answer.answer.by, language.local(answer.at), phrases::answer(language, &[], &answer.answer));
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
