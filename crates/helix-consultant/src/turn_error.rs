//! What went wrong with an answer, and what the person in the chat can do about it.
//!
//! Must not know jobs or phases: nobody in a chat has one to retry.

use helix_core::run::{Failure, LimitKind, Outcome};
use helix_job::ErrorView;
use jiff::Timestamp;

/// What to do where what was written so far may be gone on from.
const GO_ON: &str = "the text so far is kept: say \"continue\", or send the message again";
const ONCE_MORE: &str = "send the message again; if it fails again, run `helix doctor`";
const LATER: &str = "send the message again in a few minutes";
const LESS: &str = "say \"continue\", ask for less at once, or raise the limit in helix.toml";
const DOCTOR: &str = "run `helix doctor`: it checks the agent";

/// What is wrong with a turn's outcome; `None` if it is an answer.
pub(super) fn of_outcome(outcome: &Outcome) -> Option<ErrorView> {
    let (message, hint): (String, &str) = match outcome {
        Outcome::Completed(_) | Outcome::CompletedWithDenials(_) => return None,
        Outcome::TasksLost { tasks } => {
            (format!("the answer is incomplete: {tasks} background task(s) were lost"), GO_ON)
        }
        Outcome::LocalCommand => (
            "the agent read the message as one of its own commands and gave no answer".into(),
            "begin the message with a word instead of a slash",
        ),
        Outcome::Truncated { evidence } => (format!("the answer was cut off ({evidence})"), GO_ON),
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
            format!("the provider's usage limit is reached until {}", time(*at)),
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
    Some(ErrorView { message, hint: Some(hint.into()) })
}

/// A time as people read it, to the minute.
pub(super) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
#[path = "turn_error_test.rs"]
mod tests;
