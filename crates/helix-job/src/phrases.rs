//! The one table of phrases about jobs: bars, lines, reports, chat and prompts all take their words from here.
//!
//! Must not know who reads them: no colour, no Markdown. Another language is another table with the same functions.

use helix_core::finding::{Finding, Verdict};
use helix_core::ids::PhaseId;
use helix_core::run::Outcome;
use helix_core::text::{clip, count, duration, money, one_line, short_commit};
use helix_failure::event::FailureEvent;

use helix_core::evidence::{GateReport, IntegrationTarget};

use crate::event::{AttemptStart, JobEnd, JobEvent, Reverted, Review};
use crate::question::{Answer, QuestionStatus, QuestionView};
use crate::view::{DeliveryView, JobStatus, JobView, PhaseStatus, PhaseView};
use crate::{describe, remedy};

/// Longest text on a line, in characters.
const LINE: usize = 160;
/// Findings shown below a line.
const FINDINGS: usize = 3;

/// A state as one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sign {
    Pending,
    Running,
    Waiting,
    Passed,
    Failed,
    Skipped,
    Unclear,
    Note,
}

impl Sign {
    pub fn symbol(self) -> char {
        match self {
            Self::Pending => '○',
            Self::Running => '◐',
            Self::Waiting => '⏸',
            Self::Passed => '✓',
            Self::Failed => '✗',
            Self::Skipped => '–',
            Self::Unclear => '?',
            Self::Note => '·',
        }
    }
}

impl From<JobStatus> for Sign {
    fn from(status: JobStatus) -> Self {
        match status {
            JobStatus::Queued => Self::Pending,
            JobStatus::Running => Self::Running,
            JobStatus::Waiting => Self::Waiting,
            JobStatus::Succeeded => Self::Passed,
            JobStatus::Failed => Self::Failed,
            JobStatus::Cancelled => Self::Skipped,
        }
    }
}

impl From<PhaseStatus> for Sign {
    fn from(status: PhaseStatus) -> Self {
        match status {
            PhaseStatus::Pending => Self::Pending,
            PhaseStatus::Running => Self::Running,
            PhaseStatus::Waiting => Self::Waiting,
            PhaseStatus::Passed => Self::Passed,
            PhaseStatus::Failed => Self::Failed,
            PhaseStatus::Skipped | PhaseStatus::Cancelled => Self::Skipped,
        }
    }
}

impl From<&Verdict> for Sign {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Passed,
            Verdict::Fail { .. } => Self::Failed,
            Verdict::Inconclusive { .. } => Self::Unclear,
        }
    }
}

/// What an event is worth saying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    pub sign: Sign,
    /// The phase that it is about; absent for the whole job.
    pub phase: Option<PhaseId>,
    pub text: String,
    /// More lines, for those who have room.
    pub details: Vec<String>,
}

impl Phrase {
    fn new(sign: Sign, phase: Option<&PhaseId>, text: impl AsRef<str>) -> Self {
        Self { sign, phase: phase.cloned(), text: one_line(text.as_ref(), LINE), details: Vec::new() }
    }

    fn with(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details.into_iter().map(|line| clip(&line, LINE)));
        self
    }
}

