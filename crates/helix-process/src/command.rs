//! Commands of gates: argv without a shell, a declared environment, no terminal, output to a file, a time limit, and nothing left
//! running afterwards.
//!
//! Must not know what the command's output means.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use helix_core::error_chain;
use helix_core::finding::{Fault, FaultKind};
use helix_core::ids::RunId;
use helix_core::run::{Ending, StopCause, WallsHeld};
use helix_core::said::Words;
use helix_core::secrets::{Secret, of_variables};
use helix_language::{RECORD, fault, fault_with_hint, recorded};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[cfg(doc)]
use crate::invocation::MAX_OUTPUT;
use crate::invocation::{Grace, Invocation, RunEnd, RunKind, RunRequest};
use crate::prepared::Prepared;
use crate::program::NoProgram;
use crate::run_dir::{RunDir, end_of_file};
use crate::supervisor::{RunHandle, StartError, Supervisor};
use crate::walls::Walls;

/// Most of the output that is kept in memory.
pub const MAX_TAIL: u64 = 64 << 10;
/// How long each step of a stop waits: what checks something has nothing to save.
const GRACE: Duration = Duration::from_secs(2);

/// What a toolchain needs of the environment, and nothing that is a provider's key. Agents and gates get the same, so that what
/// runs for one runs for the other. `*` ends a prefix.
pub const TOOLCHAIN: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "CC",
    "CXX",
    "JAVA_HOME",
    "MAVEN_OPTS",
    "GRADLE_USER_HOME",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOPROXY",
    "GOFLAGS",
    "GONOSUMDB",
    "NVM_DIR",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "PNPM_HOME",
    "NPM_CONFIG_REGISTRY",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "PYTHONPATH",
    "CONDA_PREFIX",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables that say where packages come from, in upper case, as the documentation of the tools has them: some take either case. `*`
/// stands for any name. None may match a token, nor what says where to install.
const REGISTRIES: &[&str] = &[
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIPENV_PYPI_MIRROR",
    "PDM_PYPI_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "CONDA_CHANNEL_ALIAS",
    "CONDA_CHANNELS",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_@*:REGISTRY",
    "PNPM_CONFIG_REGISTRY",
    "YARN_REGISTRY",
    "YARN_NPM_REGISTRY_SERVER",
    "BUN_CONFIG_REGISTRY",
    "COREPACK_NPM_REGISTRY",
    "JSR_URL",
    "CARGO_REGISTRIES_*_INDEX",
    "GOPROXY",
    "GOSUMDB",
    "BUNDLE_MIRROR__*",
    "HEX_MIRROR",
    "PUB_HOSTED_URL",
];

/// What installers need of the environment besides where packages come from ([`REGISTRIES`]): whom TLS trusts, and the way there. Only
/// set-ups get it, since agents and gates have no use for it. Whole names: a prefix would bring tokens.
const INSTALLERS: &[&str] = &[
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "npm_config_cafile",
    "npm_config_https_proxy",
    "npm_config_proxy",
    "NPM_CONFIG_CAFILE",
    "NPM_CONFIG_HTTPS_PROXY",
    "NPM_CONFIG_PROXY",
    "CARGO_HTTP_CAINFO",
    "CARGO_HTTP_PROXY",
    "GOPRIVATE",
    "GONOPROXY",
    "GOINSECURE",
    "BUNDLE_SSL_CA_CERT",
    "COMPOSER_CAFILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "ALL_PROXY",
    "all_proxy",
];

/// The environment of commands, as an explicit list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolEnvironment {
    variables: BTreeMap<String, String>,
}

/// Whether [`TOOLCHAIN`] names a variable.
pub fn is_toolchain(name: &str) -> bool {
    TOOLCHAIN.iter().any(|known| is_like(name, known))
}

/// Whether a variable says where packages come from: its value has one or more addresses, each perhaps with a name before it.
pub fn names_registry(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    REGISTRIES.iter().any(|known| is_like(&name, known))
}

/// Whether a name is that of a pattern, in which `*` stands for anything.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((prefix, suffix)) => name.strip_prefix(prefix).is_some_and(|rest| rest.ends_with(suffix)),
        None => name == pattern,
    }
}

impl ToolEnvironment {
    /// Takes what a toolchain needs from this process, and the variables named in addition (`pass_env` in `helix.toml`).
    pub fn from_process(also: &[String]) -> Self {
        let wanted = |name: &str| is_toolchain(name) || also.iter().any(|other| other == name);
        let taken =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { variables: taken.filter(|(name, _)| wanted(name)).collect() }
    }

