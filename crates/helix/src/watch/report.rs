//! What happened, after the end: phases, gates, cost, time, where the commit is, where the logs lie, what to do.
//!
//! Must not know how it was watched.

use std::time::Duration;

use helix_core::finding::Verdict;
use helix_core::text::short_commit;
use helix_job::phrases::{self, Sign};
use helix_job::question::QuestionStatus;
use helix_job::{ErrorView, IntegrationTarget, JobView, PhaseStatus, PhaseView};

use super::display::meaning;
use crate::context::Context;
use crate::error::CommandError;
use crate::question::how_to_answer;
use crate::terminal::{Meaning, Terminal, duration, money, one_line, shell_word};

/// The phases as a table.
fn phases_table(view: &JobView, terminal: &Terminal) -> String {
    let row = |phase: &PhaseView| {
        let sign = Sign::from(phase.status);
        let gates = phase.gates.iter().map(|gate| {
            let tests = gate.tests.as_ref().map(|_| format!(" ({})", one_line(&gate.summary, 40)));
            format!("{} {}{}", Sign::from(&gate.verdict).symbol(), gate.gate, tests.unwrap_or_default())
        });
        [
            (phase.id.to_string(), None),
            (format!("{} {}", sign.symbol(), phase.status.word()), Some(meaning(sign))),
            (phase.attempt.to_string(), None),
            (gates.collect::<Vec<_>>().join(", "), None),
            (phase.duration_seconds.map(duration).unwrap_or_default(), None),
            (money(phase.cost), None),
        ]
    };
    terminal.table(["phase", "status", "attempts", "gates", "time", "cost"], view.phases.iter().map(row))
}

/// The whole report, for standard output.
pub(crate) fn job_report(context: &Context, view: &JobView) -> Result<String, CommandError> {
    let terminal = &context.terminal;
    let paint = |meaning, text: &str| terminal.paint(meaning, text);
    let sign = Sign::from(view.status);
    let status = paint(meaning(sign), &format!("{} {}", sign.symbol(), view.status.word()));
    let mut lines = vec![
        format!(
            "{} {} {status} in {}, {}",
            paint(Meaning::Strong, &view.name),
            view.id,
            duration(view.duration_seconds),
            money(view.cost),
        ),
        String::new(),
        phases_table(view, terminal),
        String::new(),
    ];
    lines.extend(view.issue.as_ref().map(|issue| format!("issue    {issue}")));
    if let Some(target) = &view.integration {
        let commit = view.commit.as_ref().map_or("", |commit| short_commit(commit.as_str()));
        match target {
            IntegrationTarget::Branch { branch } => {
                lines.push(format!("commit   {commit}, merged into {branch} of {}", view.project_path));
            }
            IntegrationTarget::Beside { branch, why, command } => {
                lines.push(format!("commit   {commit}, on branch {branch} of {}", view.project_path));
                lines.push(format!("         not merged: {why}"));
                lines.push(format!("         take it with: {command}"));
            }
            IntegrationTarget::Nowhere => lines.push("commit   none: nothing changed".to_owned()),
        }
    }
    lines.extend(view.deliveries.iter().map(|one| format!("{}: {}", one.phase, phrases::delivery(one))));
    lines.extend(view.reverted.as_ref().map(|done| format!("revert   {}", phrases::reverted(done))));
    for phase in &view.phases {
        let busy = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting) || phase.waits_for.is_some();
        if let Some(stage) = phase.stage.as_ref().filter(|_| busy) {
            lines.push(format!("{}: {stage}", phase.id));
        }
        lines.extend(phase.notes.iter().map(|note| format!("{}: note: {}", phase.id, one_line(note, 200))));
        lines.extend(verification(phase));
    }
    lines.extend(questions(view, terminal));
    lines.extend(view.venv.iter().map(|venv| format!("venv     {venv}")));
    lines.push(format!("logs     {}", context.settings()?.state_dir.value.join("runs").display()));
    lines.push(format!("details  helix jobs show {}", view.id));
    if let Some(number) = view.proven_decision() {
        let (project, helix) = (shell_word(&view.project_path), helix_here(context));
        lines.push(format!("next     cd {project} && {helix} adr implemented {number}"));
        lines.push("         (ticks the criteria that the job has proven)".to_owned());
    }
    for phase in view.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed) {
        lines.push(String::new());
        let why = phase.error.as_ref().map_or("no reason was recorded", |error| error.message.as_str());
        lines.push(format!("{} {}: {why}", paint(Meaning::Bad, "failed"), phase.id));
        lines.extend(phase.error.as_ref().and_then(hint));
        lines.extend(findings(phase));
        if let Some(run) = phase.runs.last() {
            lines.push(format!("log: helix jobs logs {} --phase {}  ({run})", view.id, phase.id));
        }
    }
    if let Some(error) = &view.error {
        lines.push(String::new());
        lines.push(format!("{}: {}", paint(meaning(sign), view.status.word()), error.message));
        lines.extend(hint(error));
    }
    Ok(lines.join("\n"))
}

