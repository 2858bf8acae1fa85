//! What Helix itself says in a chat, apart from phrases about jobs (`helix_job::phrases`): lines above an answer, blocks in it,
//! and errors with what the person in the chat can do.
//!
//! Must not know who reads it or how it is sent. Another language is another table with the same functions. Errors speak of no job or
//! phase: nobody in a chat has one to retry.

use std::time::Duration;

use helix_core::error_chain;
use helix_core::finding::{Verdict, fence_for};
use helix_core::run::{Failure, LimitKind, Outcome};
use helix_core::text::{count, duration, money, one_line};
use helix_job::phrases::Sign;
use helix_job::question::{APPROVE, FAIL, QuestionKind, QuestionOption, QuestionView, REJECT, RETRY, SKIP};
use helix_job::session::AnswerFinding;
use helix_job::{ErrorView, JobStatus, JobView, Wait};
use helix_runs::agent_run::RunError;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What to do where what was written so far may be gone on from.
const GO_ON: &str = "the text so far is kept: say \"continue\", or send the message again";
const ONCE_MORE: &str = "send the message again; if it fails again, run `helix doctor`";
const LATER: &str = "send the message again in a few minutes";
const LESS: &str = "say \"continue\", ask for less at once, or raise the limit in helix.toml";
const DOCTOR: &str = "run `helix doctor`: it checks the agent";
const WRITABLE: &str = "check that the state directory is writable and not full";

/// The line above an answer after others that are not true any more.
pub const ANSWERING: &str = "Answering";
/// The last line above a turn that failed.
pub const STOPPED: &str = "Stopped with an error";
/// What a tool call without a result shows.
pub const CALL_CUT_OFF: &str = "the turn ended before this call did";
/// A turn whose end nobody hears of.
pub const TURN_LOST: &str =
    "the turn's events ended early; send the message again, and see Helix's log if it happens again";
pub const SHUTTING_DOWN: &str = "Helix is shutting down. The agent goes on with what it has begun: send the same message again after the restart to get that answer";
/// The last line above an answer that a shutdown cut off.
pub const RESTARTS: &str = "Helix is shutting down; the agent goes on";
pub(crate) const ALREADY_ANSWERED: &str = "Already answered; here is the answer";
pub(crate) const SESSION_LOST: &str = "The agent has lost its session; a new one starts with the record of this chat";

const CAUTION: &str = "> [!CAUTION]\n> **Helix:** ";
/// Something is worth knowing.
const NOTE: &str = "> [!NOTE]\n> **Helix:** ";
const IMPORTANT: &str = "> [!IMPORTANT]\n> **Helix:** ";
/// A regular expression for any of the blocks, at the beginning of a line.
pub const BLOCK: &str = r"> \[!(?:CAUTION|NOTE|IMPORTANT)\]\n> \*\*Helix:\*\* .*(?:\n>.*)*\n?";

/// Most findings that the user is shown of an answer that could not be fixed.
const SHOWN_FINDINGS: usize = 5;
/// Most phases of a table.
const SHOWN_PHASES: usize = 40;
/// Longest text in a table, in characters.
const CELL: usize = 80;
/// Longest line of a list, in characters.
const LINE: usize = 300;
/// Longest quotation of a message, in characters.
const QUOTE: usize = 80;

/// The last line above an answer that has nothing else to say: what it took. Whether anything is done, the answer has to prove.
pub fn answered(is_in_order: bool, tools: usize, took: Duration, cost_usd: f64) -> String {
    let first = if is_in_order { "Answered" } else { "Answered; see the note below" };
    let tools = (tools > 0).then(|| count(tools, "tool"));
    let took = (took >= Duration::from_secs(1)).then(|| duration(took.as_secs_f64()));
    // A cent is as much as anybody cares for, but for less than that.
    let cost = (cost_usd > 0.0).then(|| if cost_usd < 0.01 { money(cost_usd) } else { format!("${cost_usd:.2}") });
    let parts: Vec<String> =
        std::iter::once(first.to_owned()).chain([tools, took, cost].into_iter().flatten()).collect();
    parts.join(" · ")
}

/// Above the first answer to a client that does not fill the connection's headers.
pub fn unfilled_headers() -> String {
    let what = "This chat client does not fill the headers of its connection (it sent `{{…}}`): Helix tells chats apart by what is said in them.";
    let remedy = "Use Open WebUI 0.10 or later, or set `ENABLE_FORWARD_USER_INFO_HEADERS=true` there.";
    block(NOTE, [what.to_owned(), remedy.to_owned()])
}

