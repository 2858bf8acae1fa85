//! `helix doctor`: examines everything that Helix needs and says what to do about each problem.
//!
//! Must not change anything without `--fix`, and then only what Helix itself owns.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use helix_agents::{ExitStatus, Supported, Version, probe};
use helix_core::error_chain;
use helix_engine::preflight::{PreflightCheck, PreflightFound};
use helix_engine::preview::AgentMeans;
use helix_engine::submit::plans_in;
use helix_engine::{AgentProfile, Product, Program, agent_kind};
use helix_git::{GitEnvironment, Repository};
use helix_job::phrases;
use helix_language::{ErrorView, Language, problem, say};
use helix_process::find_program;
use helix_project::rules::ProjectRules;
use helix_project::survey::{Tests, survey};
use helix_store::{OpenError, SqliteJournal, StateDir};
use helix_workspace::{Preparations, Workspace};
use rustix::fs::{Access, access};
use serde::Serialize;
use serde_json::json;

use crate::commands::means;
use crate::commands::openwebui;
use crate::commands::plan;
use crate::commands::preflight::{self, Preflight};
use crate::config::{BUILT_IN, Origin, Setting, Settings, in_words, project_file, workspace_of};
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::host::{find, silent};
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
    fn good(what: impl Into<String>, found: impl Into<String>) -> Self {
        Self { what: what.into(), state: State::Good, found: found.into(), remedy: None }
    }

    fn note(what: impl Into<String>, ErrorView { message, hint, .. }: ErrorView) -> Self {
        Self { what: what.into(), state: State::Note, found: message, remedy: hint }
    }

    fn problem(what: impl Into<String>, found: ErrorView) -> Self {
        Self { state: State::Problem, ..Self::note(what, found) }
    }
}

pub(crate) fn run(context: &Context, fix: bool, choice: preflight::Choice) -> Ended {
    let settings = context.settings()?;
    let files: Vec<String> = settings.files.paths().map(|file| file.display().to_string()).collect();
    let language = context.terminal.language;
    let files = if files.is_empty() { say!(language, "doctor-no-file") } else { files.join(", ") };
    let mut checks = vec![Check::good(say!(language, "doctor-configuration"), files)];
    context.block_on(async {
        for (name, setting) in &settings.agents {
            let needed = [&settings.default_agent.value, &settings.consultant_agent.value].contains(&name);
            if needed || setting.origin != BUILT_IN {
                checks.push(agent(language, name, setting, needed).await);
            }
        }
        checks.extend(git(context).await);
        checks.extend(told_to_agents(context, settings));
        checks.push(limits(language, settings));
        checks.extend(toolchains(context, settings).await);
        checks.extend(workspace(context, settings).await);
        checks.extend(state(language, settings, fix).await);
        checks.push(listening(language, settings).await);
        let open_webui = openwebui::examine(context, settings).await;
        checks.extend(open_webui.map(|found| examined("Open WebUI".to_owned(), found)));
        Ok(())
    })?;
    checks.extend(gates(context, choice)?);
    let works = checks.iter().all(|check| check.state != State::Problem);
    let settings = settings.origins(&context.environment, language);
    let value = json!({ "ok": works, "checks": checks, "settings": settings });
    context.terminal.answer(&value, &report(&context.terminal, &checks, &settings))?;
    Ok(if works { Exit::Success } else { Exit::Environment })
}

