//! Runs one command of a gate or tool to its end: argv without a shell, a declared environment, no terminal, output to a file,
//! a time limit, and nothing left running afterwards.
//!
//! Must not know what the command's output means.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::own_session::in_own_session;
use crate::proc::{kill_until_gone, marked};
use crate::program::{NoProgram, find_program};

/// Most of the output that is kept in memory.
pub const MAX_TAIL: usize = 64 << 10;
/// Names one command's processes, however far they have moved from their parent.
const MARK: &str = "HELIX_GATE_ID";
/// How long processes that a command left behind are killed.
const KILL_LIMIT: Duration = Duration::from_secs(1);
/// Names the state directory whose host started a command, so that the next host can end what a dead one left.
const OWNER: &str = "HELIX_GATE_STATE";

/// What a toolchain needs of the surroundings, and nothing that is a provider's key. Agents and gates get the same, so that what
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
    "XDG_RUNTIME_DIR",
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
    "DOCKER_HOST",
];

/// The environment of commands, as an explicit list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolEnvironment {
    variables: BTreeMap<String, String>,
}

/// Whether [`TOOLCHAIN`] names a variable.
pub fn is_toolchain(name: &str) -> bool {
    TOOLCHAIN.iter().any(|known| match known.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *known,
    })
}

impl ToolEnvironment {
    /// Takes what a toolchain needs from this process, and the variables named in addition (`pass_env` in `helix.toml`).
    pub fn from_process(also: &[String]) -> Self {
        let wanted = |name: &str| is_toolchain(name) || also.iter().any(|other| other == name);
        let taken =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { variables: taken.filter(|(name, _)| wanted(name)).collect() }
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A command to run.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    /// Program and arguments; never seen by a shell.
    pub argv: Vec<String>,
    pub directory: PathBuf,
    /// Its whole environment but for Helix's two marks and [`PRESET`].
    pub environment: ToolEnvironment,
    /// File that gets stdout and stderr as they come; replaced if it exists.
    pub output: PathBuf,
    pub limit: Duration,
    /// State directory of the host, for [`sweep_orphans`].
    pub state: PathBuf,
    /// Texts of which nothing is left in the output file, such as the tokens that the environment holds. Those that are
    /// shorter than [`SHORTEST_SECRET`] would leave nothing of other words either and stay.
    pub secrets: Vec<String>,
}

/// Shortest text that is looked for as a secret, in bytes.
pub const SHORTEST_SECRET: usize = 6;
/// What stands in its place.
const MASK: &[u8] = b"[masked]";

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
    Cancelled,
}

/// A command that has ended and of which nothing runs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    pub end: CommandEnd,
    /// SHA-256 of the whole output, hex.
    pub sha256: String,
    /// Length of the whole output in bytes.
    pub length: u64,
    /// The end of the output, at most [`MAX_TAIL`] bytes; what is no text is replaced.
    pub tail: String,
    /// Processes that had outlived it and were killed.
    pub leftovers_killed: u32,
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
    #[error("the program {program:?} could not be started")]
    Unstartable {
        program: String,
        #[source]
        source: std::io::Error,
    },
    /// The output file cannot be written or read.
    #[error("the output file {path:?} cannot be used")]
    Output {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Its end could not be observed.
    #[error("waiting for {program:?} failed")]
    Lost {
        program: String,
        #[source]
        source: std::io::Error,
    },
}

/// Kills what is left of a command, also when the future that runs it is dropped.
struct Leash {
    group: Option<Pid>,
    mark: String,
}

impl Leash {
    /// Kills the command's group and everything that carries its mark; returns how many carried it.
    fn pull(&mut self) -> u32 {
        if let Some(group) = self.group.take()
            && let Err(error) = rustix::process::kill_process_group(group, Signal::KILL)
        {
            tracing::trace!(%error, "the command's group had ended");
        }
        kill_marked(MARK, self.mark.as_bytes())
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if self.group.is_some() {
            self.pull();
        }
    }
}

