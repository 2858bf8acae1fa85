//! What Helix itself says in a chat, apart from phrases about jobs (`helix_job::phrases`): lines above an answer, blocks in it,
//! and errors with what the person in the chat can do.
//!
//! Must not know who reads it or how it is sent. Errors speak of no job or phase: nobody in a chat has one to retry.

use std::fmt::Display;
use std::time::Duration;

use helix_core::error_chain;
use helix_core::finding::Verdict;
use helix_core::run::{Failure, LimitKind, Outcome};
use helix_core::text::one_line;
use helix_job::question::QuestionView;
use helix_job::session::AnswerFinding;
use helix_job::{ErrorView, JobStatus, JobView, Language, Wait, problem, say};
use helix_runs::agent_run::RunError;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// How a block of Helix's own begins, in every language.
const MARK: &str = "> **Helix:** ";
const CAUTION: &str = "> [!CAUTION]\n";
/// Something is worth knowing.
const NOTE: &str = "> [!NOTE]\n";
const IMPORTANT: &str = "> [!IMPORTANT]\n";
/// A regular expression for any of the blocks, at the beginning of a line.
pub const BLOCK: &str = r"> \[!(?:CAUTION|NOTE|IMPORTANT)\]\n> \*\*Helix:\*\* .*(?:\n>.*)*\n?";

/// Most findings that the user is shown of an answer that could not be fixed.
const SHOWN_FINDINGS: usize = 5;
/// Most proofs of a job's end.
const SHOWN_PROOFS: usize = 5;
/// Longest line of a list, in characters.
const LINE: usize = 300;
/// Longest quotation of a message, in characters.
const QUOTE: usize = 80;

/// The last line above an answer that has nothing else to say: what it took. Whether anything is done, the answer has to prove.
pub fn answered(language: Language, is_in_order: bool, tools: usize, took: Duration, cost_usd: f64) -> String {
    let first = if is_in_order { say!(language, "chat-answered") } else { say!(language, "chat-answered-with-note") };
    let tools = (tools > 0).then(|| say!(language, "count-tools", tools = tools));
    let took = (took >= Duration::from_secs(1)).then(|| language.duration(took.as_secs_f64()));
    let cost = (cost_usd > 0.0).then(|| language.cents(cost_usd));
    let parts: Vec<String> = std::iter::once(first).chain([tools, took, cost].into_iter().flatten()).collect();
    parts.join(" · ")
}

/// Above the first answer to a client that does not fill the connection's headers.
pub fn unfilled_headers(language: Language) -> String {
    block(NOTE, [say!(language, "chat-unfilled"), say!(language, "chat-unfilled-remedy")])
}

/// Several answers are not merged into one.
pub fn not_merged(language: Language) -> String {
    block(NOTE, [say!(language, "chat-not-merged")])
}

/// A turn that waits for others of its conversation.
pub fn queued(language: Language, ahead: usize) -> String {
    say!(language, "chat-queued", ahead = ahead)
}

/// A turn whose agent waits to start.
pub fn waits(language: Language, wait: &Wait) -> String {
    say!(language, "chat-waits", wait = helix_job::phrases::waits(language, wait))
}

/// What came of a job since, told before the agent answers.
pub(crate) fn since_last_message(language: Language, job: &JobView) -> String {
    let standing = helix_job::phrases::standing(language, job);
    say!(language, "chat-since", job = &job.name, standing = standing)
}

pub(crate) fn provider_retry(language: Language, reason: &str, attempt: u32, max: u32, delay_ms: u64) -> String {
    let seconds = format!("{:.1}", delay_ms as f64 / 1000.0);
    let seconds = language.decimal(&seconds);
    say!(language, "chat-provider-retry", reason = reason, attempt = attempt, most = max, seconds = seconds)
}

pub(crate) fn provider_limit(language: Language, resets_at: Option<Timestamp>) -> String {
    match resets_at {
        None => say!(language, "chat-provider-limit"),
        Some(at) => say!(language, "chat-provider-limit-until", at = time(language, at)),
    }
}

/// A correction that is asked for: what was found, and which of how many it is.
pub(crate) fn correcting(language: Language, findings: &[AnswerFinding], number: u32, most: u32) -> String {
    let mut validators: Vec<&str> = findings.iter().map(|one| one.validator.as_str()).collect();
    validators.dedup();
    let (count, validators) = (findings.len(), validators.join(", "));
    say!(language, "chat-correcting", findings = count, validators = validators, number = number, most = most)
}

/// What one of Helix's own tools does.
pub fn tool(language: Language, name: &str) -> Option<String> {
    Some(say!(language, "chat-tool", tool = name)).filter(|text| !text.is_empty())
}

/// A warning, which chat clients show in colour.
pub fn caution(message: &str, hint: Option<&str>) -> String {
    block(CAUTION, [message].into_iter().chain(hint).map(|text| sentence(&flat(text))))
}

