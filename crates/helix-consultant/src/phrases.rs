//! What Helix itself says in a chat, apart from phrases about jobs (`helix_job::phrases`): lines above an answer, blocks in it,
//! and errors with what the person in the chat can do.
//!
//! Must not know who reads it or how it is sent. Errors speak of no job or phase: nobody in a chat has one to retry.

use std::fmt::Display;
use std::time::Duration;

use helix_core::agent_event::SaidAnew;
use helix_core::error_chain;
use helix_core::finding::{Verdict, fence_for};
use helix_core::run::{AgentErrorKind, Failure, LimitKind, Outcome};
use helix_core::said::Words;
use helix_core::text::{clip, one_line, plain_lines};
use helix_job::phrases::{Sign, found, gate_summary, retry_reason};
use helix_job::question::{APPROVE, FAIL, QuestionKind, QuestionOption, QuestionView, REJECT, RETRY, SKIP};
use helix_job::session::AnswerFinding;
use helix_job::{JobStatus, JobView, PhaseStatus, Wait};
use helix_language::{ErrorView, Language, problem, say};
use helix_runs::agent_run::RunError;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::agent_words;

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
/// Least cost that is not written as nothing, in US dollars.
const LEAST_COST: f64 = 0.00005;
/// Most phases of a table.
const SHOWN_PHASES: usize = 40;
/// Most lines that are shown of what a check has printed.
const SHOWN_OUTPUT: usize = 10;
/// Longest text in a table, in characters.
const CELL: usize = 80;
/// Longest line of a list, in characters.
const LINE: usize = 300;
/// Longest quotation of a message, in characters.
const QUOTE: usize = 80;

/// The last line above an answer that has nothing else to say: what it took. Whether anything is done, the answer has to prove.
pub fn answered(language: Language, is_in_order: bool, tools: usize, took: Duration, cost_usd: f64) -> String {
    let first = if is_in_order { say!(language, "chat-answered") } else { say!(language, "chat-answered-with-note") };
    let tools = (tools > 0).then(|| say!(language, "count-tools", tools = tools));
    let took = (took >= Duration::from_secs(1)).then(|| language.duration(took.as_secs_f64()));
    let cost = (cost_usd >= LEAST_COST).then(|| language.cents(cost_usd));
    let parts: Vec<String> = std::iter::once(first).chain([tools, took, cost].into_iter().flatten()).collect();
    parts.join(" · ")
}

/// Above the first answer to a client that does not fill the connection's headers.
pub fn unfilled_headers(language: Language) -> String {
    block(NOTE, [say!(language, "chat-unfilled"), say!(language, "chat-unfilled-remedy")])
}

/// Above the first answer in an Open WebUI whose connection has none of the headers.
pub fn no_headers(language: Language) -> String {
    block(NOTE, [say!(language, "chat-no-headers"), say!(language, "chat-no-headers-remedy")])
}

/// Several answers are not merged into one.
pub fn not_merged(language: Language) -> String {
    block(NOTE, [say!(language, "chat-not-merged")])
}

/// A turn that waits for others of its session.
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
    let (seconds, reason) = (language.decimal(&seconds), retry_reason(language, reason));
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

/// What one of Helix's own tools does, or has done.
pub fn tool(language: Language, name: &str, is_done: bool) -> Option<String> {
    let said = match is_done {
        true => say!(language, "chat-tool-done", tool = name),
        false => say!(language, "chat-tool", tool = name),
    };
    Some(said).filter(|text| !text.is_empty())
}

/// What a tool of agents does, or has done; `None` for tools that Helix does not know.
pub fn tool_call(language: Language, name: &str, about: &str, is_done: bool) -> Option<String> {
    let does = match name {
        "Bash" | "command_execution" => "run",
        "Read" => "read",
        "Write" => "write",
        "Edit" | "MultiEdit" | "NotebookEdit" => "edit",
        "file_change" => "change",
        "Glob" | "Grep" => "search",
        "WebSearch" | "web_search" => "search-web",
        "WebFetch" => "fetch",
        "Task" | "Agent" => "delegate",
        _ => return None,
    };
    let said = match is_done {
        true => say!(language, "chat-call-done", does = does, about = about),
        false => say!(language, "chat-call", does = does, about = about),
    };
    Some(said.trim().to_owned())
}

