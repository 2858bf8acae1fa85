//! Phrases about jobs, in the language of who reads them: bars, lines, reports, chat and prompts all take their words from here.
//!
//! Must not know who reads them: no colour, no Markdown. What the record has as text, such as a cause, stays as it is.

mod asked;
mod checks;
mod runs;
mod tools;

pub use asked::{answer, approvals, asks, attempted, open_questions, option, question};
pub(crate) use asked::{runs_by_itself, titled};
pub use checks::{finding, fix, found, gate_summary, review, review_summary};
use checks::{first, gate, verdict};
pub(crate) use checks::{gate_found, reviewer, reviewer_words};
pub use runs::{describe, described, outcome_words, remedy};
pub use tools::tool_call;

use helix_core::finding::Verdict;
use helix_core::ids::PhaseId;
use helix_core::run::{NoWall, Outcome, Retry, Wall, WallsHeld};
use helix_core::said::{Words, of_job};
use helix_core::text::{clip, one_line, short_commit};
use helix_failure::HELIX;
use helix_failure::cause::NO_REASON;
use helix_failure::event::FailureEvent;
use helix_failure::report::report_text_in;
use helix_language::{ErrorView, Language, say};

use helix_core::evidence::IntegrationTarget;

use crate::event::{AttemptStart, JobEnd, JobEvent, Reverted};
use crate::person::Person;
use crate::view::{DeliveryState, DeliveryView, JobStatus, JobView, PhaseStatus, PhaseView, Wait};

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
pub fn event(language: Language, event: &JobEvent, job: &JobView) -> Option<Phrase> {
    Some(match event {
        JobEvent::JobSubmitted { spec } => {
            let (id, phases, place) = (job.id.as_str(), spec.plan.phases.len(), &spec.repo.path);
            let text = say!(language, "job-submitted", id = id, name = &job.name, phases = phases, place = place);
            Phrase::new(Sign::Pending, None, text)
        }
        JobEvent::AttemptStarted(begin) => {
            let AttemptStart { phase, attempt, correction, .. } = begin.as_ref();
            let text = match correction {
                None => say!(language, "job-attempt", attempt = *attempt),
                Some(why) => {
                    say!(language, "job-attempt-again", attempt = *attempt, why = language.words(&why.words()))
                }
            };
            Phrase::new(Sign::Running, Some(phase), text)
        }
        JobEvent::RunFinished { phase, end, .. } => {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of a run are far below 2^52")]
            let (time, cost) = (language.duration(end.duration_ms as f64 / 1000.0), language.money(end.usage.cost_usd));
            match end.outcome() {
                Outcome::Completed(_) => {
                    let text = say!(language, "job-agent-finished", time = time, cost = cost);
                    Phrase::new(Sign::Note, Some(phase), text)
                }
                outcome => {
                    let what = described(language, &outcome).of_job(&job.id);
                    let text = say!(language, "job-agent-ended", what = what.message, time = time, cost = cost);
                    // Later, Helix tries again by itself.
                    let is_theirs = !matches!(outcome.retry(), Retry::Later(_));
                    let remedy = what.hint.filter(|_| is_theirs).map(|text| hint(language, &text));
                    Phrase::new(Sign::Unclear, Some(phase), text).with(remedy)
                }
            }
        }
        JobEvent::ResultCommitted { phase, result, repairs, repairs_said, findings, .. } => {
            let commit = short_commit(result.commit.as_str());
            let text = match result.changed.len() {
                0 => say!(language, "job-unchanged"),
                files => say!(language, "job-committed", commit = commit, files = files),
            };
            let notes = Words::of_each(repairs_said, repairs).map(|repair| note(language, &language.words(&repair)));
            let sign = if findings.is_empty() { Sign::Note } else { Sign::Failed };
            Phrase::new(sign, Some(phase), text)
                .with(notes.chain(findings.iter().take(FINDINGS).map(|one| finding(language, one))))
        }
        JobEvent::GateFinished { phase, report, .. } => gate(language, phase, report, &job.id),
        JobEvent::DeliveryBegun { phase, tree, validation, .. } => {
            let text = say!(language, "job-delivering", tree = short_commit(tree.as_str()));
            let gates = validation
                .iter()
                .map(|one| say!(language, "job-delivering-gate", gate = &one.report.gate, phase = one.phase.as_str()));
            Phrase::new(Sign::Running, Some(phase), text).with(gates)
        }
        JobEvent::HealthChecked { phase, report, .. } if report.verdict.passed() => {
            Phrase::new(Sign::Passed, Some(phase), say!(language, "job-healthy"))
        }
        JobEvent::RollbackFinished { phase, report, .. } if report.verdict.passed() => {
            Phrase::new(Sign::Passed, Some(phase), say!(language, "job-rolled-back"))
        }
        JobEvent::HealthChecked { phase, report, .. } | JobEvent::RollbackFinished { phase, report, .. } => {
            gate(language, phase, report, &job.id)
        }
        JobEvent::RollbackBegun { phase, .. } => {
            Phrase::new(Sign::Running, Some(phase), say!(language, "job-rolling-back"))
        }
        JobEvent::RollbackRequested { phase, by, .. } => {
            Phrase::new(Sign::Running, Some(phase), say!(language, "job-rollback-requested", by = person(language, by)))
        }
        JobEvent::Reverted(done) => Phrase::new(Sign::Note, None, reverted(language, done)),
        JobEvent::ReviewFinished { phase, gate, review, .. } => {
            let who = reviewer(language, *gate);
            let summary = review_summary(language, &review.verdict, &review.summary);
            let text = format!("{who}: {}", verdict(language, &review.verdict, &summary));
            let phrase = Phrase::new(Sign::from(&review.verdict), Some(phase), text);
            match &review.verdict {
                Verdict::Fail { findings } => {
                    phrase.with(findings.iter().take(FINDINGS).map(|one| finding(language, one)))
                }
                Verdict::Pass | Verdict::Inconclusive { .. } => phrase,
            }
        }
        JobEvent::AttemptFaulted { phase, fault, .. } => {
            let ErrorView { message, hint: remedy, .. } = ErrorView::of_fault(fault).of_job(&job.id).said_in(language);
            Phrase::new(Sign::Failed, Some(phase), message).with(remedy.map(|text| hint(language, &text)))
        }
        JobEvent::PhasesProposed { phase, phases, .. } => {
            let names: Vec<&str> = phases.iter().map(|added| added.id.as_str()).collect();
            Phrase::new(Sign::Note, Some(phase), say!(language, "job-adds-phases", phases = names.join(", ")))
        }
        JobEvent::PhasesRejected { phase, findings, .. } => {
            let text = say!(language, "job-phases-invalid", why = first(language, findings));
            Phrase::new(Sign::Failed, Some(phase), text)
                .with(findings.iter().skip(1).take(FINDINGS).map(|one| finding(language, one)))
        }
        JobEvent::QuestionAsked { phase, question } => {
            let asked = job.question(phase, question.number);
            let text = asked.map_or_else(|| of_job(&question.text, &job.id), |one| asks(language, one));
            Phrase::new(Sign::Waiting, Some(phase), say!(language, "job-asks", question = text))
        }
        JobEvent::QuestionAnswered { phase, asked, answer: given } => {
            let options = job.question(phase, *asked).map_or(&[][..], |asked| &asked.options);
            let (by, answer) = (person(language, &given.by), answer(language, options, given));
            let text = say!(language, "job-answered", by = by, answer = answer);
            Phrase::new(Sign::Note, Some(phase), text)
        }
        JobEvent::QuestionExpired { phase, asked } => {
            Phrase::new(Sign::Failed, Some(phase), say!(language, "job-question-expired", number = *asked))
        }
        JobEvent::AdviceGiven { phase, advice, .. } => Phrase::new(
            Sign::Note,
            Some(phase),
            say!(language, "job-adviser", reason = language.words(&advice.words())),
        ),
        JobEvent::ConflictFound { between, paths, .. } => {
            let phases: Vec<&str> = between.iter().map(PhaseId::as_str).collect();
            let text = say!(language, "job-conflict", phases = phases.join(", "), paths = paths.join(", "));
            Phrase::new(Sign::Unclear, None, text)
        }
        JobEvent::Integrated(done) => {
            let text = match &done.target {
                IntegrationTarget::Branch { branch } => {
                    let commit = short_commit(done.result.commit.as_str());
                    say!(language, "job-merged", branch = branch, commit = commit)
                }
                IntegrationTarget::Beside { branch, .. } => {
                    say!(language, "job-on-branch", branch = branch, why = language.words(&done.target.why()))
                }
                IntegrationTarget::Nowhere => say!(language, "job-nothing-changed"),
            };
            let beside = matches!(done.target, IntegrationTarget::Beside { .. });
            Phrase::new(if beside { Sign::Waiting } else { Sign::Passed }, None, text)
        }
        JobEvent::IntegrationFailed(failed) => {
            Phrase::new(Sign::Failed, None, say!(language, "job-merge-failed", why = first(language, &failed.findings)))
        }
        JobEvent::CancelRequested { by } => {
            Phrase::new(Sign::Skipped, None, say!(language, "job-cancelling", by = person(language, by)))
        }
        JobEvent::JobResumed { by, plan, .. } => {
            let changed = plan.as_ref().map(|plan| {
                let phases: Vec<&str> = plan.phases.iter().map(|phase| phase.id.as_str()).collect();
                say!(language, "job-plan-changed", phases = phases.join(", "))
            });
            Phrase::new(Sign::Running, None, say!(language, "job-resumed", by = person(language, by))).with(changed)
        }
        JobEvent::JobFinished { end } => match end {
            JobEnd::Succeeded => Phrase::new(Sign::Passed, None, say!(language, "job-succeeded")),
            JobEnd::Failed { reason, said, .. } => {
                let why = said.as_ref().map_or_else(|| reason.clone(), |said| language.words(&said.message));
                Phrase::new(Sign::Failed, None, say!(language, "job-failed", why = why))
            }
            JobEnd::Cancelled { by } => {
                Phrase::new(Sign::Skipped, None, say!(language, "job-cancelled", by = person(language, by)))
            }
        },
        JobEvent::AgentRefused { run, asked } => {
            Phrase::new(Sign::Unclear, None, attempted(language, run.as_str(), asked))
        }
        JobEvent::Failure(note) => match note.as_ref() {
            // What Helix itself finds has been said where it was found, and silence is no cause.
            FailureEvent::FailureRecorded { occurrence, .. }
                if occurrence.diagnosis.tool != HELIX && occurrence.diagnosis.cause != NO_REASON.slug =>
            {
                let text =
                    say!(language, "job-cause", cause = report_text_in(language.code(), &occurrence.diagnosis.summary));
                Phrase::new(Sign::Note, occurrence.place.work.phase(), text)
            }
            FailureEvent::ReportGenerated { similar, phase, .. } if *similar > 0 => {
                let text = say!(language, "job-seen-before", times = *similar, job = job.id.as_str());
                Phrase::new(Sign::Note, phase.as_ref(), text)
            }
            FailureEvent::FailureRecorded { .. }
            | FailureEvent::ReportGenerated { .. }
            | FailureEvent::SuggestionRecorded { .. }
            | FailureEvent::SuggestionResolved { .. } => return None,
        },
    })
}

