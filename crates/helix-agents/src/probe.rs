//! Asks an agent's program for its version and says what Helix can do with it.
//!
//! Must not start a session, need an account or the network, or wait without a limit.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::dialect::{Surroundings, dialect};
use crate::profile::AgentProfile;

/// How long an agent may take to print its version. The measured time is 0.14 s; a cold disk takes seconds.
pub const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// What makes every agent of a version print it.
const VERSION_ARGUMENT: &str = "--version";

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// That of a program that was not asked for one.
    pub(crate) const NONE: Self = Self { major: 0, minor: 0, patch: 0 };

    /// The first version in a text, such as `2.1.330` in `2.1.330 (Claude Code)`.
    pub fn first_in(text: &str) -> Option<Self> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.')).find_map(Self::exactly)
    }

    fn exactly(word: &str) -> Option<Self> {
        let mut numbers = word.trim_end_matches('.').split('.').map(|number| number.parse().ok());
        let version = Self { major: numbers.next()??, minor: numbers.next()??, patch: numbers.next()?? };
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What an agent is to Helix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    pub version: Version,
    /// Whether Helix knows this version.
    pub supported: Supported,
}

/// Whether Helix knows a version of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Supported {
    /// Its behaviour was measured.
    Yes,
    /// It is older than anything that was measured: not used.
    TooOld {
        /// The oldest version that is used.
        minimum: Version,
    },
    /// It was not asked for its version, since it is no agent that would have one; only that it is there is known.
    NotAsked,
    /// It is newer than anything that was measured: used, with a warning.
    Untested {
        /// The newest version that was measured.
        newest_tested: Version,
    },
}

impl Supported {
    /// What a version is to Helix when those from `oldest` to `newest` were measured.
    pub(crate) fn between(oldest: Version, newest: Version, version: Version) -> Self {
        if version < oldest {
            Self::TooOld { minimum: oldest }
        } else if version > newest {
            Self::Untested { newest_tested: newest }
        } else {
            Self::Yes
        }
    }
}

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
pub async fn probe(profile: &AgentProfile) -> Result<Capabilities, ProbeError> {
    probe_within(profile, &Surroundings::of_this_process(), PROBE_LIMIT).await
}

/// As [`probe`] with the environment of Helix and the time limit given.
///
/// # Errors
/// As there.
pub async fn probe_within(
    profile: &AgentProfile,
    own: &Surroundings,
    limit: Duration,
) -> Result<Capabilities, ProbeError> {
    let name = || profile.name.clone();
    let (program, leading) = profile.program().ok_or_else(|| ProbeError::NoProgram { profile: name() })?;
    let env = own.for_agent(profile, BTreeMap::new(), BTreeMap::new());
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let program = found(profile, program, path)?;
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

/// Finds a program as `exec` would: a name with a slash is a path, any other is looked up.
fn found(profile: &AgentProfile, program: &str, path: &str) -> Result<PathBuf, ProbeError> {
    let missing =
        || ProbeError::Missing { profile: profile.name.clone(), program: program.to_owned(), path: path.to_owned() };
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        path.split(':').filter(|dir| !dir.is_empty()).map(|dir| Path::new(dir).join(program)).collect()
    };
    let files: Vec<PathBuf> = candidates.into_iter().filter(|file| file.is_file()).collect();
    if let Some(program) = files.iter().find(|file| is_executable(file)) {
        return Ok(program.clone());
    }
    match files.into_iter().next() {
        Some(file) => Err(ProbeError::NotExecutable { profile: profile.name.clone(), file }),
        None => Err(missing()),
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// The start of what a program printed, for people.
fn beginning(bytes: &[u8]) -> String {
    const LIMIT: usize = 1024;
    String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let version = |major, minor, patch| Some(Version { major, minor, patch });
        assert_eq!(Version::first_in("2.1.330 (Claude Code)\n"), version(2, 1, 330));
        assert_eq!(Version::first_in("helix 0.1.0"), version(0, 1, 0));
        assert_eq!(Version::first_in("codex-cli v1.2.3-beta.4"), version(1, 2, 3));
        for none in ["", "one", "1.2", "1.2.3.4", "99999999999.1.1"] {
            assert_eq!(Version::first_in(none), None, "{none}");
        }
    }
}
