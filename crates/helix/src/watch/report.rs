//! What happened, after the end: phases, gates, cost, time, where the commit is, where the logs lie, what to do.
//!
//! Must not know how it was watched.

use std::time::Duration;

use helix_core::finding::{Finding, Verdict};
use helix_core::text::short_commit;
use helix_job::phrases::{self, Sign};
use helix_job::question::QuestionStatus;
use helix_job::{IntegrationTarget, JobStatus, JobView, PhaseStatus, PhaseView};
use helix_language::{ErrorView, Language, say};

use super::sign::meaning;
use crate::context::Context;
use crate::error::CommandError;
use crate::question::how_to_answer;
use crate::terminal::{Meaning, Terminal, one_line, shell_word};

/// The phases as a table.
fn phases_table(view: &JobView, terminal: &Terminal) -> String {
    let language = terminal.language;
    let row = |phase: &PhaseView| {
        let sign = Sign::from(phase.status);
        let gates = phase.gates.iter().map(|gate| {
            let tests =
                gate.tests.as_ref().map(|_| format!(" ({})", one_line(&phrases::gate_summary(language, gate), 40)));
            format!("{} {}{}", Sign::from(&gate.verdict).symbol(), gate.gate, tests.unwrap_or_default())
        });
        [
            (phase.id.to_string(), None),
            (format!("{} {}", sign.symbol(), phrases::phase_status(language, phase.status)), Some(meaning(sign))),
            (phase.attempt.to_string(), None),
            (gates.collect::<Vec<_>>().join(", "), None),
            (phase.duration_seconds.map(|seconds| language.duration(seconds)).unwrap_or_default(), None),
            (language.money(phase.cost), None),
        ]
    };
    let headings = ["phase", "status", "attempts", "gates", "time", "cost"];
    terminal.table(headings, view.phases.iter().map(row))
}

