//! Records what the real CLI does in chosen situations, in the form of the project's fixtures.
//!
//! Must not know Helix's reading of a recording: the expected outcome is part of the situation.

mod scenarios;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::model::{Script, ScriptError, ScriptedModel, StartError};
use crate::project::{Language, Project, ProjectError};
use crate::sandbox::{Sandbox, SandboxError, model_environment};

pub use scenarios::all;

/// A situation to record.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name of its directory.
    pub name: &'static str,
    /// The model's script, as YAML.
    pub script: String,
    pub prompt: String,
    /// Flags besides the usual ones.
    pub flags: Vec<String>,
    /// Variables besides the usual ones.
    pub environment: BTreeMap<String, String>,
    /// A signal, and when.
    pub signal: Option<SignalAt>,
    /// The outcome that Helix must read from it, by its name in the manifest.
    pub outcome: &'static str,
    /// Whether it takes longer than a few seconds.
    pub pace: Pace,
    /// Versions of the CLI that behave otherwise, so that the outcome would be wrong.
    pub not_for: &'static [&'static str],
}

/// A signal, so long after so many requests came in.
#[derive(Debug, Clone, Copy)]
pub struct SignalAt {
    pub signal: StopSignal,
    /// After this many requests.
    pub requests: usize,
    /// And this much time.
    pub delay: Duration,
}

/// Signals that scenarios send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Interrupt,
    Terminate,
    HangUp,
    Kill,
}

impl StopSignal {
    fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
            Self::Kill => "SIGKILL",
        }
    }

    fn number(self) -> Signal {
        match self {
            Self::Interrupt => Signal::INT,
            Self::Terminate => Signal::TERM,
            Self::HangUp => Signal::HUP,
            Self::Kill => Signal::KILL,
        }
    }
}

/// How long a scenario takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Quick,
    /// Up to a minute.
    Slow,
}

/// A row of `manifest.json`.
#[derive(Debug, Clone, Serialize)]
pub struct ManifestRow {
    /// Name of the directory.
    pub scenario: String,
    /// Always `claude`.
    pub agent: String,
    /// Version of the CLI.
    pub cli_version: String,
    /// Exit code, or the negative number of the signal.
    pub exit: i32,
    /// The signal that was sent, if any.
    pub signals: Option<String>,
    /// The outcome that it must be read as.
    pub verdict: String,
    /// Whether a schema was asked for.
    pub schema: bool,
    /// What the scripted model did not foresee; empty unless the CLI has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unforeseen: Vec<String>,
}

