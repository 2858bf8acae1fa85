//! `helix doctor`: examines everything that Helix needs and says what to do about each problem.
//!
//! Must not change anything without `--fix`, and then only what Helix itself owns.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use helix_agents::{ExitStatus, Supported, probe};
use helix_core::error_chain;
use helix_engine::{AgentProfile, Product, Program, agent_kind};
use helix_project::survey::{Tests, survey};
use helix_store::{OpenError, SqliteJournal, StateDir};
use rustix::fs::{Access, access};
use serde::Serialize;
use serde_json::json;

use crate::config::{BUILT_IN, Origin, Setting, Settings};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::find;
use crate::terminal::{Meaning, Terminal};

/// How long a program may take to say its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

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
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.to_owned(), state: State::Good, found: found.into(), remedy: None }
    }

    fn note(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.to_owned(), state: State::Note, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn problem(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Problem, ..Self::note(what, found, remedy) }
    }
}

pub(crate) fn run(context: &Context, fix: bool) -> Ended {
    let settings = context.settings()?;
    let files: Vec<String> = settings.files.paths().map(|file| file.display().to_string()).collect();
    let files = if files.is_empty() { "no helix.toml; built-in values".to_owned() } else { files.join(", ") };
    let mut checks = vec![Check::good("configuration", files)];
    context.block_on(async {
        for (name, setting) in &settings.agents {
            let needed = [&settings.default_agent.value, &settings.consultant_agent.value].contains(&name);
            if needed || setting.origin != BUILT_IN {
                checks.push(agent(name, setting, needed).await);
            }
        }
        checks.extend(git(context).await);
        checks.push(limits(settings));
        checks.extend(toolchains(context).await);
        checks.extend(state(settings, fix).await);
        checks.push(listening(settings).await);
        checks.extend(open_webui(context, settings).await);
        Ok(())
    })?;
    let works = checks.iter().all(|check| check.state != State::Problem);
    let settings = settings.origins(&context.environment);
    let value = json!({ "ok": works, "checks": checks, "settings": settings });
    context.terminal.answer(&value, &report(&context.terminal, &checks, &settings))?;
    Ok(if works { Exit::Success } else { Exit::Environment })
}

async fn agent(name: &str, Setting { value: profile, origin }: &Setting<AgentProfile>, needed: bool) -> Check {
    let what = &format!("agent {name}");
    let capabilities = match probe(profile).await {
        Ok(capabilities) => capabilities,
        Err(error) => {
            let remedy = match agent_kind(profile.dialect).program {
                Program::Installed(Product { name: program, install, .. }) if profile.command == [program] => {
                    format!("install it: {install}; or set `command` in [agents.{name}]")
                }
                Program::Installed(_) | Program::Helix { .. } | Program::Named => {
                    format!("correct `command` in [agents.{name}] ({origin})")
                }
            };
            let check = if needed { Check::problem } else { Check::note };
            return check(what, error_chain(&error), remedy);
        }
    };
    let version = capabilities.version;
    match (capabilities.supported, profile.exit_status) {
        (Supported::Yes, _) => Check::good(what, format!("version {version}")),
        (Supported::NotAsked, ExitStatus::NoEvidence) => Check::good(what, format!("{} is there", profile.command[0])),
        (Supported::NotAsked, ExitStatus::Trusted) => Check::note(
            what,
            format!("{} found; `trust_exit`: exit status 0 alone counts as done", profile.command[0]),
            "have it print a result record (docs/agents.md), and remove `trust_exit`",
        ),
        (Supported::Untested { newest_tested }, _) => Check::note(
            what,
            format!("version {version}, newer than the newest tested one ({newest_tested})"),
            "untested; please report problems",
        ),
        (Supported::TooOld { minimum }, _) => {
            let remedy = format!("update it to {minimum} or newer");
            Check::problem(what, format!("version {version} is too old"), remedy)
        }
    }
}

