//! Work that may take any amount of memory and time, tried first by a process of its own that may take little.
//!
//! Must not know what the work is.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use nix::sys::resource::{Resource, setrlimit};

use crate::keeper::landlock::{self, Ruleset};

/// Most memory that the process may take, in bytes.
const MEMORY: u64 = 256 << 20;
/// Most processor time, in seconds.
const SECONDS: u64 = 10;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// From now on, this program does what nobody trusts: it is called with the name of the work as its argument.
pub fn untrusted_work_by(program: PathBuf) {
    // The first one holds: there is one program.
    drop(PROGRAM.set(program));
}

/// The program that does what nobody trusts; `None` where nobody said so: tests are no such program.
pub fn program_of_untrusted_work() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// Tries work; whether it ended by itself. The program gets it on stdin and begins with [`may_take_memory`]. Nothing is tried without one.
///
/// # Errors
/// The program cannot be started.
pub fn try_out(argument: &str, work: &[u8]) -> io::Result<bool> {
    let Some(program) = program_of_untrusted_work() else { return Ok(true) };
    let mut command = Command::new(program);
    command.arg(argument).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take()
        && let Err(error) = stdin.write_all(work)
    {
        tracing::debug!(%error, "work that is tried was not read to its end");
    }
    Ok(child.wait()?.success())
}

/// Leaves this process little memory and time, and nothing to reach: a process that needs more is killed.
///
/// # Errors
/// The system's.
pub fn may_take_memory() -> io::Result<()> {
    setrlimit(Resource::RLIMIT_CPU, SECONDS, SECONDS)?;
    shut_in(MEMORY)
}

/// Leaves this process that much memory, no core dump, and what it has open: it can open nothing more, and, as far as this kernel has walls,
/// neither change files nor reach other processes.
pub(crate) fn shut_in(memory: u64) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let version = landlock::version();
    if version.abi() > 0 {
        Ruleset::new(version, Some(&[]))?.restrict_self()?;
    }
    for (resource, most) in [(Resource::RLIMIT_DATA, memory), (Resource::RLIMIT_CORE, 0), (Resource::RLIMIT_NOFILE, 0)]
    {
        setrlimit(resource, most, most)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tryout_test.rs"]
mod tests;