/// A warning, which chat clients show in colour.
pub fn caution(message: &str, hint: Option<&str>) -> String {
    block(CAUTION, [message].into_iter().chain(hint).map(|text| sentence(&flat(text))))
}

/// In the place of an answer without a word.
pub(crate) fn empty_answer(language: Language) -> String {
    caution(&say!(language, "chat-empty"), Some(&say!(language, "answer-once-more")))
}

/// Between words that were taken back and those that the agent says instead.
pub fn said_anew(language: Language, reason: SaidAnew) -> String {
    let why = match reason {
        SaidAnew::Disconnected => say!(language, "chat-said-anew"),
        SaidAnew::Stopped => say!(language, "chat-stopped-by-provider"),
        SaidAnew::Refused => say!(language, "chat-replaced"),
    };
    block(NOTE, [why])
}

/// Below an answer that is longer than Helix keeps.
pub(crate) fn too_long(language: Language, limit: usize) -> String {
    block(NOTE, [say!(language, "chat-too-long", mib = limit >> 20)])
}

/// While nothing comes from the model.
pub(crate) fn silent(language: Language, so_far: Duration, limit: Duration) -> String {
    let [so_far, limit] = [so_far, limit].map(|time| match time.as_secs() {
        whole if whole >= 60 && whole % 60 == 0 => format!("{} min", whole / 60),
        _ => language.duration(time.as_secs_f64()),
    });
    say!(language, "chat-silent", time = so_far, limit = limit)
}

/// Below an answer with a link that the reader's browser cannot open: the file's text, which has its fence already.
pub fn linked_text(language: Language, name: &str, fenced: &str, is_whole: bool) -> String {
    let name = one_line(&name.replace(['<', '>', '`'], " "), QUOTE);
    let more = if is_whole { String::new() } else { format!("\n\n{}", say!(language, "chat-linked-rest")) };
    let text = format!("{fenced}{more}");
    // Open WebUI ends a fold where its end stands in the text, in code as well.
    let lower = fenced.to_ascii_lowercase();
    let shown = match ["<details", "</details"].iter().any(|tag| lower.contains(tag)) {
        true => text,
        false => format!("<details>\n<summary>{name}</summary>\n\n{text}\n\n</details>"),
    };
    block(NOTE, [say!(language, "chat-linked-text", name = name), shown])
}

/// Above an answer: an earlier one that was finished while nobody read it.
pub(crate) fn unheard(language: Language, message: &str, answer: &str) -> String {
    let first = say!(language, "chat-unheard", message = one_line(message, QUOTE));
    block(NOTE, [first, quoted(answer)])
}

/// Above an answer: the note on an earlier one, which was read without it.
pub(crate) fn untold(language: Language, message: &str, note: &str) -> String {
    let first = say!(language, "chat-untold", message = one_line(message, QUOTE));
    format!("{}\n{note}", block(NOTE, [first]))
}

/// A finished job: what came of it and where, what proves it, what it took, where to look, and the next step.
pub fn job_over(language: Language, job: &JobView) -> String {
    let changed = job.files_changed.filter(|files| *files > 0);
    let changed = changed.map(|files| say!(language, "chat-files-changed", files = files));
    let figures = [Some(say!(language, "chat-in-place", place = &job.project_path)), changed].into_iter().flatten();
    let figures = figures.chain([language.duration(job.duration_seconds), language.money(job.cost)]);
    let details = || say!(language, "chat-job-details", id = job.id.as_str());
    let (kind, look, next) = match job.status {
        // What to do about the error is said with it.
        JobStatus::Failed if job.error.as_ref().is_some_and(|error| error.hint.is_some()) => {
            (CAUTION, details(), say!(language, "chat-job-next-ask"))
        }
        JobStatus::Failed => (CAUTION, details(), say!(language, "chat-job-next-failed", id = job.id.as_str())),
        _ if job.commit.is_none() => (NOTE, details(), String::new()),
        _ => {
            let next = job.decision_commands("helix").map(|commands| {
                say!(language, "chat-job-next-decision", commands = commands, project = &job.project_path)
            });
            (NOTE, say!(language, "chat-job-look", id = job.id.as_str()), next.unwrap_or_default())
        }
    };
    let figures = figures.collect::<Vec<_>>().join(" · ");
    block(kind, [end(language, job), figures, job_table(language, job), printed(job), look, next])
}