/// An event as one line of a chat, with its phase by name. The view may be of a later time than the event.
pub fn chat_line(language: Language, job_event: &JobEvent, job: &JobView) -> Option<String> {
    let is_of_memory = |note: &FailureEvent| matches!(note, FailureEvent::ReportGenerated { .. });
    match job_event {
        JobEvent::JobSubmitted { .. } => return None,
        // What was seen before is for those who look into the failure.
        JobEvent::Failure(note) if is_of_memory(note) => return None,
        _ => {}
    }
    // A job that was resumed since has a later end.
    if matches!(job_event, JobEvent::JobFinished { .. }) && job.status.is_final() {
        return Some(one_line(&outcome(language, job), LINE));
    }
    let Phrase { phase, text, .. } = event(language, job_event, job)?;
    Some(match phase {
        Some(phase) => format!("{}: {text}", phase_named(language, job, &phase)),
        None => text,
    })
}

/// A remedy as a line of its own.
pub fn hint(language: Language, text: &str) -> String {
    say!(language, "hint", hint = text)
}

/// Something worth knowing as a line of its own.
pub fn note(language: Language, text: &str) -> String {
    say!(language, "note", note = text)
}

/// How the merged result of a job was taken out again.
pub fn reverted(language: Language, done: &Reverted) -> String {
    let Reverted { by, commit, branch, adr } = done;
    let text = say!(
        language,
        "job-reverted-on",
        branch = branch,
        commit = short_commit(commit.as_str()),
        by = person(language, by)
    );
    match adr {
        Some(adr) => say!(language, "job-decision-reopened", reverted = text, decision = adr.to_string()),
        None => text,
    }
}

