//! Asks an agent's program for its version and says what Helix can do with it.
//!
//! Must not start a session, need an account or the network, or wait without a limit.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use helix_process::{NoProgram, find_program};
use tokio::process::Command;

use crate::dialect::{HostEnvironment, dialect};
use crate::profile::AgentProfile;
use crate::version::{Capabilities, Supported, Version};

/// How long an agent may take to print its version. The measured time is 0.14 s; a cold disk takes seconds.
pub const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// What makes every agent of a version print it.
const VERSION_ARGUMENT: &str = "--version";

/// Nothing is known of an agent.
#[derive(Debug, thiserror::Error)]
#[error("agent {profile:?}")]
pub struct ProbeError {
    pub profile: String,
    pub source: ProbeProblem,
}

/// Why nothing is known of an agent.
#[derive(Debug, thiserror::Error)]
pub enum ProbeProblem {
    /// The profile names no program.
    #[error("its command is empty; set `command` to the program and its leading arguments")]
    NoProgram,
    /// There is no such program.
    #[error("no program {program:?} in PATH; install it or use its full path")]
    Missing { program: String },
    /// There is such a file, but it is no program.
    #[error("{} is not executable; run `chmod +x` on it or name another program", .0.display())]
    NotExecutable(PathBuf),
    /// The operating system would not start it.
    #[error("cannot start {}", program.display())]
    Start { program: PathBuf, source: std::io::Error },
    /// It did not answer in time.
    #[error("{} did not print its version within {} s", program.display(), limit.as_secs_f32())]
    Hung { program: PathBuf, limit: Duration },
    /// It ended with an error; `output` is the start of what it printed.
    #[error("{} {arguments} ended with {status}: {output}", program.display())]
    Failed { program: PathBuf, arguments: String, status: std::process::ExitStatus, output: String },
    /// What it printed is no version; `output` is the start of it.
    #[error("{} printed no version but {output:?}; is it the right program for this dialect?", program.display())]
    NoVersion { program: PathBuf, output: String },
}

/// Runs the agent's program with the arguments that print its version, in the environment that a run would have.
///
/// # Errors
/// [`ProbeError`] says what is missing and what to do about it.
#[boxed]
pub async fn probe(profile: &AgentProfile) -> Result<Capabilities, ProbeError> {
    let found = probe_within(profile, &HostEnvironment::of_this_process(), PROBE_LIMIT).await;
    found.map_err(|source| ProbeError { profile: profile.name.clone(), source })
}

/// As [`probe`] with the environment of Helix and the time limit given.
///
/// # Errors
/// What is missing and what to do about it.
#[boxed]
pub async fn probe_within(
    profile: &AgentProfile,
    own: &HostEnvironment,
    limit: Duration,
) -> Result<Capabilities, ProbeProblem> {
    let (program, leading) = profile.program().ok_or(ProbeProblem::NoProgram)?;
    let env = own.for_agent(profile, BTreeMap::new(), BTreeMap::new());
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let program = find_program(Path::new(program), path, Path::new(".")).map_err(|error| match error {
        NoProgram::NotExecutable(file) => ProbeProblem::NotExecutable(file),
        NoProgram::NotInPath(_) | NoProgram::Missing(_) => ProbeProblem::Missing { program: program.to_owned() },
    })?;
    let dialect = dialect(profile.dialect);
    if !dialect.is_asked() {
        return Ok(Capabilities { version: Version::NONE, supported: Supported::NotAsked });
    }
    let arguments: Vec<&str> = leading.iter().map(String::as_str).chain([VERSION_ARGUMENT]).collect();
    let mut command = Command::new(&program);
    command.args(&arguments).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(limit, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(source)) => return Err(ProbeProblem::Start { program, source }),
        Err(_) => return Err(ProbeProblem::Hung { program, limit }),
    };
    let printed = beginning(&output.stdout);
    if !output.status.success() {
        let output_text = format!("{printed}{}", beginning(&output.stderr)).trim().to_owned();
        let (arguments, status) = (arguments.join(" "), output.status);
        return Err(ProbeProblem::Failed { program, arguments, status, output: output_text });
    }
    let capabilities = dialect.capabilities(&printed);
    capabilities.ok_or_else(|| ProbeProblem::NoVersion { program, output: printed.trim().to_owned() })
}

/// The start of what a program printed, for people.
fn beginning(bytes: &[u8]) -> String {
    const LIMIT: usize = 1024;
    String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).into_owned()
}