/// The whole report, for standard output.
pub(crate) fn job_report(context: &Context, view: &JobView, details: bool) -> Result<String, CommandError> {
    let (terminal, language) = (&context.terminal, context.terminal.language);
    let paint = |meaning, text: &str| terminal.paint(meaning, text);
    let entry = |label: String, text: String| format!("{label:<8} {text}");
    let more = |text: String| entry(String::new(), text);
    let sign = Sign::from(view.status);
    let word = phrases::job_status(language, view.status);
    let status = paint(meaning(sign), &format!("{} {word}", sign.symbol()));
    let (time, cost) = (language.duration(view.duration_seconds), language.money(view.cost));
    let took = match view.status.is_final() {
        true => say!(language, "report-in", time = time, cost = cost),
        false => say!(language, "report-so-far", time = time, cost = cost),
    };
    let mut lines = vec![
        format!("{} {} {status} {took}", paint(Meaning::Strong, &view.name), view.id),
        String::new(),
        phases_table(view, terminal),
        String::new(),
    ];
    lines.extend(view.issue.as_ref().map(|issue| entry(say!(language, "report-issue"), issue.to_string())));
    if let Some(target) = &view.integration {
        let commit = view.commit.as_ref().map_or("", |commit| short_commit(commit.as_str()));
        let (label, project) = (say!(language, "report-commit"), &view.project_path);
        match target {
            IntegrationTarget::Branch { branch } => {
                let text = say!(language, "report-merged", commit = commit, branch = branch, project = project);
                lines.push(entry(label, text));
            }
            IntegrationTarget::Beside { branch, command, .. } => {
                let text = say!(language, "report-on-branch", commit = commit, branch = branch, project = project);
                lines.push(entry(label, text));
                let why = language.words(&target.why());
                lines.push(more(say!(language, "report-not-merged", why = why)));
                lines.push(more(say!(language, "report-take", command = command)));
            }
            IntegrationTarget::Nowhere => lines.push(entry(label, say!(language, "report-no-commit"))),
        }
    }
    lines.extend(view.deliveries.iter().map(|one| format!("{}: {}", one.phase, phrases::delivery(language, one))));
    let reverted = view.reverted.as_ref().map(|done| phrases::reverted(language, done));
    lines.extend(reverted.map(|text| entry(say!(language, "report-revert"), text)));
    for phase in &view.phases {
        let busy = matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting) || phase.waits_for.is_some();
        let doing = phrases::doing(language, phase).filter(|_| busy);
        lines.extend(doing.map(|doing| format!("{}: {doing}", phase.id)));
        lines.extend(
            phase.notes_said.iter().map(|note| {
                format!("{}: {}", phase.id, phrases::note(language, &one_line(&language.words(note), 200)))
            }),
        );
        lines.extend(verification(language, phase));
        for one in &phase.accepted {
            let (by, why) = (phrases::person(language, &one.by), one_line(&one.reason, 200));
            let text = say!(language, "report-accepted", by = by, gate = &one.name, why = why);
            lines.push(paint(Meaning::Attention, &format!("{}: {text}", phase.id)));
        }
    }
    for phase in view.phases.iter().filter(|phase| phase.status == PhaseStatus::Skipped && phase.attempt > 0) {
        let why = phase.error.as_ref().map(|error| one_line(&error.said_in(language).message, 200));
        lines.extend(why.map(|why| format!("{}: {}", phase.id, say!(language, "report-skipped", why = why))));
    }
    let helix = context.helix();
    lines.extend(questions(context, view));
    let refused = view.attempted.iter().map(|one| phrases::attempted(language, one.run.as_str(), &one.asked));
    lines.extend(refused.map(|text| paint(Meaning::Bad, &one_line(&text, 200))));
    lines.extend(view.venv.iter().map(|venv| entry(say!(language, "report-venv"), venv.to_string())));
    let logs = context.settings()?.state_dir.value.join("runs");
    lines.push(entry(say!(language, "report-logs"), logs.display().to_string()));
    if details {
        lines.push(entry(say!(language, "report-details"), format!("{helix} jobs show {}", view.id)));
    }
    if let Some(commands) = view.decision_commands(&helix) {
        let next = format!("cd {} && {commands}", shell_word(&view.project_path));
        lines.push(entry(say!(language, "report-next"), next));
        lines.push(more(say!(language, "report-ticks")));
    }
    let is_told = view.error.as_ref().is_some_and(|error| error.hint.is_some());
    if matches!(view.status, JobStatus::Failed | JobStatus::Cancelled) && !is_told {
        lines.push(entry(say!(language, "report-next"), format!("{helix} jobs resume {}", view.id)));
    }
    for phase in view.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed) {
        lines.push(String::new());
        let error = phase.error.as_ref().map(|error| error.said_in(language));
        let why = error.as_ref().map(|error| error.message.clone());
        let why = why.unwrap_or_else(|| say!(language, "report-no-reason"));
        lines.push(format!("{} {}: {why}", paint(Meaning::Bad, &say!(language, "report-failed")), phase.id));
        lines.extend(error.and_then(|error| hint(language, &error)).filter(|_| view.reverted.is_none()));
        lines.extend(findings(language, phase));
        let printed = phase.gates.iter().rev().find(|gate| gate.command.is_some() && !gate.verdict.passed());
        if let Some(gate) = printed {
            let output = say!(language, "report-output");
            lines.push(format!("{output}: {helix} jobs logs {} --phase {} --gate {}", view.id, phase.id, gate.gate));
        }
        if !phase.runs.is_empty() {
            let log = say!(language, "report-log");
            lines.push(format!("{log}: {helix} jobs logs {} --phase {}", view.id, phase.id));
        }
    }
    // The reason of the phase that ended the job stands above.
    let is_said = |error: &ErrorView| {
        view.phases.iter().any(|one| one.status == PhaseStatus::Failed && one.error.as_ref() == Some(error))
    };
    if let Some(error) = view.error.as_ref().filter(|error| !is_said(error)).map(|error| error.said_in(language)) {
        lines.push(String::new());
        // That somebody cancelled it, the phrase for it says by itself.
        let said = phrases::outcome(language, view);
        lines.push(match view.status {
            JobStatus::Cancelled => paint(meaning(sign), &said),
            _ => format!("{}: {}", paint(meaning(sign), &word), error.message),
        });
        lines.extend(hint(language, &error).filter(|_| view.reverted.is_none()));
    }
    Ok(lines.join("\n"))
}