/// What became of a delivery, in one line.
pub fn delivery(language: Language, one: &DeliveryView) -> String {
    let (commit, target) = (short_commit(one.commit.as_str()), &one.target);
    let is_over = matches!(
        one.state,
        DeliveryState::RolledBack | DeliveryState::RollbackUnproved | DeliveryState::RollbackFailed
    );
    // What came of a rollback says how it stands, too; of one that goes on, nothing has come yet.
    let state = match one.outcome.as_ref().filter(|_| is_over) {
        Some(outcome) => language.words(&one.said.or(outcome)),
        None => delivery_state(language, one.state),
    };
    let at = language.local(one.at);
    match &one.baseline {
        None => say!(language, "job-delivery", commit = commit, target = target, at = at, state = state),
        Some(baseline) => {
            let from = short_commit(baseline.commit.as_str());
            say!(
                language,
                "job-delivery-from",
                commit = commit,
                target = target,
                at = at,
                baseline = from,
                state = state
            )
        }
    }
}

/// A delivery's state in words.
pub fn delivery_state(language: Language, state: DeliveryState) -> String {
    match state {
        DeliveryState::Delivering => say!(language, "delivery-delivering"),
        DeliveryState::Watching => say!(language, "delivery-watching"),
        DeliveryState::Delivered => say!(language, "delivery-delivered"),
        DeliveryState::Failed => say!(language, "delivery-failed"),
        DeliveryState::Unknown => say!(language, "delivery-unknown"),
        DeliveryState::RollingBack => say!(language, "delivery-rolling-back"),
        DeliveryState::RolledBack => say!(language, "delivery-rolled-back"),
        DeliveryState::RollbackUnproved => say!(language, "delivery-rollback-unproved"),
        DeliveryState::RollbackFailed => say!(language, "delivery-rollback-failed"),
    }
}