async fn agent(
    language: Language,
    name: &str,
    Setting { value: profile, origin }: &Setting<AgentProfile>,
    needed: bool,
) -> Check {
    let what = say!(language, "doctor-agent", name = name);
    let capabilities = match probe(profile).await {
        Ok(capabilities) => capabilities,
        Err(error) => {
            let remedy = match agent_kind(profile.dialect).program {
                Program::Installed(Product { name: program, install, .. }) if profile.command == [program] => {
                    say!(language, "doctor-install", command = install, name = name)
                }
                Program::Installed(_) | Program::Helix { .. } | Program::Through { .. } | Program::Named => {
                    say!(language, "doctor-correct", name = name, origin = origin)
                }
            };
            let check = if needed { Check::problem } else { Check::note };
            return check(what, told(error_chain(&error), remedy));
        }
    };
    let (version, program) = (capabilities.version.to_string(), &profile.command[0]);
    match (capabilities.supported, profile.exit_status) {
        (Supported::NotAsked, _) if capabilities.version != Version::NONE => {
            Check::good(what, say!(language, "doctor-version", version = version))
        }
        (Supported::Yes, _) => Check::good(what, say!(language, "doctor-version", version = version)),
        (Supported::NotAsked, ExitStatus::NoEvidence) => {
            Check::good(what, say!(language, "doctor-there", program = program))
        }
        (Supported::NotAsked, ExitStatus::Trusted) => {
            Check::note(what, problem!(language, "doctor-trusted", program = program))
        }
        (Supported::Untested { newest_tested }, _) => {
            let found = problem!(language, "doctor-untested", version = version, tested = newest_tested.to_string());
            Check::note(what, found)
        }
        (Supported::TooOld { minimum }, _) => {
            let found = problem!(language, "doctor-too-old", version = version, minimum = minimum.to_string());
            Check::problem(what, found)
        }
    }
}

/// What others have said is wrong, and what to do.
fn told(message: String, hint: impl Into<String>) -> ErrorView {
    ErrorView { message, hint: Some(hint.into()), said: None }
}

async fn git(context: &Context) -> Vec<Check> {
    let language = context.terminal.language;
    let Ok(version) = answer(context, &["git", "--version"]).await else {
        return vec![Check::problem("git", problem!(language, "doctor-no-git"))];
    };
    let name = answer(context, &["git", "config", "user.name"]).await.unwrap_or_default();
    let email = answer(context, &["git", "config", "user.email"]).await.unwrap_or_default();
    let what = say!(language, "doctor-identity");
    let identity = if name.is_empty() || email.is_empty() {
        Check::problem(what, problem!(language, "doctor-no-identity"))
    } else {
        Check::good(what, format!("{name} <{email}>"))
    };
    vec![Check::good("git", version.trim_start_matches("git version ")), identity, repository(context).await]
}

/// Whether the working directory is in a repository with a commit: jobs need one, chats and new projects do not.
async fn repository(context: &Context) -> Check {
    let language = context.terminal.language;
    let what = say!(language, "doctor-repository");
    let Ok(root) = answer(context, &["git", "rev-parse", "--show-toplevel"]).await else {
        return Check::note(what, problem!(language, "doctor-no-repository"));
    };
    match answer(context, &["git", "rev-parse", "--verify", "--short", "HEAD"]).await {
        Ok(commit) => Check::good(what, say!(language, "doctor-at", root = root, commit = commit)),
        Err(_) => Check::note(what, problem!(language, "doctor-no-commit", root = root)),
    }
}

/// What the agents of the project in the working directory would be told, and what each gets of its user.
fn told_to_agents(context: &Context, settings: &Settings) -> Vec<Check> {
    let language = context.terminal.language;
    let repository = Repository::open(&context.environment.directory, GitEnvironment::from_process()).ok();
    let rules = repository.and_then(|repository| ProjectRules::at(&repository, "HEAD").ok());
    let agents = settings.agents.values().filter(|setting| setting.origin != BUILT_IN || settings.agents.len() == 1);
    let agents = agents.map(|setting| AgentMeans::of_agent(&setting.value, rules.as_ref()));
    let all = rules.iter().map(AgentMeans::of_project).chain(agents).filter(|means| !means.is_empty());
    let problems = rules.iter().flat_map(|rules| &rules.problems);
    let problems = problems.map(|one| {
        let found = told(one.message.clone(), one.help.clone().unwrap_or_default());
        Check::note(say!(language, "means-of-project"), found)
    });
    let found = |means: AgentMeans| {
        let lines = means::lines(language, &means).join("; ");
        Check::good(means::whose(language, &means), lines)
    };
    all.map(found).chain(problems).collect()
}

