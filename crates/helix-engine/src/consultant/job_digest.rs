//! What happens to jobs, in the words of a chat: one line for an event, one for how a job stands.
//!
//! Must not know who reads it. Everything comes from the journal; nothing is guessed.

use std::sync::Arc;

use helix_core::finding::Verdict;
use helix_core::ids::{JobId, PhaseId};
use helix_core::run::Outcome;
use helix_failure::event::FailureEvent;
use helix_job::question::{QuestionStatus, QuestionView};
use helix_job::{IntegrationTarget, JobEnd, JobEvent, JobStatus, JobView, PhaseStatus, PhaseView, describe};
use helix_store::{Journal, ReadError};
use jiff::Timestamp;

/// Longest text of an event on a line, in characters.
const LINE: usize = 160;
/// Most jobs of a conversation that are told of, the newest.
const MOST_JOBS: usize = 10;
/// Most lines about one job, the newest.
const MOST_LINES: usize = 20;

/// What happened to one job since some time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobDigest {
    job: JobView,
    lines: Vec<String>,
}

impl JobDigest {
    /// All of it, for the agent.
    pub(super) fn told(&self) -> String {
        let mut text = format!("Job {} ({}), now {}:\n", self.job.id, self.job.name, self.job.status.word());
        for line in &self.lines {
            text.push_str(&format!("- {line}\n"));
        }
        for question in open_questions(&self.job) {
            text.push_str(&format!("It waits for an answer to {}.\n", question.id));
        }
        text
    }

    /// How it stands, for a person.
    pub(super) fn standing(&self) -> String {
        format!("{} {}", self.job.name, standing(&self.job))
    }
}

/// What happened to these jobs after some time, or ever; jobs to which nothing happened are left out.
///
/// # Errors
/// The journal failed.
pub(super) async fn since(
    journal: &Arc<dyn Journal>,
    jobs: &[JobId],
    after: Option<Timestamp>,
) -> Result<Vec<JobDigest>, ReadError> {
    let mut digests = Vec::new();
    for id in &jobs[jobs.len().saturating_sub(MOST_JOBS)..] {
        // A job that is gone from the journal is of no use to anybody.
        let Some(job) = journal.job(id.to_string()).await? else { continue };
        if after.zip(job.completed_at).is_some_and(|(after, end)| end <= after) {
            continue;
        }
        let events = helix_store::job_events(journal.as_ref(), id, 0).await?;
        let new = events.iter().filter(|event| after.is_none_or(|after| event.at > after));
        let mut lines: Vec<String> = new.filter_map(|recorded| line(&recorded.event, &job)).collect();
        if lines.is_empty() {
            continue;
        }
        lines.drain(..lines.len().saturating_sub(MOST_LINES));
        digests.push(JobDigest { job, lines });
    }
    Ok(digests)
}

/// Questions of a job that wait for a person.
pub(super) fn open_questions(job: &JobView) -> impl Iterator<Item = &QuestionView> {
    job.questions.iter().filter(|question| question.status == QuestionStatus::Open)
}

/// How a job stands, to follow its name.
pub(super) fn standing(job: &JobView) -> String {
    match job.status {
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Cancelled => job_outcome(job),
        JobStatus::Queued => "waits for its turn".to_owned(),
        JobStatus::Running | JobStatus::Waiting => {
            if let Some(question) = open_questions(job).next() {
                return format!("waits for you: {}", cut(&question.text));
            }
            let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
            let busy: Vec<String> = job.phases.iter().filter_map(|phase| doing(job, phase)).collect();
            if busy.is_empty() {
                return format!("goes on, {passed} of {} phases passed", job.phases.len());
            }
            format!("goes on: {}", busy.join("; "))
        }
    }
}

/// What a phase is doing, if anything.
fn doing(job: &JobView, phase: &PhaseView) -> Option<String> {
    match phase.status {
        PhaseStatus::Running | PhaseStatus::Waiting => {
            let stage = match phase.stage.as_deref() {
                Some("agent") | None => "the agent works",
                Some(other) => other,
            };
            Some(format!("{}: {stage}", phase_named(job, &phase.id)))
        }
        PhaseStatus::Pending
        | PhaseStatus::Passed
        | PhaseStatus::Failed
        | PhaseStatus::Skipped
        | PhaseStatus::Cancelled => None,
    }
}

