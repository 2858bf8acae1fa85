//! What a `deploy_success` or `integration_pass` gate does outside of the repository: commands that are run once, and probes
//! of what they brought about.
//!
//! Must not know how a command is run or a probe is made.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::document::{FieldReader, Fields, FromNode, Node, Placed, TableOf, Text, Value};

use super::codes;
use super::gates::{GATE_TIMEOUT, command_line};
use super::model::Seconds;
use super::source::TimeLimit;

/// Time limit of one try of a probe that names none.
pub const PROBE_TIMEOUT: Seconds = Seconds(10);
/// How often a probe is tried again that names no number: what was just started needs a moment.
pub const PROBE_RETRIES: u32 = 5;
/// The pause before that.
pub const PROBE_DELAY: Seconds = Seconds(3);
/// What an HTTP probe expects that names no status.
pub const HTTP_STATUS: u32 = 200;
/// Most tries of a probe: with the shortest pause that is a quarter of an hour.
const MAX_RETRIES: u32 = 1000;

/// Commands and probes of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// Command lines, run once each, in order, in one clean checkout; a text or a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Checks after the commands, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// Time limit of each command.
    pub timeout: Seconds,
    /// Retries of a failed probe (default: 5); commands are never retried.
    pub retries: u32,
    /// Pause before a retry (default: 3s).
    pub delay: Seconds,
    /// Variables of the commands, besides those of every gate's command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Variables that the commands get from the host's environment, such as tokens; their values are never recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

/// One look at what a delivery has brought about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Probe {
    /// A GET request is answered as expected; redirects are not followed. Made with `curl`.
    Http {
        /// The address, `http://` or `https://`.
        http: String,
        /// The status that is expected (default: 200).
        status: u32,
        /// Text that the answer has to contain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
    /// Somebody accepts a connection.
    Tcp {
        /// Host and port, such as `localhost:5432` or `[::1]:5432`.
        tcp: String,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
    /// A command exits 0 in the checkout.
    Command {
        /// As for `tests_pass`.
        command: String,
        /// Time limit of one attempt (default: 10s).
        timeout: Seconds,
    },
}

impl Probe {
    /// The probe in a few words, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Http { http, .. } => format!("GET {http}"),
            Self::Tcp { tcp, .. } => format!("connect to {tcp}"),
            Self::Command { command, .. } => format!("`{command}`"),
        }
    }

    /// Time limit of one try.
    pub fn timeout(&self) -> Seconds {
        match self {
            Self::Http { timeout, .. } | Self::Tcp { timeout, .. } | Self::Command { timeout, .. } => *timeout,
        }
    }
}

impl Delivery {
    /// A delivery of one command, with the built-in values.
    pub fn of_command(command: impl Into<String>) -> Self {
        Self {
            command: vec![command.into()],
            probes: Vec::new(),
            timeout: GATE_TIMEOUT,
            retries: PROBE_RETRIES,
            delay: PROBE_DELAY,
            environment: BTreeMap::new(),
            pass_env: Vec::new(),
        }
    }

    /// All command lines: those that act, then those of probes.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let of_probes = self.probes.iter().filter_map(|probe| match probe {
            Probe::Command { command, .. } => Some(command.as_str()),
            Probe::Http { .. } | Probe::Tcp { .. } => None,
        });
        self.command.iter().map(String::as_str).chain(of_probes)
    }

    /// What is done and looked at, in a few words for people and prompts.
    pub fn words(&self) -> String {
        let commands = self.command.iter().map(|command| format!("`{command}` exits 0"));
        let probes = self.probes.iter().map(|probe| match probe {
            Probe::Http { status, contains, .. } => {
                let says = contains.as_ref().map(|text| format!(" containing {text:?}")).unwrap_or_default();
                format!("{} returns {status}{says}", probe.words())
            }
            Probe::Tcp { tcp, .. } => format!("{tcp} accepts connections"),
            Probe::Command { .. } => format!("{} exits 0", probe.words()),
        });
        commands.chain(probes).collect::<Vec<_>>().join(", ")
    }
}