/// An event in words; nothing where it is worth none.
pub fn event(event: &JobEvent, job: &JobView) -> Option<Phrase> {
    Some(match event {
        JobEvent::JobSubmitted { spec } => {
            let phases = count(spec.plan.phases.len(), "phase");
            Phrase::new(Sign::Pending, None, format!("job {}: {}, {phases}, in {}", job.id, job.name, spec.repo.path))
        }
        JobEvent::AttemptStarted(begin) => {
            let AttemptStart { phase, attempt, correction, .. } = begin.as_ref();
            let why = correction.as_ref().map(|correction| format!(" ({})", correction.summary)).unwrap_or_default();
            Phrase::new(Sign::Running, Some(phase), format!("agent running, attempt {attempt}{why}"))
        }
        JobEvent::RunFinished { phase, end, .. } => {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of a run are far below 2^52")]
            let figures = format!("{}, {}", duration(end.duration_ms as f64 / 1000.0), money(end.usage.cost_usd));
            match end.outcome() {
                Outcome::Completed(_) => Phrase::new(Sign::Note, Some(phase), format!("agent finished in {figures}")),
                outcome => {
                    let text = format!("agent: {} ({figures})", describe(&outcome));
                    Phrase::new(Sign::Unclear, Some(phase), text).with(remedy(&outcome).map(hint))
                }
            }
        }
        JobEvent::ResultCommitted { phase, result, repairs, .. } => {
            let commit = short_commit(result.commit.as_str());
            let text = format!("committed {commit}, {} changed", count(result.changed.len(), "file"));
            Phrase::new(Sign::Note, Some(phase), text).with(repairs.iter().map(|repair| format!("note: {repair}")))
        }
        JobEvent::GateFinished { phase, report, .. } => gate(phase, report),
        JobEvent::DeliveryBegun { phase, tree, validation, .. } => {
            let text = format!("delivering {}", short_commit(tree.as_str()));
            let gates = validation.iter().map(|one| format!("{} of {} passed on it", one.report.gate, one.phase));
            Phrase::new(Sign::Running, Some(phase), text).with(gates)
        }
        JobEvent::HealthChecked { phase, report, .. } => gate(phase, report),
        JobEvent::RollbackBegun { phase, .. } => Phrase::new(Sign::Running, Some(phase), "rolling back"),
        JobEvent::RollbackFinished { phase, report, .. } => gate(phase, report),
        JobEvent::RollbackRequested { phase, by, .. } => {
            Phrase::new(Sign::Running, Some(phase), format!("to be rolled back, requested by {by}"))
        }
        JobEvent::Reverted(done) => Phrase::new(Sign::Note, None, reverted(done)),
        JobEvent::ReviewFinished { phase, gate, review, .. } => {
            let text = format!("{}: {}", reviewer(*gate), verdict(&review.verdict, &review.summary));
            let phrase = Phrase::new(Sign::from(&review.verdict), Some(phase), text);
            match &review.verdict {
                Verdict::Fail { findings } => phrase.with(findings.iter().take(FINDINGS).map(finding)),
                Verdict::Pass | Verdict::Inconclusive { .. } => phrase,
            }
        }
        JobEvent::AttemptFaulted { phase, fault, .. } => {
            Phrase::new(Sign::Failed, Some(phase), &fault.message).with(fault.hint.clone().map(hint))
        }
        JobEvent::PhasesProposed { phase, phases, .. } => {
            let names: Vec<&str> = phases.iter().map(|added| added.id.as_str()).collect();
            Phrase::new(Sign::Note, Some(phase), format!("adds phases: {}", names.join(", ")))
        }
        JobEvent::PhasesRejected { phase, findings, .. } => {
            let text = format!("added phases are invalid: {}", first(findings));
            Phrase::new(Sign::Failed, Some(phase), text).with(findings.iter().skip(1).take(FINDINGS).map(finding))
        }
        JobEvent::QuestionAsked { phase, question } => {
            Phrase::new(Sign::Waiting, Some(phase), format!("asks: {}", question.text))
        }
        JobEvent::QuestionAnswered { phase, answer: given, .. } => {
            Phrase::new(Sign::Note, Some(phase), format!("answered by {}: {}", given.by, answer(given)))
        }
        JobEvent::QuestionExpired { phase, asked } => {
            Phrase::new(Sign::Failed, Some(phase), format!("question {asked} expired without an answer"))
        }
        JobEvent::AdviceGiven { phase, advice, .. } => {
            Phrase::new(Sign::Note, Some(phase), format!("adviser: {}", advice.reason))
        }
        JobEvent::ConflictFound { between, paths, .. } => {
            let phases: Vec<&str> = between.iter().map(PhaseId::as_str).collect();
            Phrase::new(Sign::Unclear, None, format!("{} conflict in {}", phases.join(", "), paths.join(", ")))
        }
        JobEvent::Integrated(done) => {
            Phrase::new(Sign::Passed, None, integrated(short_commit(done.result.commit.as_str()), &done.target))
        }
        JobEvent::IntegrationFailed(failed) => {
            Phrase::new(Sign::Failed, None, format!("merge failed: {}", first(&failed.findings)))
        }
        JobEvent::CancelRequested { by } => Phrase::new(Sign::Skipped, None, format!("cancelling, requested by {by}")),
        JobEvent::JobResumed { by, .. } => Phrase::new(Sign::Running, None, format!("resumed by {by}")),
        JobEvent::JobFinished { end } => match end {
            JobEnd::Succeeded => Phrase::new(Sign::Passed, None, "job succeeded"),
            JobEnd::Failed { reason, .. } => Phrase::new(Sign::Failed, None, format!("job failed: {reason}")),
            JobEnd::Cancelled { by } => Phrase::new(Sign::Skipped, None, format!("job cancelled by {by}")),
        },
        JobEvent::Failure(note) => match note.as_ref() {
            FailureEvent::FailureRecorded { occurrence, .. } => {
                let text = format!("cause: {}", occurrence.diagnosis.summary);
                Phrase::new(Sign::Note, occurrence.place.work.phase(), text)
            }
            FailureEvent::ReportGenerated { similar, phase, .. } if *similar > 0 => {
                let times = if *similar == 1 { "once".to_owned() } else { format!("{similar} times") };
                let text = format!("seen {times} before; how it was fixed: helix jobs show {}", job.id);
                Phrase::new(Sign::Note, phase.as_ref(), text)
            }
            FailureEvent::ReportGenerated { .. }
            | FailureEvent::SuggestionRecorded { .. }
            | FailureEvent::SuggestionResolved { .. } => return None,
        },
    })
}