/// Above the first answer in an Open WebUI whose connection has none of the headers.
pub fn no_headers() -> String {
    let what = "This Open WebUI sends Helix none of its headers: Helix tells chats and background requests apart by what is said in them.";
    let remedy = "Run `helix openwebui connect URL` with the address of this page. It sets the headers, and checks that they arrive.";
    block(NOTE, [what.to_owned(), remedy.to_owned()])
}

/// Several answers are not merged into one.
pub fn not_merged() -> String {
    block(NOTE, ["Helix does not merge answers. Ask for what you need in a new message.".to_owned()])
}

/// A turn that waits for others of its conversation.
pub fn queued(ahead: usize) -> String {
    let messages = if ahead == 1 { "message" } else { "messages" };
    format!("Waiting for {ahead} earlier {messages} of this chat")
}

/// A turn whose agent waits to start.
pub fn waits(wait: &Wait) -> String {
    format!("Your message is {wait}")
}

/// What came of a job since, told before the agent answers.
pub(crate) fn since_last_message(job: &JobView) -> String {
    format!("Since your last message, {} {}", job.name, helix_job::phrases::standing(job))
}

pub(crate) fn provider_retry(reason: &str, attempt: u32, max: u32, delay_ms: u64) -> String {
    let seconds = delay_ms as f64 / 1000.0;
    format!("The provider is in trouble ({reason}); try {attempt} of {max} in {seconds:.1} s")
}

pub(crate) fn provider_limit(resets_at: Option<Timestamp>) -> String {
    let ends = resets_at.map(|at| format!("; it ends {}", time(at))).unwrap_or_default();
    format!("The provider's limit is reached{ends}")
}

/// A correction that is asked for: what was found, and which of how many it is.
pub(crate) fn correcting(findings: &[AnswerFinding], number: u32, most: u32) -> String {
    let mut validators: Vec<&str> = findings.iter().map(|one| one.validator.as_str()).collect();
    validators.dedup();
    let (count, validators) = (count(findings.len(), "finding"), validators.join(", "));
    format!(
        "The answer did not pass its checks ({count}: {validators}); asking the agent to fix it, {number} of {most}"
    )
}

/// What one of Helix's own tools does.
pub fn tool(name: &str) -> Option<&'static str> {
    Some(match name {
        "adr_check" => "Check decision",
        "adr_finalize" => "Finalize decision",
        "adr_accept" => "Accept decision",
        "adr_list" => "List decisions",
        "plan_check" => "Check plan",
        "project_create" => "Create project",
        "job_start" => "Start job",
        "job_status" => "Job status",
        "ask_user" => "Ask you",
        "answer" => "Answer the job",
        "similar_failures" => "Similar failures",
        "skills_list" => "List skills",
        "skill_read" => "Read skill",
        _ => return None,
    })
}

/// What a tool of agents does, and what it has done then, to be followed by what with.
pub fn tool_verbs(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "Bash" | "command_execution" => ("Run", "Ran"),
        "Read" => ("Read", "Read"),
        "Write" => ("Write", "Wrote"),
        "Edit" | "MultiEdit" | "NotebookEdit" => ("Edit", "Edited"),
        "file_change" => ("Change files", "Changed files"),
        "Glob" | "Grep" => ("Search for", "Searched for"),
        "WebSearch" | "web_search" => ("Search the web for", "Searched the web for"),
        "WebFetch" => ("Fetch", "Fetched"),
        "Task" | "Agent" => ("Delegate", "Delegated"),
        _ => return None,
    })
}

/// A tool call that failed and says nothing.
pub const CALL_FAILED: &str = "failed";

/// A warning, which chat clients show in colour.
pub fn caution(message: &str, hint: Option<&str>) -> String {
    block(CAUTION, [message].into_iter().chain(hint).map(|text| sentence(&flat(text))))
}

/// Between words that broke off and the same words as a whole.
pub fn said_anew() -> String {
    block(NOTE, ["The connection to the model broke here. The whole answer follows.".to_owned()])
}

/// Below an answer that is longer than Helix keeps.
pub(crate) fn too_long(limit: usize) -> String {
    let mib = limit >> 20;
    block(
        NOTE,
        [format!(
            "The answer is longer than {mib} MiB; the rest of it is not shown. Ask for it in parts, or as a file."
        )],
    )
}