/// Who it was, and how that is known.
pub fn person(language: Language, person: &Person) -> String {
    language.words(&person.into())
}

/// What held a run back: `files, signals (Landlock 7)`, and what did not hold.
pub fn walls(language: Language, WallsHeld { landlock, held, missing }: &WallsHeld) -> String {
    let name = |wall: &Wall| say!(language, "wall", wall = wall.to_string());
    let names = held.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut text = match (held.is_empty(), landlock) {
        (true, _) => say!(language, "walls-none"),
        (false, 0) => names,
        (false, version) => format!("{names} (Landlock {version})"),
    };
    for NoWall { wall, why } in missing {
        text.push_str(&format!("; {}", say!(language, "wall-missing", wall = name(wall), why = language.words(why))));
    }
    text
}

/// A job's status as a word.
pub fn job_status(language: Language, status: JobStatus) -> String {
    say!(language, "job-status", status = status.word())
}

/// A phase's status as a word.
pub fn phase_status(language: Language, status: PhaseStatus) -> String {
    say!(language, "phase-status", status = status.word())
}

/// How a job stands, to follow its name.
pub fn standing(language: Language, job: &JobView) -> String {
    match job.status {
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Cancelled => outcome(language, job),
        JobStatus::Queued => say!(language, "stands-queued"),
        JobStatus::Running | JobStatus::Waiting => {
            if let Some(question) = open_questions(job).next() {
                return say!(language, "stands-asking", question = one_line(&asks(language, question), LINE));
            }
            let passed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Passed).count();
            let under_way = |phase: &&PhaseView| matches!(phase.status, PhaseStatus::Running | PhaseStatus::Waiting);
            let busy = job.phases.iter().filter(under_way);
            let busy: Vec<String> = busy
                .map(|phase| format!("{}: {}", phase_named(language, job, &phase.id), stage(language, phase)))
                .collect();
            if busy.is_empty() {
                return say!(language, "stands-running", passed = passed, phases = job.phases.len());
            }
            say!(language, "stands-doing", doing = busy.join("; "))
        }
    }
}