async fn git(context: &Context) -> Vec<Check> {
    let Ok(version) = answer(context, &["git", "--version"]).await else {
        return vec![Check::problem("git", "not found in PATH", "install git (apt-get install git)")];
    };
    let name = answer(context, &["git", "config", "user.name"]).await.unwrap_or_default();
    let email = answer(context, &["git", "config", "user.email"]).await.unwrap_or_default();
    let identity = if name.is_empty() || email.is_empty() {
        let remedy = "git config --global user.name \"Your Name\"; git config --global user.email you@example.org";
        Check::problem("git identity", "user.name and user.email are not both set", remedy)
    } else {
        Check::good("git identity", format!("{name} <{email}>"))
    };
    vec![Check::good("git", version.trim_start_matches("git version ")), identity, repository(context).await]
}

/// Whether the working directory is in a repository with a commit: jobs need one, chats and new projects do not.
async fn repository(context: &Context) -> Check {
    let what = "repository";
    let Ok(root) = answer(context, &["git", "rev-parse", "--show-toplevel"]).await else {
        return Check::note(what, "the working directory is in none", "`helix run` needs one: `git init`, then commit");
    };
    match answer(context, &["git", "rev-parse", "--verify", "--short", "HEAD"]).await {
        Ok(commit) => Check::good(what, format!("{root} at {commit}")),
        Err(_) => Check::note(what, format!("{root} has no commit"), "`helix run` needs one: commit what is there"),
    }
}

/// How many agents may run at the same time, and whether any could start now.
fn limits(settings: &Settings) -> Check {
    let limits = &settings.admission;
    let what = "agents at once";
    let agents = format!("{} ({})", limits.agents, settings.why_so_many);
    match limits.gauge.available() {
        None => Check::note(what, format!("{agents}; the available memory is unknown"), "set [jobs] max_agents"),
        Some(available) if available < limits.memory_floor => Check::note(
            what,
            format!("{agents}; none would start now: only {} MiB of memory available", available >> 20),
            format!("free memory up to {} MiB, or lower [jobs] memory_floor_mb", limits.memory_floor >> 20),
        ),
        Some(available) => Check::good(what, format!("{agents}; {} MiB of memory available", available >> 20)),
    }
}

/// Programs that the tests of the project in the working directory need: each is started, since one that is found can
/// still be of no use (a rustup without a toolchain, a Python without pytest).
async fn toolchains(context: &Context) -> Vec<Check> {
    let found = survey(&context.environment.directory);
    let mut checks = Vec::new();
    let programs =
        found.languages.iter().flat_map(|language| language.programs.iter().map(|one| (*one, language.name)));
    for (program, language) in programs {
        let what = &format!("{program} for {language}");
        let version = if program == "go" { "version" } else { "--version" };
        let Some(path) = context.environment.find_program(program) else {
            let remedy = format!("install {program}, or gates that run it stay inconclusive");
            checks.push(Check::problem(what, "not found in PATH", remedy));
            continue;
        };
        checks.push(match answer(context, &[program, version]).await {
            Ok(said) => Check::good(what, format!("{said} ({})", path.display())),
            Err(why) => Check::problem(
                what,
                format!("{} does not work: {why}", path.display()),
                format!("make `{program} {version}` work here, or gates that run it stay inconclusive"),
            ),
        });
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
    checks
}

/// The first line of what a program prints, if it prints any, or why it is of no use.
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
        return Ok(said.unwrap_or_default());
    }
    Err(first(&output.stderr).or(said).unwrap_or_else(|| output.status.to_string()))
}

