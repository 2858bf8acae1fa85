//! `helix doctor`: examines everything that Helix needs and says what to do about each problem.
//!
//! Must not change anything without `--fix`, and then only what Helix itself owns.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use helix_agents::{ExitStatus, Supported, probe};
use helix_engine::{Program, agent_kind};
use helix_store::{Access, SqliteJournal, StateDir};
use serde::Serialize;
use serde_json::json;

use crate::config::Settings;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;
use crate::host::find;
use crate::survey::{Tests, survey};
use crate::terminal::{Meaning, Reading, Table};

/// How long a program may take to say its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Arguments of `helix doctor`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Fix what Helix owns: missing directories, the token's permissions
    #[arg(long)]
    fix: bool,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    Note,
    Problem,
}

/// One thing that was examined.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    fn good(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Good, found: found.into(), remedy: None }
    }

    fn note(what: impl Into<String>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Note, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn problem(what: impl Into<String>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Problem, found: found.into(), remedy: Some(remedy.into()) }
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let settings = context.settings()?;
    let mut checks = vec![configuration(settings)];
    context.block_on(async {
        agents(settings, &mut checks).await;
        git(context, &mut checks);
        places(settings, &mut checks);
        toolchains(context, &mut checks).await;
        state(settings, arguments.fix, &mut checks).await;
        listening(settings, &mut checks).await;
        Ok(())
    })?;
    let problems = checks.iter().filter(|check| check.state == State::Problem).count();
    if context.terminal.reading == Reading::Programs {
        context.terminal.json(&json!({ "ok": problems == 0, "checks": checks, "settings": origins(settings) }))?;
    } else {
        show(context, &checks, settings)?;
    }
    Ok(if problems == 0 { Exit::Success } else { Exit::Environment })
}

fn configuration(settings: &Settings) -> Check {
    match settings.files.as_slice() {
        [] => Check::good("configuration", "no helix.toml; built-in values"),
        files => Check::good(
            "configuration",
            files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "),
        ),
    }
}

async fn agents(settings: &Settings, checks: &mut Vec<Check>) {
    for (name, setting) in &settings.agents {
        let needed = [&settings.default_agent.value, &settings.consultant_agent.value].contains(&name);
        if !needed && setting.origin == "built in" {
            continue;
        }
        let what = format!("agent {name}");
        let check = match probe(&setting.value).await {
            Ok(capabilities) => match capabilities.supported {
                Supported::Yes => Check::good(what, format!("version {}", capabilities.version)),
                Supported::NotAsked => match setting.value.exit_status {
                    ExitStatus::NoEvidence => Check::good(what, format!("{} is there", setting.value.command[0])),
                    ExitStatus::Trusted => Check::note(
                        what,
                        format!("{} found; `trust_exit`: exit status 0 alone counts as done", setting.value.command[0]),
                        "have it print a result record (docs/agents.md), and remove `trust_exit`",
                    ),
                },
                Supported::Untested { newest_tested } => Check::note(
                    what,
                    format!("version {}, newer than the newest tested one ({newest_tested})", capabilities.version),
                    "untested; please report problems",
                ),
                Supported::TooOld { minimum } => Check::problem(
                    what,
                    format!("version {} is too old", capabilities.version),
                    format!("update it to {minimum} or newer"),
                ),
            },
            Err(error) => {
                let profile = &setting.value;
                let remedy = match agent_kind(profile.dialect).program {
                    Program::Installed { name: program, install, .. } if profile.command == [program] => {
                        format!("install it: {install}; or set `command` in [agents.{name}]")
                    }
                    Program::Installed { .. } | Program::Helix { .. } | Program::Named => {
                        format!("correct `command` in [agents.{name}] ({})", setting.origin)
                    }
                };
                if needed {
                    Check::problem(what, error.to_string(), remedy)
                } else {
                    Check::note(what, error.to_string(), remedy)
                }
            }
        };
        checks.push(check);
    }
}

