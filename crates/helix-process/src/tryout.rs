//! Work that may take any amount of memory and time, tried first by a process of its own that may take little.
//!
//! Must not know what the work is.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use nix::sys::resource::{Resource, setrlimit};

/// Most memory that the process may take, in bytes.
const MEMORY: u64 = 256 << 20;
/// Most processor time, in seconds.
const SECONDS: u64 = 10;

static PROGRAM: OnceLock<(PathBuf, &str)> = OnceLock::new();

/// From now on, work is tried by this program with this argument. It gets the work on stdin and begins with [`may_take_memory`].
pub fn try_out_by(program: PathBuf, argument: &'static str) {
    // The first one holds: there is one program.
    drop(PROGRAM.set((program, argument)));
}

/// Tries work; whether it ended by itself. Nothing is tried where nobody said by which program: tests are no such program.
///
/// # Errors
/// The program cannot be started.
pub fn try_out(work: &[u8]) -> io::Result<bool> {
    let Some((program, argument)) = PROGRAM.get() else { return Ok(true) };
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

/// Leaves this process little memory and time, and no core dump: whoever needs more is killed.
///
/// # Errors
/// The system's.
pub fn may_take_memory() -> io::Result<()> {
    for (resource, most) in
        [(Resource::RLIMIT_DATA, MEMORY), (Resource::RLIMIT_CPU, SECONDS), (Resource::RLIMIT_CORE, 0)]
    {
        setrlimit(resource, most, most)?;
    }
    Ok(())
}