/// What work places of the repository here have besides the files of a commit, and whether they share it.
async fn workspace(context: &Context, settings: &Settings) -> Option<Check> {
    let (language, what) = (context.terminal.language, say!(context.terminal.language, "doctor-workspace"));
    let root = PathBuf::from(answer(context, &["git", "rev-parse", "--show-toplevel"]).await.ok()?);
    let workspace = match workspace_of(&context.environment, &context.overrides, &root) {
        Ok(workspace) => workspace,
        Err(error) => return Some(examined(what, Err(error))),
    };
    let installs = survey(&root).installs;
    if let Some(install) = installs.first().filter(|_| workspace.setup.is_empty()) {
        let (file, command) = (install.evidence, install.commands.join("\", \""));
        return Some(Check::note(what, problem!(language, "doctor-no-setup", file = file, command = command)));
    }
    if workspace == Workspace::of_work_tree(&root) {
        return None;
    }
    let kept = Preparations::list(&settings.state_dir.value).unwrap_or_default();
    let kept = kept.iter().filter(|(_, whole)| whole.repository == root).count();
    let overlays = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_shared =
        settings.sandbox(&context.environment).holds() && overlays.lines().any(|line| line.ends_with("overlay"));
    let how = if is_shared { say!(language, "doctor-shared") } else { say!(language, "doctor-copied") };
    let setup = match workspace.setup.as_slice() {
        [] => say!(language, "doctor-no-commands"),
        setup => setup.join("; "),
    };
    Some(Check::good(what, say!(language, "doctor-prepared", setup = setup, kept = kept, how = how)))
}

/// How many agents may run at the same time, and whether any could start now.
fn limits(language: Language, settings: &Settings) -> Check {
    let limits = &settings.admission;
    let what = say!(language, "doctor-agents");
    let agents = format!("{} ({})", limits.agents, language.words(&settings.why_so_many));
    match limits.gauge.available() {
        None => Check::note(what, problem!(language, "doctor-memory-unknown", agents = agents)),
        Some(available) => {
            let is_low = available < limits.memory_floor;
            let [available, floor] = [available, limits.memory_floor].map(|bytes| (bytes >> 20).to_string());
            if is_low {
                let found =
                    problem!(language, "doctor-memory-low", agents = agents, available = available, floor = floor);
                return Check::note(what, found);
            }
            Check::good(what, say!(language, "doctor-memory", agents = agents, available = available))
        }
    }
}

/// Programs that the tests of the project here need: each is started, since one that is found can still be useless (a rustup
/// without a toolchain, a Python without pytest). In a project that is not trusted none of its own, and where none finds anything of it.
async fn toolchains(context: &Context, settings: &Settings) -> Vec<Check> {
    let (project, language) = (context.project(), context.terminal.language);
    let found = survey(project);
    let trusted = preflight::is_trusted(context, &settings.state_dir.value, project).then_some(project);
    let directory = trusted.unwrap_or(Path::new("/"));
    let search_path = match context.search_path(trusted) {
        Ok(path) => path,
        Err(error) => return vec![examined(say!(language, "doctor-venv"), Err(error))],
    };
    let ask = |arguments: &[&str]| {
        let mut program = tokio::process::Command::new(arguments[0]);
        program.args(&arguments[1..]).current_dir(directory).env("PATH", &search_path);
        first_line(language, program)
    };
    let mut checks = Vec::new();
    let programs = found.languages.iter().flat_map(|known| known.programs.iter().map(|one| (*one, known.name)));
    for (program, known) in programs {
        let what = say!(language, "doctor-program", program = program, language = known);
        let version = if program == "go" { "version" } else { "--version" };
        let Ok(path) = find_program(Path::new(program), &search_path, directory) else {
            checks.push(Check::problem(what, problem!(language, "doctor-no-program", program = program)));
            continue;
        };
        checks.push(match ask(&[program, version]).await {
            Ok(said) => Check::good(what, format!("{said} ({})", path.display())),
            Err(why) => {
                let (path, command) = (path.display().to_string(), format!("{program} {version}"));
                Check::problem(what, problem!(language, "doctor-broken", path = path, why = why, command = command))
            }
        });
    }
    let pytest = |tests: &&Tests| trusted.is_some() && tests.command.starts_with("python3 -m pytest");
    for Tests { command, .. } in found.tests.iter().filter(pytest) {
        checks.push(match ask(&["python3", "-m", "pytest", "--version"]).await {
            Ok(said) => Check::good("pytest", said),
            Err(why) => Check::problem("pytest", problem!(language, "doctor-no-pytest", command = command, why = why)),
        });
    }
    checks
}