async fn state(settings: &Settings, fix: bool) -> Vec<Check> {
    let root = &settings.state_dir.value;
    let what = "state directory";
    let described = format!("{} ({})", root.display(), settings.state_dir.origin);
    if !root.exists() && !fix {
        let parent = root.ancestors().find(|path| path.exists()).filter(|path| path.is_dir());
        let can_be = parent.is_some_and(|parent| access(parent, Access::WRITE_OK | Access::EXEC_OK).is_ok());
        return vec![match can_be {
            true => {
                Check::note(what, format!("{described} does not exist yet"), "nothing to do: it is created when needed")
            }
            false => Check::problem(what, format!("{described} cannot be created"), "choose another --state-dir"),
        }];
    }
    let state = match StateDir::open(root) {
        Ok(state) => state,
        Err(error) => return vec![Check::problem(what, error.to_string(), error.hint())],
    };
    let mut checks = vec![Check::good(what, format!("{described}, writable"))];
    checks.extend(token(&state, fix));
    checks.push(match database(&state).await {
        Ok(found) => Check::good("database", found),
        Err(CommandError::Problem(one)) => Check::problem("database", one.message, one.hint.unwrap_or_default()),
        Err(error @ CommandError::ReaderLeft) => Check::problem("database", error.in_one_line(), ""),
    });
    checks.push(match find(settings).await {
        Ok(Some(client)) => Check::good("host", format!("process {} at {}", client.pid, client.url)),
        Ok(None) => Check::good("host", "none is running"),
        Err(error) => Check::note("host", error.in_one_line(), "the next helix command takes over"),
    });
    checks
}

fn token(state: &StateDir, fix: bool) -> Option<Check> {
    let path = state.token_file();
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Some(Check::good("token", format!("{}, readable by you only", path.display())));
    }
    let others = format!("{} can be read by others (mode {mode:03o})", path.display());
    let fixed = fix && std::fs::set_permissions(&path, Permissions::from_mode(0o600)).is_ok();
    Some(match fixed {
        true => Check::good("token", format!("{others}; fixed")),
        false => Check::problem("token", others, "run `helix doctor --fix`, or chmod 600 the file"),
    })
}

/// Where the database is; else what is wrong with it.
async fn database(state: &StateDir) -> Result<String, CommandError> {
    let path = state.database();
    if !path.exists() {
        return Ok("none yet".to_owned());
    }
    let problems = SqliteJournal::open(path.clone(), helix_store::Access::ReadOnly).await?.check().await?;
    if !problems.is_empty() {
        return Err(CommandError::environment(codes::ENGINE, problems.join("; "))
            .hint("restore the state directory from a backup, or choose another one"));
    }
    SqliteJournal::try_to_lock(path.clone()).await.map_err(OpenError::from)?;
    Ok(path.display().to_string())
}

async fn listening(settings: &Settings) -> Check {
    let address = &settings.listen.value;
    let what = "address of helix serve";
    match tokio::net::TcpListener::bind(address.as_str()).await {
        Ok(_) => Check::good(what, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Check::note(
            what,
            format!("{address} is taken"),
            "if that is not helix serve, choose another with --listen or `[server] listen`",
        ),
        Err(error) => {
            let remedy = "choose an address of this machine with `[server] listen`";
            Check::problem(what, format!("{address}: {error}"), remedy)
        }
    }
}

/// The Open WebUI that was connected, if one was.
async fn open_webui(context: &Context, settings: &Settings) -> Option<Check> {
    Some(match super::openwebui::examine(context, settings).await? {
        Ok(found) => Check::good("Open WebUI", found),
        Err(CommandError::Problem(one)) => {
            let causes = one.causes.iter().map(|cause| format!(": {cause}")).collect::<String>();
            Check::problem("Open WebUI", format!("{}{causes}", one.message), one.hint.unwrap_or_default())
        }
        Err(error @ CommandError::ReaderLeft) => Check::problem("Open WebUI", error.in_one_line(), ""),
    })
}

fn report(terminal: &Terminal, checks: &[Check], settings: &[Origin]) -> String {
    let mut lines = Vec::new();
    for check in checks {
        let sign = match check.state {
            State::Good => terminal.paint(Meaning::Good, "✓"),
            State::Note => terminal.paint(Meaning::Attention, "·"),
            State::Problem => terminal.paint(Meaning::Bad, "✗"),
        };
        lines.push(format!("{sign} {}: {}", check.what, check.found));
        lines.extend(check.remedy.iter().map(|remedy| format!("  hint: {remedy}")));
    }
    let rows = settings.iter().map(|Origin { key, value, origin }| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        [(key.clone(), None), (value, None), (origin.clone(), Some(Meaning::Weak))]
    });
    format!("{}\n\n{}", lines.join("\n"), terminal.table(["setting", "value", "from"], rows))
}
