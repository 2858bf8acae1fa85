//! Reads tools' own diagnostics that come as one JSON object or XML element a line, as the text that they stand for.
//!
//! Must not know the rules; it only says which text a record stands for, or that it tells of no failure.

use serde_json::Value;

/// What a record stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A diagnostic whose text decides.
    Diagnostic(String),
    /// Text of no special weight.
    Text(String),
    /// The last word of an agent, about a failure.
    AgentResult(String),
    /// The last word of an agent that sees no failure.
    AgentContent,
    /// An event of an agent's stream.
    AgentEvent,
    /// A record that tells of no failure.
    Noise,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Reads a line that may be a record.
pub(super) fn read(line: &str) -> Option<Record> {
    if line.starts_with("<failure") || line.starts_with("<error") {
        return Some(junit(line));
    }
    if !line.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    if value.get("reason").is_some() || value.get("$message_type").is_some() {
        return Some(rustc(value.get("message").filter(|message| message.is_object()).unwrap_or(&value)));
    }
    if let Some(action) = value.get("Action").and_then(Value::as_str) {
        let output = text(&value, "Output").trim();
        return Some(if action.ends_with("output") { Record::Text(output.into()) } else { Record::Noise });
    }
    if value.get("severity").is_some() && value.get("file").is_some() {
        return Some(if text(&value, "severity") == "error" {
            let line = value.get("line").and_then(Value::as_u64).unwrap_or_default();
            let (file, message, code) = (text(&value, "file"), text(&value, "message"), text(&value, "code"));
            Record::Diagnostic(format!("{file}:{line}: error: {message}  [{code}]"))
        } else {
            Record::Noise
        });
    }
    by_type(value.get("type").and_then(Value::as_str)?, &value)
}

fn by_type(kind: &str, value: &Value) -> Option<Record> {
    let event = value.get("event").and_then(Value::as_str);
    match kind {
        "result" => Some(agent_result(value)),
        "turn.failed" => Some(Record::AgentResult(text(value.get("error")?, "message").into())),
        "error" if value.get("message").is_some() => Some(Record::AgentResult(text(value, "message").into())),
        "error" => None,
        "test" if event == Some("failed") => {
            let output = text(value, "stdout");
            let mut lines = output.lines().skip_while(|line| !line.contains("panicked at"));
            let panic = lines.next().unwrap_or_default();
            Some(Record::Diagnostic(lines.next().unwrap_or(panic).trim().into()))
        }
        "test" | "suite" if event.is_some() => Some(Record::Noise),
        "system" | "assistant" | "user" | "stream_event" | "rate_limit_event" | "event_msg" | "response_item" => {
            Some(Record::AgentEvent)
        }
        _ if kind.starts_with("item.") || kind.starts_with("thread.") || kind.starts_with("turn.") => {
            Some(Record::AgentEvent)
        }
        _ => None,
    }
}

fn agent_result(value: &Value) -> Record {
    let count = |key| value.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let (subtype, stop, denials) = (text(value, "subtype"), text(value, "stop_reason"), count("permission_denials"));
    let failed = value.get("is_error").and_then(Value::as_bool).unwrap_or(false) || subtype.starts_with("error");
    let status = value.get("api_error_status").and_then(Value::as_u64).map(|status| status.to_string());
    if !failed && denials == 0 && stop != "refusal" {
        return Record::AgentContent;
    }
    // What an agent says in a turn that did not fail is its answer, not a diagnostic.
    let said = if failed { text(value, "result") } else { "" };
    let errors = value.get("errors").map(ToString::to_string).unwrap_or_default();
    let status = status.unwrap_or_default();
    Record::AgentResult(format!(
        "agent-result subtype={subtype} status={status} stop={stop} denials={denials}: {said} {errors}"
    ))
}

fn rustc(message: &Value) -> Record {
    if text(message, "level") != "error" {
        return Record::Noise;
    }
    let code = message.get("code").map(|code| text(code, "code")).filter(|code| !code.is_empty());
    let message = text(message, "message");
    Record::Diagnostic(match code {
        Some(code) if code.starts_with('E') => format!("error[{code}]: {message}"),
        Some(_) => format!("error: unused or denied: {message}"),
        None => format!("error: {message}"),
    })
}

fn junit(line: &str) -> Record {
    let attribute = |name: &str| {
        let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
        let rest = line.get(start..)?;
        let value = rest.get(..rest.find('"')?)?;
        Some(
            value
                .replace("&quot;", "\"")
                .replace("&apos;", "'")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        )
    };
    let message = attribute("message").unwrap_or_default();
    let first = message.lines().next().unwrap_or_default();
    match attribute("type") {
        Some(kind) if !first.contains(&kind) => Record::Diagnostic(format!("{kind}: {first}")),
        Some(_) | None => Record::Diagnostic(first.to_owned()),
    }
}

#[cfg(test)]
#[path = "json_line_test.rs"]
mod tests;
