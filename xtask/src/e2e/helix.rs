//! A served Helix with the real agent CLI. Must not know who talks to it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use helix_testkit::processes::processes_with_env;
use helix_testkit::sandbox::Sandbox;
use serde_json::Value;

use crate::workspace;

/// How long the host and its agents may take to end.
const LEAVING: Duration = Duration::from_secs(30);

/// A host that is up.
pub(super) struct Served {
    host: Child,
    pub(super) url: String,
    pub(super) token: String,
}

impl Served {
    /// Starts `helix serve` in the sandbox; its log goes to `helix.log` in `results`.
    pub(super) fn start(
        program: &Path,
        claude: &Path,
        model: &str,
        sandbox: &Sandbox,
        results: &Path,
    ) -> anyhow::Result<Self> {
        write_settings(claude, model, sandbox)?;
        let log = results.join("helix.log");
        let mut command = sandbox.command(program);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        command.stderr(File::create(&log).with_context(|| format!("cannot create {}", log.display()))?);
        let mut host = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        match ready(&mut host) {
            Ok((url, token)) => Ok(Self { host, url, token }),
            Err(error) => {
                end(&mut host);
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                Err(error).with_context(|| format!("`helix serve` did not say where it is; it said:\n{said}"))
            }
        }
    }

    /// Ends it as a user does, and makes sure that no process of it is left.
    pub(super) fn leave(mut self, sandbox: &Sandbox) -> anyhow::Result<()> {
        workspace::output(Command::new("kill").args(["-TERM", &self.host.id().to_string()]))?;
        let deadline = Instant::now() + LEAVING;
        let status = loop {
            if let Some(status) = self.host.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                bail!("`helix serve` did not leave within {} s of SIGTERM", LEAVING.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if !status.success() {
            bail!("`helix serve` left with {status}");
        }
        let state = sandbox.state().display().to_string();
        loop {
            let left = processes_with_env("HELIX_STATE_DIR", &state)?;
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                for process in &left {
                    // It may be gone by now, which is as good.
                    let killed = Command::new("kill").args(["-KILL", &process.pid.to_string()]).status();
                    killed.context("cannot start `kill`")?;
                }
                bail!("left behind: {}", left.into_iter().map(|one| one.command).collect::<Vec<_>>().join("; "));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        end(&mut self.host);
    }
}

/// Kills a process that may have ended before.
pub(super) fn end(process: &mut Child) {
    if let Err(error) = process.kill().and_then(|()| process.wait()) {
        eprintln!("process {} cannot be ended: {error}", process.id());
    }
}

/// Reads the line that says where it is, and the key.
fn ready(host: &mut Child) -> anyhow::Result<(String, String)> {
    let mut line = String::new();
    BufReader::new(host.stdout.take().context("its output is not readable")?).read_line(&mut line)?;
    let ready: Value = serde_json::from_str(&line).with_context(|| format!("not understood: {line:?}"))?;
    let text = |key: &str| ready.get(key).and_then(Value::as_str).with_context(|| format!("no {key:?} in {line:?}"));
    let token = std::fs::read_to_string(text("token_file")?)?;
    Ok((text("url")?.to_owned(), token.trim().to_owned()))
}

/// A subscription's key, since the CLI tells only with one when a limit ends; the scripted model takes any.
fn write_settings(claude: &Path, model: &str, sandbox: &Sandbox) -> anyhow::Result<()> {
    let settings = format!(
        r#"
[agents.claude]
command = ["{}"]
models = ["sonnet", "haiku", "opus"]
config_dir = "{}"
env = {{ ANTHROPIC_BASE_URL = "{model}", CLAUDE_CODE_OAUTH_TOKEN = "test-token", CLAUDE_CODE_MAX_RETRIES = "1", NO_PROXY = "127.0.0.1" }}

[server]
roots = ["{projects}"]

[projects]
directory = "{projects}"

[consultant]
follow_jobs = "10m"
"#,
        claude.display(),
        sandbox.claude_config().display(),
        projects = super::projects(sandbox.path()).display(),
    );
    let directory = sandbox.home().join(".config/helix");
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    std::fs::write(directory.join("helix.toml"), settings).context("cannot write Helix's settings")
}