/// What the verifier said last, with what it was for; that one will look, where none has yet.
fn verification(phase: &PhaseView) -> Vec<String> {
    let Some(review) = &phase.review else {
        let is_over = matches!(phase.status, PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled);
        let expected = phase.verify && !is_over;
        return expected.then(|| format!("{}: a verifier will look at the result", phase.id)).into_iter().collect();
    };
    let (word, cost) = (review.verdict.word(), money(review.cost));
    let model = review.model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
    let time = duration(Duration::from_millis(review.total_ms).as_secs_f64());
    let runs = if review.runs == 1 { String::new() } else { format!(" for {} runs", review.runs) };
    let mut lines = vec![format!(
        "{}: verifier ({}{model}) of attempt {}: {word}: {} ({time}, {cost}{runs})",
        phase.id,
        review.agent,
        review.attempt,
        one_line(&review.summary, 200)
    )];
    lines.extend(review.checks_passed.iter().map(|check| format!("  ✓ {}", one_line(check, 200))));
    if let Verdict::Fail { findings } = &review.verdict {
        for found in findings {
            lines.push(format!("  ✗ {}", phrases::finding(found)));
            lines.extend(found.fix.as_ref().map(|fix| format!("    fix: {}", one_line(fix, 200))));
        }
    }
    lines
}

/// The command that finds this state directory again from anywhere.
fn helix_here(context: &Context) -> String {
    let named = context.overrides.state_dir.as_ref().map(|directory| context.path(directory));
    named.map_or("helix".to_owned(), |path| format!("helix --state-dir {}", shell_word(&path.to_string_lossy())))
}

fn hint(error: &ErrorView) -> Option<String> {
    error.hint.clone().map(phrases::hint)
}

/// What persons were asked, and what became of it.
fn questions(view: &JobView, terminal: &Terminal) -> Vec<String> {
    let mut lines = Vec::new();
    for question in &view.questions {
        let text = phrases::question(question);
        if question.status == QuestionStatus::Open {
            let sign = Sign::Waiting.symbol();
            lines.push(format!("{} {text}", terminal.paint(Meaning::Attention, &format!("{sign} waiting for you:"))));
            lines.push(format!("  {}", how_to_answer(question)));
        } else {
            lines.push(text);
        }
    }
    lines
}

fn findings(phase: &PhaseView) -> Vec<String> {
    let mut lines = Vec::new();
    for gate in &phase.gates {
        match &gate.verdict {
            Verdict::Pass => {}
            Verdict::Fail { findings } => {
                let shown = findings.iter().take(5);
                lines.extend(shown.map(|finding| format!("  {}: {}", gate.gate, phrases::finding(finding))));
                if findings.len() > 5 {
                    lines.push(format!("  {}: and {} more", gate.gate, findings.len() - 5));
                }
            }
            Verdict::Inconclusive { fault } => {
                lines.push(format!("  {}: {}", gate.gate, one_line(&fault.message, 200)));
                lines.extend(fault.hint.as_ref().map(|hint| format!("  hint: {hint}")));
            }
        }
    }
    lines
}