/// The end of what the check that kept a job from succeeding has printed.
fn printed(job: &JobView) -> String {
    let failed = job.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed);
    let evidence = failed.flat_map(|phase| &phase.gates).find_map(|gate| match &gate.verdict {
        Verdict::Fail { findings } => findings.iter().find_map(|finding| finding.evidence.as_deref()),
        Verdict::Pass | Verdict::Inconclusive { .. } => None,
    });
    let evidence = plain_lines(evidence.unwrap_or_default());
    let lines: Vec<String> = evidence.trim_end().lines().map(|line| clip(line, LINE)).collect();
    let shown = lines[lines.len().saturating_sub(SHOWN_OUTPUT)..].join("\n");
    let fence = fence_for(&shown);
    if shown.is_empty() { shown } else { format!("{fence}text\n{shown}\n{fence}") }
}

/// A job that goes on when nobody watches it any more.
pub fn job_goes_on(language: Language, job: &JobView) -> String {
    let standing = flat(&helix_job::phrases::standing(language, job));
    let first = say!(language, "chat-job-over", job = &job.name, outcome = standing);
    block(NOTE, [first, job_table(language, job), say!(language, "chat-job-goes-on")])
}

/// The phases of a job as a table in Markdown.
pub fn job_table(language: Language, job: &JobView) -> String {
    let rows = job.phases.iter().map(|phase| {
        let gates = phase.gates.iter().map(|gate| {
            let said = gate_summary(language, gate);
            let said = Some(said.trim()).filter(|said| !said.is_empty()).map(|said| format!(" ({said})"));
            one_line(&format!("{} {}{}", sign(&gate.verdict), gate.gate, said.unwrap_or_default()), CELL)
        });
        let verified =
            phase.review.iter().map(|review| format!("{} {}", sign(&review.verdict), say!(language, "chat-verifier")));
        [
            format!("{} {}", Sign::from(phase.status).symbol(), one_line(&phase.name, CELL)),
            phase.attempt.to_string(),
            gates.chain(verified).collect::<Vec<_>>().join(", "),
            phase.duration_seconds.map(|seconds| unbroken(&language.duration(seconds))).unwrap_or_default(),
            if phase.attempt == 0 { String::new() } else { unbroken(&language.money(phase.cost)) },
        ]
    });
    let line = |cells: [String; 5]| format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let head = [say!(language, "chat-table-head"), "| --- | --: | --- | --: | --: |".to_owned()];
    let lines = head.into_iter().chain(rows.take(SHOWN_PHASES).map(line));
    let more = job.phases.len().saturating_sub(SHOWN_PHASES);
    let more = (more > 0).then(|| format!("\n{}", say!(language, "chat-more-phases", more = more)));
    lines.chain(more).collect::<Vec<_>>().join("\n")
}

/// The first line of a job's end.
fn end(language: Language, job: &JobView) -> String {
    let outcome = flat(&helix_job::phrases::outcome(language, job));
    say!(language, "chat-job-over", job = &job.name, outcome = outcome)
}

fn sign(verdict: &Verdict) -> char {
    Sign::from(verdict).symbol()
}

/// How many notes of a job's end as it ended last are in a text, in whichever language they were told.
pub(crate) fn ends_told(text: &str, job: &JobView) -> usize {
    let told = |language| text.matches(block("", [end(language, job)]).trim_end()).count();
    Language::ALL.into_iter().map(told).sum()
}