/// Whether the commands of the gates of the plans here can run where jobs would start.
fn gates(context: &Context, choice: preflight::Choice) -> Result<Vec<Check>, CommandError> {
    let language = context.terminal.language;
    let mut checks: Vec<Check> = Vec::new();
    for plan in plans_in(context.project()) {
        // What is wrong with a plan, `helix plan check` says.
        let Ok(inspection) = plan::inspected(context, &plan::request(context, &plan)) else { continue };
        let Some(spec) = inspection.spec() else { continue };
        let what =
            |check: &PreflightCheck| say!(language, "doctor-gate", gate = check.gate, phase = check.phase.as_str());
        match preflight::make(context, spec, choice)? {
            Preflight::Untrusted => {
                let found = match project_file(&context.environment, None)? {
                    Some(_) => problem!(language, "doctor-untrusted"),
                    None => problem!(language, "doctor-no-project"),
                };
                return Ok(vec![Check::note(say!(language, "doctor-gates"), found)]);
            }
            preflight => checks.extend(preflight.checks().iter().map(|check| {
                let (what, found) = (what(check), preflight::found(language, check));
                match &check.found {
                    PreflightFound::Passes => Check::good(what, found),
                    PreflightFound::Fails { .. } => Check { state: State::Note, ..Check::good(what, found) },
                    PreflightFound::Cannot { .. } => {
                        Check::problem(what, told(found, preflight::remedy(language, check).unwrap_or_default()))
                    }
                }
            })),
        }
    }
    // The same command of several gates is said once.
    let mut known = HashSet::new();
    checks.retain(|check| known.insert(check.found.clone()));
    Ok(checks)
}

/// What a program says here.
async fn answer(context: &Context, command: &[&str]) -> Result<String, String> {
    let mut program = tokio::process::Command::new(command[0]);
    program.args(&command[1..]).current_dir(&context.environment.directory);
    first_line(context.terminal.language, program).await
}

