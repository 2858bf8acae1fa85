//! A plan written as `phases.yaml` in the modern form, and the writing of single YAML values that it needs.
//!
//! Must not know how plans are read; whatever it writes is read back as the same plan, which a property test proves.

use serde_json::{Map, Value as Json, json};

use helix_core::document::{Entry, Node, Value};

use super::defaults::gates_of_phase;
use super::model::{
    Defaults, GATE_TIMEOUT, GeneratePhases, HEALTH_LIMIT, HEALTH_PAUSE, HEALTH_TIME, HTTP_STATUS, MIN_KILLED,
    OnFailure, PROBE_DELAY, PROBE_RETRIES, PROBE_TIMEOUT, Phase, Plan, Seconds, VERIFY_TIMEOUT,
};

impl Plan {
    /// Writes the plan in the modern form of `phases.yaml`. Values that hold anyway are left out; `defaults` are not
    /// written, because a plan carries them in its phases.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        line(&mut out, 0, "name", &scalar(&self.name));
        if !self.description.is_empty() {
            text(&mut out, 0, "description", &self.description);
        }
        if let Some(adr) = &self.adr {
            line(&mut out, 0, "adr", &scalar(adr));
        }
        if let Some(issue) = &self.issue {
            line(&mut out, 0, "issue", &json!(issue).to_string());
        }
        if let Some(land) = self.land {
            line(&mut out, 0, "land", land.word());
        }
        if let Some(call) = &self.workflow {
            let written = if call.inputs.is_empty() { scalar(&call.name) } else { flow("", &json!(call)) };
            line(&mut out, 0, "workflow", &written);
        }
        if self.phases.is_empty() {
            out.push_str("phases: []\n");
            return out;
        }
        out.push_str("phases:\n");
        for phase in &self.phases {
            write_phase(&mut out, phase);
        }
        out
    }
}

fn write_phase(out: &mut String, phase: &Phase) {
    let Json::Object(mut keys) = without_built_in("phases", json!(phase)) else { return };
    if phase.name == phase.id.as_str() && !phase.description.is_empty() {
        keys.shift_remove("name");
    }
    if has_default_gates(phase) {
        keys.shift_remove("gates");
    }
    for (number, (key, value)) in keys.into_iter().enumerate() {
        out.push_str(if number == 0 { "  - " } else { "    " });
        match (key.as_str(), value) {
            ("description", _) => {
                out.truncate(out.len() - 4);
                text(out, 4, &key, &phase.description);
            }
            ("gates", Json::Array(gates)) if !gates.is_empty() => {
                out.push_str("gates:\n");
                for gate in gates {
                    out.push_str(&format!("      - {}\n", flow("", &gate)));
                }
            }
            (_, value) => line(out, 0, &key, &flow(&key, &value)),
        }
    }
}

/// What holds without being written under a key of the mappings that stand under another key.
fn built_in(place: &str, key: &str) -> Json {
    let limits = Defaults::default();
    match (place, key) {
        ("phases", "description") => json!(""),
        ("phases", "on_failure") => json!(OnFailure::default()),
        ("phases", "optional") | ("gates", "strict") => json!(false),
        ("phases", "depends_on" | "skills" | "inputs" | "outputs")
        | ("gates", "files")
        | ("generates_phases", "gates") => json!([]),
        ("phases" | "defaults", "max_attempts") => json!(limits.max_attempts),
        ("phases" | "defaults", "timeout") => json!(limits.timeout),
        ("verify", "timeout") => json!(VERIFY_TIMEOUT),
        ("gates", "timeout") => json!(GATE_TIMEOUT),
        ("gates", "retries") => json!(PROBE_RETRIES),
        ("gates", "min_killed") => json!(MIN_KILLED),
        ("gates", "delay") => json!(PROBE_DELAY),
        ("probes", "status") => json!(HTTP_STATUS),
        ("probes" | "health", "timeout") => json!(PROBE_TIMEOUT),
        ("health", "every") => json!(HEALTH_PAUSE),
        ("health", "for") => json!(HEALTH_TIME),
        ("health", "limit") => json!(HEALTH_LIMIT),
        ("generates_phases", "template") => json!(GeneratePhases::default_template()),
        ("generates_phases", "defaults") => json!({}),
        _ => Json::Null,
    }
}

