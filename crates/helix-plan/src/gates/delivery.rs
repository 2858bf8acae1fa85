//! Gates that act outside of the repository, as plans write them.
//!
//! Must not know how a command is run or a probe is made.

use std::collections::BTreeMap;
use std::ops::Range;

use helix_core::document::{FieldReader, Fields, FromNode, Node, Placed, TableOf, Text};

use super::{command_line, number};
use crate::codes;
use crate::model::{
    Delivery, GATE_TIMEOUT, HEALTH_LIMIT, HEALTH_PAUSE, HEALTH_TIME, HTTP_STATUS, Health, PROBE_DELAY, PROBE_RETRIES,
    PROBE_TIMEOUT, Probe, Seconds,
};
use crate::source::TimeLimit;

/// Most attempts of a probe: with the shortest pause that is a quarter of an hour.
const MAX_RETRIES: u32 = 1000;

/// Reads the parameters of a gate that delivers.
pub(super) fn read(fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) -> Option<Delivery> {
    let before = reader.problems.len();
    let command = commands(fields, "command", reader);
    let probes = fields.take::<Vec<Probe>>("probes", reader);
    let timeout = seconds(fields, "timeout", GATE_TIMEOUT, reader);
    let retries = number(fields, ("retries", "a number"), 0..=MAX_RETRIES, PROBE_RETRIES, reader).unwrap_or_default();
    let delay = seconds(fields, "delay", PROBE_DELAY, reader);
    let environment = environment(fields, reader);
    let pass_env = pass_env(fields, &environment, reader);
    let target = fields.take::<Text>("target", reader).map(|target| target.value);
    let health = fields.take::<Health>("health", reader).map(|health| health.value);
    let rollback = commands(fields, "rollback", reader);
    let probes: Vec<Probe> =
        probes.map(|list| list.value.into_iter().map(|probe| probe.value).collect()).unwrap_or_default();
    // What was unreadable has been reported; here it is about what nobody wrote.
    if command.is_empty() && probes.is_empty() && reader.problems.len() == before {
        let help = "add what to run (`command`) or what to check (`probes`)";
        reader.error(codes::MISSING_KEY, &fields.head(), "the gate has neither `command` nor `probes`", help);
    }
    if command.is_empty() && !rollback.is_empty() && reader.problems.len() == before {
        let help = "add what is delivered (`command`), or remove `rollback`";
        reader.error(codes::MISSING_KEY, &fields.head(), "the gate has `rollback` and no `command` to take back", help);
    }
    // A list that a workflow's input leaves empty asks for no check.
    let health = health.filter(|health| !health.command.is_empty());
    (reader.problems.len() == before).then_some(Delivery {
        command,
        probes,
        timeout,
        retries,
        delay,
        environment,
        pass_env,
        target,
        health,
        rollback,
    })
}

fn seconds(fields: &mut Fields<'_>, key: &'static str, otherwise: Seconds, reader: &mut FieldReader<'_>) -> Seconds {
    fields.take::<TimeLimit>(key, reader).map_or(otherwise, |seconds| seconds.value)
}

impl FromNode for Health {
    type Value = Self;
    fn from_node(node: &Node, _: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let mut fields = reader.open(node, "`health`")?;
        if node.get("command").is_none() {
            let help = "add what exits 0 as long as it is healthy, such as `command: ./healthy.sh`";
            reader.error(codes::MISSING_KEY, &fields.head(), "`health` has no `command`", help);
        }
        let health = Self {
            command: commands(&mut fields, "command", reader),
            every: seconds(&mut fields, "every", HEALTH_PAUSE, reader),
            time: seconds(&mut fields, "for", HEALTH_TIME, reader),
            limit: number(&mut fields, ("limit", "a number"), 1..=MAX_RETRIES, HEALTH_LIMIT, reader)
                .unwrap_or_default(),
            timeout: seconds(&mut fields, "timeout", PROBE_TIMEOUT, reader),
        };
        fields.finish(reader);
        Some(health)
    }
}

/// One command line or a list of them.
fn commands(fields: &mut Fields<'_>, key: &'static str, reader: &mut FieldReader<'_>) -> Vec<String> {
    let Some(entry) = fields.entry(key) else { return Vec::new() };
    let read = entry.value.items().iter().filter_map(|item| {
        let written = String::from_node(item, &format!("`{key}`"), reader)?;
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
        let is_written = |key: &&str| node.get(key).is_some_and(|entry| !entry.value.is_null());
        let written: Vec<&'static str> = kinds.into_iter().filter(is_written).collect();
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
    seconds(fields, "timeout", PROBE_TIMEOUT, reader)
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