pub fn job_asks(language: Language, question: &QuestionView) -> String {
    let label = |one| flat(&helix_job::phrases::option(language, one));
    let options = question.options.iter().map(|one| format!("**{}**: {}", one.key, label(one)));
    let (job, phase) = (&question.job_name, question.phase.as_str());
    let text = plain_lines(helix_job::phrases::asks(language, question).trim());
    // Helix's own sentence comes first; what others have written is a quotation.
    let (first, own, others) = match question.kind {
        QuestionKind::Agent => (say!(language, "chat-agent-asks", job = job, phase = phase), "", text.as_str()),
        _ => {
            let (own, others) = text.split_once('\n').unwrap_or((&text, ""));
            (say!(language, "chat-job-asks", job = job, phase = phase), own, others)
        }
    };
    let answer = say!(language, "chat-job-answer", id = question.id.as_str());
    let says = if question.set_out.is_empty() { String::new() } else { say!(language, "ask-set-out") };
    let set_out = quoted(&question.set_out);
    let paragraphs = [first, own.to_owned(), quoted(others), says, set_out, list(options), answer];
    block(IMPORTANT, paragraphs)
}

/// What a person would say who chooses an option of a question.
pub fn choice(language: Language, question: &QuestionView, option: &QuestionOption) -> String {
    match option.key.as_str() {
        APPROVE => say!(language, "choice-approve"),
        REJECT => say!(language, "choice-reject"),
        RETRY => say!(language, "choice-retry"),
        SKIP => say!(language, "choice-skip"),
        FAIL => say!(language, "choice-fail"),
        _ if question.kind == QuestionKind::Agent => {
            say!(language, "choice-own", label = sentence(&flat(&option.label)))
        }
        _ => sentence(&flat(&option.label)),
    }
}