/// Reads the parameters of a gate that delivers.
pub(super) fn read(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<Delivery> {
    let before = reader.problems.len();
    let command = commands(fields, reader);
    let probes = fields.take::<Vec<Probe>>("probes", reader);
    let seconds = |fields: &mut Fields<'_>, key, otherwise, reader: &mut FieldReader<'_>| {
        fields.take::<TimeLimit>(key, reader).map_or(otherwise, |seconds| seconds.value)
    };
    let timeout = seconds(fields, "timeout", GATE_TIMEOUT, reader);
    let retries = fields.take::<u32>("retries", reader);
    if let Some(retries) = retries.as_ref().filter(|retries| retries.value > MAX_RETRIES) {
        let message = format!("`retries` is {}", retries.value);
        reader.error(codes::OUT_OF_RANGE, &retries.range, message, format!("write at most {MAX_RETRIES}"));
    }
    let delay = seconds(fields, "delay", PROBE_DELAY, reader);
    let environment = environment(fields, reader);
    let pass_env = pass_env(fields, &environment, reader);
    let probes: Vec<Probe> =
        probes.map(|list| list.value.into_iter().map(|probe| probe.value).collect()).unwrap_or_default();
    // What was unreadable has been reported; here it is about what nobody wrote.
    if command.is_empty() && probes.is_empty() && reader.problems.len() == before {
        let help = "add what to run (`command`) or what to check (`probes`)";
        reader.error(codes::MISSING_KEY, &fields.head(), "the gate has neither `command` nor `probes`", help);
    }
    (reader.problems.len() == before).then(|| Delivery {
        command,
        probes,
        timeout,
        retries: retries.map_or(PROBE_RETRIES, |retries| retries.value),
        delay,
        environment,
        pass_env,
    })
}

/// One command line or a list of them.
fn commands(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Vec<String> {
    let Some(entry) = fields.entry("command") else { return Vec::new() };
    let items = match &entry.value.value {
        Value::Sequence(items) => items.iter().collect(),
        Value::Scalar(_) | Value::Mapping(_) => vec![&entry.value],
    };
    let read = items.into_iter().filter_map(|item| {
        let written = String::from_node(item, "`command`", reader)?;
        command_line(Placed::new(written, item.range.clone()), reader)
    });
    read.collect()
}

fn environment(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> BTreeMap<String, String> {
    let written = fields.take::<TableOf<String>>("environment", reader).map(|table| table.value).unwrap_or_default();
    let good = written.into_iter().filter(|(name, _)| is_variable(&name.value, &name.range, reader));
    good.map(|(name, value)| (name.value, value.value)).collect()
}

fn pass_env(
    fields: &mut Fields<'_>,
    environment: &BTreeMap<String, String>,
    reader: &mut FieldReader<'_>,
) -> Vec<String> {
    let Some(listed) = fields.take::<Vec<String>>("pass_env", reader) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for name in listed.value {
        if !is_variable(&name.value, &name.range, reader) {
            continue;
        }
        if environment.contains_key(&name.value) || names.contains(&name.value) {
            let message = format!("the variable `{}` is set twice", name.value);
            reader.error(codes::DUPLICATE_VALUE, &name.range, message, "remove one of them");
            continue;
        }
        names.push(name.value);
    }
    names
}

/// Whether a name can be that of a variable; a problem is reported. Helix's own tell its processes apart.
fn is_variable(name: &str, range: &Range<usize>, reader: &mut FieldReader<'_>) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let good = starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !good || name.starts_with("HELIX_") {
        let message = format!("{name:?} cannot be the name of a variable here");
        let help = "letters, digits and `_`, not beginning with a digit or with `HELIX_`";
        reader.error(codes::OUT_OF_RANGE, range, message, help);
        return false;
    }
    true
}

impl FromNode for Probe {
    type Value = Self;
    fn from_node(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let mut fields = reader.open(node, "a probe")?;
        let kinds = ["http", "tcp", "command"];
        let written: Vec<&'static str> = match &node.value {
            Value::Mapping(entries) => {
                let has = |key: &&str| entries.iter().any(|entry| &*entry.key == *key && !entry.value.is_null());
                kinds.into_iter().filter(|key| has(key)).collect()
            }
            Value::Scalar(_) | Value::Sequence(_) => Vec::new(),
        };
        let probe = match written.as_slice() {
            ["http"] => http(&mut fields, reader),
            ["tcp"] => {
                let tcp = fields.require::<Text>("tcp", "add host and port", reader);
                let timeout = timeout(&mut fields, reader);
                tcp.and_then(|tcp| address(tcp, reader)).map(|tcp| Self::Tcp { tcp, timeout })
            }
            ["command"] => {
                let command = fields.require::<Text>("command", "add the command", reader);
                let timeout = timeout(&mut fields, reader);
                command
                    .and_then(|command| command_line(command, reader))
                    .map(|command| Self::Command { command, timeout })
            }
            _ => {
                let help = "write one of `http: URL`, `tcp: HOST:PORT`, `command: LINE`";
                let message = "a probe has exactly one of `http`, `tcp` and `command`";
                reader.error(codes::BAD_PROBE, &fields.head(), message, help);
                return None;
            }
        };
        fields.finish(reader);
        probe
    }
}

fn timeout(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Seconds {
    fields.take::<TimeLimit>("timeout", reader).map_or(PROBE_TIMEOUT, |timeout| timeout.value)
}

fn http(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<Probe> {
    let url = fields.require::<Text>("http", "add the URL, such as https://example.org/health", reader);
    let status = fields.take::<u32>("status", reader);
    let contains = fields.take::<Text>("contains", reader).map(|contains| contains.value);
    let timeout = timeout(fields, reader);
    if let Some(status) = status.as_ref().filter(|status| !(100..=599).contains(&status.value)) {
        let message = format!("{} is not an HTTP status", status.value);
        reader.error(codes::OUT_OF_RANGE, &status.range, message, "write a number from 100 to 599");
        return None;
    }
    let url = url?;
    let host = ["http://", "https://"].iter().find_map(|scheme| url.value.strip_prefix(scheme));
    let whole = url.value.chars().all(|character| character.is_ascii_graphic());
    if !whole || host.is_none_or(|rest| rest.is_empty() || rest.starts_with(['/', ':', '?', '#'])) {
        let message = format!("{:?} is not an HTTP URL", url.value);
        let help = "write a full URL, such as https://example.org/health, with spaces as %20";
        reader.error(codes::BAD_PROBE, &url.range, message, help);
        return None;
    }
    Some(Probe::Http { http: url.value, status: status.map_or(HTTP_STATUS, |status| status.value), contains, timeout })
}

fn address(tcp: Placed<String>, reader: &mut FieldReader<'_>) -> Option<String> {
    let good = tcp.value.rsplit_once(':').is_some_and(|(host, port)| {
        let plain = !host.contains(':') || (host.starts_with('[') && host.ends_with(']'));
        !host.is_empty() && plain && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if good && !tcp.value.contains(char::is_whitespace) {
        return Some(tcp.value);
    }
    let message = format!("{:?} is not a host and port", tcp.value);
    reader.error(codes::BAD_PROBE, &tcp.range, message, "write them as localhost:5432 or [::1]:5432");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_in_the_journal_reads_back_as_it_was() {
        let mut delivery = Delivery::of_command("./deploy test");
        delivery.probes = vec![
            Probe::Http { http: "https://a/".into(), status: 204, contains: None, timeout: Seconds(1) },
            Probe::Tcp { tcp: "a:1".into(), timeout: Seconds(2) },
            Probe::Command { command: "./smoke".into(), timeout: Seconds(3) },
        ];
        delivery.environment.insert("TARGET".into(), "test".into());
        let text = serde_json::to_string(&super::super::GateSpec::DeploySuccess(delivery.clone())).unwrap();
        let back: super::super::GateSpec = serde_json::from_str(&text).unwrap();
        assert_eq!(back, super::super::GateSpec::DeploySuccess(delivery), "{text}");
    }
}