/// What a phase that is under way is doing; else its status.
pub fn stage(language: Language, phase: &PhaseView) -> String {
    match phase.status {
        PhaseStatus::Running | PhaseStatus::Waiting => doing(language, phase),
        _ => None,
    }
    .unwrap_or_else(|| phase_status(language, phase.status))
}

/// What a phase is doing or waits for, whatever its status.
pub fn doing(language: Language, phase: &PhaseView) -> Option<String> {
    let stage = phase.stage.as_deref()?;
    let Some(wait) = &phase.waits_for else {
        let named = stage_named(language, stage);
        let why = phase.error.as_ref().filter(|_| stage.starts_with(UNTIL));
        let why = why.map(|why| one_line(&why.said_in(language).message, LINE));
        return Some([named].into_iter().chain(why).collect::<Vec<_>>().join(": "));
    };
    let before = stage.strip_suffix(&waits(Language::English, wait)).unwrap_or_default().trim_end_matches(", ");
    let before = (!before.is_empty()).then(|| stage_named(language, before));
    Some(before.into_iter().chain([waits(language, wait)]).collect::<Vec<_>>().join(", "))
}

/// How the stage of a phase begins that goes on at a later time; the time follows.
pub(crate) const UNTIL: &str = "waits until ";

/// A stage, as views name it.
fn stage_named(language: Language, stage: &str) -> String {
    if let Some(gate) = stage.strip_prefix("gate ") {
        return say!(language, "phase-stage-gate", gate = gate);
    }
    if let Some(round) = stage.strip_prefix("adviser, round ") {
        return say!(language, "phase-stage-adviser", round = round);
    }
    if let Some(until) = stage.strip_prefix(UNTIL) {
        let local = until.parse::<jiff::Timestamp>().map_or_else(|_| until.to_owned(), |at| language.local(at));
        return say!(language, "phase-stage-until", until = local);
    }
    // The command of the longest one stands in brackets.
    let name = stage.split(" (").next().unwrap_or_default().replace(' ', "-");
    let named = say!(language, "phase-stage", stage = name.as_str());
    if named == name { stage.to_owned() } else { named }
}

