//! A plan written as `phases.yaml` in the modern form, and the writing of single YAML values that it needs.
//!
//! Must not know how plans are read; whatever it writes is read back as the same plan, which a property test proves.

use helix_core::yaml::{Entry, Node, Value};

use super::delivery::{Delivery, HTTP_STATUS, PROBE_DELAY, PROBE_RETRIES, PROBE_TIMEOUT, Probe};
use super::gates::GATE_TIMEOUT;
use super::model::{Approval, Defaults, GateSpec, GeneratePhases, OnFailure, Phase, Plan, Seconds, Verify};
use super::parse::VERIFY_TIMEOUT;
use super::words::{APPROVALS, ON_FAILURE, gates_of_phase};
use super::workflow::{InputValue, WorkflowCall};

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
        if let Some(workflow) = &self.workflow {
            line(&mut out, 0, "workflow", &workflow_text(workflow));
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

fn workflow_text(call: &WorkflowCall) -> String {
    if call.inputs.is_empty() {
        return scalar(&call.name);
    }
    let value = |value: &InputValue| match value {
        InputValue::Flag(flag) => flag.to_string(),
        InputValue::Number(number) => number.to_string(),
        InputValue::Text(text) => scalar(text),
        InputValue::List(list) => sequence(list),
    };
    let inputs: Vec<String> =
        call.inputs.iter().map(|(name, given)| format!("{}: {}", scalar(name), value(given))).collect();
    mapping(&[format!("name: {}", scalar(&call.name)), format!("inputs: {}", mapping(&inputs))])
}

fn write_phase(out: &mut String, phase: &Phase) {
    let built_in = Defaults::default();
    out.push_str("  - ");
    line(out, 0, "id", &scalar(phase.id.as_str()));
    if phase.name != phase.id.as_str() || phase.description.is_empty() {
        line(out, 4, "name", &scalar(&phase.name));
    }
    line(out, 4, "type", phase.kind.word());
    if !phase.description.is_empty() {
        text(out, 4, "description", &phase.description);
    }
    let depends_on: Vec<&str> = phase.depends_on.iter().map(|id| id.as_str()).collect();
    list(out, "depends_on", &depends_on);
    list(out, "skills", &phase.skills);
    list(out, "inputs", &phase.inputs);
    list(out, "outputs", &phase.outputs);
    if !has_default_gates(phase) {
        if phase.gates.is_empty() {
            line(out, 4, "gates", "[]");
        } else {
            out.push_str("    gates:\n");
            for gate in &phase.gates {
                out.push_str("      - ");
                out.push_str(&gate_text(gate));
                out.push('\n');
            }
        }
    }
    if let Some(verify) = &phase.verify {
        line(out, 4, "verify", &verify_text(verify));
    }
    if let Some(approval) = phase.approval {
        line(out, 4, "approval", approval_word(approval));
    }
    if phase.on_failure != OnFailure::default() {
        line(out, 4, "on_failure", on_failure_word(phase.on_failure));
    }
    if phase.optional {
        line(out, 4, "optional", "true");
    }
    if let Some(generates) = &phase.generates_phases {
        line(out, 4, "generates_phases", &generates_text(generates));
    }
    for (key, value) in [("agent", &phase.agent), ("model", &phase.model)] {
        if let Some(value) = value {
            line(out, 4, key, &scalar(value));
        }
    }
    if phase.max_attempts != built_in.max_attempts {
        line(out, 4, "max_attempts", &phase.max_attempts.to_string());
    }
    if phase.timeout != built_in.timeout {
        line(out, 4, "timeout", &phase.timeout.to_string());
    }
    if let Some(budget) = phase.budget_usd {
        line(out, 4, "budget_usd", &budget.to_string());
    }
    if let Some(turns) = phase.max_turns {
        line(out, 4, "max_turns", &turns.to_string());
    }
}

fn verify_text(verify: &Verify) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(verify.model.as_ref().map(|model| format!("model: {}", scalar(model))));
    if verify.timeout != VERIFY_TIMEOUT {
        parts.push(format!("timeout: {}", verify.timeout));
    }
    if parts.is_empty() { "true".to_owned() } else { mapping(&parts) }
}

fn generates_text(generates: &GeneratePhases) -> String {
    let mut parts = vec![format!("min: {}", generates.min), format!("max: {}", generates.max)];
    if generates.template != GeneratePhases::default_template() {
        parts.push(format!("template: {}", generates.template.word()));
    }
    if !generates.gates.is_empty() {
        let gates: Vec<String> = generates.gates.iter().map(gate_text).collect();
        parts.push(format!("gates: [{}]", gates.join(", ")));
    }
    parts.extend(generates.verify.as_ref().map(|verify| format!("verify: {}", verify_text(verify))));
    let (own, built_in) = (&generates.defaults, Defaults::default());
    let mut limits: Vec<String> = Vec::new();
    limits.extend(own.agent.as_ref().map(|agent| format!("agent: {}", scalar(agent))));
    limits.extend(own.model.as_ref().map(|model| format!("model: {}", scalar(model))));
    if own.max_attempts != built_in.max_attempts {
        limits.push(format!("max_attempts: {}", own.max_attempts));
    }
    if own.timeout != built_in.timeout {
        limits.push(format!("timeout: {}", own.timeout));
    }
    limits.extend(own.budget_usd.map(|budget| format!("budget_usd: {budget}")));
    limits.extend(own.max_turns.map(|turns| format!("max_turns: {turns}")));
    if !limits.is_empty() {
        parts.push(format!("defaults: {}", mapping(&limits)));
    }
    mapping(&parts)
}