    /// The same with what installers need of these variables of this process, but what is set already; `trusted` is whether they may have
    /// addresses in which somebody is named, too.
    #[must_use]
    pub fn with_installers(self, variables: impl IntoIterator<Item = (String, String)>, trusted: bool) -> Self {
        let is_wanted = |name: &str| INSTALLERS.contains(&name) || names_registry(name);
        let wanted = variables.into_iter().filter(|(name, _)| is_wanted(name) && self.get(name).is_none());
        let may_have = |(name, value): &(String, String)| {
            let secrets = of_variables([(name.as_str(), value.as_str())]);
            trusted || (secrets.is_empty() && logins(value).next().is_none())
        };
        let wanted: Vec<_> = wanted.filter(may_have).collect();
        wanted.into_iter().fold(self, |all, (name, value)| all.with(name, value))
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The same in which the programs of a virtual environment of Python are found first.
    #[must_use]
    pub fn in_venv(self, venv: &str) -> Self {
        let bin = format!("{venv}/bin");
        let path = self.get("PATH").map(|path| format!("{bin}:{path}")).unwrap_or(bin);
        self.with("PATH", path).with("VIRTUAL_ENV", venv)
    }

    /// The same without the virtual environment of Python that it may have.
    #[must_use]
    pub fn without_venv(mut self) -> Self {
        let Some(venv) = self.variables.remove("VIRTUAL_ENV") else { return self };
        let bin = Path::new(&venv).join("bin");
        let path = self.get("PATH").unwrap_or_default().to_owned();
        let others: Vec<&str> = path.split(':').filter(|part| Path::new(part) != bin).collect();
        self.with("PATH", others.join(":"))
    }

    /// What lets somebody in by the addresses among the variables: a password, or a token in the place of a name.
    pub fn logins(&self) -> impl Iterator<Item = Secret> {
        let all = self.iter().flat_map(|(name, value)| logins(value).map(move |login| (name, login)));
        all.map(|(name, login)| Secret { name: name.to_owned(), value: login.to_owned() })
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The passwords in the addresses of a value, and the names without one: `https://TOKEN@host/`.
fn logins(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("://").filter_map(|(at, mark)| {
        let rest = &value[at + mark.len()..];
        let authority = rest.split(|c: char| c.is_whitespace() || "/?#".contains(c)).next()?;
        let (login, _) = authority.rsplit_once('@')?;
        Some(login.split_once(':').map_or(login, |(name, password)| if password.is_empty() { name } else { password }))
    })
}

/// A command to run.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    /// Names the run under which it is kept.
    pub run: RunId,
    /// Whatever the caller needs to make sense of the run after a restart.
    pub labels: BTreeMap<String, String>,
    /// Program and arguments; never seen by a shell.
    pub argv: Vec<String>,
    pub directory: PathBuf,
    /// Its whole environment but for the run's mark and [`PRESET`].
    pub environment: ToolEnvironment,
    pub limit: Duration,
    /// What it may reach besides.
    pub walls: Walls,
}

/// Set for every command: no colours, no prompts, no watch mode.
pub const PRESET: [(&str, &str); 4] =
    [("CI", "true"), ("NO_COLOR", "1"), ("TERM", "dumb"), ("GIT_TERMINAL_PROMPT", "0")];

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnd {
    /// It exited by itself.
    Exited(i32),
    /// A signal that Helix did not send ended it.
    Signalled(i32),
    /// It took too long and was killed.
    TimedOut,
    /// It printed more than [`MAX_OUTPUT`] and was killed.
    TooMuchOutput,
    /// It took more memory than a run may and was killed.
    TooMuchMemory,
    Cancelled,
}

impl CommandEnd {
    /// Whether the same would come out the next time: nothing was missing, nothing came from outside.
    pub fn lasts(self) -> bool {
        matches!(self, Self::Exited(code) if !matches!(code, 126 | 127))
    }
}

/// A command that has ended and of which nothing runs any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRun {
    pub end: CommandEnd,
    /// SHA-256 of the whole output, hex.
    pub sha256: String,
    /// Length of the whole output in bytes.
    pub length: u64,
    /// The end of the output, at most [`MAX_TAIL`] bytes; what is no text is replaced.
    pub tail: String,
    /// How long it ran.
    pub took: Duration,
    /// Processes that had outlived it and were killed.
    pub leftovers_killed: u32,
    /// What held its processes back.
    #[serde(default)]
    pub walls: Option<WallsHeld>,
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// The program is not there.
    #[error("the program {program:?} was not found")]
    ToolMissing {
        /// What was looked for.
        program: String,
    },
    /// The program is there but cannot be started.
    #[error("the program {program:?} could not be started: {}", RECORD.words(reason))]
    Unstartable { program: String, reason: Words },
    /// Nothing can keep it.
    #[error("{program:?} could not be started")]
    Unkept {
        program: String,
        #[source]
        source: StartError,
    },
    /// The output cannot be written or read.
    #[error("the output file {path:?} cannot be used")]
    Output {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Its end could not be observed.
    #[error("the process that watched {program:?} was killed")]
    Lost { program: String },
}

impl CommandError {
    /// What kept the command from running, with what a person can do about it.
    pub fn fault(&self) -> Fault {
        let message = || error_chain(self);
        match self {
            Self::ToolMissing { program } => {
                fault(FaultKind::ToolMissing, recorded!("command-missing", program = program))
            }
            Self::Empty => fault(FaultKind::Environment, recorded!("command-empty")),
            Self::Unstartable { program, reason } => {
                let message = recorded!("command-unstartable", program = program, reason = reason);
                // Another program would not start either.
                let walls = reason.says("start-sandbox-required");
                let hint = if walls { recorded!("sandbox-remedy") } else { message.hint() };
                fault_with_hint(FaultKind::Environment, message, hint)
            }
            Self::Output { .. } | Self::Unkept { .. } => {
                Fault::environment(message()).hint("check space and permissions of the state directory")
            }
            Self::Lost { .. } => {
                Fault::environment(message()).hint("look for a lack of memory (`dmesg`), and run it again")
            }
        }
    }
}

/// Starts a command under a keeper of its own, so that it is stopped, limited and cleared up after also when this process dies.
///
/// # Errors
/// [`CommandError`] when it could not be started.
#[boxed]
pub async fn start_command(supervisor: &Supervisor, request: CommandRequest) -> Result<RunHandle, CommandError> {
    let Some((program, args)) = request.argv.split_first() else { return Err(CommandError::Empty) };
    let search = request.environment.get("PATH").unwrap_or_default();
    let prepared = request.walls.prepared.as_ref();
    let found = match Prepared::find_program(prepared, Path::new(program), search, &request.directory) {
        // The system says why a file cannot be executed.
        Ok(found) | Err(NoProgram::NotExecutable(found)) => found,
        Err(NoProgram::NotInPath(_) | NoProgram::Missing(_)) => {
            return Err(CommandError::ToolMissing { program: program.clone() });
        }
    };
    let mut variables = BTreeMap::from(PRESET);
    variables.extend(request.environment.iter());
    let directory = request.directory.to_string_lossy();
    variables.insert("PWD", &directory);
    let request_of_run = RunRequest {
        run: request.run,
        invocation: Invocation {
            program: found,
            args: args.to_vec(),
            env: variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            cwd: request.directory.clone(),
            stdin: Vec::new(),
        },
        deadline: Some(request.limit),
        grace: Grace::each(GRACE),
        kind: RunKind::Check,
        labels: request.labels,
        walls: Some(request.walls),
    };
    let started = supervisor.start(request_of_run).await;
    started.map_err(|source| CommandError::Unkept { program: program.clone(), source })
}

/// Takes what a command that has ended leaves, and forgets its run. `output` gets its stdout and stderr; it is replaced if it
/// exists.
///
/// # Errors
/// [`CommandError`] when it had not run, or its end or output is lost. A command that fails is no error here.
#[boxed]
pub async fn collect_command(handle: RunHandle, program: &str, output: &Path) -> Result<CommandRun, CommandError> {
    let RunEnd { ending, stopped, leftovers_killed, walls, started_at, ended_at, .. } = handle.ended().await;
    let unusable = |source| CommandError::Output { path: output.to_owned(), source };
    let printed = RunDir::at(handle.directory().to_owned()).stdout();
    let path = output.to_owned();
    let moved = crate::spawn_blocking(move || move_output(&printed, &path).and_then(|()| digest(&path)));
    let moved = moved.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    let (sha256, length, tail) = moved.map_err(|error| unusable(error.into()))?;
    handle.forget().await.map_err(|error| unusable(error.into()))?;
    let program = program.to_owned();
    let end = match (stopped, ending) {
        (_, Ending::Unknown) => return Err(CommandError::Lost { program }),
        (Some(StopCause::Deadline), _) => CommandEnd::TimedOut,
        (Some(StopCause::Output), _) => CommandEnd::TooMuchOutput,
        (Some(StopCause::Memory), _) => CommandEnd::TooMuchMemory,
        (Some(_), _) => CommandEnd::Cancelled,
        (None, Ending::Exited { code }) => CommandEnd::Exited(code),
        (None, Ending::Signaled { signal }) => CommandEnd::Signalled(signal),
        (None, Ending::NotStarted { errno: Some(errno), .. }) if errno == Errno::NOENT.raw_os_error() => {
            return Err(CommandError::ToolMissing { program });
        }
        (None, Ending::NotStarted { reason, .. }) => {
            return Err(CommandError::Unstartable { program, reason });
        }
    };
    let took = ended_at.duration_since(started_at).try_into().unwrap_or_default();
    Ok(CommandRun { end, sha256, length, tail, took, leftovers_killed, walls })
}

/// Brings an output to its place. It is masked already.
fn move_output(printed: &Path, output: &Path) -> std::io::Result<()> {
    if let Some(parent) = output.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::rename(printed, output)
}

fn digest(path: &Path) -> std::io::Result<(String, u64, String)> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let length = std::io::copy(&mut file, &mut hash)?;
    Ok((format!("{:x}", hash.finalize()), length, end_of_file(path, MAX_TAIL)?))
}

#[cfg(test)]
#[path = "command_test.rs"]
mod tests;