/// Says why a scenario cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Its script is wrong.
    #[error("script of scenario {scenario}")]
    Script { scenario: &'static str, source: ScriptError },
    /// The model does not start.
    #[error("model of scenario {scenario}")]
    Model { scenario: &'static str, source: StartError },
    /// There is no place to run it.
    #[error("sandbox of scenario {scenario}")]
    Sandbox { scenario: &'static str, source: SandboxError },
    /// There is no project to run it in.
    #[error("project of scenario {scenario}")]
    Project { scenario: &'static str, source: ProjectError },
    /// The process or its files make trouble.
    #[error("scenario {scenario} at {}", path.display())]
    Io { scenario: &'static str, path: PathBuf, source: std::io::Error },
    /// It did not end.
    #[error("scenario {scenario} did not end within {within:?}")]
    Stuck { scenario: &'static str, within: Duration },
}

/// No scenario may take longer.
const LIMIT: Duration = Duration::from_secs(120);
/// Where recordings say that they were made.
const HOME: &str = "/home/dev";

/// Records one scenario below `target`, in a directory of its name.
///
/// # Errors
/// [`RecordError`].
pub fn record(scenario: &Scenario, claude: &Path, version: &str, target: &Path) -> Result<ManifestRow, RecordError> {
    let name = scenario.name;
    let script: Script = scenario.script.parse().map_err(|source| RecordError::Script { scenario: name, source })?;
    let model =
        ScriptedModel::start_blocking(script).map_err(|source| RecordError::Model { scenario: name, source })?;
    let mut sandbox = Sandbox::new().map_err(|source| RecordError::Sandbox { scenario: name, source })?;
    let project = sandbox
        .project("home/project", Project::healthy(Language::Python))
        .map_err(|source| RecordError::Project { scenario: name, source })?;
    for (key, value) in model_environment(&model.base_url()).into_iter().chain([("IS_SANDBOX", "1".to_owned())]) {
        sandbox.set(key, value);
    }
    for (key, value) in &scenario.environment {
        sandbox.set(key.clone(), value.clone());
    }
    let arguments = arguments(scenario);
    let directory = target.join(name);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| RecordError::Io { scenario: name, path, source }
    };
    std::fs::create_dir_all(&directory).map_err(failed(&directory))?;
    let (stdout, stderr) = (sandbox.path().join("stdout.jsonl"), sandbox.path().join("stderr.txt"));
    let started = Instant::now();
    let mut child = sandbox
        .command(claude)
        .args(&arguments)
        .current_dir(&project)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).map_err(failed(&stdout))?)
        .stderr(File::create(&stderr).map_err(failed(&stderr))?)
        .spawn()
        .map_err(failed(claude))?;
    let watched = watch(&mut child, scenario, &model, started);
    if watched.is_err() {
        // It is stuck or unwatchable; both may fail only if it has ended.
        let _ended = child.kill();
        let _reaped = child.wait();
    }
    let End { code, sent, peak_rss_kib } = watched?;
    let wall = started.elapsed().as_secs_f64();

    let scrub = Scrub::new(&sandbox, &project);
    for (from, to) in [(&stdout, "stdout.jsonl"), (&stderr, "stderr.txt")] {
        let text = std::fs::read(from).map_err(failed(from))?;
        let to = directory.join(to);
        std::fs::write(&to, scrub.text(&String::from_utf8_lossy(&text))).map_err(failed(&to))?;
    }
    let signals = sent.map(|(at, signal)| format!("({at:.3}, '{}', 'pid')", signal.name()));
    let exit = format!(
        "exit={code}\nwall_s={wall:.3}\nstdout_eof_s={wall:.3}\npeak_rss_mb={}\nsignals=[{}]\n",
        peak_rss_kib / 1024,
        signals.as_deref().unwrap_or_default()
    );
    for (file, text) in [("exit.txt", exit), ("cmd.txt", scrub.text(&command_line(&sandbox, &arguments)))] {
        let path = directory.join(file);
        std::fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(ManifestRow {
        scenario: name.to_owned(),
        agent: "claude".to_owned(),
        cli_version: version.to_owned(),
        exit: code,
        signals: sent.map(|(_, signal)| signal.name().to_owned()),
        verdict: scenario.outcome.to_owned(),
        schema: scenario.flags.iter().any(|flag| flag == "--json-schema"),
        unforeseen: model.failures().iter().map(|failure| scrub.text(failure)).collect(),
    })
}

/// Writes `manifest.json`.
///
/// # Errors
/// The file cannot be written.
pub fn write_manifest(rows: &[ManifestRow], target: &Path) -> std::io::Result<()> {
    let mut file = File::create(target.join("manifest.json"))?;
    serde_json::to_writer_pretty(&mut file, rows)?;
    writeln!(file)
}

fn arguments(scenario: &Scenario) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["-p", "--output-format", "stream-json", "--verbose"].into_iter().map(str::to_owned).collect();
    arguments.extend(scenario.flags.iter().cloned());
    // Some flags swallow everything up to the next one.
    arguments.extend(["--".to_owned(), scenario.prompt.clone()]);
    arguments
}

struct End {
    code: i32,
    sent: Option<(f64, StopSignal)>,
    peak_rss_kib: u64,
}

fn watch(child: &mut Child, scenario: &Scenario, model: &ScriptedModel, started: Instant) -> Result<End, RecordError> {
    use std::os::unix::process::ExitStatusExt;
    let name = scenario.name;
    let failed = |source: std::io::Error| RecordError::Io { scenario: name, path: PathBuf::from("/proc"), source };
    let mut end = End { code: 0, sent: None, peak_rss_kib: 0 };
    let mut due = None;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            end.code = status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap_or_default();
            return Ok(end);
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        end.peak_rss_kib = end.peak_rss_kib.max(peak.unwrap_or(0));
        if let Some(at) = scenario.signal
            && end.sent.is_none()
            && model.requests().len() >= at.requests
        {
            let due = *due.get_or_insert_with(|| Instant::now() + at.delay);
            if Instant::now() >= due
                && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
            {
                kill_process(pid, at.signal.number()).map_err(|errno| failed(errno.into()))?;
                end.sent = Some((started.elapsed().as_secs_f64(), at.signal));
            }
        }
        if started.elapsed() > LIMIT {
            return Err(RecordError::Stuck { scenario: name, within: LIMIT });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Replaces what names this machine.
struct Scrub(Vec<(String, String)>);

impl Scrub {
    fn new(sandbox: &Sandbox, project: &Path) -> Self {
        let text = |path: &Path| path.display().to_string();
        // The CLI names its own folders after the project's path, with dashes.
        let dashed = |path: &str| path.replace(['/', '.', '_'], "-");
        let mut pairs = vec![
            (text(project), format!("{HOME}/project")),
            (text(&sandbox.claude_config()), format!("{HOME}/.config/claude")),
            (text(&sandbox.home()), HOME.to_owned()),
            (text(&sandbox.temporary()), "/tmp".to_owned()),
            (text(sandbox.path()), HOME.to_owned()),
        ];
        let names: Vec<_> = pairs.iter().map(|(from, to)| (dashed(from), dashed(to))).collect();
        pairs.extend(names);
        Self(pairs)
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

fn command_line(sandbox: &Sandbox, arguments: &[String]) -> String {
    let mut text = "cd project\nenv -i \\\n".to_owned();
    for (name, value) in sandbox.environment() {
        // Where toolchains lie says something about the machine and nothing about the recording.
        let value = match name.as_str() {
            "PATH" => "/usr/local/bin:/usr/bin:/bin",
            "CARGO_HOME" | "RUSTUP_HOME" | "RUSTUP_TOOLCHAIN" => continue,
            _ => value,
        };
        // Writing to a String cannot fail.
        let _written = writeln!(text, "  {name}={} \\", quoted(value));
    }
    text.push_str("  claude");
    for argument in arguments {
        text.push(' ');
        text.push_str(&quoted(argument));
    }
    text.push('\n');
    text
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=,@".contains(&b));
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