/// Between words that broke off and the same words as a whole.
pub fn said_anew(language: Language) -> String {
    block(NOTE, [say!(language, "chat-said-anew")])
}

/// Between an answer that did not pass its checks and the one that replaces it.
pub(crate) fn replaced(language: Language) -> String {
    block(NOTE, [say!(language, "chat-replaced")])
}

/// Above an answer: an earlier one that was finished while nobody read it.
pub(crate) fn unheard(language: Language, message: &str, answer: &str) -> String {
    let first = say!(language, "chat-unheard", message = one_line(message, QUOTE));
    block(NOTE, [first, answer.trim().to_owned()])
}

/// A finished job.
pub fn job_over(language: Language, job: &JobView) -> String {
    let failed = job.status == JobStatus::Failed;
    let (time, cost) = (language.duration(job.duration_seconds), language.money(job.cost));
    let gates = job.phases.iter().flat_map(|phase| phase.gates.iter().map(move |gate| (&phase.name, gate)));
    let proofs = gates.filter(|(_, gate)| gate.verdict == Verdict::Pass).map(|(phase, gate)| {
        let text = say!(language, "chat-job-proof", phase = phase, gate = &gate.gate, summary = &gate.summary);
        one_line(&text, LINE)
    });
    let paragraphs = [
        end(language, job),
        say!(language, "chat-job-figures", place = &job.project_path, time = time, cost = cost),
        list(proofs.take(SHOWN_PROOFS)),
        match failed {
            true => say!(language, "chat-job-failed-details", id = job.id.as_str()),
            false => say!(language, "chat-job-details", id = job.id.as_str()),
        },
    ];
    block(if failed { CAUTION } else { NOTE }, paragraphs)
}

/// The first line of a job's end.
fn end(language: Language, job: &JobView) -> String {
    let outcome = flat(&helix_job::phrases::outcome(language, job));
    say!(language, "chat-job-over", job = &job.name, outcome = outcome)
}

/// Whether a text has the note of a job's end, in whichever language it was told.
pub(crate) fn tells_end(text: &str, job: &JobView) -> bool {
    Language::ALL.into_iter().any(|language| text.contains(&format!("{MARK}{}", end(language, job))))
}

/// A job's question.
pub fn job_asks(language: Language, question: &QuestionView) -> String {
    let label = |one| flat(&helix_job::phrases::option(language, question, one));
    let options = question.options.iter().map(|one| format!("**{}**: {}", one.key, label(one)));
    let (job, phase) = (&question.job_name, question.phase.as_str());
    let paragraphs = [
        say!(language, "chat-job-asks", job = job, phase = phase),
        helix_job::phrases::asks(language, question).trim().to_owned(),
        list(options),
        say!(language, "chat-job-answer", id = question.id.as_str()),
    ];
    block(IMPORTANT, paragraphs)
}

/// Below an answer that did not pass its checks, though the agent was asked so often; and why it could not be asked again.
pub(crate) fn not_in_order(language: Language, findings: &[AnswerFinding], asked: u32, failed: Option<&str>) -> String {
    let first = match (asked, failed.map(|why| one_line(why, LINE))) {
        (0, None) => say!(language, "chat-not-fixed-unasked"),
        (0, Some(why)) => say!(language, "chat-not-fixed-unasked-why", why = why),
        (asked, None) => say!(language, "chat-not-fixed", asked = asked),
        (asked, Some(why)) => say!(language, "chat-not-fixed-why", asked = asked, why = why),
    };
    failed_checks(language, first, findings)
}

/// Below an answer that did not pass its checks and is given later; `None` where it did.
pub(crate) fn unfixed(language: Language, findings: &[AnswerFinding]) -> Option<String> {
    (!findings.is_empty()).then(|| failed_checks(language, say!(language, "chat-unfixed"), findings))
}

fn failed_checks(language: Language, first: String, findings: &[AnswerFinding]) -> String {
    let shown = findings.iter().take(SHOWN_FINDINGS).map(|AnswerFinding { validator, finding }| {
        let place = finding.place.as_ref().map(|place| format!("`{place}`: ")).unwrap_or_default();
        format!("{validator}: {}", one_line(&format!("{place}{}", finding.message), LINE))
    });
    let more = findings.len().saturating_sub(SHOWN_FINDINGS);
    let more = (more > 0).then(|| say!(language, "and-more", more = more));
    block(CAUTION, [first, list(shown.chain(more)), say!(language, "chat-ask-again")])
}

/// Below an answer that could not be checked at all.
pub(crate) fn unexamined(language: Language, why: &str) -> String {
    let what = say!(language, "chat-unexamined", why = flat(why));
    block(CAUTION, [what, say!(language, "chat-unexamined-remedy")])
}

