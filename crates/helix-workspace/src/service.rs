//! What runs beside an agent or a command of a gate: started within its walls before it, ended with it.
//!
//! Must not outlive what it was started for, nor keep a port for anybody: each run has its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use helix_plan::split_words;
use helix_process::{end_of_file, end_with_parent};
use serde::{Deserialize, Serialize};

use super::settings::{Service, Workspace};

/// Variable with what is to be started; what runs then does not get it.
pub const SERVICES: &str = helix_process::SERVICES_VARIABLE;

/// As a shell ends that does not find a program: gates know it as trouble of their surroundings, not as an answer.
const NOT_READY: u8 = 127;
/// How often a service is asked whether it is ready.
const ASK: Duration = Duration::from_millis(100);
/// Most that is shown of what a service printed, in bytes.
const SHOWN: u64 = 2 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Beside {
    services: BTreeMap<String, Service>,
    env: BTreeMap<String, String>,
}

type Variables = BTreeMap<String, String>;

impl Beside {
    /// Variables that get a port.
    fn ports(&self) -> impl Iterator<Item = &String> {
        self.services.values().filter_map(|service| service.port.as_ref())
    }
}

impl Workspace {
    /// What runs beside each program in a work place, for [`services_main`]; `None` where that is nothing.
    pub fn beside(&self) -> Option<String> {
        let beside = Beside { services: self.services.clone(), env: self.env.clone() };
        // Texts and numbers can always be written.
        serde_json::to_string(&beside).ok().filter(|_| !self.services.is_empty())
    }
}

/// Starts services, waits until they are ready, and becomes the program: its name, its path, its arguments.
pub fn services_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match start(arguments) {
        Ok(never) => match never {},
        Err(why) => {
            // Nobody is left to be told if it cannot be written.
            drop(writeln!(std::io::stderr(), "helix: {why}"));
            ExitCode::from(NOT_READY)
        }
    }
}

fn start(mut arguments: impl Iterator<Item = OsString>) -> Result<std::convert::Infallible, String> {
    let text = std::env::var(SERVICES).map_err(|_| "no services are named".to_owned())?;
    let beside: Beside = serde_json::from_str(&text).map_err(|error| format!("services cannot be read: {error}"))?;
    let (Some(name), Some(program)) = (arguments.next(), arguments.next()) else { return Err("no program".into()) };
    let variables = variables(&beside)?;
    let mut started = Vec::new();
    for (name, service) in &beside.services {
        started.push((name, service, Running::start(name, service, &beside, &variables)?));
    }
    for (name, service, running) in &mut started {
        running.wait(name, service, &beside, &variables)?;
    }
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).env_remove(SERVICES).envs(&variables);
    Err(format!("the program cannot be started: {}", command.exec()))
}

/// Ports of services, and the variables of the workspace with those filled in.
fn variables(beside: &Beside) -> Result<BTreeMap<String, String>, String> {
    // All are held until all are known, so that none is given twice.
    let mut held = Vec::new();
    let mut variables = BTreeMap::new();
    for variable in beside.ports() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
        let port = listener.local_addr().map_err(|error| format!("no free port: {error}"))?.port();
        held.push(listener);
        variables.insert(variable.clone(), port.to_string());
    }
    let filled: Vec<(String, String)> =
        beside.env.iter().map(|(name, value)| (name.clone(), expand(value, &variables))).collect();
    variables.extend(filled);
    Ok(variables)
}

/// A text with `${NAME}` filled in; one that nobody knows stays as it is.
fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    variables.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}

struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    fn start(name: &str, service: &Service, beside: &Beside, variables: &Variables) -> Result<Self, String> {
        let log = std::env::temp_dir().join(format!("helix-service-{name}.log"));
        let failed = |why: String| format!("the service `{name}` cannot be started: {why}");
        let output = File::create(&log).map_err(|error| failed(error.to_string()))?;
        let errors = output.try_clone().map_err(|error| failed(error.to_string()))?;
        let mut command = words(&service.command, beside, variables).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors).env_remove(SERVICES);
        let child = end_with_parent(&mut command).spawn().map_err(|error| failed(error.to_string()))?;
        Ok(Self { child, log })
    }

    fn wait(&mut self, name: &str, service: &Service, beside: &Beside, variables: &Variables) -> Result<(), String> {
        let limit = Duration::from_secs(service.timeout_seconds);
        let started = Instant::now();
        let failed = |log: &PathBuf, why: String| {
            let said = end_of_file(log, SHOWN).unwrap_or_default();
            let said = if said.trim().is_empty() { "it printed nothing".to_owned() } else { said };
            format!("{}\nhelix: the service `{name}` {why}", said.trim_end())
        };
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(failed(&self.log, format!("ended before it was ready ({status})")));
            }
            if is_ready(service, beside, variables).map_err(|why| failed(&self.log, why))? {
                return Ok(());
            }
            if started.elapsed() > limit {
                return Err(failed(&self.log, format!("was not ready within {} s", limit.as_secs())));
            }
            std::thread::sleep(ASK);
        }
    }
}

fn is_ready(service: &Service, beside: &Beside, variables: &Variables) -> Result<bool, String> {
    if let Some(ready) = &service.ready {
        let mut command = words(ready, beside, variables)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).env_remove(SERVICES);
        let asked = command.status().map_err(|error| format!("has a `ready` that cannot be started: {error}"))?;
        return Ok(asked.success());
    }
    let port = service.port.as_ref().and_then(|name| variables.get(name)).and_then(|port| port.parse().ok());
    let Some(port) = port else { return Ok(true) };
    Ok(TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), ASK).is_ok())
}

/// A command with ports filled in; they are numbers, so that they need no quotes.
fn words(command: &str, beside: &Beside, variables: &Variables) -> Result<Command, String> {
    let ports = beside.ports().filter_map(|port| Some((port.clone(), variables.get(port)?.clone()))).collect();
    let words = split_words(&expand(command, &ports)).map_err(|error| error.to_string())?;
    let mut words = words.into_iter();
    let program = words.next().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(words).envs(variables);
    Ok(command)
}

#[cfg(test)]
#[path = "service_test.rs"]
mod tests;