/// Whether the phase has the gates that it would have without `gates`.
fn has_default_gates(phase: &Phase) -> bool {
    let default = phase.kind.default_gates();
    let outputs = !phase.outputs.is_empty();
    let gates = default.gates.iter().filter(|gate| outputs || !gate.needs_outputs()).map(|gate| gate.spec()).collect();
    default.own.is_none() && phase.gates == gates_of_phase(gates, outputs)
}

fn gate_text(gate: &GateSpec) -> String {
    let mut parts = vec![format!("type: {}", gate.name())];
    match gate {
        GateSpec::FilesExist { files }
        | GateSpec::SyntaxCheck { files }
        | GateSpec::AdrValid { files }
        | GateSpec::AdrComplete { files }
        | GateSpec::ConflictsResolved { files } => {
            if !files.is_empty() {
                parts.push(format!("files: {}", sequence(files)));
            }
        }
        GateSpec::OutputsClaimed { strict } => {
            if *strict {
                parts.push("strict: true".into());
            }
        }
        GateSpec::TestsPass { command, timeout }
        | GateSpec::LintPass { command, timeout }
        | GateSpec::BuildPass { command, timeout }
        | GateSpec::Command { command, timeout } => {
            parts.push(format!("command: {}", scalar(command)));
            if *timeout != GATE_TIMEOUT {
                parts.push(format!("timeout: {timeout}"));
            }
        }
        GateSpec::DeploySuccess(delivery) | GateSpec::IntegrationPass(delivery) => {
            parts.extend(delivery_parts(delivery));
        }
        GateSpec::DocsRefsValid {} | GateSpec::CriteriaCovered {} => {}
        GateSpec::ReviewApproved { model } => {
            parts.extend(model.as_ref().map(|model| format!("model: {}", scalar(model))))
        }
        GateSpec::Approval { question } | GateSpec::Manual { question } => {
            parts.extend(question.as_ref().map(|question| format!("question: {}", scalar(question))));
        }
    }
    mapping(&parts)
}

/// What of a delivery is not as it would be without being written.
fn delivery_parts(delivery: &Delivery) -> Vec<String> {
    let mut parts = Vec::new();
    match delivery.command.as_slice() {
        [] => {}
        [one] => parts.push(format!("command: {}", scalar(one))),
        several => parts.push(format!("command: {}", sequence(several))),
    }
    let limit = |limit: Seconds| (limit != PROBE_TIMEOUT).then(|| format!("timeout: {limit}"));
    let probes: Vec<String> = delivery
        .probes
        .iter()
        .map(|probe| {
            let mut parts = match probe {
                Probe::Http { http, status, contains, .. } => {
                    let mut parts = vec![format!("http: {}", scalar(http))];
                    parts.extend((*status != HTTP_STATUS).then(|| format!("status: {status}")));
                    parts.extend(contains.as_ref().map(|text| format!("contains: {}", scalar(text))));
                    parts
                }
                Probe::Tcp { tcp, .. } => vec![format!("tcp: {}", scalar(tcp))],
                Probe::Command { command, .. } => vec![format!("command: {}", scalar(command))],
            };
            parts.extend(limit(probe.timeout()));
            mapping(&parts)
        })
        .collect();
    parts.extend((!probes.is_empty()).then(|| format!("probes: [{}]", probes.join(", "))));
    parts.extend((delivery.timeout != GATE_TIMEOUT).then(|| format!("timeout: {}", delivery.timeout)));
    parts.extend((delivery.retries != PROBE_RETRIES).then(|| format!("retries: {}", delivery.retries)));
    parts.extend((delivery.delay != PROBE_DELAY).then(|| format!("delay: {}", delivery.delay)));
    let variables: Vec<String> =
        delivery.environment.iter().map(|(name, value)| format!("{name}: {}", scalar(value))).collect();
    parts.extend((!variables.is_empty()).then(|| format!("environment: {}", mapping(&variables))));
    parts.extend((!delivery.pass_env.is_empty()).then(|| format!("pass_env: {}", sequence(&delivery.pass_env))));
    parts
}

fn approval_word(approval: Approval) -> &'static str {
    APPROVALS.iter().find(|(_, value)| *value == approval).map_or("before", |(word, _)| word)
}

fn on_failure_word(policy: OnFailure) -> &'static str {
    ON_FAILURE.iter().find(|(_, value)| *value == policy).map_or("escalate", |(word, _)| word)
}

fn line(out: &mut String, indent: usize, key: &str, value: &str) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(key);
    out.push_str(": ");
    out.push_str(value);
    out.push('\n');
}

fn list<T: AsRef<str>>(out: &mut String, key: &str, items: &[T]) {
    if !items.is_empty() {
        line(out, 4, key, &sequence(items));
    }
}

fn sequence<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| scalar(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
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
