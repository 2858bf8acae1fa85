//! What a command that fails where a job starts did not find: a database that nobody has started, a registry that gives no answer, files
//! of a submodule or of Git LFS that the user has not fetched.
//!
//! Must not take a failure of the work for one: what the output says of a service counts only where nobody listens there, and the
//! repository or its settings name it. In doubt nothing is missing: a job that fails is better than honest work that cannot start.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use helix_core::finding::{Fault, FaultKind};
use helix_git::EntryKind;
use helix_language::{fault, recorded};
use helix_process::bounded::read_bytes_beneath;
use helix_project::survey::COMPOSE_FILES;
use helix_workspace::unreached_registry;

use super::GateContext;
use super::baseline::Baseline;
use super::judgement::{Trouble, last_part};

/// How services are called that people have at these ports.
const KNOWN: [(u16, &str); 10] = [
    (1433, "SQL Server"),
    (3306, "MySQL"),
    (5432, "PostgreSQL"),
    (5672, "RabbitMQ"),
    (6379, "Redis"),
    (9042, "Cassandra"),
    (9092, "Kafka"),
    (9200, "Elasticsearch"),
    (11211, "Memcached"),
    (27017, "MongoDB"),
];

/// Databases and queues by the schemes of their addresses.
const SCHEMES: [(&str, &str); 9] = [
    ("postgres", "PostgreSQL"),
    ("postgresql", "PostgreSQL"),
    ("mysql", "MySQL"),
    ("mariadb", "MariaDB"),
    ("redis", "Redis"),
    ("rediss", "Redis"),
    ("amqp", "RabbitMQ"),
    ("amqps", "RabbitMQ"),
    ("mongodb", "MongoDB"),
];

/// How systems and drivers say, in lower case, that nobody listens.
const REFUSED: [&str; 4] =
    ["connection refused", "econnrefused", "can't connect to mysql server", "can't reach database server"];

/// Variables that say where the project itself listens.
const OWN_PORTS: [&str; 5] = ["PORT", "APP_PORT", "HTTP_PORT", "SERVER_PORT", "WEB_PORT"];

/// How long a service has to take a connection.
const ANSWER: Duration = Duration::from_millis(500);
/// A pointer of Git LFS is shorter, in bytes.
const MAX_POINTER: u64 = 1024;
/// Largest file of settings that is read, in bytes.
const MOST: u64 = 1 << 20;

/// Why the command fails, if that is what it could not reach.
pub(crate) fn unmet(
    context: &GateContext,
    line: &str,
    output: &str,
    baseline: &Baseline,
) -> Result<Option<Fault>, Trouble> {
    let (said, some_work) = said(output, baseline);
    if let Some(host) = unreached_registry(&said, context.environment.iter()) {
        let message = recorded!("gate-registry-unreached", command = line, host = host);
        return Ok(Some(fault(FaultKind::Environment, message)));
    }
    if let Some(absent) = absent(context, line, &said)? {
        return Ok(Some(absent));
    }
    let refused = Refused::by(&said, some_work);
    if refused.is_none() {
        return Ok(None);
    }
    let services = Services::of(context)?;
    let suspects = refused.suspects(&services);
    let Some((port, name)) = suspects.into_iter().find(|(port, _)| !listens(*port)) else { return Ok(None) };
    let service = services.composed.get(&port);
    let port = port.to_string();
    let message = match service {
        Some(service) => {
            recorded!("gate-service-composed", command = line, name = name, port = port, service = service)
        }
        None => recorded!("gate-service-down", command = line, name = name, port = port),
    };
    Ok(Some(fault(FaultKind::Environment, message)))
}

/// What is said of what was not found, and whether tests pass: then only what those say that fail, since anything else may be noise.
fn said<'o>(output: &'o str, baseline: &Baseline) -> (Cow<'o, str>, bool) {
    match baseline.run.as_ref().filter(|run| run.counts.passed > 0) {
        Some(run) => {
            let evidence: Vec<&str> = run.failures.iter().map(|failure| failure.evidence.as_str()).collect();
            (evidence.join("\n").into(), true)
        }
        None => (output.into(), false),
    }
}