/// An event as one line of a chat, with its phase by name. The view may be of a later time than the event.
pub fn chat_line(job_event: &JobEvent, job: &JobView) -> Option<String> {
    let is_of_memory = |note: &FailureEvent| matches!(note, FailureEvent::ReportGenerated { .. });
    match job_event {
        JobEvent::JobSubmitted { .. } => return None,
        // What was seen before is for those who look into the failure.
        JobEvent::Failure(note) if is_of_memory(note) => return None,
        _ => {}
    }
    // A job that was resumed since has a later end.
    if matches!(job_event, JobEvent::JobFinished { .. }) && job.status.is_final() {
        return Some(one_line(&outcome(job), LINE));
    }
    let Phrase { phase, text, .. } = event(job_event, job)?;
    Some(match phase {
        Some(phase) => format!("{}: {text}", phase_named(job, &phase)),
        None => text,
    })
}

fn gate(phase: &PhaseId, report: &GateReport) -> Phrase {
    let text = format!("{} {}", report.gate, verdict(&report.verdict, &report.summary));
    let phrase = Phrase::new(Sign::from(&report.verdict), Some(phase), text);
    match &report.verdict {
        Verdict::Pass => phrase,
        Verdict::Fail { findings } => phrase.with(findings.iter().take(FINDINGS).map(finding)),
        Verdict::Inconclusive { fault } => {
            phrase.with(std::iter::once(one_line(&fault.message, LINE)).chain(fault.hint.clone().map(hint)))
        }
    }
}

/// Who looks at a result: the phase's own verifier, or the reviewer whom a gate asks for.
pub(crate) fn reviewer(gate: Option<usize>) -> &'static str {
    if gate.is_some() { "reviewer" } else { "verifier" }
}

/// A review in words.
pub fn review(review: &Review) -> &'static str {
    match review.verdict {
        Verdict::Pass => "approved",
        Verdict::Fail { .. } => "rejected",
        Verdict::Inconclusive { .. } => "no usable answer",
    }
}

fn verdict(verdict: &Verdict, summary: &str) -> String {
    let word = match verdict {
        Verdict::Pass => "passed",
        Verdict::Fail { .. } => "failed",
        Verdict::Inconclusive { .. } => "inconclusive",
    };
    if summary.trim().is_empty() { word.to_owned() } else { format!("{word} ({})", one_line(summary, LINE)) }
}

/// A finding with its place.
pub fn finding(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    format!("{place}{}", one_line(&finding.message, LINE))
}

fn first(findings: &[Finding]) -> &str {
    findings.first().map_or("", |finding| finding.message.as_str())
}

/// A remedy as a line of its own.
pub fn hint(text: String) -> String {
    format!("hint: {text}")
}

/// What a person answered: the choice, their words, or both.
pub fn answer(answer: &Answer) -> String {
    let said = [answer.choice.as_deref(), answer.text.as_deref()].into_iter().flatten();
    one_line(&said.collect::<Vec<_>>().join(": "), LINE)
}

/// A question with what came of it.
pub fn question(question: &QuestionView) -> String {
    let text = one_line(&question.text, LINE);
    match &question.status {
        QuestionStatus::Open => format!("{}: {text}", question.id),
        QuestionStatus::Answered { answer: given, .. } => {
            format!("{} answered by {}: {} ({text})", question.id, given.by, answer(given))
        }
        QuestionStatus::Expired { .. } => format!("{} expired without an answer ({text})", question.id),
        QuestionStatus::Closed => format!("{} is no longer needed ({text})", question.id),
    }
}

/// Questions of a job that wait for a person.
pub fn open_questions(job: &JobView) -> impl Iterator<Item = &QuestionView> {
    job.questions.iter().filter(|question| question.status == QuestionStatus::Open)
}

fn integrated(commit: &str, target: &IntegrationTarget) -> String {
    match target {
        IntegrationTarget::Branch { branch } => format!("merged into {branch} as {commit}"),
        IntegrationTarget::Beside { branch, why, .. } => format!("the result is on branch {branch} ({why})"),
        IntegrationTarget::Nowhere => "nothing changed".to_owned(),
    }
}