/// While nothing comes from the model.
pub(crate) fn silent(so_far: Duration, limit: Duration) -> String {
    let [so_far, limit] = [so_far, limit].map(|time| match time.as_secs() {
        whole if whole >= 60 && whole % 60 == 0 => format!("{} min", whole / 60),
        _ => duration(time.as_secs_f64()),
    });
    format!("No word from the model for {so_far}; after {limit} of silence Helix stops the agent")
}

/// Below an answer with a link that the reader's browser cannot open: the file's text.
pub fn linked_text(name: &str, text: &str, is_whole: bool) -> String {
    let name = one_line(&name.replace(['<', '>', '`'], " "), QUOTE);
    let fence = fence_for(text);
    let more = if is_whole { "" } else { "\n\nThe rest is not shown." };
    let why = "Helix knows no address under which your browser could open this file: set `public_url` in `[server]` of helix.toml.";
    let folded = format!("<details>\n<summary>{name}</summary>\n\n{fence}\n{text}\n{fence}{more}\n\n</details>");
    block(NOTE, [format!("The text of `{name}`. {why}"), folded])
}

/// Between an answer that did not pass its checks and the one that replaces it.
pub(crate) fn replaced() -> String {
    block(NOTE, ["The answer above did not pass its checks. The answer below replaces it.".to_owned()])
}

/// Above an answer: an earlier one that was finished while nobody read it.
pub(crate) fn unheard(message: &str, answer: &str) -> String {
    let first =
        format!("The answer to your earlier message “{}” did not reach you. Here it is:", one_line(message, QUOTE));
    block(NOTE, [first, answer.trim().to_owned()])
}

/// A finished job: what came of it and where, what proves it, what it took, where to look, and the next step.
pub fn job_over(job: &JobView) -> String {
    let outcome = flat(&helix_job::phrases::outcome(job));
    let changed = job.files_changed.filter(|files| *files > 0).map(|files| format!("{} changed", count(files, "file")));
    let figures = [Some(format!("In `{}`", job.project_path)), changed].into_iter().flatten();
    let figures = figures.chain([duration(job.duration_seconds), money(job.cost)]);
    let id = &job.id;
    let (kind, look, next) = match job.status {
        JobStatus::Failed => (
            CAUTION,
            format!("Details: `helix jobs show {id}`."),
            format!("Next: ask here what to do, or go on with `helix jobs resume {id}`."),
        ),
        _ if job.commit.is_none() => (NOTE, format!("Details: `helix jobs show {id}`."), String::new()),
        _ => (
            NOTE,
            format!("Changes: `helix jobs diff {id}`. Evidence: `helix jobs evidence {id}`."),
            job.proven_decision().map_or_else(String::new, |number| {
                let project = &job.project_path;
                format!(
                    "Next: `helix adr implemented {number}` in `{project}` ticks the criteria that the job has proven."
                )
            }),
        ),
    };
    let first = format!("Job {} {outcome}.", job.name);
    block(kind, [first, figures.collect::<Vec<_>>().join(" · "), job_table(job), look, next])
}

/// A job that goes on when nobody watches it any more.
pub fn job_goes_on(job: &JobView) -> String {
    let last = "It goes on without this page. Ask here for its progress.";
    block(
        NOTE,
        [format!("Job {} {}.", job.name, flat(&helix_job::phrases::standing(job))), job_table(job), last.to_owned()],
    )
}

/// The phases of a job as a table in Markdown.
pub fn job_table(job: &JobView) -> String {
    let rows = job.phases.iter().map(|phase| {
        let gates = phase.gates.iter().map(|gate| {
            let said = Some(gate.summary.trim()).filter(|said| !said.is_empty()).map(|said| format!(" ({said})"));
            one_line(&format!("{} {}{}", sign(&gate.verdict), gate.gate, said.unwrap_or_default()), CELL)
        });
        let verified = phase.review.iter().map(|review| format!("{} verifier", sign(&review.verdict)));
        [
            format!("{} {}", Sign::from(phase.status).symbol(), one_line(&phase.name, CELL)),
            phase.attempt.to_string(),
            gates.chain(verified).collect::<Vec<_>>().join(", "),
            phase.duration_seconds.map(duration).unwrap_or_default(),
            money(phase.cost),
        ]
    });
    let line = |cells: [String; 5]| format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let head = ["Phase", "Attempts", "Gates", "Time", "Cost"].map(str::to_owned);
    let rule = ["---", "--:", "---", "--:", "--:"].map(str::to_owned);
    let lines = [head, rule].into_iter().chain(rows.take(SHOWN_PHASES)).map(line);
    let more = job.phases.len().saturating_sub(SHOWN_PHASES);
    lines.chain((more > 0).then(|| format!("\nand {}", count(more, "more phase")))).collect::<Vec<_>>().join("\n")
}

