//! What runs amounted to, in words. Must not know what follows from it.

use helix_core::run::{AgentErrorKind, Failure, Outcome};

use crate::language::Language;
use crate::problem;
use crate::view::ErrorView;

/// What a run amounted to, and what a person can do about what cannot be fixed by trying again.
pub fn described(language: Language, outcome: &Outcome) -> ErrorView {
    match outcome {
        Outcome::Completed(_) => problem!(language, "run-completed"),
        Outcome::CompletedWithDenials(done) => problem!(language, "run-denials", denials = done.denials()),
        Outcome::TasksLost { tasks } => problem!(language, "run-tasks-lost", tasks = *tasks),
        Outcome::LocalCommand => problem!(language, "run-local-command"),
        Outcome::Truncated { evidence } => problem!(language, "run-truncated", evidence = evidence),
        Outcome::NoRecord => problem!(language, "run-no-record"),
        Outcome::Incomplete { missing } => problem!(language, "run-incomplete", missing = missing),
        Outcome::StoppedByHook => problem!(language, "run-stopped-by-hook"),
        Outcome::Interrupted => problem!(language, "run-interrupted"),
        Outcome::Cancelled => problem!(language, "run-cancelled"),
        Outcome::TimedOut => problem!(language, "run-timed-out"),
        Outcome::Stalled => problem!(language, "run-stalled"),
        Outcome::Stuck { call: Some(call) } => {
            let (times, tool, input) = (call.times, &call.tool, one_line(&call.input));
            problem!(language, "run-stuck", times = times, tool = tool, input = input)
        }
        Outcome::Stuck { call: None } => problem!(language, "run-stuck-somehow"),
        Outcome::Lost => problem!(language, "run-lost"),
        Outcome::RateLimited { resets_at: Some(at) } => problem!(language, "run-limited-until", at = at.to_string()),
        Outcome::RateLimited { resets_at: None } => problem!(language, "run-limited"),
        Outcome::Overloaded { http_status: Some(status) } => problem!(language, "run-overloaded", status = *status),
        Outcome::Overloaded { http_status: None } => problem!(language, "run-unreachable"),
        Outcome::Credentials { billing: true } => problem!(language, "run-no-money"),
        Outcome::Credentials { billing: false } => problem!(language, "run-credentials"),
        Outcome::ContextOverflow => problem!(language, "run-context"),
        Outcome::LimitReached { limit } => {
            problem!(language, "run-limit", limit = format!("{limit:?}").to_lowercase())
        }
        Outcome::Refused => problem!(language, "run-refused"),
        Outcome::Unstarted { reason } => problem!(language, "run-unstarted", reason = reason.trim()),
        Outcome::Misconfigured => problem!(language, "run-misconfigured"),
        Outcome::Failed(Failure::Declared { message, error }) => match error {
            Some(AgentErrorKind::ModelNotFound) => problem!(language, "run-no-model", message = message),
            Some(AgentErrorKind::InvalidRequest) => problem!(language, "run-bad-request", message = message),
            Some(_) | None => problem!(language, "run-declared", message = message),
        },
        Outcome::Failed(Failure::Contradicted { evidence }) => {
            problem!(language, "run-contradicted", evidence = evidence)
        }
    }
}

/// The beginning of a text, in one line.
fn one_line(text: &str) -> String {
    const SHOWN: usize = 100;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// What a run amounted to, for the record and for agents.
pub fn describe(outcome: &Outcome) -> String {
    described(Language::English, outcome).message
}

/// What a person can do about it, for the record.
pub fn remedy(outcome: &Outcome) -> Option<String> {
    described(Language::English, outcome).hint
}