/// Below an answer that did not pass its checks, though the agent was asked so often; and why it could not be asked again.
pub(crate) fn not_in_order(language: Language, findings: &[AnswerFinding], asked: u32, failed: Option<&str>) -> String {
    let first = match (asked, failed.map(|why| one_line(why, LINE))) {
        (0, None) => say!(language, "chat-not-fixed-unasked"),
        (0, Some(why)) => say!(language, "chat-not-fixed-unasked-why", why = why),
        (asked, None) => say!(language, "chat-not-fixed", asked = asked),
        (asked, Some(why)) => say!(language, "chat-not-fixed-why", asked = asked, why = why),
    };
    let shown = findings.iter().take(SHOWN_FINDINGS).map(|AnswerFinding { validator, finding }| {
        let place = finding.place.as_ref().map(|place| format!("`{place}`: ")).unwrap_or_default();
        format!("{validator}: {}", one_line(&format!("{place}{}", found(language, finding)), LINE))
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
pub(crate) fn unmade(language: Language, checks: &[Words]) -> String {
    let checks = list(checks.iter().map(|why| one_line(&language.words(why), LINE)));
    block(CAUTION, [say!(language, "chat-unmade"), checks, say!(language, "chat-unmade-remedy")])
}

/// A text as a sentence of its own.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.trim_end().ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A figure that stays on one line.
fn unbroken(figure: &str) -> String {
    figure.replace(' ', "\u{a0}")
}

fn flat(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// Words of somebody else, apart from Helix's own.
fn quoted(text: &str) -> String {
    plain_lines(text)
        .trim_matches('\n')
        .trim_end()
        .lines()
        .map(|line| format!("> {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}

/// A block of paragraphs, empty ones left out. Every line is marked, so that its end is known; words of others that stand in it
/// begin no block and steer no text.
fn block(opening: &str, paragraphs: impl IntoIterator<Item = String>) -> String {
    let marked = paragraphs.into_iter().filter(|paragraph| !paragraph.is_empty()).map(|paragraph| {
        let lines = plain_lines(&paragraph);
        lines.lines().map(|line| format!("> {line}\n")).collect::<String>()
    });
    let marked = marked.collect::<Vec<_>>().join(">\n");
    let words = agent_words::of_whole(&marked);
    format!("{opening}{MARK}{}", words.strip_prefix("> ").unwrap_or_default())
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
        Outcome::Truncated { evidence } if evidence.says("run-cut-exited") || evidence.says("run-cut-signal") => {
            problem!(language, "answer-died", how = language.words(evidence))
        }
        Outcome::Truncated { .. } => problem!(language, "answer-truncated"),
        Outcome::NoRecord => problem!(language, "run-no-record"),
        Outcome::Incomplete { missing } => problem!(language, "answer-incomplete", missing = language.words(missing)),
        Outcome::StoppedByHook => problem!(language, "answer-stopped-by-hook"),
        Outcome::Interrupted => problem!(language, "answer-interrupted"),
        Outcome::Cancelled => problem!(language, "answer-cancelled"),
        Outcome::TimedOut => problem!(language, "answer-timed-out"),
        Outcome::Stalled => problem!(language, "answer-stalled"),
        Outcome::Stuck { .. } => problem!(language, "answer-stuck"),
        Outcome::Lost => problem!(language, "answer-lost"),
        Outcome::RateLimited { resets_at: Some(at) } => {
            problem!(language, "answer-limited-until", at = time(language, *at))
        }
        Outcome::RateLimited { resets_at: None } => problem!(language, "answer-limited"),
        Outcome::Overloaded { http_status, message } => {
            let view = match http_status {
                Some(status) => problem!(language, "answer-overloaded", status = *status),
                None => problem!(language, "answer-unreachable"),
            };
            match providers_words(message) {
                said if said.is_empty() => view,
                said => ErrorView { message: format!("{} ({said})", view.message), ..view },
            }
        }
        Outcome::Credentials { billing: true } => problem!(language, "answer-no-money"),
        Outcome::Credentials { billing: false } => problem!(language, "answer-credentials"),
        Outcome::ContextOverflow | Outcome::Failed(Failure::Declared { error: Some(AgentErrorKind::TooLarge), .. }) => {
            problem!(language, "answer-context")
        }
        Outcome::LimitReached { limit: LimitKind::Turns } => problem!(language, "answer-too-many-steps"),
        Outcome::LimitReached { limit: LimitKind::Budget } => problem!(language, "answer-no-budget"),
        Outcome::LimitReached { limit: LimitKind::StructuredOutput } => problem!(language, "answer-no-format"),
        Outcome::Refused => problem!(language, "answer-refused"),
        Outcome::Unstarted { reason } => problem!(language, "answer-unstarted", reason = language.words(reason)),
        Outcome::Misconfigured => problem!(language, "answer-misconfigured"),
        Outcome::Failed(Failure::Declared { message, error }) => match error {
            Some(AgentErrorKind::InvalidRequest) => {
                problem!(language, "answer-bad-request", message = language.words(message).trim())
            }
            Some(AgentErrorKind::ModelNotFound) => {
                problem!(language, "answer-no-model", message = providers_words(&language.words(message)))
            }
            Some(_) | None => problem!(language, "answer-declared", message = language.words(message).trim()),
        },
        Outcome::Failed(Failure::Contradicted { evidence }) => {
            problem!(language, "answer-contradicted", evidence = language.words(evidence))
        }
    })
}

/// What happened in one sentence, what to do in another.
pub fn in_sentences(error: &ErrorView) -> String {
    let said = [Some(error.message.as_str()), error.hint.as_deref()].into_iter().flatten();
    said.map(|text| sentence(&flat(text))).collect::<Vec<_>>().join(" ")
}

/// What a provider said of its trouble: the first sentence of what the agent makes of it. The others are the agent's advice, for
/// people who sit at its own terminal.
fn providers_words(message: &str) -> String {
    let said = one_line(message, LINE);
    let said = match said.strip_prefix("API Error:") {
        Some(said) => said.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' '),
        None => &said,
    };
    said.split_once(". ").map_or(said, |(first, _)| first).trim_end_matches('.').to_owned()
}

/// A time as people read it: how far away, and by the clock of this machine.
fn time(language: Language, at: Timestamp) -> String {
    language.time(at, Timestamp::now(), &TimeZone::system())
}

#[cfg(test)]
#[path = "phrases_test.rs"]
mod tests;