fn sign(verdict: &Verdict) -> char {
    Sign::from(verdict).symbol()
}

/// How many notes of a job's end as it ended last are in a text.
pub(crate) fn ends_told(text: &str, job: &JobView) -> usize {
    job_over(job).lines().nth(1).map_or(0, |first| text.matches(first).count())
}

/// A job's question.
pub fn job_asks(question: &QuestionView) -> String {
    let options = question.options.iter().map(|one| format!("**{}**: {}", one.key, flat(&one.label)));
    let paragraphs = [
        format!("Job {} waits for you (phase `{}`):", question.job_name, question.phase),
        question.text.trim().to_owned(),
        list(options),
        format!("Answer here in the chat, or with `helix answer {}`.", question.id),
    ];
    block(IMPORTANT, paragraphs)
}

/// What a person would say who chooses an option of a question.
pub fn choice(question: &QuestionView, option: &QuestionOption) -> String {
    match option.key.as_str() {
        APPROVE => "Yes, go ahead.".to_owned(),
        REJECT => "No, do not do that.".to_owned(),
        RETRY => "Try it once more.".to_owned(),
        SKIP => "Skip this phase.".to_owned(),
        FAIL => "End the job.".to_owned(),
        _ if question.kind == QuestionKind::Agent => format!("I choose: {}", sentence(&flat(&option.label))),
        _ => sentence(&flat(&option.label)),
    }
}

/// Below an answer that did not pass its checks, though the agent was asked so often; and why it could not be asked again.
pub(crate) fn not_in_order(findings: &[AnswerFinding], asked: u32, failed: Option<&str>) -> String {
    let times = match asked {
        0 => "the agent was not asked to fix it".to_owned(),
        1 => "the agent was asked once to fix it".to_owned(),
        many => format!("the agent was asked {many} times to fix it"),
    };
    let failed = failed.map(|why| format!(": {}", one_line(why, LINE))).unwrap_or_default();
    let shown = findings.iter().take(SHOWN_FINDINGS).map(|AnswerFinding { validator, finding }| {
        let place = finding.place.as_ref().map(|place| format!("`{place}`: ")).unwrap_or_default();
        format!("{validator}: {}", one_line(&format!("{place}{}", finding.message), LINE))
    });
    let more = findings.len().saturating_sub(SHOWN_FINDINGS);
    let more = (more > 0).then(|| format!("and {more} more"));
    let first = format!("This answer did not pass its checks; {times}{failed}.");
    block(CAUTION, [first, list(shown.chain(more)), "Ask for it again, or ignore it.".to_owned()])
}

/// Below an answer that could not be checked at all.
pub(crate) fn unexamined(why: &str) -> String {
    let remedy = "Make sure that the session's directory is readable; `helix doctor` examines the state directory.";
    block(CAUTION, [format!("This answer could not be checked: {}.", flat(why)), remedy.to_owned()])
}

/// Below an answer of which some of the user's own checks could not be made.
pub(crate) fn unmade(checks: &[String]) -> String {
    let paragraphs = [
        "Some checks of this answer could not be made:".to_owned(),
        list(checks.iter().map(|why| one_line(why, LINE))),
        "See `[consultant] validators` in helix.toml.".to_owned(),
    ];
    block(CAUTION, paragraphs)
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
    format!("{opening}{}", marked.collect::<Vec<_>>().join(">\n> "))
}

fn error(message: impl Into<String>, hint: &str) -> ErrorView {
    ErrorView { message: message.into(), hint: Some(hint.to_owned()) }
}

/// Something of Helix's own that failed.
pub(crate) fn own_failure(cause: &dyn std::error::Error) -> ErrorView {
    error(error_chain(cause), "run `helix doctor`")
}

/// A run that could not be carried out.
pub(crate) fn run_failed(cause: &RunError) -> ErrorView {
    let unknown = matches!(cause, RunError::UnknownAgent { .. });
    let own = "set [consultant] agent in helix.toml to a configured agent";
    error(error_chain(cause), if unknown { own } else { "run `helix doctor`" })
}

pub(crate) fn unreadable_record(cause: impl std::fmt::Display) -> ErrorView {
    error(format!("the session's record cannot be read: {cause}"), "run `helix doctor`: it checks the database")
}

pub(crate) fn no_end() -> ErrorView {
    error("the turn has no end", "send the message again")
}