fn git(context: &Context, checks: &mut Vec<Check>) {
    let ask = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(&context.environment.directory).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    let Some(version) = ask(&["--version"]) else {
        checks.push(Check::problem("git", "not found in PATH", "install git (apt-get install git)"));
        return;
    };
    checks.push(Check::good("git", version.trim_start_matches("git version ").to_owned()));
    match (ask(&["config", "user.name"]), ask(&["config", "user.email"])) {
        (Some(name), Some(email)) => checks.push(Check::good("git identity", format!("{name} <{email}>"))),
        _ => checks.push(Check::problem(
            "git identity",
            "user.name and user.email are not both set",
            "git config --global user.name \"Your Name\"; git config --global user.email you@example.org",
        )),
    }
}

/// How much may be under way at the same time, and whether anything could start now.
fn places(settings: &Settings, checks: &mut Vec<Check>) {
    let limits = &settings.admission;
    let what = "agents at once";
    let places = format!("{} ({})", limits.agents, settings.why_so_many);
    checks.push(match limits.gauge.available() {
        None => Check::note(what, format!("{places}; the available memory is unknown"), "set [jobs] max_agents"),
        Some(available) if available < limits.memory_floor => Check::note(
            what,
            format!("{places}; none would start now: only {} MiB of memory available", available >> 20),
            format!("free memory up to {} MiB, or lower [jobs] memory_floor_mb", limits.memory_floor >> 20),
        ),
        Some(available) => Check::good(what, format!("{places}; {} MiB of memory available", available >> 20)),
    });
}

/// Programs that the tests of the project in the working directory need: each is started, since one that is found can
/// still be of no use (a rustup without a toolchain, a Python without pytest).
async fn toolchains(context: &Context, checks: &mut Vec<Check>) {
    let found = survey(&context.environment.directory);
    for language in &found.languages {
        for program in language.programs() {
            let what = format!("{program} for {}", language.name());
            let version = if *program == "go" { "version" } else { "--version" };
            checks.push(match context.environment.find_program(program) {
                None => Check::problem(
                    what,
                    "not found in PATH",
                    format!("install {program}, or gates that run it stay inconclusive"),
                ),
                Some(path) => match answer(context, &[program, version]).await {
                    Ok(said) => Check::good(what, format!("{said} ({})", path.display())),
                    Err(why) => Check::problem(
                        what,
                        format!("{} does not work: {why}", path.display()),
                        format!("make `{program} {version}` work here, or gates that run it stay inconclusive"),
                    ),
                },
            });
        }
    }
    for Tests { command, .. } in found.tests.iter().filter(|tests| tests.command.starts_with("python3 -m pytest")) {
        checks.push(match answer(context, &["python3", "-m", "pytest", "--version"]).await {
            Ok(said) => Check::good("pytest", said),
            Err(why) => Check::problem(
                "pytest",
                format!("`{command}` cannot run: {why}"),
                "install it for python3: python3 -m pip install pytest, or activate a virtual environment",
            ),
        });
    }
}

/// The first line of what a program prints, or why it is of no use.
async fn answer(context: &Context, command: &[&str]) -> Result<String, String> {
    let mut asked = tokio::process::Command::new(command[0]);
    asked.args(&command[1..]).current_dir(&context.environment.directory).stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(ANSWER_LIMIT, asked.output()).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(_elapsed) => return Err(format!("no answer within {} s", ANSWER_LIMIT.as_secs())),
    };
    let first = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    };
    // Some print their version to standard error.
    let said = first(&output.stdout).or_else(|| first(&output.stderr));
    if output.status.success() {
        return Ok(said.unwrap_or_else(|| "it works".to_owned()));
    }
    Err(first(&output.stderr).or(said).unwrap_or_else(|| output.status.to_string()))
}