/// Below an answer of which some of the user's own checks could not be made.
pub(crate) fn unmade(language: Language, checks: &[String]) -> String {
    let checks = list(checks.iter().map(|why| one_line(why, LINE)));
    block(CAUTION, [say!(language, "chat-unmade"), checks, say!(language, "chat-unmade-remedy")])
}

/// A text as a sentence of its own.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.trim_end().ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

fn flat(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}

/// A block of paragraphs, empty ones left out. Every line is marked, so that its end is known.
fn block(opening: &str, paragraphs: impl IntoIterator<Item = String>) -> String {
    let marked = paragraphs.into_iter().filter(|paragraph| !paragraph.is_empty()).map(|paragraph| {
        let lines = paragraph.replace("\r\n", "\n").replace('\r', "\n");
        lines.lines().collect::<Vec<_>>().join("\n> ") + "\n"
    });
    format!("{opening}{MARK}{}", marked.collect::<Vec<_>>().join(">\n> "))
}

/// Something of Helix's own that failed.
pub(crate) fn own_failure(language: Language, cause: &dyn std::error::Error) -> ErrorView {
    problem!(language, "answer-own-failure", cause = error_chain(cause))
}

/// A run that could not be carried out.
pub(crate) fn run_failed(language: Language, cause: &RunError) -> ErrorView {
    match cause {
        RunError::UnknownAgent { .. } => problem!(language, "answer-unknown-agent", cause = error_chain(cause)),
        _ => own_failure(language, cause),
    }
}

pub(crate) fn unreadable_record<E: Display>(language: Language) -> impl Fn(E) -> ErrorView {
    move |cause| problem!(language, "answer-unreadable", cause = cause.to_string())
}

pub(crate) fn no_end(language: Language) -> ErrorView {
    problem!(language, "answer-no-end")
}

pub(crate) fn not_noted<E: Display>(language: Language) -> impl Fn(E) -> ErrorView {
    move |cause| problem!(language, "answer-not-noted", cause = cause.to_string())
}

pub(crate) fn not_stored<E: Display>(language: Language) -> impl Fn(E) -> ErrorView {
    move |cause| problem!(language, "answer-not-stored", cause = cause.to_string())
}

/// What is wrong with a turn's outcome; `None` if it is an answer.
pub fn of_outcome(language: Language, outcome: &Outcome) -> Option<ErrorView> {
    Some(match outcome {
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) => return None,
        Outcome::TasksLost { tasks } => problem!(language, "answer-tasks-lost", tasks = *tasks),
        Outcome::LocalCommand => problem!(language, "answer-local-command"),
        Outcome::Truncated { .. } => problem!(language, "answer-truncated"),
        Outcome::Incomplete { missing } => problem!(language, "answer-incomplete", missing = missing),
        Outcome::StoppedByHook => problem!(language, "answer-stopped-by-hook"),
        Outcome::Interrupted => problem!(language, "answer-interrupted"),
        Outcome::Cancelled => problem!(language, "answer-cancelled"),
        Outcome::TimedOut => problem!(language, "answer-timed-out"),
        Outcome::Stalled => problem!(language, "answer-stalled"),
        Outcome::Lost => problem!(language, "answer-lost"),
        Outcome::RateLimited { resets_at: Some(at) } => {
            problem!(language, "answer-limited-until", at = time(language, *at))
        }
        Outcome::RateLimited { resets_at: None } => problem!(language, "answer-limited"),
        Outcome::Overloaded { http_status: Some(status) } => {
            problem!(language, "answer-overloaded", status = *status)
        }
        Outcome::Overloaded { http_status: None } => problem!(language, "answer-unreachable"),
        Outcome::Credentials { billing: true } => problem!(language, "answer-no-money"),
        Outcome::Credentials { billing: false } => problem!(language, "answer-credentials"),
        Outcome::ContextOverflow => problem!(language, "answer-context"),
        Outcome::LimitReached { limit: LimitKind::Turns } => problem!(language, "answer-too-many-steps"),
        Outcome::LimitReached { limit: LimitKind::Budget } => problem!(language, "answer-no-budget"),
        Outcome::LimitReached { limit: LimitKind::StructuredOutput } => problem!(language, "answer-no-format"),
        Outcome::Refused => problem!(language, "answer-refused"),
        Outcome::Unstarted { reason } => problem!(language, "answer-unstarted", reason = reason.trim()),
        Outcome::Misconfigured => problem!(language, "answer-misconfigured"),
        Outcome::Failed(Failure::Declared { message, .. }) => {
            problem!(language, "answer-declared", message = message.trim())
        }
        Outcome::Failed(Failure::Contradicted { evidence }) => {
            problem!(language, "answer-contradicted", evidence = evidence)
        }
    })
}

/// A time as people read it: how far away, and by the clock of this machine.
fn time(language: Language, at: Timestamp) -> String {
    language.time(at, Timestamp::now(), &TimeZone::system())
}

#[cfg(test)]
#[path = "phrases_test.rs"]
mod tests;