/// A value under a key without what holds anyway.
fn without_built_in(place: &str, value: Json) -> Json {
    match value {
        Json::Array(items) => items.into_iter().map(|item| without_built_in(place, item)).collect(),
        Json::Object(keys) => {
            let keys = keys.into_iter().map(|(key, value)| {
                let value = without_built_in(&key, value);
                (key, value)
            });
            let kept: Map<String, Json> =
                keys.filter(|(key, value)| !value.is_null() && *value != built_in(place, key)).collect();
            if place == "verify" && kept.is_empty() { Json::Bool(true) } else { Json::Object(kept) }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}

/// A value in one line; numbers under the keys of time limits are durations.
fn flow(key: &str, value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(truth) => truth.to_string(),
        Json::Number(number) => match (key, number.as_u64()) {
            ("timeout" | "delay" | "every" | "for", Some(seconds)) => {
                Seconds(u32::try_from(seconds).unwrap_or(u32::MAX)).to_string()
            }
            (_, Some(whole)) => whole.to_string(),
            (_, None) => number.as_f64().unwrap_or_default().to_string(),
        },
        Json::String(text) => scalar(text),
        // One command line of several is written without a list.
        Json::Array(items) if matches!(key, "command" | "rollback") && items.len() == 1 => flow("", &items[0]),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| flow("", item)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(keys) => {
            // What a workflow calls its inputs says nothing about their values.
            let known = |name| if key == "inputs" { "" } else { name };
            let parts: Vec<String> =
                keys.iter().map(|(name, value)| format!("{}: {}", scalar(name), flow(known(name), value))).collect();
            mapping(&parts)
        }
    }
}

/// Whether the phase has the gates that it would have without `gates`.
fn has_default_gates(phase: &Phase) -> bool {
    let outputs = !phase.outputs.is_empty();
    let gates = phase.kind.useful_default_gates(outputs);
    phase.kind.own_gate().is_none() && phase.gates == gates_of_phase(gates, outputs)
}

fn line(out: &mut String, indent: usize, key: &str, value: &str) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(key);
    out.push_str(": ");
    out.push_str(value);
    out.push('\n');
}

fn mapping(parts: &[String]) -> String {
    if parts.is_empty() { "{}".into() } else { format!("{{ {} }}", parts.join(", ")) }
}

/// Writes a text of several lines as a block where a block keeps every character, else in one line.
fn text(out: &mut String, indent: usize, key: &str, value: &str) {
    let body = value.strip_suffix('\n');
    let lines: Vec<&str> = body.unwrap_or(value).split('\n').collect();
    let block = lines.len() > 1
        && value.chars().all(|character| character == '\n' || is_printable(character))
        && lines.iter().all(|line| line.is_empty() || !line.trim_matches(' ').is_empty())
        && lines.first().is_some_and(|line| !line.is_empty() && !line.starts_with(' '))
        && lines.last().is_some_and(|line| !line.is_empty());
    if !block {
        line(out, indent, key, &scalar(value));
        return;
    }
    line(out, indent, key, if body.is_some() { "|" } else { "|-" });
    for part in lines {
        if !part.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent + 2));
            out.push_str(part);
        }
        out.push('\n');
    }
}

/// A text as a YAML scalar that reads as text everywhere: without quotes only where nothing else could be meant.
pub(super) fn scalar(text: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b' ');
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if text.bytes().all(harmless)
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && !word
    {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if is_printable(character) => out.push(character),
            _ => out.push_str(&format!("\\U{:08X}", u32::from(character))),
        }
    }
    out.push('"');
    out
}

/// Characters that stand for themselves in YAML whatever the version: no control, no other line break, no byte order mark.
fn is_printable(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A node in one line, as messages show it.
pub(super) fn node_text(node: &Node) -> String {
    match &node.value {
        Value::Scalar(value) if node.as_bool().is_some() || node.as_number().is_some() => value.text.clone(),
        Value::Scalar(_) if node.is_null() => String::new(),
        Value::Scalar(value) => scalar(&value.text),
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(node_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(entries) => {
            let parts: Vec<String> = entries.iter().map(entry_text).collect();
            mapping(&parts)
        }
    }
}

/// A key with its value in one line.
pub(super) fn entry_text(entry: &Entry) -> String {
    format!("{}: {}", scalar(&entry.key), node_text(&entry.value))
}
