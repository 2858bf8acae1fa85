//! A job as plain lines on standard error, for logs and pipes. Must not use colour where there is none.

use helix_core::finding::Verdict;
use helix_core::run::Outcome;
use helix_failure::event::FailureEvent;
use helix_job::{IntegrationTarget, JobEnd, JobEvent, JobView, Recorded, describe};

use crate::terminal::{Meaning, Terminal, duration, money, one_line};

/// Longest text of a finding on a line.
const LINE: usize = 160;

/// Says each event as a line.
pub(super) struct PlainLines {
    terminal: Terminal,
}

impl PlainLines {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal }
    }

    pub(super) fn event(&mut self, event: &Recorded<JobEvent>, view: &JobView) {
        for line in lines(&event.event, view, |meaning, text| self.terminal.paint_error(meaning, text)) {
            self.terminal.say(&line);
        }
    }

    pub(super) fn note(&self, text: &str) {
        self.terminal.say(text);
    }
}

/// What an event is worth saying, for both kinds of display.
pub(super) fn lines(event: &JobEvent, view: &JobView, paint: impl Fn(Meaning, &str) -> String) -> Vec<String> {
    match event {
        JobEvent::JobSubmitted { spec } => {
            let phases = spec.plan.phases.len();
            let word = if phases == 1 { "phase" } else { "phases" };
            vec![format!("job {}: {} ({phases} {word}) in {}", view.id, view.name, spec.repo.path)]
        }
        JobEvent::AttemptStarted { phase, attempt, correction, .. } => {
            let mut lines = vec![format!("[{phase}] attempt {attempt} started")];
            if let Some(correction) = correction {
                lines.push(format!("[{phase}] the agent is told: {}", one_line(&correction.summary, LINE)));
            }
            lines
        }
        JobEvent::RunFinished { phase, facts, usage, duration_ms, .. } => {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of a run are far below 2^52")]
            let seconds = *duration_ms as f64 / 1000.0;
            let outcome = describe(&Outcome::from_facts(facts));
            vec![format!("[{phase}] agent: {outcome} ({}, {})", duration(seconds), money(usage.cost_usd))]
        }
        JobEvent::ResultCommitted { phase, result, repairs, .. } => {
            let files = result.changed.len();
            let word = if files == 1 { "file" } else { "files" };
            let mut lines =
                vec![format!("[{phase}] committed {} ({files} {word} changed)", short(result.commit.as_str()))];
            lines.extend(repairs.iter().map(|repair| format!("[{phase}] note: {}", one_line(repair, LINE))));
            lines
        }
        JobEvent::GateFinished { phase, report, .. } => {
            let (meaning, mut lines) = match &report.verdict {
                Verdict::Pass => (Meaning::Good, Vec::new()),
                Verdict::Fail { findings } => {
                    let lines = findings.iter().take(3).map(|finding| {
                        let place = finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
                        format!("[{phase}]   {place}{}", one_line(&finding.message, LINE))
                    });
                    (Meaning::Bad, lines.collect())
                }
                Verdict::Inconclusive { fault } => {
                    let mut lines = vec![format!("[{phase}]   {}", one_line(&fault.message, LINE))];
                    lines.extend(fault.hint.as_ref().map(|hint| format!("[{phase}]   hint: {}", one_line(hint, LINE))));
                    (Meaning::Attention, lines)
                }
            };
            let verdict = paint(meaning, report.verdict.word());
            lines.insert(0, format!("[{phase}] gate {}: {verdict} ({})", report.gate, one_line(&report.summary, LINE)));
            lines
        }
        JobEvent::DeliveryBegun { phase, tree, validation, .. } => {
            let mut lines: Vec<String> = validation
                .iter()
                .map(|one| format!("[{phase}] gate {} of {} on what is delivered: pass", one.report.gate, one.phase))
                .collect();
            lines.push(format!("[{phase}] delivers tree {}", short(tree.as_str())));
            lines
        }
        JobEvent::AttemptFaulted { phase, fault, .. } => {
            vec![format!("[{phase}] {}", paint(Meaning::Bad, &one_line(&fault.message, LINE)))]
        }
        JobEvent::Integrated { result, target, .. } => vec![match target {
            IntegrationTarget::Branch { branch } => {
                format!("merged into {branch} as {}", short(result.commit.as_str()))
            }
            IntegrationTarget::Beside { branch, why, .. } => {
                format!("result is on branch {branch} ({})", one_line(why, LINE))
            }
            IntegrationTarget::Nowhere => "nothing changed".to_owned(),
        }],
        JobEvent::IntegrationFailed { findings, .. } => {
            let first = findings.first().map_or("", |finding| finding.message.as_str());
            vec![format!("{}: {}", paint(Meaning::Bad, "could not be merged"), one_line(first, LINE))]
        }
        JobEvent::PhasesProposed { phase, phases, .. } => {
            let names: Vec<&str> = phases.iter().map(|added| added.id.as_str()).collect();
            vec![format!("[{phase}] adds phases: {}", names.join(", "))]
        }
        JobEvent::PhasesRejected { phase, findings, .. } => {
            let mut lines =
                vec![format!("[{phase}] {}", paint(Meaning::Bad, "its phases are no valid part of the plan"))];
            let shown = findings.iter().take(3);
            lines.extend(shown.map(|finding| format!("[{phase}]   {}", one_line(&finding.message, LINE))));
            lines
        }
        JobEvent::ReviewFinished { phase, gate, review, .. } => {
            let who = if gate.is_some() { "reviewer" } else { "verifier" };
            let meaning = match &review.verdict {
                Verdict::Pass => Meaning::Good,
                Verdict::Fail { .. } => Meaning::Bad,
                Verdict::Inconclusive { .. } => Meaning::Attention,
            };
            let verdict = paint(meaning, review.verdict.word());
            vec![format!("[{phase}] {who}: {verdict} ({})", one_line(&review.summary, LINE))]
        }
        JobEvent::QuestionAsked { phase, question } => {
            let asked = paint(Meaning::Attention, &format!("question {}", question.number));
            vec![format!("[{phase}] {asked}: {}", one_line(&question.text, LINE))]
        }
        JobEvent::QuestionAnswered { phase, asked, answer } => {
            let words = [answer.choice.as_deref(), answer.text.as_deref()].into_iter().flatten();
            let words = words.collect::<Vec<_>>().join(": ");
            vec![format!("[{phase}] {} answers question {asked}: {}", answer.by, one_line(&words, LINE))]
        }
        JobEvent::QuestionExpired { phase, asked } => {
            vec![format!(
                "[{phase}] {}",
                paint(Meaning::Attention, &format!("nobody answered question {asked} in time"))
            )]
        }
        JobEvent::AdviceGiven { phase, round, advice } => {
            vec![format!("[{phase}] adviser, round {round}: {}", one_line(&advice.reason, LINE))]
        }
        JobEvent::ConflictFound { between, paths, .. } => {
            let names: Vec<&str> = between.iter().map(|phase| phase.as_str()).collect();
            let what = format!("{} contradict each other in {}", names.join(", "), paths.join(", "));
            vec![paint(Meaning::Attention, &one_line(&what, LINE))]
        }
        JobEvent::JobResumed { by, .. } => vec![format!("goes on (asked by {by})")],
        JobEvent::Failure(note) => failure_lines(note),
        JobEvent::CancelRequested { by } => vec![format!("stopping (asked by {by})")],
        JobEvent::JobFinished { end } => vec![match end {
            JobEnd::Succeeded => paint(Meaning::Good, "job succeeded"),
            JobEnd::Failed { reason, .. } => format!("{}: {reason}", paint(Meaning::Bad, "job failed")),
            JobEnd::Cancelled { by } => format!("{} by {by}", paint(Meaning::Attention, "job cancelled")),
        }],
    }
}

/// The cause of a failure, where it is known; the rest stands in its report.
fn failure_lines(note: &FailureEvent) -> Vec<String> {
    match note {
        FailureEvent::FailureRecorded(recorded) => {
            let phase = recorded.phase.as_ref().map_or_else(String::new, |phase| format!("[{phase}] "));
            vec![format!("{phase}  cause: {} ({})", one_line(&recorded.summary, LINE), recorded.cause)]
        }
        FailureEvent::ReportGenerated(report) if report.similar > 0 => {
            let phase = report.phase.as_ref().map_or_else(String::new, |phase| format!("[{phase}] "));
            let failures = if report.similar == 1 { "failure" } else { "failures" };
            vec![format!(
                "{phase}  known from before: {} similar {failures}; `helix jobs show` says what ended them",
                report.similar
            )]
        }
        FailureEvent::ReportGenerated(_)
        | FailureEvent::SuggestionRecorded(_)
        | FailureEvent::SuggestionResolved(_) => Vec::new(),
    }
}

/// The first digits of a commit.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