/// What a run says of connections to this machine that were refused.
#[derive(Debug, Default)]
struct Refused {
    /// Ports that stand in the same line.
    ports: BTreeSet<u16>,
    /// Whether a line says it without any address, and nothing works.
    everywhere: bool,
}

impl Refused {
    /// Where a test passes all the same, a port has to stand with it.
    fn by(said: &str, some_work: bool) -> Self {
        let mut all = Self::default();
        for line in said.lines().map(str::to_lowercase) {
            if REFUSED.iter().any(|words| line.contains(words)) {
                let ports = ports_in(&line);
                all.everywhere |= ports.is_empty() && !some_work;
                all.ports.extend(ports);
            }
        }
        all
    }

    fn is_none(&self) -> bool {
        self.ports.is_empty() && !self.everywhere
    }

    /// The services that may be meant, with their names.
    fn suspects(&self, services: &Services) -> Vec<(u16, String)> {
        let set = services.set.keys().filter(|_| self.everywhere);
        let ports = self.ports.iter().chain(set);
        ports.filter_map(|port| Some((*port, services.name(*port)?))).collect()
    }
}

/// Where services of others are on this machine, as far as the repository and its settings say it.
#[derive(Debug, Default)]
struct Services {
    /// By a compose file that starts images of others.
    composed: BTreeMap<u16, String>,
    /// By the addresses of databases in copied settings.
    set: BTreeMap<u16, &'static str>,
    /// Where the project itself listens.
    own: BTreeSet<u16>,
}

impl Services {
    fn of(context: &GateContext) -> Result<Self, Trouble> {
        let mut services = Self::default();
        let files = context.files()?;
        let is_file = |name: &str| files.get(name).is_some_and(|entry| entry.kind.is_file());
        if let Some(file) = COMPOSE_FILES.iter().find(|name| is_file(name)) {
            services.add_composed(&context.text(&files, file)?.unwrap_or_default());
        }
        let users = &context.users_tree;
        for file in context.spaces.ignored_by_user(users, &context.workspace.copy)?.iter().take(20) {
            if let Ok(text) = read_bytes_beneath(users, &users.join(file), MOST) {
                services.add_settings(&String::from_utf8_lossy(&text));
            }
        }
        Ok(services)
    }

    /// What people call the service at a port; `None` where it is the project's own, or nothing says that there is one.
    fn name(&self, port: u16) -> Option<String> {
        let (set, composed) = (self.set.get(&port).copied(), self.composed.get(&port));
        let is_others = (set.is_some() || composed.is_some()) && !self.own.contains(&port);
        let known = KNOWN.iter().find(|(known, _)| *known == port).map(|(_, name)| *name);
        let name = known.or(set).map(str::to_owned).or_else(|| Some(format!("`{}`", composed?)));
        name.filter(|_| is_others)
    }

    /// Services of a compose file: what is built is the project's own. Their names become part of a command: others than Docker takes are
    /// none.
    fn add_composed(&mut self, compose: &str) {
        let compose: serde_json::Value = serde_saphyr::from_str(compose).unwrap_or_default();
        let is_name = |name: &str| {
            name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-'))
        };
        let services = compose["services"].as_object().into_iter().flatten();
        for (name, service) in services.filter(|(name, _)| is_name(name)) {
            for port in service["ports"].as_array().into_iter().flatten().filter_map(host_port) {
                if service["build"].is_null() {
                    self.composed.insert(port, name.clone());
                } else {
                    self.own.insert(port);
                }
            }
        }
    }

    /// Addresses of databases, such as `DATABASE_URL=postgres://user@localhost:5432/app`, and the port of the project itself: `PORT=3000`.
    fn add_settings(&mut self, text: &str) {
        let lines = text.lines().map(|line| line.trim().trim_start_matches("export "));
        for (name, value) in lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')) {
            let (name, value) = (name.trim(), value.trim().trim_matches(['"', '\'']).to_lowercase());
            if OWN_PORTS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                self.own.extend(number(&value));
            }
            let address = value.strip_prefix("jdbc:").unwrap_or(&value);
            let Some((scheme, rest)) = address.split_once("://") else { continue };
            // `postgresql+asyncpg://`: the driver makes no other service of it.
            let known = SCHEMES.iter().find(|(known, _)| scheme.split('+').next() == Some(*known));
            if let Some((_, name)) = known {
                self.set.extend(ports_in(rest).into_iter().map(|port| (port, *name)));
            }
        }
    }
}

