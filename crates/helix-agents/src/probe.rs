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

use crate::dialect::{Surroundings, dialect};
use crate::profile::AgentProfile;
use crate::version::Capabilities;

/// How long an agent may take to print its version. The measured time is 0.14 s; a cold disk takes seconds.
pub const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// What makes every agent of a version print it.
const VERSION_ARGUMENT: &str = "--version";

/// Says why nothing is known of an agent.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The profile names no program.
    #[error("agent {profile:?} has an empty command; set `command` to the program and its leading arguments")]
    NoProgram { profile: String },
    /// There is no such program.
    #[error("agent {profile:?}: no program {program:?} in PATH={path}; install it or use its full path")]
    Missing {
        profile: String,
        program: String,
        /// Where it was looked for.
        path: String,
    },
    /// There is such a file, but it is no program.
    #[error("agent {profile:?}: {file} is not executable; run `chmod +x` on it or name another program", file = file.display())]
    NotExecutable { profile: String, file: PathBuf },
    /// The operating system would not start it.
    #[error("agent {profile:?}: cannot start {program}", program = program.display())]
    Start {
        profile: String,
        program: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// It did not answer in time.
    #[error("agent {profile:?}: {program} did not print its version within {seconds} s", program = program.display(), seconds = limit.as_secs_f32())]
    Hung {
        profile: String,
        program: PathBuf,
        /// The time it had.
        limit: Duration,
    },
    /// It ended with an error.
    #[error("agent {profile:?}: {program} {arguments} ended with {status}: {output}", program = program.display())]
    Failed {
        profile: String,
        program: PathBuf,
        /// What it was given.
        arguments: String,
        status: std::process::ExitStatus,
        /// The start of what it printed.
        output: String,
    },
    /// What it printed is no version.
    #[error("agent {profile:?}: {program} printed no version but {output:?}; is it the right program for this dialect?", program = program.display())]
    NoVersion {
        profile: String,
        program: PathBuf,
        /// The start of what it printed.
        output: String,
    },
}

/// Runs the agent's program with the arguments that print its version, in the environment that a run would have.
///
/// # Errors
/// [`ProbeError`] says what is missing and what to do about it.
#[boxed]
pub async fn probe(profile: &AgentProfile) -> Result<Capabilities, ProbeError> {
    probe_within(profile, &Surroundings::of_this_process(), PROBE_LIMIT).await
}

/// As [`probe`] with the environment of Helix and the time limit given.
///
/// # Errors
/// As there.
#[boxed]
pub async fn probe_within(
    profile: &AgentProfile,
    own: &Surroundings,
    limit: Duration,
) -> Result<Capabilities, ProbeError> {
    let name = || profile.name.clone();
    let (program, leading) = profile.program().ok_or_else(|| ProbeError::NoProgram { profile: name() })?;
    let env = own.for_agent(profile, BTreeMap::new(), BTreeMap::new());
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let program = find_program(Path::new(program), path, Path::new(".")).map_err(|error| match error {
        NoProgram::NotExecutable(file) => ProbeError::NotExecutable { profile: name(), file },
        NoProgram::NotInPath(_) | NoProgram::Missing(_) => {
            ProbeError::Missing { profile: name(), program: program.to_owned(), path: path.to_owned() }
        }
    })?;
    let dialect = dialect(profile.dialect);
    if let Some(capabilities) = dialect.unasked() {
        return Ok(capabilities);
    }
    let arguments: Vec<&str> = leading.iter().map(String::as_str).chain([VERSION_ARGUMENT]).collect();
    let mut command = Command::new(&program);
    command.args(&arguments).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(limit, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(source)) => return Err(ProbeError::Start { profile: name(), program, source }),
        Err(_) => return Err(ProbeError::Hung { profile: name(), program, limit }),
    };
    let printed = beginning(&output.stdout);
    if !output.status.success() {
        let output_text = format!("{printed}{}", beginning(&output.stderr));
        let arguments = arguments.join(" ");
        return Err(ProbeError::Failed {
            profile: name(),
            program,
            arguments,
            status: output.status,
            output: output_text.trim().to_owned(),
        });
    }
    dialect.capabilities(&printed).ok_or_else(|| ProbeError::NoVersion {
        profile: name(),
        program,
        output: printed.trim().to_owned(),
    })
}

/// The start of what a program printed, for people.
fn beginning(bytes: &[u8]) -> String {
    const LIMIT: usize = 1024;
    String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).into_owned()
}