/// How a job that is over ended, to follow its name: outcome with commit, or cause with remedy.
pub fn job_outcome(job: &JobView) -> String {
    let hint = |view: &helix_job::ErrorView| view.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    match job.status {
        JobStatus::Succeeded => {
            let commit = job.commit.as_ref().map_or("", |commit| short(commit.as_str()));
            match &job.integration {
                Some(IntegrationTarget::Branch { branch }) => format!("succeeded, merged into {branch} as {commit}"),
                Some(IntegrationTarget::Beside { branch, why, command }) => {
                    format!("succeeded; the result {commit} is on branch {branch} ({why}). Take it with: {command}")
                }
                Some(IntegrationTarget::Nowhere) | None => "succeeded; nothing had to be changed".to_owned(),
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
pub(super) fn phase_named(job: &JobView, id: &PhaseId) -> String {
    let count = job.phases.len();
    match job.phases.iter().position(|phase| &phase.id == id) {
        Some(at) => format!("Phase {} of {count}, {}", at + 1, cut(&job.phases[at].name)),
        None => format!("Phase {id}"),
    }
}

/// One line about an event; nothing where it is worth none.
pub(super) fn line(event: &JobEvent, job: &JobView) -> Option<String> {
    let about = |phase: &PhaseId, what: String| Some(format!("{}: {what}", phase_named(job, phase)));
    match event {
        JobEvent::JobSubmitted { .. } => None,
        JobEvent::AttemptStarted { phase, attempt, correction, .. } => match correction {
            Some(told) => about(phase, format!("try {attempt}, after {}", cut(&told.summary))),
            None => about(phase, "the agent works".to_owned()),
        },
        JobEvent::RunFinished { phase, facts, .. } => match Outcome::from_facts(facts) {
            Outcome::Completed(_) => about(phase, "the agent has finished; its work is checked".to_owned()),
            outcome => about(phase, format!("the agent: {}", cut(&describe(&outcome)))),
        },
        JobEvent::ResultCommitted { phase, result, .. } => {
            let files = result.changed.len();
            let word = if files == 1 { "file" } else { "files" };
            about(phase, format!("{files} {word} changed"))
        }
        JobEvent::GateFinished { phase, report, .. } => {
            about(phase, format!("{} {}", report.gate, verdict(&report.verdict, &report.summary)))
        }
        JobEvent::DeliveryBegun { phase, .. } => about(phase, "is being delivered".to_owned()),
        JobEvent::ReviewFinished { phase, gate, review, .. } => {
            let who = if gate.is_some() { "reviewer" } else { "verifier" };
            about(phase, format!("{who} {}", verdict(&review.verdict, &review.summary)))
        }
        JobEvent::AttemptFaulted { phase, fault, .. } => about(phase, cut(&fault.message)),
        JobEvent::PhasesProposed { phase, phases, .. } => {
            let names: Vec<&str> = phases.iter().map(|added| added.name.as_str()).collect();
            about(phase, format!("adds phases: {}", cut(&names.join(", "))))
        }
        JobEvent::PhasesRejected { phase, findings, .. } => {
            let first = findings.first().map_or("", |finding| finding.message.as_str());
            about(phase, format!("the phases that it adds do not fit: {}", cut(first)))
        }
        JobEvent::QuestionAsked { phase, question } => about(phase, format!("asks: {}", cut(&question.text))),
        JobEvent::QuestionAnswered { phase, answer, .. } => {
            let words = [answer.choice.as_deref(), answer.text.as_deref()].into_iter().flatten();
            about(phase, format!("answered: {}", cut(&words.collect::<Vec<_>>().join(", "))))
        }
        JobEvent::QuestionExpired { phase, .. } => about(phase, "nobody answered in time".to_owned()),
        JobEvent::AdviceGiven { phase, advice, .. } => about(phase, format!("adviser: {}", cut(&advice.reason))),
        JobEvent::ConflictFound { between, paths, .. } => {
            let phases: Vec<&str> = between.iter().map(PhaseId::as_str).collect();
            Some(cut(&format!("{} contradict each other in {}", phases.join(", "), paths.join(", "))))
        }
        JobEvent::Integrated { result, target, .. } => Some(match target {
            IntegrationTarget::Branch { branch } => {
                format!("merged into {branch} as {}", short(result.commit.as_str()))
            }
            IntegrationTarget::Beside { branch, why, .. } => cut(&format!("the result is on branch {branch} ({why})")),
            IntegrationTarget::Nowhere => "nothing had to be changed".to_owned(),
        }),
        JobEvent::IntegrationFailed { findings, .. } => {
            let first = findings.first().map_or("", |finding| finding.message.as_str());
            Some(format!("could not be merged: {}", cut(first)))
        }
        JobEvent::CancelRequested { by } => Some(format!("is being stopped by {}", cut(by))),
        JobEvent::JobFinished { .. } if job.status.is_final() => Some(cut(&job_outcome(job))),
        // It was taken up again since.
        JobEvent::JobFinished { end: JobEnd::Succeeded } => Some("succeeded".to_owned()),
        JobEvent::JobFinished { end: JobEnd::Failed { reason, .. } } => Some(format!("failed: {}", cut(reason))),
        JobEvent::JobFinished { end: JobEnd::Cancelled { by } } => Some(format!("was cancelled by {}", cut(by))),
        JobEvent::JobResumed { by, .. } => Some(format!("goes on, asked by {}", cut(by))),
        JobEvent::Failure(note) => match note.as_ref() {
            FailureEvent::FailureRecorded(recorded) => Some(format!("cause: {}", cut(&recorded.summary))),
            FailureEvent::ReportGenerated(_)
            | FailureEvent::SuggestionRecorded(_)
            | FailureEvent::SuggestionResolved(_) => None,
        },
    }
}

fn verdict(verdict: &Verdict, summary: &str) -> String {
    let word = match verdict {
        Verdict::Pass => "passed",
        Verdict::Fail { .. } => "failed",
        Verdict::Inconclusive { .. } => "could not be decided",
    };
    if summary.trim().is_empty() { word.to_owned() } else { format!("{word} ({})", cut(summary)) }
}

/// A text on one line, cut to what a line can show.
fn cut(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}

/// The first digits of a commit.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