/// What the verifier said last, with what it was for; that one will look, where none has yet.
fn verification(language: Language, phase: &PhaseView) -> Vec<String> {
    let Some(review) = &phase.review else {
        let is_over = matches!(phase.status, PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled);
        let expected = phase.verify && !is_over;
        let text = || say!(language, "report-will-verify", phase = phase.id.as_str());
        return expected.then(text).into_iter().collect();
    };
    let (phase, verdict, cost) = (phase.id.as_str(), review.verdict.word(), language.money(review.cost));
    let model = review.model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
    let summary = phrases::review_summary(language, &review.verdict, &review.summary);
    let (who, summary) = (format!("{}{model}", review.agent), one_line(&summary, 200));
    let time = language.duration(Duration::from_millis(review.total_ms).as_secs_f64());
    let (attempt, runs) = (review.attempt, review.runs);
    let mut lines = vec![say!(
        language,
        "report-verified",
        phase = phase,
        who = who,
        attempt = attempt,
        verdict = verdict,
        summary = summary,
        time = time,
        cost = cost,
        runs = runs
    )];
    lines.extend(review.checks_passed.iter().map(|check| format!("  ✓ {}", one_line(check, 200))));
    if let Verdict::Fail { findings } = &review.verdict {
        for found in findings {
            lines.push(format!("  ✗ {}", phrases::finding(language, found)));
            let fix = phrases::fix(language, found).map(|fix| say!(language, "fix", fix = one_line(&fix, 200)));
            lines.extend(fix.map(|fix| format!("    {fix}")));
        }
    }
    lines
}

fn hint(language: Language, error: &ErrorView) -> Option<String> {
    error.hint.as_ref().map(|hint| phrases::hint(language, hint))
}

/// What persons were asked, and what became of it.
fn questions(context: &Context, view: &JobView) -> Vec<String> {
    let terminal = &context.terminal;
    let mut lines = Vec::new();
    for question in &view.questions {
        let text = phrases::question(terminal.language, question);
        if question.status == QuestionStatus::Open {
            let waiting = format!("{} {}", Sign::Waiting.symbol(), say!(terminal.language, "report-waiting-for-you"));
            lines.push(format!("{} {text}", terminal.paint(Meaning::Attention, &waiting)));
            lines.push(format!("  {}", how_to_answer(context, question)));
        } else {
            lines.push(text);
        }
    }
    lines
}

/// What the gates found that the phase's error does not say already.
fn findings(language: Language, phase: &PhaseView) -> Vec<String> {
    let is_said = |finding: &&Finding| {
        phase.error.as_ref().is_some_and(|error| finding.is_said_in(&error.message, &error.words()))
    };
    let mut lines = Vec::new();
    for gate in &phase.gates {
        match &gate.verdict {
            Verdict::Pass => {}
            Verdict::Fail { findings } => {
                let shown = findings.iter().take(5).filter(|finding| !is_said(finding));
                lines.extend(shown.map(|finding| format!("  {}: {}", gate.gate, phrases::finding(language, finding))));
                if findings.len() > 5 {
                    let more = say!(language, "and-more", more = findings.len() - 5);
                    lines.push(format!("  {}: {more}", gate.gate));
                }
            }
            Verdict::Inconclusive { fault } => {
                let told = ErrorView::of_fault(fault).said_in(language);
                let above = phase.error.as_ref().map(|error| error.said_in(language));
                // Only where its words and what to do stand there both, nothing is lost.
                if above.is_some_and(|above| above.message.contains(&told.message) && above.hint == told.hint) {
                    continue;
                }
                lines.push(format!("  {}: {}", gate.gate, one_line(&told.message, 200)));
                lines.extend(told.hint.map(|hint| format!("  {}", phrases::hint(language, &hint))));
            }
        }
    }
    lines
}