async fn state(settings: &Settings, fix: bool, checks: &mut Vec<Check>) {
    let root = &settings.state_dir.value;
    let described = format!("{} ({})", root.display(), settings.state_dir.origin);
    if !root.exists() && !fix {
        let parent = root.ancestors().find(|path| path.exists());
        let check = match parent.filter(|parent| parent.is_dir()) {
            Some(_) => Check::note(
                "state directory",
                format!("{described} does not exist yet"),
                "nothing to do: it is created when needed",
            ),
            None => Check::problem(
                "state directory",
                format!("{described} cannot be created"),
                "choose another --state-dir",
            ),
        };
        checks.push(check);
        return;
    }
    let state = match StateDir::open(root) {
        Ok(state) => state,
        Err(error) => {
            checks.push(Check::problem("state directory", error.to_string(), error.hint()));
            return;
        }
    };
    checks.push(Check::good("state directory", format!("{described}, writable")));
    token(&state, fix, checks);
    database(&state, checks).await;
    checks.push(match find(settings).await {
        Ok(Some(client)) => Check::good("host", format!("process {} at {}", client.pid(), client.url())),
        Ok(None) => Check::good("host", "none is running"),
        Err(error) => Check::note("host", message(&error), "the next helix command takes over"),
    });
}

fn token(state: &StateDir, fix: bool, checks: &mut Vec<Check>) {
    let path = state.token_file();
    let Ok(metadata) = path.metadata() else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        checks.push(Check::good("token", format!("{}, readable by you only", path.display())));
        return;
    }
    let others = format!("{} can be read by others (mode {mode:03o})", path.display());
    if fix && std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).is_ok() {
        checks.push(Check::good("token", format!("{others}; fixed")));
    } else {
        checks.push(Check::problem("token", others, "run `helix doctor --fix`, or chmod 600 the file"));
    }
}

async fn database(state: &StateDir, checks: &mut Vec<Check>) {
    if !state.database().exists() {
        checks.push(Check::good("database", "none yet"));
        return;
    }
    checks.push(match SqliteJournal::open(state.database(), Access::ReadOnly).await {
        Ok(journal) => match journal.check().await {
            Ok(problems) if problems.is_empty() => match SqliteJournal::try_to_lock(state.database()).await {
                Ok(()) => Check::good("database", state.database().display().to_string()),
                Err(error) => Check::problem("database", error.to_string(), error.hint()),
            },
            Ok(problems) => Check::problem(
                "database",
                problems.join("; "),
                "restore the state directory from a backup, or choose another one",
            ),
            Err(error) => Check::problem("database", error.to_string(), error.hint()),
        },
        Err(error) => Check::problem("database", error.to_string(), error.hint()),
    });
}

async fn listening(settings: &Settings, checks: &mut Vec<Check>) {
    let address = &settings.listen.value;
    let what = "address of helix serve";
    checks.push(match tokio::net::TcpListener::bind(address.as_str()).await {
        Ok(_) => Check::good(what, format!("{address} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Check::note(
            what,
            format!("{address} is taken"),
            "if that is not helix serve, choose another with --listen or `[server] listen`",
        ),
        Err(error) => Check::problem(
            what,
            format!("{address}: {error}"),
            "choose an address of this machine with `[server] listen`",
        ),
    });
}

/// Every setting with its value and where it came from.
fn origins(settings: &Settings) -> Vec<serde_json::Value> {
    let row = |(key, value, origin)| json!({ "key": key, "value": value, "origin": origin });
    settings.origins().into_iter().map(row).collect()
}

fn show(context: &Context, checks: &[Check], settings: &Settings) -> Result<(), CommandError> {
    let terminal = &context.terminal;
    for check in checks {
        let sign = match check.state {
            State::Good => terminal.paint(Meaning::Good, "✓"),
            State::Note => terminal.paint(Meaning::Attention, "·"),
            State::Problem => terminal.paint(Meaning::Bad, "✗"),
        };
        terminal.data(&format!("{sign} {}: {}", check.what, check.found))?;
        if let Some(remedy) = &check.remedy {
            terminal.data(&format!("  hint: {remedy}"))?;
        }
    }
    let mut table = Table::new(["setting", "value", "from"]);
    for row in origins(settings) {
        let cell =
            |key: &str| row.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        table.row([
            (cell("key").unwrap_or_default(), None),
            (cell("value").unwrap_or_default(), None),
            (cell("origin").unwrap_or_default(), Some(Meaning::Weak)),
        ]);
    }
    terminal.data(&format!("\n{}", table.for_data(terminal)))
}

fn message(error: &CommandError) -> String {
    match error {
        CommandError::Problem(problem) => problem.message.clone(),
        CommandError::ReaderLeft => String::new(),
    }
}