/// What somebody waits for who could go on.
pub fn waits(language: Language, wait: &Wait) -> String {
    match wait {
        Wait::Places { of, taken, places, waiting } => {
            say!(language, "wait-places", of = of, taken = *taken, places = *places, waiting = *waiting)
        }
        Wait::Target { target, job, state_dir: None } => {
            say!(language, "wait-target", target = target, job = job.as_str())
        }
        Wait::Target { target, job, state_dir: Some(place) } => {
            say!(language, "wait-target-elsewhere", target = target, job = job.as_str(), place = place)
        }
        Wait::Memory { available_bytes, needed_bytes } => {
            let mebibytes = |bytes: u64| bytes >> 20;
            let (available, needed) = (mebibytes(*available_bytes), mebibytes(*needed_bytes));
            say!(language, "wait-memory", available = available, needed = needed)
        }
        Wait::Preflight { command } => say!(language, "wait-preflight", command = one_line(command, LINE)),
    }
}

/// Why an agent asks its provider again, where it says so.
pub fn retry_reason(language: Language, reason: &str) -> String {
    if ["", "unknown"].contains(&reason) { say!(language, "retry-reason-unknown") } else { reason.to_owned() }
}

/// A phase in one line: its name, what it is doing, its attempts where there is more than one.
pub fn phase_line(language: Language, phase: &PhaseView) -> String {
    let name = one_line(&phase.name, LINE);
    let doing = match phase.status {
        PhaseStatus::Running | PhaseStatus::Waiting => Some(stage(language, phase)),
        PhaseStatus::Failed | PhaseStatus::Skipped | PhaseStatus::Cancelled => {
            Some(phase_status(language, phase.status))
        }
        PhaseStatus::Pending | PhaseStatus::Passed => None,
    };
    let attempt = (phase.attempt > 1).then(|| say!(language, "term-attempt", attempt = phase.attempt));
    let more: Vec<String> = doing.into_iter().chain(attempt).collect();
    if more.is_empty() { name } else { format!("{name} ({})", more.join(", ")) }
}

/// How a job that is over ended, to follow its name: outcome with commit, or cause with remedy.
pub fn outcome(language: Language, job: &JobView) -> String {
    match (job.status, job.error.as_ref().map(|error| error.said_in(language))) {
        (JobStatus::Succeeded, _) => {
            let commit = job.commit.as_ref().map_or("", |commit| short_commit(commit.as_str()));
            match &job.integration {
                Some(target @ IntegrationTarget::Beside { branch, command, .. }) => {
                    let why = language.words(&target.why());
                    say!(language, "ended-beside", commit = commit, branch = branch, why = why, command = command)
                }
                Some(IntegrationTarget::Branch { branch }) => {
                    say!(language, "ended-merged", branch = branch, commit = commit)
                }
                Some(IntegrationTarget::Nowhere) | None => say!(language, "ended-unchanged"),
            }
        }
        (JobStatus::Failed, Some(ErrorView { message, hint: Some(hint), .. })) => {
            say!(language, "ended-failed-hint", why = message.trim_end_matches('.'), hint = hint)
        }
        (JobStatus::Failed, Some(ErrorView { message, hint: None, .. })) => {
            say!(language, "ended-failed-because", why = message)
        }
        (JobStatus::Failed, None) => say!(language, "ended-failed"),
        (JobStatus::Cancelled, error) => {
            match error.as_ref().and_then(|error| error.message.strip_prefix(CANCELLED_BY)) {
                Some(by) => say!(language, "ended-cancelled-by", by = person(language, &by.into())),
                None => say!(language, "ended-cancelled"),
            }
        }
        (status @ (JobStatus::Queued | JobStatus::Running | JobStatus::Waiting), _) => {
            say!(language, "ended-not", status = status.word())
        }
    }
}

/// How the error of a cancelled job begins; who cancelled it follows.
pub(crate) const CANCELLED_BY: &str = "cancelled by ";

/// `Phase 2 of 4, Implement the exporter`.
pub fn phase_named(language: Language, job: &JobView, id: &PhaseId) -> String {
    match job.phases.iter().position(|phase| &phase.id == id) {
        Some(at) => {
            let name = one_line(&job.phases[at].name, LINE);
            say!(language, "phase-of", number = at + 1, phases = job.phases.len(), name = name)
        }
        None => say!(language, "phase-by-id", id = id.as_str()),
    }
}