/// How the merged result of a job was taken out again.
pub fn reverted(done: &Reverted) -> String {
    let Reverted { by, commit, branch, adr } = done;
    let adr = adr.as_ref().map(|adr| format!("; {adr} is reopened")).unwrap_or_default();
    format!("reverted on {branch} as {}, requested by {by}{adr}", short_commit(commit.as_str()))
}

/// What became of a delivery, in one line.
pub fn delivery(one: &DeliveryView) -> String {
    let baseline =
        one.baseline.as_ref().map(|baseline| format!(", baseline {}", short_commit(baseline.commit.as_str())));
    let outcome = one.outcome.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
    format!(
        "{} to {} at {}{}: {}{outcome}",
        short_commit(one.commit.as_str()),
        one.target,
        one.at.strftime("%F %TZ"),
        baseline.unwrap_or_default(),
        one.state.word()
    )
}

/// How a job stands, to follow its name.
pub fn standing(job: &JobView) -> String {
    match job.status {
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Cancelled => outcome(job),
        JobStatus::Queued => "is queued".to_owned(),
        JobStatus::Running | JobStatus::Waiting => {
            if let Some(question) = open_questions(job).next() {
                return format!("waits for you: {}", one_line(&question.text, LINE));
            }
            let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
            let busy: Vec<String> = job.phases.iter().filter_map(|phase| doing(job, phase)).collect();
            if busy.is_empty() {
                return format!("is running, {passed} of {} passed", count(job.phases.len(), "phase"));
            }
            format!("is running: {}", busy.join("; "))
        }
    }
}

/// What a phase is doing, if anything.
fn doing(job: &JobView, phase: &PhaseView) -> Option<String> {
    match phase.status {
        PhaseStatus::Running | PhaseStatus::Waiting => {
            Some(format!("{}: {}", phase_named(job, &phase.id), stage(phase)))
        }
        PhaseStatus::Pending
        | PhaseStatus::Passed
        | PhaseStatus::Failed
        | PhaseStatus::Skipped
        | PhaseStatus::Cancelled => None,
    }
}

/// What a phase that is under way is doing; else its status.
pub fn stage(phase: &PhaseView) -> &str {
    match (phase.status, phase.stage.as_deref()) {
        (PhaseStatus::Running | PhaseStatus::Waiting, Some("agent")) => "agent running",
        (PhaseStatus::Running | PhaseStatus::Waiting, Some(stage)) => stage,
        (status, _) => status.word(),
    }
}

/// A phase in one line: its name, what it is doing, its attempts where there is more than one.
pub fn phase_line(phase: &PhaseView) -> String {
    let name = one_line(&phase.name, LINE);
    let doing = match phase.status {
        PhaseStatus::Running | PhaseStatus::Waiting => Some(stage(phase).to_owned()),
        PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled => Some(phase.status.word().to_owned()),
        PhaseStatus::Pending | PhaseStatus::Passed => None,
    };
    let attempt = (phase.attempt > 1).then(|| format!("attempt {}", phase.attempt));
    let more: Vec<String> = doing.into_iter().chain(attempt).collect();
    if more.is_empty() { name } else { format!("{name} ({})", more.join(", ")) }
}

/// How a job that is over ended, to follow its name: outcome with commit, or cause with remedy.
pub fn outcome(job: &JobView) -> String {
    let hint = |view: &crate::ErrorView| view.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    match job.status {
        JobStatus::Succeeded => {
            let commit = job.commit.as_ref().map_or("", |commit| short_commit(commit.as_str()));
            match &job.integration {
                Some(IntegrationTarget::Beside { branch, why, command }) => {
                    format!("succeeded; the result {commit} is on branch {branch} ({why}). Take it with: {command}")
                }
                Some(target) => format!("succeeded, {}", integrated(commit, target)),
                None => "succeeded, nothing changed".to_owned(),
            }
        }
        JobStatus::Failed => match &job.error {
            Some(error) => format!("failed: {}{}", error.message, hint(error)),
            None => "failed".to_owned(),
        },
        JobStatus::Cancelled => match &job.error {
            Some(error) => format!("was {}", error.message),
            None => "was cancelled".to_owned(),
        },
        JobStatus::Queued | JobStatus::Running | JobStatus::Waiting => format!("is {}", job.status.word()),
    }
}

/// `Phase 2 of 4, Implement the exporter`.
pub fn phase_named(job: &JobView, id: &PhaseId) -> String {
    match job.phases.iter().position(|phase| &phase.id == id) {
        Some(at) => format!("Phase {} of {}, {}", at + 1, job.phases.len(), one_line(&job.phases[at].name, LINE)),
        None => format!("Phase {id}"),
    }
}