pub(crate) fn not_noted(cause: impl std::fmt::Display) -> ErrorView {
    error(format!("cannot note the session's project: {cause}"), WRITABLE)
}

pub(crate) fn not_stored(cause: impl std::fmt::Display) -> ErrorView {
    error(format!("cannot store a file of the message: {cause}"), WRITABLE)
}

/// What is wrong with a turn's outcome; `None` if it is an answer.
pub fn of_outcome(outcome: &Outcome) -> Option<ErrorView> {
    let (message, hint): (String, &str) = match outcome {
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) => return None,
        Outcome::TasksLost { tasks } => {
            (format!("the answer is incomplete: {tasks} background task(s) were lost"), GO_ON)
        }
        Outcome::LocalCommand => (
            "the agent read the message as one of its own commands and gave no answer".into(),
            "begin the message with a word instead of a slash",
        ),
        Outcome::Truncated { .. } => ("the answer was cut off before its end".into(), GO_ON),
        Outcome::Incomplete { missing } => (format!("the answer ended without {missing}"), GO_ON),
        Outcome::StoppedByHook => ("one of the agent's hooks stopped the answer".into(), ONCE_MORE),
        Outcome::Interrupted => ("the answer was interrupted from outside".into(), GO_ON),
        Outcome::Cancelled => ("the answer was stopped".into(), "the text so far is kept; say how to continue"),
        Outcome::TimedOut => {
            ("the answer timed out".into(), "say \"continue\", ask for less at once, or raise the time limit")
        }
        Outcome::Stalled => ("the agent was silent for too long and was stopped".into(), GO_ON),
        Outcome::Lost => ("the agent's keeper died".into(), GO_ON),
        Outcome::RateLimited { resets_at: Some(at) } => (
            format!("the provider's usage limit is reached; it ends {}", time(*at)),
            "send the message again after that time",
        ),
        Outcome::RateLimited { resets_at: None } => ("the provider's usage limit is reached".into(), LATER),
        Outcome::Overloaded { http_status: Some(status) } => (format!("the provider failed with HTTP {status}"), LATER),
        Outcome::Overloaded { http_status: None } => ("the provider could not be reached".into(), LATER),
        Outcome::Credentials { billing: true } => (
            "the provider's account has no money left".into(),
            "add credit to the provider's account, then send the message again",
        ),
        Outcome::Credentials { billing: false } => (
            "the provider does not accept Helix's credentials".into(),
            "log in with the agent's own CLI or set its API key in helix.toml, run `helix doctor`, then send the message again",
        ),
        Outcome::ContextOverflow => (
            "the chat has become too long for the model".into(),
            "send the message again: Helix starts a new agent session with the end of this chat",
        ),
        Outcome::LimitReached { limit: LimitKind::Turns } => ("the answer needed more steps than allowed".into(), LESS),
        Outcome::LimitReached { limit: LimitKind::Budget } => ("the answer's budget is used up".into(), LESS),
        Outcome::LimitReached { limit: LimitKind::StructuredOutput } => {
            ("the agent's answer did not have the required format".into(), "send the message again")
        }
        Outcome::Refused => ("the model refused to answer".into(), "word the message differently"),
        Outcome::Unstarted { reason } => (format!("the agent did not start: {}", reason.trim()), DOCTOR),
        Outcome::Misconfigured => ("the agent cannot work as it is configured".into(), DOCTOR),
        Outcome::Failed(Failure::Declared { message, .. }) => {
            (format!("the agent reports: {}", message.trim()), ONCE_MORE)
        }
        Outcome::Failed(Failure::Contradicted { evidence }) => {
            (format!("the agent's record contradicts itself: {evidence}"), ONCE_MORE)
        }
    };
    Some(error(message, hint))
}

/// A time as people read it: how far away, and by the clock of this machine.
fn time(at: Timestamp) -> String {
    time_from(at, Timestamp::now(), &TimeZone::system())
}

fn time_from(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (local, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()).date());
    let clock = local.strftime(if local.date() == today { "at %H:%M" } else { "on %Y-%m-%d at %H:%M" });
    match at.duration_since(now).as_mins() {
        ..1 => clock.to_string(),
        minutes @ 1..120 => format!("in {minutes} min, {clock}"),
        minutes @ 120..2880 => format!("in {} h, {clock}", minutes / 60),
        minutes => format!("in {} days, {clock}", minutes / 1440),
    }
}

#[cfg(test)]
#[path = "phrases_test.rs"]
mod tests;
