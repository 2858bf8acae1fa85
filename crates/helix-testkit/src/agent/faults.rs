//! Carries out the faults that write, wait or die.
//!
//! Must not know the order in which an act is played.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Signal, getpid, kill_process};

use super::output::Output;
use super::records::{ApiError, Ending};
use super::script::{AgentFault, AgentFaultKind};

/// Waits so many seconds.
pub(crate) fn pause(seconds: f64) {
    std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
}

/// Waits until a signal ends the process.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// Ends the process as the kernel's out-of-memory killer does.
pub(crate) fn kill_self() -> ! {
    // If this fails, hanging is the next best way to be noticed.
    let _sent = kill_process(getpid(), Signal::KILL);
    hang()
}

/// Leaves a child behind that no polite signal reaches.
pub(crate) fn orphan(fault: &AgentFault) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| format!("own executable: {error}"))?;
    let seconds = fault.seconds.unwrap_or(600.0).to_string();
    let seconds = seconds.split('.').next().unwrap_or("600");
    let mut command = Command::new(own);
    command.arg("--fake-orphan").arg(seconds).args(fault.path.as_deref());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|error| format!("orphan: {error}"))
}

/// Writes many lines, each a valid record.
pub(crate) fn flood(output: &Output, fault: &AgentFault, session: &str) {
    let (lines, bytes) = (fault.lines.unwrap_or(10_000), fault.bytes.unwrap_or(200));
    paced(output, lines, fault.per_second, |number, buffer| {
        let head = format!(r#"{{"type":"system","subtype":"informational","content":"{number} "#);
        let tail = format!(
            r#"","level":"notice","session_id":"{session}","uuid":"{number:08x}-0000-4000-9000-000000000000"}}"#
        );
        buffer.push_str(&head);
        buffer.extend(std::iter::repeat_n('x', bytes.saturating_sub(head.len() + tail.len() + 1)));
        buffer.push_str(&tail);
        buffer.push('\n');
    });
}

/// Writes so many lines at a rate, each in a write of its own, or as fast as possible.
pub(crate) fn paced(output: &Output, lines: u64, per_second: Option<f64>, append_line: impl Fn(u64, &mut String)) {
    let mut buffer = String::with_capacity(128 * 1024);
    let start = Instant::now();
    for number in 0..lines {
        if let Some(rate) = per_second {
            let due = Duration::try_from_secs_f64(number as f64 / rate).unwrap_or_default();
            std::thread::sleep(due.saturating_sub(start.elapsed()));
        }
        append_line(number, &mut buffer);
        if per_second.is_some() || buffer.len() >= 64 * 1024 {
            output.raw(buffer.as_bytes());
            buffer.clear();
        }
    }
    output.raw(buffer.as_bytes());
}

/// Writes one very long record.
pub(crate) fn huge_line(output: &Output, fault: &AgentFault, record: impl FnOnce(String) -> String) {
    let bytes = fault.bytes.unwrap_or(10_000_000);
    output.line(&record("y".repeat(bytes)));
}

/// Seconds since the epoch, so many seconds from now.
pub(crate) fn in_seconds(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() + seconds
}

/// The API error that a fault amounts to, and the name of the retries that precede it.
pub(crate) fn api_error(fault: &AgentFault) -> Option<(ApiError, Option<&'static str>)> {
    let error = |status, name, api_type, text: &str, terminal_reason| ApiError {
        status,
        name,
        api_type,
        text: fault.text.clone().unwrap_or_else(|| text.to_owned()),
        terminal_reason,
    };
    match fault.kind {
        AgentFaultKind::RateLimited => Some((
            error(
                Some(429),
                "rate_limit",
                "rate_limit_error",
                "API Error: Request rejected (429) · This request would exceed your rate limit",
                "api_error",
            ),
            Some("rate_limit"),
        )),
        AgentFaultKind::Overloaded => Some((
            error(Some(529), "server_error", "overloaded_error", "API Error: 529 Overloaded.", "api_error"),
            Some("overloaded"),
        )),
        AgentFaultKind::Credentials => Some((
            error(
                Some(401),
                "authentication_failed",
                "authentication_error",
                "Invalid API key · Fix external API key",
                "api_error",
            ),
            None,
        )),
        AgentFaultKind::ContextOverflow => Some((
            error(Some(400), "invalid_request", "invalid_request_error", "Prompt is too long", "prompt_too_long"),
            None,
        )),
        _ => None,
    }
}

/// The result of a run that a limit ended.
pub(crate) fn limit(kind: AgentFaultKind, detail: &str, mut ending: Ending) -> Ending {
    let (subtype, reason, message) = match kind {
        AgentFaultKind::MaxBudget => {
            ("error_max_budget_usd", "budget_exhausted", format!("Reached maximum budget (${detail})"))
        }
        _ => ("error_max_turns", "max_turns", format!("Reached maximum number of turns ({detail})")),
    };
    ending.subtype = subtype;
    ending.terminal_reason = reason;
    ending.errors = vec![message];
    ending.is_error = true;
    ending.stop_reason = serde_json::json!("tool_use");
    ending.result = None;
    ending.structured = None;
    ending
}
