//! A `helix serve` in a sandbox of its own, with the fake agent as its only one.
//!
//! Must not know what is asked of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use helix_testkit::sandbox::Sandbox;
use serde_json::Value;

use super::programs::Programs;
use crate::workspace;

/// How long anything may take that is not itself measured.
const PATIENCE: Duration = Duration::from_secs(120);

/// How Helix asks an agent.
const ASKED: [&str; 5] = ["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"];

/// A sandbox with a configuration and a repository.
pub(crate) struct Place {
    pub(crate) sandbox: Sandbox,
    helix: PathBuf,
    agent: PathBuf,
    naive: PathBuf,
}

impl Place {
    pub(crate) fn new(programs: &Programs) -> anyhow::Result<Self> {
        let (sandbox, helix, agent) = (Sandbox::new()?, programs.path("helix")?, programs.path("helix-fake-agent")?);
        let naive = programs.path("examples/naive_loop")?;
        let config = sandbox.home().join(".config/helix");
        std::fs::create_dir_all(&config)?;
        let text = format!(
            "[defaults]\nagent = \"fake\"\n[agents.fake]\ndialect = \"claude\"\ncommand = [{:?}]\n[jobs]\nmax_agents = 1100\nmemory_floor_mb = 0\n[server]\nrate_limit = 0\n[consultant]\nenforcement = []\n",
            agent.display().to_string()
        );
        std::fs::write(config.join("helix.toml"), text)?;
        Ok(Self { sandbox, helix, agent, naive })
    }

    /// A command of Helix.
    pub(crate) fn helix(&self) -> Command {
        self.sandbox.command(&self.helix)
    }

    /// The fake agent, asked as Helix asks it, in a directory.
    pub(crate) fn agent(&self, directory: &Path) -> Command {
        let mut command = self.sandbox.command(&self.agent);
        command.args(ASKED).current_dir(directory);
        command
    }

    /// Git, in a directory.
    pub(crate) fn git(&self, directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = self.sandbox.command("git");
        workspace::output(command.args(arguments).current_dir(directory)).map(drop)
    }

    /// A repository of 300 files in 20 directories, committed, with this plan.
    pub(crate) fn repository(&self, name: &str, plan: &str) -> anyhow::Result<PathBuf> {
        let top = self.sandbox.path().join(name);
        for index in 0..300 {
            let directory = top.join(format!("d{}", index % 20));
            std::fs::create_dir_all(&directory)?;
            std::fs::write(directory.join(format!("f{index}.txt")), "some text\n".repeat(40))?;
        }
        std::fs::write(top.join("phases.yaml"), plan)?;
        for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
            self.git(&top, arguments)?;
        }
        Ok(top)
    }

    /// Starts `helix serve`; it answers when this returns.
    pub(crate) fn serve(&self) -> anyhow::Result<Host> {
        let mut command = self.helix();
        command.args(["serve", "--listen", "127.0.0.1:0", "--no-auth", "--json"]);
        self.start(command)
    }

    /// Starts a loop that does nothing with a chat but start an agent and send what it prints; as [`Place::serve`].
    pub(crate) fn serve_naively(&self) -> anyhow::Result<Host> {
        let mut command = self.sandbox.command(&self.naive);
        command.arg(&self.agent).args(ASKED).current_dir(self.sandbox.home());
        self.start(command)
    }

    fn start(&self, mut command: Command) -> anyhow::Result<Host> {
        let log = std::fs::File::create(self.sandbox.path().join("serve.log"))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let started = Instant::now();
        let mut child = command.spawn().context("the host cannot be started")?;
        let stdout = child.stdout.take().context("the host has no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let mut host = Host { child, address: String::new(), first_answer: Duration::ZERO };
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let log = std::fs::read_to_string(self.sandbox.path().join("serve.log")).unwrap_or_default();
            bail!("the host did not start: {line}{log}");
        };
        let url = said.get("url").and_then(Value::as_str).context("the host names no address")?;
        host.address = url.trim_start_matches("http://").to_owned();
        let (status, _) = host.request("GET", "/healthz", &[], "")?;
        host.first_answer = started.elapsed();
        if status != 200 {
            bail!("the host answers with {status}");
        }
        Ok(host)
    }

    /// Runs a plan through the host; returns the job's events.
    pub(crate) fn run(&self, repository: &Path) -> anyhow::Result<Vec<Value>> {
        let mut command = self.helix();
        command.args(["run", "--json", "phases.yaml"]).current_dir(repository);
        let output = command.stdin(Stdio::null()).output().context("helix run cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let log = std::fs::read_to_string(self.sandbox.path().join("serve.log")).unwrap_or_default();
            bail!("helix run failed ({}):\n{text}\n{}\n{log}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        text.lines().map(|line| serde_json::from_str(line).context("helix run printed no JSON")).collect()
    }
}

pub(crate) struct Host {
    child: Child,
    address: String,
    /// Time from its start to its first healthy answer.
    pub(crate) first_answer: Duration,
}

impl Host {
    /// A connection with a request sent on it.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).with_context(|| self.address.clone())?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        headers.iter().for_each(|header| text.push_str(&format!("{header}\r\n")));
        text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    /// Sends a request; returns status and body.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> anyhow::Result<(u16, String)> {
        let mut text = String::new();
        self.send(method, path, headers, body)?.read_to_string(&mut text)?;
        let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no HTTP answer")?;
        Ok((status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()))
    }

    /// A field of `/proc/PID/status` in MiB: `VmRSS` now, `VmHWM` at most so far.
    pub(crate) fn memory_mib(&self, field: &str) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        let line =
            text.lines().find(|line| line.starts_with(field)).with_context(|| format!("{path} has no {field}"))?;
        let kib: f64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).context("no number")?;
        Ok(kib / 1024.0)
    }

    /// Processor time used so far, in seconds.
    pub(crate) fn processor_seconds(&self) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
        // Fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms; the text begins with field 3.
        Ok((ticks(11) + ticks(12)) / 100.0)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        let patience = Instant::now();
        while told.is_ok() && patience.elapsed() < Duration::from_secs(5) {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("helix serve (process {id}) is left: {error}");
        }
    }
}

/// Seconds since the epoch at which an event was recorded.
pub(crate) fn recorded_at(event: &Value) -> anyhow::Result<f64> {
    let text = event.get("at").and_then(Value::as_str).context("an event without a time")?;
    let at: jiff::Timestamp = text.parse().with_context(|| text.to_owned())?;
    Ok(at.as_nanosecond() as f64 / 1e9)
}

pub(crate) fn kind(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}