/// A submodule or a file of Git LFS that the end of an output names, and that is not in the checkout.
fn absent(context: &GateContext, line: &str, said: &str) -> Result<Option<Fault>, Trouble> {
    let (files, top) = (context.files()?, context.spaces.gate_directory(&context.job));
    let last = last_part(said);
    let is_named = |path: &str| named_in(last, path, &top);
    let mut submodules = files.iter().filter(|(path, entry)| entry.kind == EntryKind::Submodule && is_named(path));
    let is_empty = |path: &str| std::fs::read_dir(top.join(path)).is_ok_and(|mut entries| entries.next().is_none());
    if let Some((path, _)) = submodules.find(|(path, _)| is_empty(path)) {
        let message = recorded!("gate-submodule-absent", command = line, path = path);
        return Ok(Some(fault(FaultKind::Environment, message)));
    }
    let is_pointer = |path: &str| {
        let text = read_bytes_beneath(&top, &top.join(path), MAX_POINTER).unwrap_or_default();
        text.starts_with(b"version https://git-lfs.github.com/spec/")
    };
    let mut pointers = files.iter().filter(|(path, entry)| entry.kind.is_file() && is_named(path));
    let found = pointers.find(|(path, _)| is_pointer(path));
    Ok(found.map(|(path, _)| fault(FaultKind::Environment, recorded!("gate-lfs-absent", command = line, path = path))))
}

/// Whether a text names a path of the checkout as a whole: relative to its root, or with the whole path of the root before it. A word
/// alone is no path.
fn named_in(text: &str, path: &str, root: &Path) -> bool {
    let of_path =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '\\' | '~' | '@' | '+');
    let root = format!("{}/", root.display());
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + path.len()..]);
        let rooted = [&root, "./"].into_iter().find_map(|root| before.strip_suffix(root));
        let begins = !rooted.unwrap_or(before).ends_with(of_path);
        // What ends a sentence ends no path.
        let rest = after.strip_prefix('.').unwrap_or(after);
        let ends = after.starts_with('/') || !rest.starts_with(of_path);
        begins && ends && (path.contains(['/', '.']) || after.starts_with('/') || rooted.is_some())
    })
}

/// Ports of this machine that a line names.
fn ports_in(line: &str) -> Vec<u16> {
    let hosts = ["localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0"];
    let after = |word: &str, between: &str| {
        let starts = line.match_indices(word).map(|(at, _)| &line[at + word.len()..]);
        starts.filter_map(|rest| number(rest.strip_prefix(between)?)).collect::<Vec<_>>()
    };
    let mut found: Vec<u16> = hosts.iter().flat_map(|host| after(host, ":")).collect();
    if hosts.iter().any(|host| line.contains(host)) {
        found.extend(after("port", " "));
    }
    found
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<u16> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok().filter(|port| *port > 0)
}

fn listens(port: u16) -> bool {
    let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    addresses.into_iter().any(|address| TcpStream::connect_timeout(&SocketAddr::new(address, port), ANSWER).is_ok())
}

/// `"5432:5432"`, `"127.0.0.1:5433:5432"`, `"${DB_PORT:-5434}:5432"`, `{ published: 5432, target: 5432 }`.
fn host_port(port: &serde_json::Value) -> Option<u16> {
    if let Some(published) = port.get("published") {
        return published.as_u64().and_then(|port| u16::try_from(port).ok()).or_else(|| number(published.as_str()?));
    }
    let (outside, _) = port.as_str()?.rsplit_once(':')?;
    let last = outside.trim_end_matches('}').rsplit([':', '-']).next()?;
    number(last)
}

#[cfg(test)]
#[path = "unmet_test.rs"]
mod tests;