/// The first line of what a program prints, if it prints any, or why it is useless.
async fn first_line(language: Language, mut program: tokio::process::Command) -> Result<String, String> {
    program.stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(ANSWER_LIMIT, program.output()).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(_elapsed) => {
            return Err(say!(language, "doctor-silent", seconds = ANSWER_LIMIT.as_secs()));
        }
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

async fn state(language: Language, settings: &Settings, fix: bool) -> Vec<Check> {
    let root = &settings.state_dir.value;
    let what = say!(language, "doctor-state");
    let described = format!("{} ({})", root.display(), in_words(language, &settings.state_dir.origin));
    if !root.exists() && !fix {
        let parent = root.ancestors().find(|path| path.exists()).filter(|path| path.is_dir());
        let can_be = parent.is_some_and(|parent| access(parent, Access::WRITE_OK | Access::EXEC_OK).is_ok());
        return vec![match can_be {
            true => Check::note(what, problem!(language, "doctor-no-state", place = described)),
            false => Check::problem(what, problem!(language, "doctor-impossible-state", place = described)),
        }];
    }
    let state = match StateDir::open(root) {
        Ok(state) => state,
        Err(error) => return vec![Check::problem(what, told(error.to_string(), error.hint()))],
    };
    let mut checks = vec![Check::good(what, say!(language, "doctor-writable", place = described))];
    checks.extend(token(language, &state, fix));
    checks.push(examined(say!(language, "doctor-database"), database(language, &state).await));
    let what = say!(language, "doctor-host");
    checks.push(match find(settings).await {
        Ok(Some(client)) => {
            let found = say!(language, "doctor-process", process = client.pid.to_string(), url = &client.url);
            Check::good(what, found)
        }
        Ok(None) => match silent(settings) {
            Ok(None) => Check::good(what, say!(language, "doctor-no-host")),
            Ok(Some(process)) => {
                Check::problem(what, problem!(language, "doctor-host-silent", process = process.to_string()))
            }
            Err(error) => examined(what, Err(error)),
        },
        Err(error) => Check::note(what, told(error.in_one_line(), say!(language, "doctor-next-host"))),
    });
    checks
}

/// What was found, or the error with its causes.
fn examined(what: String, found: Result<String, CommandError>) -> Check {
    match found {
        Ok(found) => Check::good(what, found),
        Err(CommandError::Problem(one)) => {
            let causes = one.causes.iter().map(|cause| format!(": {cause}")).collect::<String>();
            Check::problem(what, told(format!("{}{causes}", one.message), one.hint.unwrap_or_default()))
        }
        Err(error @ CommandError::ReaderLeft) => Check::problem(what, told(error.in_one_line(), "")),
    }
}

fn token(language: Language, state: &StateDir, fix: bool) -> Option<Check> {
    let path = state.token_file();
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    let (what, file) = (say!(language, "doctor-token"), path.display().to_string());
    if mode & 0o077 == 0 {
        return Some(Check::good(what, say!(language, "doctor-private", file = file)));
    }
    let others = problem!(language, "doctor-readable", file = file, mode = format!("{mode:03o}"));
    let fixed = fix && std::fs::set_permissions(&path, Permissions::from_mode(0o600)).is_ok();
    Some(match fixed {
        true => Check::good(what, say!(language, "doctor-fixed", found = others.message)),
        false => Check::problem(what, others),
    })
}

/// Where the database is; else what is wrong with it.
async fn database(language: Language, state: &StateDir) -> Result<String, CommandError> {
    let path = state.database();
    if !path.exists() {
        return Ok(say!(language, "doctor-no-database"));
    }
    let problems = SqliteJournal::open(path.clone(), helix_store::Access::ReadOnly).await?.check().await?;
    if !problems.is_empty() {
        return Err(CommandError::environment(codes::ENGINE, problems.join("; "))
            .hint("restore the state directory from a backup, or choose another one"));
    }
    SqliteJournal::try_to_lock(path.clone()).await.map_err(OpenError::from)?;
    Ok(path.display().to_string())
}

async fn listening(language: Language, settings: &Settings) -> Check {
    let address = &settings.listen.value;
    let what = say!(language, "doctor-address");
    match tokio::net::TcpListener::bind(address.as_str()).await {
        Ok(_) => Check::good(what, say!(language, "doctor-free", address = address)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => match find(settings).await {
            Ok(Some(host)) if leads_to(address, &host.url).await => {
                Check::good(what, say!(language, "doctor-serves", address = address))
            }
            _ => Check::note(what, problem!(language, "doctor-taken", address = address)),
        },
        Err(error) => {
            Check::problem(what, problem!(language, "doctor-no-address", address = address, why = error.to_string()))
        }
    }
}

/// Whether a server that listens at this address is the one at this URL.
async fn leads_to(address: &str, url: &str) -> bool {
    let found = tokio::net::lookup_host(address).await;
    found.is_ok_and(|mut found| found.any(|one| helix_server::local_url(one) == url))
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
        lines.extend(check.remedy.iter().map(|remedy| format!("  {}", phrases::hint(terminal.language, remedy))));
    }
    let rows = settings.iter().map(|Origin { key, value, origin }| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        [(key.clone(), None), (value, None), (origin.clone(), Some(Meaning::Weak))]
    });
    format!("{}\n\n{}", lines.join("\n"), terminal.table(["setting", "value", "from"], rows))
}
