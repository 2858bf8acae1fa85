//! What the structured observation alone says: who ended it, status, signal, HTTP status, the memory controller.
//!
//! Must not read text.

use super::cause::*;
use super::observation::{FailureObservation, Termination};
use super::rules::agents::AGENTS;

/// Weight of the shell's status for what exists and does not run: rights, a format, a list of arguments that is too long.
pub(super) const CANNOT_RUN: i32 = 66;

/// Weight of Helix's own check: above every text, below a deadline that has passed.
const OWN_CHECK: i32 = 145;

/// One thing that a fact says.
#[derive(Debug, Clone)]
pub(super) struct FactFinding {
    /// The fact, such as `exit=127`.
    pub(super) fact: String,
    pub(super) cause: &'static Cause,
    pub(super) score: i32,
}

/// Whether the tool talks to a model.
pub(super) fn is_agent(observation: &FailureObservation) -> bool {
    AGENTS.contains(&observation.tool.as_str()) || observation.phase == "agent"
}

/// All that the facts say, in no order.
pub(super) fn findings(observation: &FailureObservation) -> Vec<FactFinding> {
    let mut found = Vec::new();
    let mut add = |fact: String, cause: &'static Cause, score: i32| found.push(FactFinding { fact, cause, score });
    // Helix knows what it looked for: whatever its words remind of, nothing else has failed.
    if let Some(cause) = observation.own_cause {
        add(format!("check={}", cause.slug), cause, OWN_CHECK);
    }
    if observation.deadline_passed {
        add("deadline passed".into(), &DEADLINE, 160);
    }
    if observation.oom_kills > 0 {
        add(format!("oom_kills={}", observation.oom_kills), &OOM_KILL, 155);
    }
    if let Some(status) = observation.http_status
        && let Some((cause, score)) = http(status, is_agent(observation))
    {
        add(format!("http_status={status}"), cause, score);
    }
    let api = observation.api_error_type.as_deref();
    let known = [("rate_limit_error", &RATE_LIMITED), ("overloaded_error", &OVERLOADED), ("api_error", &HTTP_5XX)];
    for (kind, cause) in known.into_iter().filter(|(kind, _)| api == Some(kind)) {
        add(format!("api_error_type={kind}"), cause, 126);
    }
    match observation.termination {
        Termination::Cancelled => add("cancelled".into(), &CANCELLED, 158),
        Termination::NotStarted { errno: 2 } => add("errno=2 at start".into(), &MISSING_COMMAND, 150),
        Termination::NotStarted { errno } => add(format!("errno={errno} at start"), &PERMISSION_DENIED, 120),
        Termination::Exited { .. } | Termination::Signaled { .. } | Termination::Unknown => {}
    }
    if let Some(status) = observation.shell_status()
        && let Some((cause, score)) = shell(status, &observation.tool, &observation.phase)
    {
        let fact = match observation.termination {
            Termination::Signaled { signal } => format!("signal={signal}"),
            _ => format!("exit={status}"),
        };
        add(fact, cause, score);
    }
    found
}

/// Statuses of the model's API weigh more: there the client passes on the answer that ended it.
fn http(status: u16, agent: bool) -> Option<(&'static Cause, i32)> {
    let (cause, score) = match status {
        401 | 407 => (&AUTH_INVALID, 95),
        402 => (&CREDIT, 96),
        403 => (&AUTH_FORBIDDEN, 93),
        404 | 410 if agent => (&MODEL_NOT_FOUND, 92),
        404 | 410 => (&MISSING_PACKAGE, 60),
        408 => (&REMOTE_DEADLINE, 90),
        413 => (&CONTEXT_TOO_LONG, 94),
        429 => (&RATE_LIMITED, 94),
        529 => (&OVERLOADED, 97),
        500.. => (&HTTP_5XX, 92),
        400..500 => (&API_INVALID, 60),
        _ => return None,
    };
    Some((cause, if agent { score + 29 } else { score }))
}

/// Statuses by convention of the shell, of signals, and of the tools whose status says more than their words.
fn shell(status: i32, tool: &str, phase: &str) -> Option<(&'static Cause, i32)> {
    Some(match (tool, status) {
        // Only for memory does the daemon kill what builds an image, out of the supervisor's sight.
        ("docker" | "podman" | "kubectl", 137) if phase == "build" => (&OOM_KILL, 118),
        ("pytest", 5) => (&NO_TESTS, 85),
        ("timeout", 137) => (&DEADLINE, 119),
        (_, 124) => (&DEADLINE, 100),
        (_, 126) => (&PERMISSION_DENIED, CANNOT_RUN),
        (_, 127) => (&MISSING_COMMAND, 82),
        (_, 130) => (&CANCELLED, 150),
        (_, 129 | 137 | 143) => (&KILLED, 118),
        (_, 152) => (&DEADLINE, 118),
        (_, 153) => (&FILE_SIZE, 118),
        (_, 132 | 135 | 136 | 139) => (&RUNTIME_EXCEPTION, 64),
        (_, 134) => (&RUNTIME_EXCEPTION, 40),
        _ => return None,
    })
}
