//! What runs amounted to, in words. Must not know what follows from it.

use helix_core::run::{AgentErrorKind, Failure, LimitKind, Outcome};
use helix_language::{ErrorView, Language, recorded};

use helix_core::said::{Said, Words};
use helix_core::text::one_line;

/// Longest input of a repeated call that is shown, in characters.
const INPUT: usize = 100;

/// A message with its attribute `hint`, for the record.
macro_rules! said {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        Said { message: recorded!($id $(, $name = $value)*), hint: Words::message(concat!($id, ".hint"), []) }
    };
}

/// What a run amounted to, and what a person can do about what cannot be fixed by trying again.
pub fn outcome_words(outcome: &Outcome) -> Said {
    match outcome {
        Outcome::Completed(_) => said!("run-completed"),
        Outcome::CompletedWithDenials(done) => said!("run-denials", denials = done.denials()),
        Outcome::TasksLost { tasks } => said!("run-tasks-lost", tasks = *tasks),
        Outcome::LocalCommand => said!("run-local-command"),
        Outcome::Truncated { evidence } => said!("run-truncated", evidence = evidence),
        Outcome::NoRecord => said!("run-no-record"),
        Outcome::Incomplete { missing } => said!("run-incomplete", missing = missing),
        Outcome::StoppedByHook => said!("run-stopped-by-hook"),
        Outcome::Interrupted => said!("run-interrupted"),
        Outcome::Cancelled => said!("run-cancelled"),
        Outcome::TimedOut => said!("run-timed-out"),
        Outcome::Stalled => said!("run-stalled"),
        Outcome::Stuck { call: Some(call) } => {
            said!("run-stuck", times = call.times, tool = &call.tool, input = one_line(&call.input, INPUT))
        }
        Outcome::Stuck { call: None } => said!("run-stuck-somehow"),
        Outcome::Lost => said!("run-lost"),
        Outcome::RateLimited { resets_at: Some(at) } => said!("run-limited-until", at = *at),
        Outcome::RateLimited { resets_at: None } => said!("run-limited"),
        Outcome::Overloaded { http_status: Some(status), .. } => said!("run-overloaded", status = *status),
        Outcome::Overloaded { http_status: None, .. } => said!("run-unreachable"),
        Outcome::Credentials { billing: true } => said!("run-no-money"),
        Outcome::Credentials { billing: false } => said!("run-credentials"),
        Outcome::ContextOverflow => said!("run-context"),
        Outcome::LimitReached { limit: LimitKind::Turns } => said!("run-max-turns"),
        Outcome::LimitReached { limit: LimitKind::Budget } => said!("run-max-budget"),
        Outcome::LimitReached { limit: LimitKind::StructuredOutput } => said!("run-no-form"),
        Outcome::Refused => said!("run-refused"),
        Outcome::Unstarted { reason } => said!("run-unstarted", reason = reason),
        Outcome::Misconfigured => said!("run-misconfigured"),
        Outcome::Failed(Failure::Declared { message, error }) => match error {
            Some(AgentErrorKind::ModelNotFound) => said!("run-no-model", message = message),
            Some(AgentErrorKind::TooLarge) => said!("run-too-large", message = message),
            Some(AgentErrorKind::InvalidRequest) => said!("run-bad-request", message = message),
            Some(_) | None => said!("run-declared", message = message),
        },
        Outcome::Failed(Failure::Contradicted { evidence }) => {
            said!("run-contradicted", evidence = evidence)
        }
    }
}

/// The same in a language.
pub fn described(language: Language, outcome: &Outcome) -> ErrorView {
    let Said { message, hint } = outcome_words(outcome);
    let hint = Some(language.words(&hint)).filter(|hint| !hint.is_empty());
    ErrorView { message: language.words(&message), hint, said: None }
}

/// What a run amounted to, for the record and for agents.
pub fn describe(outcome: &Outcome) -> String {
    described(Language::English, outcome).message
}

/// What a person can do about it, for the record.
pub fn remedy(outcome: &Outcome) -> Option<String> {
    described(Language::English, outcome).hint
}