/// Runs a command until it ends, the time is over, or it is cancelled; then kills whatever it left running.
///
/// # Errors
/// [`CommandError`] when it could not be started or observed. A command that fails is no error here.
pub async fn run_command(request: CommandRequest, cancel: &CancellationToken) -> Result<CommandRun, CommandError> {
    let Some((program, arguments)) = request.argv.split_first() else { return Err(CommandError::Empty) };
    let unusable = |source| CommandError::Output { path: request.output.clone(), source };
    if let Some(parent) = request.output.parent() {
        tokio::fs::create_dir_all(parent).await.map_err(unusable)?;
    }
    let stdout = tokio::fs::File::create(&request.output).await.map_err(unusable)?.into_std().await;
    let stderr = stdout.try_clone().map_err(unusable)?;
    let mark = uuid::Uuid::now_v7().simple().to_string();
    let search = request.environment.get("PATH").unwrap_or_default();
    let found = match find_program(Path::new(program), search, &request.directory) {
        // The system says why a file cannot be executed.
        Ok(found) | Err(NoProgram::NotExecutable(found)) => found,
        Err(NoProgram::NotInPath(_) | NoProgram::Missing(_)) => {
            return Err(CommandError::ToolMissing { program: program.clone() });
        }
    };
    let mut command = tokio::process::Command::new(found);
    command
        .args(arguments)
        .current_dir(&request.directory)
        .env_clear()
        .envs(PRESET)
        .envs(request.environment.iter())
        .env("PWD", &request.directory)
        .env(MARK, &mark)
        .env(OWNER, &request.state)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .kill_on_drop(true);
    in_own_session(command.as_std_mut());
    let mut child = command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => CommandError::ToolMissing { program: program.clone() },
        _ => CommandError::Unstartable { program: program.clone(), source },
    })?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut leash = Leash { group, mark };
    let status = tokio::select! {
        status = child.wait() => status.map(Ending::Own),
        () = tokio::time::sleep(request.limit) => Ok(Ending::Forced(CommandEnd::TimedOut)),
        () = cancel.cancelled() => Ok(Ending::Forced(CommandEnd::Cancelled)),
    };
    let lost = |source| CommandError::Lost { program: program.clone(), source };
    let ending = status.map_err(lost)?;
    let (mut leash, marked) = tokio::task::spawn_blocking(move || {
        let marked = leash.pull();
        (leash, marked)
    })
    .await
    .map_err(|error| lost(std::io::Error::other(error)))?;
    leash.group = None;
    let (end, leftovers_killed) = match ending {
        Ending::Own(status) => (exit(status), marked),
        Ending::Forced(end) => {
            child.wait().await.map_err(lost)?;
            (end, marked.saturating_sub(1))
        }
    };
    let (path, secrets) = (request.output.clone(), request.secrets.clone());
    let read = tokio::task::spawn_blocking(move || mask(&path, &secrets).and_then(|()| digest(&path)))
        .await
        .map_err(|error| lost(std::io::Error::other(error)))?;
    let (sha256, length, tail) = read.map_err(unusable)?;
    Ok(CommandRun { end, sha256, length, tail, leftovers_killed })
}

enum Ending {
    Own(ExitStatus),
    Forced(CommandEnd),
}

fn exit(status: ExitStatus) -> CommandEnd {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, Some(signal)) => CommandEnd::Signalled(signal),
        (None, None) => CommandEnd::Signalled(0),
    }
}

/// Writes a file anew without the secrets in it, a piece at a time.
fn mask(path: &Path, secrets: &[String]) -> std::io::Result<()> {
    use std::io::Write;
    let mut secrets: Vec<&[u8]> =
        secrets.iter().map(|secret| secret.as_bytes()).filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
    // One may begin like another: the longer one is looked for first.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let Some(longest) = secrets.first().map(|secret| secret.len()) else { return Ok(()) };
    let masked = path.with_extension("masked");
    let (mut from, mut to) = (std::fs::File::open(path)?, std::io::BufWriter::new(std::fs::File::create(&masked)?));
    let (mut piece, mut held) = (vec![0_u8; 64 << 10], Vec::new());
    loop {
        let count = from.read(&mut piece)?;
        held.extend_from_slice(&piece[..count]);
        let mut at = 0;
        // A secret may go on in the next piece: what could be its beginning is held back.
        while at < held.len() && (count == 0 || at + longest <= held.len()) {
            match secrets.iter().find(|secret| held[at..].starts_with(secret)) {
                Some(secret) => {
                    to.write_all(MASK)?;
                    at += secret.len();
                }
                None => {
                    to.write_all(&held[at..=at])?;
                    at += 1;
                }
            }
        }
        held.drain(..at.min(held.len()));
        if count == 0 {
            break;
        }
    }
    to.flush()?;
    drop(to);
    std::fs::rename(masked, path)
}

fn digest(path: &Path) -> std::io::Result<(String, u64, String)> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let length = std::io::copy(&mut file, &mut hash)?;
    let keep = length.min(MAX_TAIL as u64);
    file.seek(SeekFrom::Start(length - keep))?;
    let mut tail = Vec::new();
    file.take(keep).read_to_end(&mut tail)?;
    let hex = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((hex, length, String::from_utf8_lossy(&tail).into_owned()))
}

/// Kills every command that a host of this state directory started and left running. Called when a host starts, while it
/// holds the directory's lock. Returns how many processes there were.
pub fn sweep_orphans(state: &Path) -> u32 {
    kill_marked(OWNER, state.as_os_str().as_bytes())
}

/// Kills all processes that have this variable with this value. A process that forks meanwhile hands the mark down, so that the
/// next look finds its child.
fn kill_marked(variable: &str, value: &[u8]) -> u32 {
    kill_until_gone(KILL_LIMIT, || marked(variable, value))
}
